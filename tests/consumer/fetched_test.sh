#!/bin/sh
# A user's project by FetchContent: configures it, and compiles the user's program; the library itself is built elsewhere.
# Arguments: the sources.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cmake -S "$1/tests/consumer/fetched" -B "$place" -G Ninja -Wno-dev "-DSTEREOPSIS_SOURCE=$1" "-DEXAMPLE=$1/examples/match.cpp" \
  -DSTEREOPSIS_CUDA=OFF -DSTEREOPSIS_SIMD_TARGETS=static >"$place/log" 2>&1 || { cat "$place/log"; exit 1; }
ninja -C "$place" CMakeFiles/consumer.dir"$1"/examples/match.cpp.o
# Nothing of the library is installed with the user's project.
cmake --install "$place" --prefix "$place/installed" >"$place/log" 2>&1 || { cat "$place/log"; exit 1; }
[ -z "$(find "$place/installed" -type f 2>/dev/null)" ]
