// The matching cost of two prepared colours, as colours.hpp defines it. Each instance of a kernel includes this file,
// so that there is no include guard.
FUNCTION uint colour_difference(uint a, uint b) {
#ifdef __CUDA_ARCH__
  return __vsadu4(a, b);
#elif defined(__CUDACC__)
  return 0;  // this is the host pass of the compiler, whose code never runs
#elif NVIDIA_CAPABILITY >= 30
  uint result;
  asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(0));
  return result;
#else
  const uchar4 difference = abs_diff(as_uchar4(a), as_uchar4(b));
  return (uint)difference.x + difference.y + difference.z + difference.w;
#endif
}
