#!/usr/bin/env bash
# Makes build/aarch64-sysroot: what Debian's packages for arm64 contain that a build for AArch64 needs. They are unpacked and
# not installed, so that this system's own packages stay as they are. `./dev build aarch64` calls it. Arguments: further packages.
set -euo pipefail
cd "$(dirname "$0")/../.."

packages=(libstdc++-12-dev libhwy-dev libtbb-dev libpng-dev libjpeg-dev libtiff-dev libwebp-dev libopenjp2-7-dev libyaml-cpp-dev
          libpugixml-dev libfmt-dev libgtest-dev libzstd-dev libcli11-dev nlohmann-json3-dev opencl-headers "$@")
sysroot=$PWD/build/aarch64-sysroot
apt=$sysroot/var/apt

complete=yes
for package in "${packages[@]}"; do grep -qsx "$package" "$apt/complete" || complete=no; done
[ $complete = no ] || exit 0
rm -rf "$sysroot" && mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
: >"$apt/status"
echo "deb [arch=arm64] http://deb.debian.org/debian bookworm main" >"$apt/sources.list"
options=(-qq -o "Dir::Etc::SourceList=$apt/sources.list" -o Dir::Etc::SourceParts=/dev/null -o "Dir::State::Lists=$apt/lists"
         -o "Dir::State::status=$apt/status" -o "Dir::Cache=$apt/cache" -o APT::Sandbox::User=root
         -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o Debug::NoLocking=1)
apt-get "${options[@]}" update
apt-get "${options[@]}" -y --no-install-recommends --download-only install "${packages[@]}" >/dev/null
mkdir "$apt/files"  # which package a file is of: python/notices.py reads it
for package in "$apt"/cache/archives/*.deb; do
  dpkg-deb -X "$package" "$sysroot" | sed 's|^\./|/|' >"$apt/files/$(dpkg-deb -f "$package" Package)"
done
rm -rf "$apt/cache" "$apt/lists"
printf '%s\n' "${packages[@]}" >"$apt/complete"
