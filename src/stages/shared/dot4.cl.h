// Dot products of four bytes. There is no include guard, because every instance of a kernel includes this file.
// Returns sum + the dot product of four signed bytes.
FUNCTION int dot4(int a, int b, int sum) {
#ifdef __CUDACC__
  return __dp4a(a, b, sum);
#elif NVIDIA_CAPABILITY >= 61
  int result;
  asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
  return result;
#elif defined(__opencl_c_integer_dot_product_input_4x8bit_packed)
  return sum + dot_4x8packed_ss_int((uint)a, (uint)b);
#else
  return sum + (a << 24 >> 24) * (b << 24 >> 24) + (a << 16 >> 24) * (b << 16 >> 24) +
         (a << 8 >> 24) * (b << 8 >> 24) + (a >> 24) * (b >> 24);
#endif
}
