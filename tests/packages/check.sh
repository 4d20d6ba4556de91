#!/usr/bin/env bash
# Installs the Debian packages of a folder in a fresh Debian 12 and uses them: check.sh FOLDER. Requires root, or a
# system where a user may unshare.
set -euo pipefail
source=$(realpath "$(dirname "$0")/../..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
mkdir "$work/stereopsis"
cp "$1"/*.deb "$source/README.md" "$source/tests/packages/CMakeLists.txt" "$source/tests/packages/inside.sh" "$work/stereopsis"
mmdebstrap --quiet --variant=minbase --format=null --skip=cleanup/apt \
  --customize-hook="copy-in $work/stereopsis /root" --customize-hook='chroot "$1" /root/stereopsis/inside.sh >&2' \
  bookworm /dev/null "${STEREOPSIS_DEBIAN_MIRROR:-http://deb.debian.org/debian}"
