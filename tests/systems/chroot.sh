#!/usr/bin/env bash
# Builds and tests in a fresh Debian or Ubuntu, in build/SUITE: tests/systems/chroot.sh SUITE [NAME [--compiler COMPILER] [COMMAND…]],
# as trixie or jammy. Records the run under NAME (default: SUITE), with the version of COMPILER (default: g++), which is
# installed. The default command is the demo and a selection of the tests. With the suite sid, the packages of OpenCV are those of
# experimental. STEREOPSIS_FRESH=yes makes the system again. Requires root and debootstrap.
set -euo pipefail
cd "$(dirname "$0")/../.."
suite=${1:?name a suite of Debian or Ubuntu, as trixie or jammy}
root=${STEREOPSIS_CHROOTS:-$PWD/build}/$suite
if [ "${STEREOPSIS_UNSHARED:-}" != yes ]; then exec env STEREOPSIS_UNSHARED=yes unshare --mount "$0" "$@"; fi

mirror=${STEREOPSIS_DEBIAN_MIRROR:-http://deb.debian.org/debian} options=() newest=sid
case $suite in jammy | noble | resolute)
  mirror=${STEREOPSIS_UBUNTU_MIRROR:-http://archive.ubuntu.com/ubuntu}
  options=(--components=main,universe --no-check-gpg) newest=gutsy ;;  # Debian has no package of Ubuntu's keys
esac
[ "${STEREOPSIS_FRESH:-}" != yes ] || rm -rf --one-file-system "$root"
if [ ! -e "$root/root/ready" ]; then
  script=/usr/share/debootstrap/scripts/$suite
  [ -e "$script" ] || script=/usr/share/debootstrap/scripts/$newest  # a suite that is newer than debootstrap
  debootstrap --variant=minbase "${options[@]}" "$suite" "$root" "$mirror" "$script" >/dev/null
  echo 'Acquire::Check-Valid-Until "false";' >"$root/etc/apt/apt.conf.d/90stereopsis"  # a mirror may be old
  touch "$root/root/ready"
fi
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"  # the CPU driver of OpenCL looks for the processors there
mount --rbind /dev "$root/dev"
cp /etc/resolv.conf "$root/etc/resolv.conf"
chroot "$root" sh -c 'apt-get update -qq && apt-get install -y -qq --no-install-recommends git ca-certificates g++ >/dev/null'
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"  # this machine may reach PyPI through a proxy with its own authority
if [ "$suite" = sid ]; then
  echo "deb $mirror experimental main" >"$root/etc/apt/sources.list.d/experimental.list"
  chroot "$root" sh -c 'apt-get update -qq && apt-get install -y -qq --no-install-recommends cmake ninja-build pkg-config libpng-dev \
    libjpeg-dev libtiff-dev libcli11-dev nlohmann-json3-dev libyaml-cpp-dev libpugixml-dev libfmt-dev libgtest-dev >/dev/null &&
    apt-get install -y -qq --no-install-recommends -t experimental libopencv-dev >/dev/null'
fi
library=()
[ "$suite" != sid ] || library=(--with "OpenCV $(chroot "$root" dpkg-query -W -f='${Version}' libopencv-dev | sed 's/+.*//')")
rm -rf "$root/root/stereopsis"
git clone -q . "$root/root/stereopsis"
name=${2:-$suite} compiler=g++
shift $(($# < 2 ? $# : 2))
if [ "${1:-}" = --compiler ]; then
  compiler=$2
  shift 2
  chroot "$root" sh -c "cd /root/stereopsis && ./dev setup ${compiler/clang++/clang}"
fi
[ $# -gt 0 ] || set -- bash -c './dev demo && tests/systems/selection.sh build/release'
tests/systems/record.py "$name" --root "$root" --compiler "$compiler" "${library[@]}" -- "$@"
