// Adaptive support weights, as support_weight.hpp defines them. There is no include guard, because each instance of a
// kernel includes this file.

typedef struct {
  ushort of[256];
} Weights;

FUNCTION int square(int v) { return v * v; }

// Returns ⌊√n⌋ for n < 2²². The estimate is off by at most one, whatever the accuracy of the root.
FUNCTION int root(int n) {
  int r = (int)sqrt((float)n);
  r -= r * r > n;
  r += (r + 1) * (r + 1) <= n;
  return r;
}

FUNCTION int colour_distance(uint p, uint q) {
  return root(square((int)(p & 1023u) - (int)(q & 1023u)) + square((int)(p >> 10 & 1023u) - (int)(q >> 10 & 1023u)) +
              square((int)(p >> 20 & 1023u) - (int)(q >> 20 & 1023u)));
}

// Returns the index into the table of weights.
FUNCTION int exponent(int colour_scale, int colour_distance, int distance_part) {
  return min(255, (colour_scale * colour_distance + distance_part + 32768) >> 16);
}

FUNCTION int in_8_bits(int weight) { return min(255, (weight + 128) >> 8); }

