#!/usr/bin/env bash
# Builds the release's sources and wheel twice, in clones in different folders and with different times of files, and compares the
# bytes: reproducible.sh [sources]. With `sources`, it builds only the archive and the source distribution (a minute). The wheel
# has no CUDA kernels, because nvcc writes a hash of the folder into the names of their functions.
set -euo pipefail
cd "$(dirname "$0")/../.."
repository=$PWD work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH CCACHE_DISABLE=1  # a cache would hide that the folders differ

made() {
  local folder=$work/$1
  git clone -q "$repository" "$folder"
  find "$folder" -not -path '*/.git*' -type f -exec touch -d "$2" {} +
  cd "$folder"
  mkdir "$folder.out"
  git archive --format=tar.gz --prefix=stereopsis/ -o "$folder.out/sources.tar.gz" HEAD
  if [ "$3" = sources ]; then
    [ -d "$work/venv" ] || python3 -m venv "$work/venv"
    "$work/venv/bin/pip" install -q --disable-pip-version-check build scikit-build-core
    "$work/venv/bin/python" -m build --no-isolation --skip-dependency-check --sdist -o "$folder.out" . >/dev/null
  else
    STEREOPSIS_KERNELS=none ./dev wheel >/dev/null
    cp dist/*.whl "$folder.out/"
  fi
  (cd "$folder.out" && sha256sum -- *) | tee "$work/$1.sums"
}

(made first 2020-01-01 "${1:-all}")
(made another/folder/with/a/longer/name 2026-02-03 "${1:-all}")
cmp "$work/first.sums" "$work/another/folder/with/a/longer/name.sums" || { echo "the two builds differ" >&2; exit 1; }
echo "two builds in different folders have the same bytes"
