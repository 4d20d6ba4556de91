// The matching cost of two prepared colours, as colours.hpp defines it.
#ifndef STEREOPSIS_COLOURS_CL_H
#define STEREOPSIS_COLOURS_CL_H

FUNCTION uint colour_difference(uint a, uint b) {
#ifdef __CUDA_ARCH__
  return __vsadu4(a, b);
#elif defined(__CUDACC__)
  return 0;  // the host's pass, which runs nothing
#else
  const uchar4 difference = abs_diff(as_uchar4(a), as_uchar4(b));
  return (uint)difference.x + difference.y + difference.z + difference.w;
#endif
}

#endif
