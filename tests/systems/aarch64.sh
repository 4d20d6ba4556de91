#!/usr/bin/env bash
# Cross-compiles for AArch64 and runs a selection of the tests under QEMU, in less than four minutes on two cores: the C interface
# and some stages, the networks on a processor with dot products of bytes and on one without. There is one SIMD target, and the
# compiler optimises little. ./dev test aarch64 runs all tests of stages, methods, the C interface and the command.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=build/aarch64-selection
tests=(census_test learned_features_test learned_confidence_test wta_test c_test)
cmake --preset aarch64 -B "$build" -Wno-dev -DSTEREOPSIS_SIMD_TARGETS=static \
  "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG" >/dev/null
cmake --build "$build" --target random_calls "${tests[@]}"

emulated=(qemu-aarch64 -L "$PWD/build/aarch64-sysroot")
run() { "${emulated[@]}" "$build/bin/$1" --gtest_brief=1; }
for test in "${tests[@]}"; do run "$test"; done
for test in learned_features_test learned_confidence_test; do QEMU_CPU=cortex-a72 run "$test"; done
"${emulated[@]}" "$build/bin/random_calls" --seconds 10
