// Repairs outliers by confidence (Prehn 2007, section 5.3.3), in three passes: along rows, along columns, and along
// rows again.
//
//   In a pass, each pixel p searches up to `reach` pixels on either side for a pair of pixels q, r on opposite sides
//   with
//   C(q), C(r) > C(p) (1 + gain / 100)  and  |D(q) − D(r)| ≤ tolerance.
//   If there is a pair, D(p) becomes the disparity of the nearer of the two, and C(p) becomes min(1, C(p) (1 + gain /
//   100)).
//
// The thesis does not state which of several pairs is used. This stage uses the closest pair. Among equally close
// pairs, it uses the pair whose left (upper) pixel is nearer. If both pixels of the pair are equally near, the left
// (upper) pixel is also used. All pixels of a pass read the map of the previous pass. An invalid pixel, whose
// confidence is 0, is also repaired unless it is masked. A changed pixel is marked as `repaired`.
//
// Input and output, in place: float disparity (NaN where invalid), confidence in [0, 1], validity.
// Required input: 2 · reach columns and reach rows on each side.
// Cost: 2 · reach comparisons per pixel and pass, and those of the pairs.
#pragma once

#include "stages/shared/stage.hpp"

namespace stereopsis::repair {

struct Parameters {
  static constexpr const char* stage = "repair";
  int reach = 10;
  double gain = 10;
  double tolerance = 0.5;

  float factor() const { return static_cast<float>(1 + gain / 100); }

  static void describe(auto& p, auto&& visit) {
    visit("reach", p.reach, between(1, 31).in("pixels"), "largest distance searched to either side");
    visit("gain", p.gain, between(0, 100).in("percent"),
          "percent by which both neighbours must be more confident; the repaired pixel gains as much");
    visit("tolerance", p.tolerance, between(0, 100).in("pixels"), "largest difference between disparities that agree");
  }
};

inline Rect required_input(const Parameters& p, const Rect& output) { return grow(output, 2 * p.reach, p.reach); }

// `disparity` is overwritten. The result is in `repaired`, `confidence` and `validity`. `scratch` is a second
// confidence map.
template <template <class> class View>
struct MapsOf {
  View<float> disparity, repaired, confidence, scratch;
  View<std::uint8_t> validity;
};

void oracle(const Parameters&, const MapsOf<ImageView>&);
void cpu(const Parameters&, const MapsOf<ImageView>&, Threads&);
void gpu(const Parameters&, const MapsOf<gpu::View>&, gpu::Queue&);

}  // namespace stereopsis::repair
