#!/usr/bin/env bash
# A folder that is dropped into src/stages is a stage: it can be set and run, and `conformance` checks it, with no edit
# anywhere else. The check has a toy for each slot, and one of an image that another stage reads. It works in a clone,
# because the folders stay out of the project. ./dev release-check runs it.
#
# check.sh [CLONE]: uses the clone in this folder and leaves it there, so that a second run builds only what changed.
set -euo pipefail
cd "$(dirname "$0")/../.."

toys=(tests/toy_stage/*/)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
clone=${1:-$work/stereopsis}
[ -d "$clone" ] || git clone -q . "$clone"
cp -r "${toys[@]%/}" "$clone/src/stages/"
cd "$clone"
sed -i 's,include "nearest.hpp",include "stages/nearest/nearest.hpp",' src/stages/nearest/*.cpp
cmake --preset release -Wno-dev -DSTEREOPSIS_CUDA=OFF >/dev/null
cmake --build --preset release --target stereopsis_command --target nearest_test >/dev/null
stereopsis=build/release/bin/stereopsis
build/release/bin/nearest_test
$stereopsis conformance
devices=(cpu)
! $stereopsis devices | grep -q '^opencl:0 *yes' || devices+=(opencl:0)

$stereopsis synth -o "$work/scene" --width 217 --height 48 --disparities 16 >/dev/null
run() { $stereopsis match "$work/scene/left.png" "$work/scene/right.png" --disparities 16 --method banz-sgm --quiet "$@"; }
fail() { echo "$*" >&2; exit 1; }

# Runs banz-sgm with these settings. The oracle's result differs from that of the settings before `with` (or equals it
# if `changes=no`), and every device and implementation equals it.
joins() {
  local before=() settings=() found device implementation
  while [ "$1" != with ]; do before+=(--set "$1"); shift; done
  for setting in "${@:2}"; do settings+=(--set "$setting"); done
  run "${before[@]}" -o "$work/before.pfm" --device cpu
  run "${before[@]}" "${settings[@]}" -o "$work/oracle.pfm" --device cpu --implementation oracle
  if cmp -s "$work/before.pfm" "$work/oracle.pfm"; then found=no; else found=yes; fi
  [ "$found" = "${changes:-yes}" ] || fail "$*: the map has changed: $found"
  for device in "${devices[@]}"; do
    for implementation in fused plain; do
      run "${before[@]}" "${settings[@]}" -o "$work/it.pfm" --device "$device" --implementation "$implementation"
      cmp "$work/it.pfm" "$work/oracle.pfm" || fail "$* on $device, $implementation, is not the oracle"
    done
  done
}

# A region equals this part of the whole map under the settings, none of whose stages depends on the whole image.
keeps_regions() {
  local settings=()
  for setting; do settings+=(--set "$setting"); done
  run "${settings[@]}" --roi 120,14,40,20 -o "$work/region.pfm"
  run "${settings[@]}" -o "$work/whole.pfm"
  python3 - "$work" <<'PYTHON' || fail "a region with $* is not a part of the whole map"
import sys

def rows(name):  # of the region, from a map of 217×48 floats
    floats = open(f"{sys.argv[1]}/{name}.pfm", "rb").read()[-4 * 217 * 48 :]
    return [floats[4 * (217 * y + 120) : 4 * (217 * y + 160)] for y in range(14, 34)]

sys.exit(rows("region") != rows("whole"))
PYTHON
}

local_stages=(optimisation.stage=none refinements=none)
joins with prepare.stage=smooth
joins with cost.stage=grey_cost
joins with cost.stage=slope_words
joins "${local_stages[@]}" with cost.stage=slope_words  # the volume of the words, without semi-global matching
joins with plus.stage=slope_words
joins with aggregation.stage=row_minimum
joins cost.stage=census with aggregation.stage=guided cost.stage=slope_words optimisation.stage=none  # in row tiles
joins with optimisation.stage=adjacent
changes=no joins with select.stage=lowest  # as winner takes all does
joins "${local_stages[@]}" cost.stage=grey_cost with levels.stage=halves
joins with refinements=median,nearest nearest.least=6
joins with prepare.stage=smooth cost.stage=slope_words plus.stage=grey_cost aggregation.stage=row_minimum \
  optimisation.stage=adjacent select.stage=lowest refinements=median,nearest nearest.least=6
keeps_regions "${local_stages[@]}" prepare.stage=smooth cost.stage=slope_words aggregation.stage=row_minimum select.stage=lowest

# A selection that makes neither a confidence nor the right view's disparity is rejected where one is needed.
rejects() {
  ! run --set select.stage=lowest -o "$work/it.pfm" "${@:2}" 2>"$work/error.txt" || fail "${*:2} was not rejected"
  grep -q "$1" "$work/error.txt" || fail "$(cat "$work/error.txt")"
}
rejects "no stage that computes the output 'confidence'" --confidence "$work/confidence.pfm"
rejects "a stage that requires 'right'" --set refinements=left_right

changed=$(git status --short | sort)
expected=$(printf '?? src/stages/%s\n' "${toys[@]#tests/toy_stage/}")
[ "$changed" = "$expected" ] || fail "more than the folders changed: $changed"
echo "a folder alone joins, in each slot"
