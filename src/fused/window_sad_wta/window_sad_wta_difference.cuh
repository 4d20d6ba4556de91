// The matching cost of two prepared colours for both tuned kernels of window matching.
#pragma once

namespace stereopsis::window_sad_wta {

// Returns sum + Σ |a − b| over four bytes, with one instruction.
__device__ inline unsigned add_difference(unsigned a, unsigned b, unsigned sum) {
  asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(sum));
  return sum;
}

}  // namespace stereopsis::window_sad_wta
