// Disparities that are known beforehand, as a term of the costs. The sum over the paths then decides between the seeds
// and the images: seeds that contradict their surroundings lose. The stage is our own.
//
//   T(p, d) = ⌊weight W(p) min(|16 (d − min) − V(p)|, 64) / 16384⌋
//   C'(p, d) = max(C(p, d), min(C(p, d) + T(p, d), 210))
//
// V and W are those of stages/prior: the disparity in sixteenths of a pixel from the lowest one, and the weight of the
// pixel, 0 to 255. The term grows over 4 pixels to about `weight`, in units of the costs, and is then constant, so that
// a seed that is wrong costs no more than this. A pixel may have a further seed, whose term is then added to C'. With
// sums up to 210, the optimisation keeps its fastest kernels.
//
// Input: the image `prior`, and perhaps a second one of the same form. Input and output, in place: a volume of 8-bit
// costs.
// Required input: the pixel alone.
// Cost: 5 operations per cell of pixels with a seed; reads and writes these pixels of the volume.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/parameters.hpp"
#include "device/gpu/view.hpp"
#include "stereopsis/image.hpp"

namespace stereopsis {
class Threads;
}

namespace stereopsis::seeds {

inline constexpr int most_sum = 210;
inline constexpr int width = 64;  // half the width of the term, in sixteenths of a pixel

struct Parameters {
  static constexpr const char* stage = "seeds";
  int weight = 76;
  bool check = true;

  static void describe(auto& p, auto&& visit) {
    visit("weight", p.weight, between(0, 255).in("costs").planned(), "largest cost that a seed adds to a candidate");
    visit(
        "check", p.check, any,
        "compare the images once more where a seed acts, so that pixels that only a seed supports count as filled; off "
        "for a part whose maps are refined later");
  }
};

// Returns the largest sum for costs up to `before`.
inline double largest(const Parameters& p, double before) {
  return std::max(before, std::min<double>(before + p.weight, most_sum));
}

// The further prior may be empty.
void oracle(const Parameters&, ImageView<const std::uint32_t> prior, ImageView<const std::uint32_t> further,
            VolumeView<std::uint8_t> costs);
void cpu(const Parameters&, ImageView<const std::uint32_t> prior, ImageView<const std::uint32_t> further,
         VolumeView<std::uint8_t> costs, Threads&);
void gpu(const Parameters&, gpu::View<const std::uint32_t> prior, gpu::View<const std::uint32_t> further,
         gpu::Volume<std::uint8_t> costs, gpu::Queue&);

}  // namespace stereopsis::seeds
