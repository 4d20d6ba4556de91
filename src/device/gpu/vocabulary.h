// The vocabulary of portable kernels: common names for the features that OpenCL C 1.2 and CUDA C++ share.
//
// KERNEL(name)(arguments) { … } defines a kernel. The build defines INSTANCE, which distinguishes the instances of the
// kernel. FUNCTION starts a helper. LOCAL declares work-group memory in the outermost scope of a kernel; LOCAL_POINTER
// and GLOBAL qualify pointers. Integers have the same widths in both languages: long and ulong have 64 bits. A kernel
// checks that its work-item is inside the image, in y even if the number of groups divides evenly.
#ifndef STEREOPSIS_VOCABULARY_H
#define STEREOPSIS_VOCABULARY_H

#ifdef __CUDACC__

#define JOINED_(a, b) a##_##b
#define JOINED(a, b) JOINED_(a, b)
#define KERNEL(name) extern "C" __global__ void JOINED(name, INSTANCE)
#define FUNCTION static __device__ __forceinline__
#define GLOBAL
#define LOCAL __shared__
#define LOCAL_POINTER
#define BARRIER() __syncthreads()

// CUDA has the host's integers, and Windows' long has 32 bits. The headers that kernels include come before the macro, as
// they say long themselves. tests/cuda/compile_generations.sh compiles kernels in this way on other systems.
#if defined(_WIN32) || defined(STEREOPSIS_LONG_IS_LONG_LONG)
#include <cuda_fp16.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#define long long long
#define ulong unsigned long
#define ulong2 ulonglong2
#else
typedef unsigned long ulong;
#endif
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
static_assert(sizeof(long) == 8 && sizeof(ulong) == 8, "kernels need 64-bit long");

// Groups in y beyond the limit of the grid continue in z, where the last groups may exceed the requested count.
FUNCTION int group_id(int axis) { return axis == 0 ? blockIdx.x : blockIdx.z * gridDim.y + blockIdx.y; }
FUNCTION int local_id(int axis) { return axis == 0 ? threadIdx.x : threadIdx.y; }
FUNCTION int local_size(int axis) { return axis == 0 ? blockDim.x : blockDim.y; }
FUNCTION int popcount(uint v) { return __popc(v); }
FUNCTION int popcount(ulong v) { return __popcll(v); }
FUNCTION int clamp(int v, int low, int high) { return min(max(v, low), high); }
FUNCTION float float_of_bits(uint bits) { return __uint_as_float(bits); }
FUNCTION uint bits_of_float(float v) { return __float_as_uint(v); }
#define atomic_min(pointer, value) atomicMin(pointer, value)
#define atomic_add(pointer, value) atomicAdd(pointer, value)
#define ROUNDED_DIVISION

#else

#pragma OPENCL FP_CONTRACT OFF
#define KERNEL(name) __kernel void name
#define FUNCTION static
#define GLOBAL __global
#define LOCAL __local
#define LOCAL_POINTER __local
#define BARRIER() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

#define group_id(axis) ((int)get_group_id(axis))
#define local_id(axis) ((int)get_local_id(axis))
#define local_size(axis) ((int)get_local_size(axis))
#define float_of_bits(bits) as_float((uint)(bits))
#define bits_of_float(v) as_uint((float)(v))

#endif

FUNCTION int global_id(int axis) { return group_id(axis) * local_size(axis) + local_id(axis); }

// The only NaN that disparity images contain.
#define INVALID float_of_bits(0x7FC00000)
// Reads memory that other work-items may have just written.
#define FRESH(type, pointer) (*(volatile GLOBAL type*)(pointer))

// Passes an image as an argument: IMAGE(const uchar, grey) is read as PIXEL(grey, x, y). An absent image has a null
// pointer.
typedef struct {
  long offset, pitch;
  int width, height;
} Layout;
#define IMAGE(type, name) GLOBAL type *name, Layout name##_layout
#define PIXEL(name, x, y) name[name##_layout.offset + (y) * name##_layout.pitch + (x)]
#define WIDTH(name) name##_layout.width
#define HEIGHT(name) name##_layout.height
#define GIVEN(name) ((name) != 0)

// Passes a run of elements as an argument: ARRAY(int, labels) is read as ELEMENT(labels, i).
#define ARRAY(type, name) GLOBAL type *name, long name##_offset
#define ELEMENTS(name) ((name) + name##_offset)

// Returns a / b, rounded to the nearest float, for |a| and |b| below 2²⁴ and b other than 0.
FUNCTION float quotient(int a, int b) {
#ifdef ROUNDED_DIVISION
  return (float)a / (float)b;
#else
  // Long division yields at least 40 bits, the lowest of which is sticky, so that a single rounding is exact.
  if (a == 0) return 0.0f;
  const ulong dividend = (ulong)abs(a), divisor = (ulong)abs(b);
  const int shift = (int)clz(dividend);
  ulong q = (dividend << shift) / divisor;
  q |= (ulong)(q * divisor != dividend << shift);
  const float magnitude = ldexp(convert_float_rte(q), -shift);
  return (a < 0) != (b < 0) ? -magnitude : magnitude;
#endif
}

// Returns 1 / √v, both operations rounded to the nearest float, for a normal v > 0.
FUNCTION float inverse_root(float v) {
#ifdef ROUNDED_DIVISION
  return 1.0f / sqrt(v);
#else
  // The square root of an integer of 47 or 48 bits has 24 bits; the remainder decides the rounding.
  int exponent;
  const float fraction = frexp(v, &exponent);
  const int shift = (exponent & 1) != 0 ? 23 : 24;
  const ulong square = (ulong)(fraction * 16777216.0f) << shift;
  ulong root = (ulong)sqrt((float)square);
  while (root * root > square) --root;
  while ((root + 1) * (root + 1) <= square) ++root;
  root += (ulong)(square - root * root > root);
  return ldexp(quotient(1, (int)root), -((exponent - 24 - shift) / 2));
#endif
}

// Returns a / b, rounded to the nearest float, if that is a normal number or 0.
FUNCTION float divide(float a, float b) {
#ifdef ROUNDED_DIVISION
  return a / b;
#else
  int exponent_a, exponent_b;  // exponents of significands that are integers below 2²⁴
  const float significand_a = ldexp(frexp(a, &exponent_a), 24), significand_b = ldexp(frexp(b, &exponent_b), 24);
  return ldexp(quotient((int)significand_a, (int)significand_b), exponent_a - exponent_b);
#endif
}

FUNCTION int nearest_int(float value) {
#ifdef __CUDACC__
  return __float2int_rn(value);
#else
  return convert_int_rte(value);
#endif
}

#endif
