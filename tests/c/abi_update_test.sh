#!/usr/bin/env bash
# Checks abi_update.sh with small libraries: abi_update_test.sh COMPILER.
set -euo pipefail
update=$(cd "$(dirname "$0")" && pwd)/abi_update.sh work=$(mktemp -d) failed=0
trap 'rm -rf "$work"' EXIT
command -v abidiff >/dev/null || { echo "skipped: abidiff is not installed (abigail-tools)"; exit 77; }
mkdir -p "$work/include" "$work/src/c"
description=$work/src/c/stereopsis.abi

# Arguments: a command of sed that changes the interface, the SONAME.
library() {
  sed "$1" >"$work/include/small.h" <<'END'
enum kind { KIND_FAST, KIND_SLOW };
struct options { long size; int disparities; enum kind kind; };
struct pair { struct options options; int count; };
int run(const struct options* options, int seed);
int run_all(const struct pair* pair);
void end(void);
END
  { echo '#include "small.h"' && sed -n 's/);/) {}/p' "$work/include/small.h"; } >"$work/small.c"
  "$compiler" -x c -w -g -shared -fPIC -I"$work/include" "-Wl,-soname,${2:-libsmall.so.0}" "$work/small.c" -o "$work/libsmall.so"
}

# Arguments: accepted or refused, and those of library.
expect() {
  local result=accepted changed=accepted
  cp "$work/first.abi" "$description"
  library "${@:2}"
  "$update" "$work/libsmall.so" "$work" >"$work/out" 2>&1 || result=refused
  ! cmp -s "$work/first.abi" "$description" || changed=refused
  if [ "$result $changed" != "$1 $1" ] || { [ "$1" = refused ] && ! grep -q 'raise SOVERSION' "$work/out"; }; then
    echo "'$2' was $result, and must be $1; the description must change only if it is accepted:" && cat "$work/out"
    failed=1
  fi
}

compiler=$1
library ""
abidw "$work/libsmall.so" >"$description"
"$update" "$work/libsmall.so" "$work"
cp "$description" "$work/first.abi"
expect accepted '$a int more(int count);'
expect accepted 's/int count;/int count; double weight;/'
expect accepted 's/KIND_SLOW/KIND_SLOW, KIND_BEST/'
expect refused '/void end/d'
expect refused 's/int seed/long seed/'
expect refused 's/^int run(/long run(/'
expect refused 's/, int seed//'
expect refused 's/int disparities;/int disparities; int first;/'
expect refused 's/int disparities; enum kind kind;/enum kind kind; int disparities;/'
expect refused 's/int disparities/float disparities/'
expect refused 's/enum kind kind;/enum kind kind; int last;/'  # moves a member of pair
expect refused 's/int count;//'
expect refused 's/KIND_FAST, KIND_SLOW/KIND_SLOW, KIND_FAST/'
expect refused 's/, KIND_SLOW//'
expect accepted 's/int disparities/float disparities/' libsmall.so.1
exit "$failed"
