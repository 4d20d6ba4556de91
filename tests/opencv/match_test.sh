#!/usr/bin/env bash
# The example on a generated pair, with either library: match_test.sh PROGRAM COMMAND
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$2" synth -o "$work" --width 240 --height 160 --disparities 32 >/dev/null
"$1" "$work/left.png" "$work/right.png" 32 "$work" | tee "$work/said"
# At least seven tenths have a place in space.
awk '/^points:/ { found = $2 / $4 > 0.7 } END { exit !found }' "$work/said"
for picture in disparity filtered; do [ -s "$work/$picture.png" ]; done
