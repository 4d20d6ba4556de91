// Kernels that start before the previous kernel has ended (gpu::Kernel::early): their blocks are dispatched while the
// last blocks of the previous kernel run, and wait. Before compute capability 9.0, kernels do not start early, and
// these functions do nothing.
#pragma once

namespace stereopsis {

// Returns when all previous kernels are done and their writes are visible. Before this call, an `early` kernel must not
// touch memory that previous kernels still use. At least one of its blocks must call this function before it ends,
// because the next kernel relies on all previous kernels being done.
__device__ __forceinline__ void wait_for_kernels_before() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Once all blocks have called this function or ended, blocks of the next kernel start in the free resources if that
// kernel is `early`.
__device__ __forceinline__ void let_next_kernel_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

}  // namespace stereopsis
