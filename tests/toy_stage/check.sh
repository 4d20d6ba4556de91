#!/usr/bin/env bash
# A folder that is dropped into src/stages is a stage: listed, set, run and checked on every device, and tested, with no edit
# anywhere else. In a clone, for the folder stays out of the project. ./dev release-check runs it.
set -euo pipefail
cd "$(dirname "$0")/../.."

clone=$(mktemp -d)
trap 'rm -rf "$clone"' EXIT
git clone -q . "$clone/stereopsis"
cp -r tests/toy_stage/nearest "$clone/stereopsis/src/stages/"
cd "$clone/stereopsis"
sed -i 's,include "nearest.hpp",include "stages/nearest/nearest.hpp",' src/stages/nearest/*.cpp
cmake --preset release -Wno-dev -DSTEREOPSIS_CUDA=OFF >/dev/null
cmake --build --preset release --target stereopsis_command --target nearest_test >/dev/null
stereopsis=build/release/bin/stereopsis

$stereopsis synth -o "$clone/scene" --width 64 --height 48 --disparities 16 >/dev/null
$stereopsis match "$clone/scene/left.png" "$clone/scene/right.png" -o "$clone/far.pfm" --disparities 16 --method banz-sgm \
  --set refinements=median,nearest --set nearest.least=6
$stereopsis devices --check
build/release/bin/nearest_test
changed=$(git status --short)
[ "$changed" = "?? src/stages/nearest/" ] || { echo "more than the folder changed: $changed" >&2; exit 1; }
echo "a folder alone joined"
