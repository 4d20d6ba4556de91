#!/usr/bin/env bash
# Installs a wheel for AArch64 into Debian's Python for arm64 under QEMU, and runs a selection of the package's tests there:
# tests/cross/aarch64_wheel_test.sh WHEEL. `./dev wheel-aarch64` makes the wheel. No GPU runs its kernels: the code for CUDA calls the
# driver that is made for tests, whose kernels do nothing. Tests are left out that start Python again, which would be of this
# processor, or that call ten thousand times, which takes minutes under QEMU and measures QEMU's memory.
set -euo pipefail
cd "$(dirname "$0")/../.."
wheel=${1:?name a wheel for AArch64}
root=$PWD/build/aarch64-sysroot
made=$PWD/build/wheels-aarch64
site=$made/site
emulated=(qemu-aarch64 -L "$root")
python=("${emulated[@]}" "$root/usr/bin/python3.11")

rm -rf "$site"
"${python[@]}" -m pip install -q --disable-pip-version-check --no-compile --target "$site" numpy pytest "$wheel"
export PYTHONPATH=$site PYTHONDONTWRITEBYTECODE=1

printf '#!/bin/sh\nexec qemu-aarch64 -L %s %s "$@"\n' "$root" "$site/stereopsis/bin/stereopsis" >"$made/stereopsis"
chmod +x "$made/stereopsis"
"$made/stereopsis" --version

# On the driver for tests, the command unpacks the code for CUDA that the wheel has, and calls its kernels, which do nothing.
mkdir -p "$made/fake"
aarch64-linux-gnu-g++ "--sysroot=$root" -std=c++20 -O1 -shared -fPIC -Isrc tests/support/fake_cuda.cpp -o "$made/fake/libcuda.so.1"
"$made/stereopsis" synth -o "$made/scene" --width 96 --height 64 --disparities 16
QEMU_SET_ENV=LD_LIBRARY_PATH=$made/fake "$made/stereopsis" match "$made"/scene/{left,right}.png -o "$made/map.pfm" --disparities 16 --device cuda
STEREOPSIS_COMMAND=$made/stereopsis "${python[@]}" -m pytest -q -rs -p no:cacheprovider python/tests/test_arrays.py python/tests/test_command.py \
  python/tests/test_matcher.py python/tests/test_results.py -k 'not spawned and not ten_thousand'
