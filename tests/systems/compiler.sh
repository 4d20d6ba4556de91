#!/usr/bin/env bash
# Builds with another compiler, and runs a selection of the tests: tests/systems/compiler.sh [--newest] g++-11|clang++-14 [OPTIONS of
# CMake]. CMake and oneTBB are those of Ubuntu 22.04 (3.22 and 2021, from PyPI), or with --newest those of this system.
set -euo pipefail
cd "$(dirname "$0")/../.."
cmake=cmake options=()
if [ "${1:-}" = --newest ]; then shift; else
  venv=$PWD/build/systems-venv cmake=$PWD/build/systems-venv/bin/cmake options=("-DTBB_DIR=$PWD/build/systems-venv/lib/cmake/tbb")
  if [ ! -x "$cmake" ]; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install -q --disable-pip-version-check 'cmake==3.22.*' 'tbb-devel==2021.*'
  fi
fi
compiler=${1:?name a compiler, as g++-11 or clang++-14}
build=build/$compiler
mkdir -p build
"$cmake" --version | head -n 1
"$compiler" --version | head -n 1
# CMake 3.22 reads the presets. GPU code is left out, because nvcc chooses a host compiler of its own.
"$cmake" --preset release -B "$build" -Wno-dev "-DCMAKE_CXX_COMPILER=$compiler" \
  -DSTEREOPSIS_CUDA=OFF -DSTEREOPSIS_OPENCV=OFF "${options[@]}" "${@:2}" >"$build.log" || { cat "$build.log"; exit 1; }
tests/systems/selection.sh "$build" "$cmake"
