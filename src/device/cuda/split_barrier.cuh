// A block-wide barrier in two parts, for tuned kernels: threads arrive, continue, and wait for each other later.
#pragma once

#include <cstdint>

namespace stereopsis {

// A barrier at which every thread alternates arrive() and wait(). One lane must not arrive for its whole warp, because
// the racecheck of compute-sanitizer would not see that the barrier orders the accesses of the other lanes.
class SplitBarrier {
 public:
  // Initialises the barrier, which must lie in shared memory. The caller calls __syncthreads() afterwards.
  __device__ __forceinline__ void start(std::uint64_t& barrier, int threads) {
    at_ = static_cast<std::uint32_t>(__cvta_generic_to_shared(&barrier));
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at_), "r"(threads) : "memory");
  }
  __device__ __forceinline__ void arrive() const {
    asm volatile("{ .reg .b64 state;\n\tmbarrier.arrive.shared.b64 state, [%0]; }" ::"r"(at_) : "memory");
  }
  // Waits until all threads have arrived `times` + 1 times. The calling thread must not have arrived more often than
  // the other threads.
  __device__ __forceinline__ void wait(std::uint32_t times) const {
    while (!all_arrived(times % 2)) {
    }
  }

 private:
  __device__ __forceinline__ bool all_arrived(std::uint32_t parity) const {
    std::uint32_t arrived;
#if __CUDA_ARCH__ >= 900
    asm volatile("{ .reg .pred p;\n\tmbarrier.try_wait.parity.shared.b64 p, [%1], %2;\n\tselp.u32 %0, 1, 0, p; }"
                 : "=r"(arrived)
                 : "r"(at_), "r"(parity)
                 : "memory");
#else
    asm volatile("{ .reg .pred p;\n\tmbarrier.test_wait.parity.shared.b64 p, [%1], %2;\n\tselp.u32 %0, 1, 0, p; }"
                 : "=r"(arrived)
                 : "r"(at_), "r"(parity)
                 : "memory");
#endif
    return arrived != 0;
  }

  std::uint32_t at_;
};

}  // namespace stereopsis
