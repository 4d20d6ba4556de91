// Propagation of reliable disparities, after Birchfield and Tomasi 1998, section 5 (the post-processor that Prehn 2007 puts
// behind its pyramid): first along the columns, then along the rows.
//
//   The reliability of a pixel is the number of contiguous pixels of the line that agree on its whole disparity ⌊D + ½⌋, itself
//   among them; 0 where D is invalid. It is reliable from `reliability` on.
//   A reliable disparity spreads along the line, to both sides, over the pixels that are not, until it meets an intensity
//   variation (two neighbours whose prepared colours differ by `variation` or more) or a reliable pixel.
//   Where it comes from both sides, the lower one stays: the background, as at half-occlusions.
//
// The paper has integer disparities of its own scanline matcher, two thresholds of reliability and passes that see their own
// changes (docs/prehn.md); this is its rule with one threshold. All pixels of a pass see the map that the pass before left. A
// masked pixel stays as it is and stops nothing.
// A pixel that changed is valid, and marked `repaired`.
//
// In and out: float disparity (NaN where invalid), validity. Input: prepared colours. Required input: lines of any length.
// Cost: a few comparisons a pixel and pass.
#pragma once

#include "core/parameters.hpp"
#include "device/gpu/view.hpp"
#include "stages/cost/colours.hpp"
#include "stereopsis/disparity.hpp"
#include "stereopsis/image.hpp"

namespace stereopsis {
class Threads;
}

namespace stereopsis::propagation {

struct Parameters {
  static constexpr const char* stage = "propagation";
  int reliability = 14;
  int variation = 5;
};

template <class P, class Visitor>
  requires ParametersOf<P, Parameters>
void describe(P& p, Visitor&& visit) {
  visit("reliability", p.reliability, between(2, 10000), "pixels in a line that must agree for a disparity to spread");
  visit("variation", p.variation, between(1, 1020), "difference of neighbours that it does not cross, grey levels");
}

// The result is in `disparity` and `validity`; two maps of scratch.
template <template <class> class View>
struct MapsOf {
  View<const std::uint32_t> colours;
  View<float> disparity, between, scratch;
  View<std::uint8_t> validity;
};

void oracle(const Parameters&, const MapsOf<ImageView>&);
void cpu(const Parameters&, const MapsOf<ImageView>&, Threads&);
void gpu(const Parameters&, const MapsOf<gpu::View>&, gpu::Queue&);

}  // namespace stereopsis::propagation
