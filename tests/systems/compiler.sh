#!/usr/bin/env bash
# Builds with another compiler and with the CMake and the oneTBB of Ubuntu 22.04 (3.22 and 2021, from PyPI), and runs a
# selection of the tests: tests/systems/compiler.sh g++-11|clang++-14 [OPTIONS of CMake].
set -euo pipefail
cd "$(dirname "$0")/../.."
compiler=${1:?name a compiler: g++-11 or clang++-14}
venv=$PWD/build/systems-venv
build=build/$compiler

if [ ! -x "$venv/bin/cmake" ]; then
  python3 -m venv "$venv"
  "$venv/bin/pip" install -q --disable-pip-version-check 'cmake==3.22.*' 'tbb-devel==2021.*'
fi
"$venv/bin/cmake" --version | head -n 1
"$compiler" --version | head -n 1
# This CMake reads the presets. GPU code is left out, because nvcc chooses a host compiler of its own.
"$venv/bin/cmake" --preset release -B "$build" -Wno-dev "-DCMAKE_CXX_COMPILER=$compiler" "-DTBB_DIR=$venv/lib/cmake/tbb" \
  -DSTEREOPSIS_CUDA=OFF -DSTEREOPSIS_PEERS=OFF -DSTEREOPSIS_OPENCV=OFF "${@:2}" >"$build.log" || { cat "$build.log"; exit 1; }
tests/systems/selection.sh "$build" "$venv/bin/cmake"
