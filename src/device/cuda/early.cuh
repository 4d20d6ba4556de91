// Functions for kernels that start before the previous kernel has ended (gpu::Kernel::early). The blocks of such a
// kernel are dispatched while the last blocks of the previous kernel run, and then wait. Before compute capability 9.0,
// kernels do not start early, and these functions do nothing.
#pragma once

namespace stereopsis {

// Returns when all previous kernels are done and their writes are visible. Before this call, an `early` kernel must not
// touch memory that previous kernels still use. At least one block of the kernel must call this function before it
// ends, because the next kernel relies on the completion of all previous kernels.
__device__ __forceinline__ void wait_for_kernels_before() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Lets the next kernel start early: when all blocks have called this function or ended, blocks of an `early` next
// kernel start in the free resources.
__device__ __forceinline__ void let_next_kernel_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

}  // namespace stereopsis
