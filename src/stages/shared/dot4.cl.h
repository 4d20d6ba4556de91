// Dot products of four bytes. There is no include guard, because every instance of a kernel includes this file.
// Returns sum + the dot product of four signed bytes.
FUNCTION int dot4(int a, int b, int sum) {
#ifdef __CUDACC__
  return __dp4a(a, b, sum);
#else
  return sum + (a << 24 >> 24) * (b << 24 >> 24) + (a << 16 >> 24) * (b << 16 >> 24) +
         (a << 8 >> 24) * (b << 8 >> 24) + (a >> 24) * (b >> 24);
#endif
}
