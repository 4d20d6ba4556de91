#!/usr/bin/env bash
# Writes the binary interface of the C library into src/c/stereopsis.abi, unless programs of the described library would fail with
# this one: abi_update.sh LIBRARY SOURCE_FOLDER. ./dev abi calls it.
set -euo pipefail
described=$2/src/c/stereopsis.abi made=$(mktemp)
trap 'rm -f "$made" "$made.changes"' EXIT
abidw --headers-dir "$2/include" --exported-interfaces-only --drop-undefined-syms --drop-private-types --no-corpus-path \
  --no-comp-dir-path --no-show-locs --no-elf-needed --type-id-style hash "$1" | sed "s#path='$2/#path='../../#" >"$made"
result=0
abidiff --leaf-changes-only --no-show-locs "$described" "$made" >"$made.changes" || result=$?
[ $((result & 3)) -eq 0 ] || { cat "$made.changes"; exit 1; }  # errors of abidiff
# abidiff does not call a moved member or another type of a parameter incompatible. Allowed are functions and members that are added.
allowed="^$| summary: |^'(struct|union|enum) .*' changed:$|^  type size |data member insertions?:$|^    '.*', at offset |Added functions?:$|\[A\] "
if ! grep -q '^SONAME changed' "$made.changes" && grep -qEv "$allowed" "$made.changes"; then
  cat "$made.changes"
  echo "This change of the C interface is incompatible: programs of the released library would fail. Keep the old functions, and" \
    "append members to structs; or raise SOVERSION in src/c/CMakeLists.txt and the name of the package libstereopsis0." >&2
  exit 1
fi
cp "$made" "$described"
