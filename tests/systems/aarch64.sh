#!/usr/bin/env bash
# Cross-compiles for AArch64 and runs a selection of the tests under QEMU, in a few minutes: the C interface and some stages, the
# networks on a processor with dot products of bytes and on one without. ./dev test aarch64 runs all stages, methods, the C
# interface and the command.
set -euo pipefail
cd "$(dirname "$0")/../.."
cmake --preset aarch64 -Wno-dev >/dev/null
cmake --build --preset aarch64 --target stages_test c_test random_calls
rm -rf build/aarch64/test-results && mkdir build/aarch64/test-results
ctest --preset aarch64 --output-junit test-results/ctest.xml -R '^c\.|^stages\.(census$|cost_volume|learned_features|learned_confidence|rank|wta|zncc$)'
./dev summary aarch64
