#!/bin/sh
# A user's project by FetchContent and by add_subdirectory: configures it, static and shared, and compiles the user's program; the
# library itself is built elsewhere. Arguments: the sources.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

# Arguments: options of CMake.
configure() {
  cmake -S "$source/tests/consumer/fetched" -B "$place" -G Ninja -Wno-dev "-DSTEREOPSIS_SOURCE=$source" "-DEXAMPLE=$source/examples/match.cpp" \
    -DSTEREOPSIS_CUDA=OFF -DSTEREOPSIS_SIMD_TARGETS=static "$@" >"$place/log" 2>&1 || { cat "$place/log"; exit 1; }
}

source=$1
configure
grep -q "Parts of this build" "$place/log"
ninja -C "$place" CMakeFiles/consumer.dir"$source"/examples/match.cpp.o
# Nothing of the library is installed with the user's project.
cmake --install "$place" --prefix "$place/installed" >"$place/log" 2>&1 || { cat "$place/log"; exit 1; }
[ -z "$(find "$place/installed" -type f 2>/dev/null)" ]
configure -DBY_SUBDIRECTORY=ON -DBUILD_SHARED_LIBS=ON
ninja -C "$place" CMakeFiles/consumer.dir"$source"/examples/match.cpp.o
