// Propagation of reliable disparities: the post-processor of Birchfield and Tomasi, Depth discontinuities by
// pixel-to-pixel stereo, 1998, section 5, which Prehn 2007 runs after its pyramid. Disparities are compared as integers
// ⌊D + ½⌋.
//
//   1. From top to bottom, a pixel whose neighbours above and below agree takes the disparity of the upper one.
//   2. Along the columns, disparities of moderately reliable runs spread:
//      - Reliability is the length of the run of equal disparities that contains the pixel; 0 if it is invalid. It is
//        slight from 85 % of `reliability` on, moderate from 115 % on.
//      - A gradient consists of three pixels in a column, two of which differ by `variation` or more (prepared
//        colours). Only gradients of at least three adjacent pixels in a row count.
//      - From each moderately reliable run, from the first to the last, the disparity d spreads to one side and then to
//        the other. It stops at a gradient, and at a slightly reliable pixel with a disparity other than d and below d
//        + 2. The covered pixels take d, keeping their fraction if they have d already, and count as moderately
//        reliable.
//   3. The same along the rows, with rows and columns exchanged.
//   4. A mode filter over 11 pixels along the columns, then along the rows: the most frequent disparity (the lowest
//      wins ties) replaces a pixel's own d if it is more frequent than d and its two neighbours (d − 1, d + 1)
//      together.
//
// The paper describes 2 and 3; the numbers, 1 and 4 follow its author's program (docs/notes/prehn.md). In that program
// every pixel has a disparity. Here, an invalid pixel may be covered, and is ignored by 4; a masked pixel stays
// unchanged and does not stop the spreading. A pixel that changed is valid and marked `repaired`.
//
// Input and output, in place: float disparity (NaN where invalid), validity. Input: prepared colours.
// Required input: lines of any length.
// Cost: a few comparisons per pixel and pass, and 121 in each mode filter.
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
  visit("reliability", p.reliability, between(2, 10000),
        "approximate length of a run of equal disparities from which a disparity is reliable and spreads");
  visit("variation", p.variation, between(1, 1020).in("grey levels"),
        "difference of pixels from which on they form a gradient, which stops the spreading");
}

inline int slight(const Parameters& p) { return (p.reliability * 85 + 50) / 100; }
inline int moderate(const Parameters& p) { return (p.reliability * 115 + 50) / 100; }
inline constexpr int mode_radius = 5;

// The result is in `disparity` and `validity`; the other two maps are scratch memory.
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
