// A toy: pixels farther than a disparity become invalid.
//
//   D(p) stands if D(p) ≥ least; else it is invalid: ambiguous
//
// Input and output, in place: float disparity (NaN where invalid) and validity. Required input: the pixel alone.
#pragma once

#include "core/parameters.hpp"
#include "device/gpu/view.hpp"
#include "stereopsis/disparity.hpp"
#include "stereopsis/image.hpp"

namespace stereopsis {
class Threads;
}

namespace stereopsis::nearest {

struct Parameters {
  static constexpr const char* stage = "nearest";
  double least = 0;

  static void describe(auto& p, auto&& visit) {
    visit("least", p.least, between(-10000, 10000).in("pixels"), "smallest disparity that stands");
  }
};

void oracle(const Parameters&, ImageView<float> disparity, ImageView<std::uint8_t> validity);
void cpu(const Parameters&, ImageView<float> disparity, ImageView<std::uint8_t> validity, Threads&);
void gpu(const Parameters&, gpu::View<float> disparity, gpu::View<std::uint8_t> validity, gpu::Queue&);

}  // namespace stereopsis::nearest
