#!/bin/bash
# Kills the command on a sequence at random times, again and again, and ends with --resume: what is there then are the files of an
# undisturbed run, no more and no less.
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
  "$command" synth -o "scene$i" --width 150 --height 110 --disparities 24 --seed "$i" > /dev/null
done
for ((i = 0; i < frames; ++i)); do
  name=$(printf %05d.png "$i")
  ln "scene$((i % 3))/left.png" "left/$name"
  ln "scene$((i % 3))/right.png" "right/$name"
done

# run FOLDER OPTION…
run() {
  local to=$1
  shift
  "$command" match left right --disparities 24 -o "$to/disparity/%05d.pfm" --validity "$to/validity/%05d.png" \
    --confidence "$to/confidence/%05d.npy" "$@" > /dev/null 2> err
}
for to in undisturbed disturbed; do mkdir -p $to/{disparity,validity,confidence}; done

start=$(date +%s%N)
run undisturbed "$@"
ms=$((($(date +%s%N) - start) / 1000000))
killed=0
for ((i = 0; i < kills; ++i)); do
  run disturbed --resume "$@" &
  pid=$!
  wait_ms=$((RANDOM % (ms + 1)))
  sleep "$((wait_ms / 1000)).$(printf %03d $((wait_ms % 1000)))"
  # The shell of run() waits for the command, which is what dies.
  child=$(pgrep -P $pid || true)
  if [ -n "$child" ] && kill -KILL "$child" 2> /dev/null; then killed=$((killed + 1)); fi
  wait $pid 2> /dev/null || true
done
there=$(find disturbed/disparity -name '*.pfm' | wc -l)
run disturbed --resume "$@" || { cat err >&2; exit 1; }
diff -rq undisturbed disturbed
echo "$frames frames, killed $killed times of $kills, $there frames were there before the last run: the same files"
