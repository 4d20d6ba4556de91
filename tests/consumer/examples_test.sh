#!/usr/bin/env bash
# Installs the build, builds examples/ as a project of its own against it, and runs every program.
# examples_test.sh BUILD_FOLDER SOURCE_FOLDER
set -euo pipefail
build=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/prefix" >/dev/null
cp -r "$source/examples" "$work/examples"  # nothing of the checkout is beside it
cmake -G Ninja -S "$work/examples" -B "$work/b" -DCMAKE_PREFIX_PATH="$work/prefix" \
  -DCMAKE_CXX_FLAGS="-Wall -Wextra -Wpedantic ${STEREOPSIS_WERROR:+-Werror}" >/dev/null
cmake --build "$work/b" >/dev/null
ctest --test-dir "$work/b" --output-on-failure --no-tests=error

scene=$work/scene
"$work/prefix/bin/stereopsis" synth -o "$scene" --width 160 --height 120 --disparities 32
"$work/b/example_match" "$scene/left.png" "$scene/right.png" "$work/cpp.pfm"
test -s "$work/cpp.pfm"
if [[ -x $work/b/example_opencv_match ]]; then
  mkdir "$work/opencv"
  "$work/b/example_opencv_match" "$scene/left.png" "$scene/right.png" 32 "$work/opencv"
fi
# The C example reads 8-bit grey PGM files.
python3 - "$work" <<'PYTHON'
import random
import sys
rows = [random.Random(y).randbytes(160) for y in range(90)]
for name, first in (("left", 0), ("right", 12)):
    open(f"{sys.argv[1]}/{name}.pgm", "wb").write(b"P5\n140 90\n255\n" + b"".join(row[first : first + 140] for row in rows))
PYTHON
if [[ -x $work/b/example_match_c ]]; then
  "$work/b/example_match_c" "$work/left.pgm" "$work/right.pgm" "$work/c.pfm"
  test -s "$work/c.pfm"
fi
