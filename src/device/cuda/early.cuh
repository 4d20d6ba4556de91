// Kernels that start before the one before them has ended (gpu::Kernel::early): their blocks are dispatched, and wait,
// while that one's last blocks run. Before compute capability 9.0 there are none, and nothing to wait for.
#pragma once

namespace stereopsis {

// Returns when all kernels before this one are done and what they wrote can be read. A kernel that is `early` touches no
// memory that they still work on before, and one of its blocks at least calls this before it ends: the kernel after it
// counts on all of them.
__device__ __forceinline__ void wait_for_kernels_before() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Once all blocks have called this, or ended, blocks of the next kernel take what room there is, if it is `early`.
__device__ __forceinline__ void let_next_kernel_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

}  // namespace stereopsis
