// Kernels that measure a device's peak arithmetic rates (roofs.hpp). Each work-item runs eight independent chains of
// instructions.
//
// instance any:
#include "device/gpu/vocabulary.h"

#define CHAINS 8
#define STEPS 256
#define LOOP                            \
  for (int step = 0; step < STEPS; ++step) \
    for (int i = 0; i < CHAINS; ++i)

#ifdef __CUDACC__
#define PACKED uint
#define PACK(v) (v)
#define ADD_MIN(a, b, c) __viaddmin_u16x2(a, b, c)
#define UNPACK(v) (v)
#else
#define PACKED ushort2
#define PACK(v) as_ushort2((uint)(v))
#define ADD_MIN(a, b, c) min((a) + (b), c)
#define UNPACK(v) as_uint(v)
#endif

// Additions and minima of two 16-bit lanes, as in the path costs of semi-global matching.
KERNEL(path_operations)(ARRAY(uint, out), int seed) {
  PACKED v[CHAINS];
  for (int i = 0; i < CHAINS; ++i) v[i] = PACK((uint)(global_id(0) * 8 + i));
  const PACKED step_by = PACK((uint)seed * 65537u), limit = PACK((uint)seed * 131074u + 7u);
  LOOP v[i] = ADD_MIN(v[i], step_by, limit);
  uint sum = 0;
  for (int i = 0; i < CHAINS; ++i) sum ^= UNPACK(v[i]);
  ELEMENTS(out)[global_id(0)] = sum;
}

// Bit counts of 32-bit words.
KERNEL(popcounts)(ARRAY(uint, out), int seed) {
  uint v[CHAINS];
  for (int i = 0; i < CHAINS; ++i) v[i] = (uint)(global_id(0) * 8 + i);
  LOOP v[i] = (uint)popcount(v[i] ^ (uint)seed) * 77u + v[i];
  uint sum = 0;
  for (int i = 0; i < CHAINS; ++i) sum ^= v[i];
  ELEMENTS(out)[global_id(0)] = sum;
}

// Additions and minima of 32-bit integers.
KERNEL(operations)(ARRAY(uint, out), int seed) {
  int v[CHAINS];
  for (int i = 0; i < CHAINS; ++i) v[i] = global_id(0) * 8 + i;
  LOOP v[i] = min(v[i] + seed, (v[i] ^ i) + step);
  uint sum = 0;
  for (int i = 0; i < CHAINS; ++i) sum ^= (uint)v[i];
  ELEMENTS(out)[global_id(0)] = sum;
}
