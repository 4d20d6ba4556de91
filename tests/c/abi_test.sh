#!/usr/bin/env bash
# Checks that the binary interface has not changed: abi_test.sh LIBRARY SOURCE_FOLDER. After an addition on purpose,
# ./dev abi updates the description.
set -euo pipefail
library=$1 described=$2/src/c/stereopsis.abi
if ! command -v abidiff >/dev/null; then
  echo "skipped: abidiff is not installed (abigail-tools)"
  exit 77
fi
abidiff --headers-dir2 "$2/include" "$described" "$library" || {
  echo "The C interface is not the one that src/c/stereopsis.abi describes. Members may be appended to structs, functions may be added; then ./dev abi" >&2
  exit 1
}
