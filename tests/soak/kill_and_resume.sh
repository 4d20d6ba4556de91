#!/bin/bash
# Kills the command on a sequence with all outputs at random times, again and again, and ends with --resume: what is there then
# are the files of an undisturbed run, no more and no less. Says what the command took when it was killed.
#
#   kill_and_resume.sh COMMAND [FRAMES [KILLS [SEED [OPTION…]]]]
set -euo pipefail
command=$1 frames=${2:-40} kills=${3:-8}
RANDOM=${4:-1}
shift $(($# < 4 ? $# : 4))

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir left right
for i in 0 1 2; do
  "$command" synth -o "scene$i" --width 120 --height 90 --disparities 24 --seed "$i" > /dev/null
done
for ((i = 0; i < frames; ++i)); do
  name=$(printf %05d.png "$i")
  ln "scene$((i % 3))/left.png" "left/$name"
  ln "scene$((i % 3))/right.png" "right/$name"
done

outputs=(output:pfm right:npy confidence:npy validity:png color:png depth:npy uncertainty:npy cloud:ply)

# start FOLDER OPTION…: in the background, as $pid.
start() {
  local to=$1 output files=()
  shift
  for output in "${outputs[@]}"; do
    mkdir -p "$to/${output%:*}"
    files+=("--${output%:*}" "$to/${output%:*}/%05d.${output#*:}")
  done
  "$command" match left right --disparities 24 --focal 100 --baseline 100mm --doffs 0 "${files[@]}" "$@" > /dev/null 2> err &
  pid=$!
}

# Prints the memory in KiB, descriptors and threads of the command, if it still runs.
taken() {
  awk '/^VmRSS:/ {kib = $2} /^Threads:/ {threads = $2} END {if (kib) print kib, fds, threads}' \
    fds="$(find "/proc/$pid/fd" -mindepth 1 2> /dev/null | wc -l)" "/proc/$pid/status" 2> /dev/null || true
}

begun=$(date +%s%N)
start undisturbed "$@"
wait "$pid"
ms=$((($(date +%s%N) - begun) / 1000000))
killed=0
for ((i = 0; i < kills; ++i)); do
  start disturbed --resume "$@"
  # On average, all runs together take as long as an undisturbed run.
  wait_ms=$(((RANDOM * 32768 + RANDOM) % (2 * ms / kills + 1)))
  sleep "$((wait_ms / 1000)).$(printf %03d $((wait_ms % 1000)))"
  taken >> takes
  kill -KILL "$pid" 2> /dev/null || true
  wait "$pid" 2> /dev/null || [ $? -ne 137 ] || killed=$((killed + 1))
done
there=$(find disturbed/output -name '*.pfm' | wc -l)
start disturbed --resume "$@"
wait "$pid" || { cat err >&2; exit 1; }
diff -rq undisturbed disturbed
echo "$frames frames, killed $killed times of $kills, $there frames were there before the last run: the same files"
awk 'function most(row) { return m[row, 1] + 0 " KiB, " m[row, 2] + 0 " descriptors, " m[row, 3] + 0 " threads" }
     { late = NR > kills / 2; for (k = 1; k <= 3; ++k) if ($k > m[late, k]) m[late, k] = $k }
     END { print "at the most, in the first half of the kills: " most(0) "; in the second: " most(1) }' kills="$killed" takes
