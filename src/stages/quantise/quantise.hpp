// Converts a volume of costs to 8-bit integers, for stages that support no other costs: sums along paths, support
// weights.
//
//   q(p, d) = min(⌊ s · max(C(p, d), 0) + 0.5 ⌋, 255)
//
// with both operations rounded to float. NaN becomes 255, as does 65535 in 16 bits; both mark absent candidates. The
// scale s is a parameter. If it is 0, s is computed from the known range of the costs, never from an image, so that
// stripes, regions and frames agree. Let L be the largest possible cost, in units of 1/u of the image's costs (u = 128
// for support weights). Then s is
//
//   1/u if L ≤ 255 u, so that penalties keep their meaning, else 255 / L; and 255 / L for real numbers from outside
//
// Input: costs of 8 or 16 bits or float (8-bit costs with the scale 1 are copied). Output: 8 bits.
// Required input: the pixel alone. Reads and writes each cell once.
#pragma once

#include "stages/shared/stage.hpp"

namespace stereopsis::quantise {

struct Parameters {
  static constexpr const char* stage = "quantise";
  double scale = 0;

  static void describe(auto& p, auto&& visit) {
    visit("scale", p.scale, between(0, 1e6),
          "8-bit units of a cost of 1; 0: the largest factor with which the largest possible cost is at most 255");
  }
};

inline double scale_of(const Parameters& p, double largest, double units = 1, bool fills = false) {
  if (p.scale > 0) return p.scale;
  return largest > 255 * units || fills ? 255 / largest : 1 / units;
}

template <class T>
void oracle(float scale, VolumeView<const T> costs, VolumeView<std::uint8_t> quantised);
template <class T>
void cpu(float scale, VolumeView<const T> costs, VolumeView<std::uint8_t> quantised, Threads&);
template <class T>
void gpu(float scale, gpu::Volume<const T> costs, gpu::Volume<std::uint8_t> quantised, gpu::Queue&);

#define STEREOPSIS_FOR_EACH_QUANTISED(INSTANCE) INSTANCE(std::uint8_t) INSTANCE(std::uint16_t) INSTANCE(float)

}  // namespace stereopsis::quantise
