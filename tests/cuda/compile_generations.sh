#!/usr/bin/env bash
# Compiles the tuned CUDA kernels to machine code for generations of GPUs on which they have not been run, so that code that
# such a GPU lacks is found. One variant of each file is compiled, without optimisation, and with `long` as it is on Windows, also the
# portable kernels whose words have 64 and 128 bits.
set -euo pipefail
cd "$(dirname "$0")/../.."

nvcc=$(command -v nvcc || echo "${CUDA_PATH:-/usr/local/cuda}/bin/nvcc")
generations=(100 110 120)
how=(-fatbin -fmad=false -DSTEREOPSIS_LONG_IS_LONG_LONG -Isrc -std=c++20 -o /dev/null)
if "$nvcc" --help | grep -q Ofast-compile; then how+=(--Ofast-compile=max); fi
for generation in "${generations[@]}"; do how+=(-gencode "arch=compute_$generation,code=sm_$generation"); done

portable=build/cuda-check/cost_volume.cu
mkdir -p build/cuda-check
cmake -D MODE=cuda -D OUT=$portable -D "SRC=$PWD/src" -D FILES=stages/cost_volume/cost_volume.cl -P cmake/StereopsisKernels.cmake

for file in $portable src/*/*/*_cuda.cu; do
  constants=$(sed -n 's|^// variant [^:]*: *||p' "$file" | head -n 1)
  printf '%s\n' "${constants:+-D${constants// / -D}} $file"
done | xargs -P "$(nproc)" -L 1 "$nvcc" "${how[@]}"
echo "The tuned CUDA kernels compile for compute capability 10.0, 11.0 and 12.0; no kernel was run."
