#!/usr/bin/env bash
# Installs the build, builds the examples in C++ and C against it with find_package and with pkg-config, and runs them on a scene.
# consumer_test.sh BUILD_FOLDER SOURCE_FOLDER
set -euo pipefail
build=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/prefix" >/dev/null
# The command repeats the table of parts that configuring printed, as options_test.sh checks.
parts=$(sed -n 's/^    "\(.*\)",$/  \1/p' "$build/generated/build_parts.hpp")
diff <(echo "$parts") <("$work/prefix/bin/stereopsis" devices | sed '1,/^parts of this build:$/d')
diff <(echo "$parts") <("$work/prefix/bin/stereopsis" --version --verbose | sed 1d)
"$work/prefix/bin/stereopsis" synth -o "$work/scene" --width 160 --height 120 --disparities 32

cmake -G Ninja -S "$source/tests/consumer" -B "$work/consumer" -DCMAKE_PREFIX_PATH="$work/prefix" \
  -DEXAMPLE="$source/examples/match.cpp" -DC_EXAMPLE="$source/examples/match.c" >/dev/null
cmake --build "$work/consumer" >/dev/null
"$work/consumer/consumer" "$work/scene/left.png" "$work/scene/right.png" "$work/cmake.pfm"

export PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name stereopsis-io.pc)")
c++ -std=c++20 "$source/examples/match.cpp" -o "$work/with_pkg_config" $(pkg-config --cflags --static --libs stereopsis-io)
export LD_LIBRARY_PATH=$(dirname "$(find "$work/prefix" -name libstereopsis.so.0)")
"$work/with_pkg_config" "$work/scene/left.png" "$work/scene/right.png" "$work/pkg_config.pfm"
cmp "$work/cmake.pfm" "$work/pkg_config.pfm"

# The C program gives the command's result.
python3 - "$work" <<'PYTHON'
import random
import sys
rows = [random.Random(y).randbytes(160) for y in range(90)]
for name, first in (("left", 0), ("right", 12)):
    open(f"{sys.argv[1]}/{name}.pgm", "wb").write(b"P5\n140 90\n255\n" + b"".join(row[first : first + 140] for row in rows))
PYTHON
"$work/prefix/bin/stereopsis" match "$work/left.pgm" "$work/right.pgm" -o "$work/command.pfm" --set sgm.paths=8 --device cpu --align-rows off >/dev/null 2>&1
cc -std=c99 -Wall -Wextra -Wpedantic -Werror "$source/examples/match.c" -o "$work/in_c" $(pkg-config --cflags --libs stereopsis-c)
for program in "$work/consumer/c_consumer" "$work/in_c"; do
  "$program" "$work/left.pgm" "$work/right.pgm" "$work/c.pfm"
  cmp "$work/command.pfm" "$work/c.pfm"
done
