#!/usr/bin/env bash
# Builds and tests in a fresh Debian, in build/SUITE: tests/systems/debian.sh SUITE [NAME], as trixie. Records the run under NAME
# (default: SUITE). Requires root and debootstrap.
set -euo pipefail
cd "$(dirname "$0")/../.."
suite=${1:?name a suite of Debian, as trixie}
root=${STEREOPSIS_CHROOTS:-$PWD/build}/$suite
if [ "${STEREOPSIS_UNSHARED:-}" != yes ]; then exec env STEREOPSIS_UNSHARED=yes unshare --mount "$0" "$@"; fi

if [ ! -e "$root/root/ready" ]; then
  script=/usr/share/debootstrap/scripts/$suite
  [ -e "$script" ] || script=/usr/share/debootstrap/scripts/sid  # a suite that is newer than debootstrap
  debootstrap --variant=minbase "$suite" "$root" "${STEREOPSIS_DEBIAN_MIRROR:-http://deb.debian.org/debian}" "$script" >/dev/null
  echo 'Acquire::Check-Valid-Until "false";' >"$root/etc/apt/apt.conf.d/90stereopsis"  # a mirror may be old
  touch "$root/root/ready"
fi
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"  # the CPU driver of OpenCL looks for the processors there
mount --rbind /dev "$root/dev"
cp /etc/resolv.conf "$root/etc/resolv.conf"
chroot "$root" sh -c 'apt-get update -qq && apt-get install -y -qq --no-install-recommends git ca-certificates g++ >/dev/null'
rm -rf "$root/root/stereopsis"
git clone -q . "$root/root/stereopsis"
tests/systems/record.py "${2:-$suite}" --root "$root" -- bash -c './dev demo && tests/systems/selection.sh build/release'
