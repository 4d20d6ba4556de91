// What a device's arithmetic reaches at most: roofs.hpp. Eight chains of instructions an item, which need not wait for another.
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

// Additions and minima of 16 bits, two lanes at a time, as the paths of semi-global matching are made of.
KERNEL(path_operations)(ARRAY(uint, out), int seed) {
  PACKED v[CHAINS];
  for (int i = 0; i < CHAINS; ++i) v[i] = PACK((uint)(global_id(0) * 8 + i));
  const PACKED step_by = PACK((uint)seed * 65537u), limit = PACK((uint)seed * 131074u + 7u);
  LOOP v[i] = ADD_MIN(v[i], step_by, limit);
  uint sum = 0;
  for (int i = 0; i < CHAINS; ++i) sum ^= UNPACK(v[i]);
  ELEMENTS(out)[global_id(0)] = sum;
}

// Bits counted in words of 32.
KERNEL(popcounts)(ARRAY(uint, out), int seed) {
  uint v[CHAINS];
  for (int i = 0; i < CHAINS; ++i) v[i] = (uint)(global_id(0) * 8 + i);
  LOOP v[i] = (uint)popcount(v[i] ^ (uint)seed) * 77u + v[i];
  uint sum = 0;
  for (int i = 0; i < CHAINS; ++i) sum ^= v[i];
  ELEMENTS(out)[global_id(0)] = sum;
}

// Additions and minima of 32 bits.
KERNEL(operations)(ARRAY(uint, out), int seed) {
  int v[CHAINS];
  for (int i = 0; i < CHAINS; ++i) v[i] = global_id(0) * 8 + i;
  LOOP v[i] = min(v[i] + seed, (v[i] ^ i) + step);
  uint sum = 0;
  for (int i = 0; i < CHAINS; ++i) sum ^= (uint)v[i];
  ELEMENTS(out)[global_id(0)] = sum;
}
