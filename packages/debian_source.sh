#!/usr/bin/env bash
# Builds Debian's source package from the last commit, and its packages, as a build of Debian's archive does:
# debian_source.sh FOLDER [OPTIONS of dpkg-buildpackage]. Requires dpkg-dev, debhelper and the packages of Build-Depends.
set -euo pipefail
sources=$(realpath "$(dirname "$0")/..")
folder=$(realpath -m "$1")
version=$(sed -n 's/^project(stereopsis VERSION \([0-9.]*\).*/\1/p' "$sources/CMakeLists.txt")
maintainer=$("$sources/packages/packager.sh")
tree=$folder/stereopsis-$version
rm -rf "$tree" && mkdir -p "$tree"
git -C "$sources" archive HEAD | tar -x -C "$tree"
cp -rL "$sources/packages/debian" "$tree/debian"
sed -i "s|@PACKAGER@|$maintainer|" "$tree/debian/control"
python3 "$sources/packages/changelog.py" "$sources/CHANGELOG.md" "$version" "$maintainer" "$folder/changelog.gz"
zcat "$folder/changelog.gz" >"$tree/debian/changelog"
cd "$tree"
dpkg-buildpackage --no-sign "${@:2}"
