#!/usr/bin/env bash
# Builds and tests with other compilers and on other systems, and records each run for docs/support.md: tests/systems/all.sh NAME…
# (default: all names below). Requires root for the chroots. All of them take hours on two cores.
set -euo pipefail
cd "$(dirname "$0")/../.."
record=tests/systems/record.py
wine="Windows (x86_64) by Wine"

run() {
  case $1 in
    gcc-11) ./dev setup g++-11 && $record gcc-11 --compiler g++-11 -- tests/systems/compiler.sh g++-11 ;;
    clang-14) ./dev setup clang-14 && $record clang-14 --compiler clang++-14 -- tests/systems/compiler.sh clang++-14 ;;
    aarch64)
      ./dev setup qemu-user g++-aarch64-linux-gnu
      $record aarch64 --on "Debian 12, aarch64, by QEMU $(qemu-aarch64 --version | sed -n '1s/.*version \([0-9.]*\).*/\1/p')" \
        --compiler aarch64-linux-gnu-g++ -- ./dev test aarch64
      ;;
    aarch64-selection)
      ./dev setup qemu-user g++-aarch64-linux-gnu && tests/cross/aarch64_sysroot.sh
      $record aarch64-selection --on "Debian 12, aarch64, by QEMU $(qemu-aarch64 --version | sed -n '1s/.*version \([0-9.]*\).*/\1/p')" \
        --compiler aarch64-linux-gnu-g++ -- tests/systems/aarch64.sh ;;
    aarch64-wheel)
      ./dev wheel-aarch64
      $record aarch64-wheel --on "Debian 12, aarch64, Python 3.11, by QEMU $(qemu-aarch64 --version | sed -n '1s/.*version \([0-9.]*\).*/\1/p')" \
        --compiler aarch64-linux-gnu-g++ -- tests/cross/aarch64_wheel_test.sh dist/aarch64/*.whl ;;
    python-3.*)  # a wheel for another Python than the system's, which must be on PATH with its headers
      local python=${1/-/} folder=$PWD/build/systems-$1
      mkdir -p "$folder" && ln -sf "$("$python" -c 'import sys; print(sys.executable)')" "$folder/python3"
      PATH=$folder:$PATH ./dev wheel
      PATH=$folder:$PATH $record "$1" --with "$("$python" --version)" -- ./dev wheel-test ;;
    windows)
      ./dev setup wine wine64
      tests/cross/ziglang.sh x86_64-windows-gnu --tools
      $record windows --on "$wine $(wine --version | sed 's/wine-//; s/ .*//')" --compiler build/zig/x86_64-windows-gnu/bin/zig-c++ \
        -- tests/cross/ziglang.sh x86_64-windows-gnu ;;
    clang-libcxx)
      tests/cross/ziglang.sh x86_64-linux-gnu --tools
      local compiler=build/zig/x86_64-linux-gnu/bin/zig-c++
      $record clang-libcxx --compiler $compiler \
        --with "libc++ $($compiler -dM -E -x c++ -include version /dev/null | sed -nE 's/^#define _LIBCPP_VERSION (..)0?(.)0?(.+)/\1.\2.\3/p')" -- tests/cross/ziglang.sh x86_64-linux-gnu ;;
    macos) tests/cross/ziglang.sh aarch64-macos ;;  # nothing runs its programs here, so that it has no row
    debian-13) ./dev setup debootstrap && tests/systems/chroot.sh trixie debian-13 ;;
    debian-14) ./dev setup debootstrap && tests/systems/chroot.sh forky debian-14 ;;
    ubuntu-22.04)  # without its PoCL 1.8, which cannot compile for recent processors of AMD
      ./dev setup debootstrap
      tests/systems/chroot.sh jammy ubuntu-22.04 env OCL_ICD_VENDORS=none bash -c './dev demo && tests/systems/selection.sh build/release' ;;
    ubuntu-24.04) ./dev setup debootstrap && tests/systems/chroot.sh noble ubuntu-24.04 ;;
    gcc-15) ./dev setup debootstrap && tests/systems/chroot.sh forky gcc-15 --compiler g++-15 tests/systems/compiler.sh --newest g++-15 ;;
    gcc-16) ./dev setup debootstrap && tests/systems/chroot.sh forky gcc-16 --compiler g++-16 tests/systems/compiler.sh --newest g++-16 ;;
    clang-21) ./dev setup debootstrap && tests/systems/chroot.sh forky clang-21 --compiler clang++-21 tests/systems/compiler.sh --newest clang++-21 ;;
    opencv-5) ./dev setup debootstrap && tests/systems/chroot.sh sid opencv-5 tests/systems/opencv.sh ;;
    *) echo "all.sh: '$1' is no system; it must be gcc-11, clang-14, aarch64, aarch64-selection, aarch64-wheel, windows, macos, clang-libcxx, debian-13, debian-14, ubuntu-22.04, ubuntu-24.04, gcc-15, gcc-16, clang-21, python-3.10, python-3.12 or opencv-5" >&2; return 2 ;;
  esac
}

[ $# -gt 0 ] || set -- gcc-11 clang-14 aarch64 windows macos clang-libcxx debian-13 debian-14 ubuntu-22.04 ubuntu-24.04 gcc-15 gcc-16 clang-21 opencv-5
for name; do run "$name"; done
python3 docs/systems.py
