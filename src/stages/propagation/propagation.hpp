// Propagation of reliable disparities. This stage is the post-processor of Birchfield and Tomasi, Depth discontinuities
// by pixel-to-pixel stereo, 1998, section 5, which Prehn 2007 runs after the pyramid. Disparities are compared as
// integers ⌊D + ½⌋.
//
//   1. From top to bottom, a pixel whose neighbours above and below agree takes the disparity of the upper one.
//   2. Along the columns, disparities of moderately reliable runs spread:
//      - The reliability of a pixel is the length of the run of equal disparities that contains it; 0 if the pixel is
//        invalid. Reliability is slight from 85 % of `reliability` on, and moderate from 115 % on.
//      - A gradient consists of three pixels in a column, two of which differ by `variation` or more (prepared
//        colours). Only gradients of at least three adjacent pixels in a row count.
//      - From each moderately reliable run, from the first to the last, the disparity d spreads to one side and then to
//        the other. The propagation stops at a gradient, and at a slightly reliable pixel with a disparity other than d
//        and below d + 2. The covered pixels get the disparity d (pixels with d keep their fraction) and count as
//        moderately reliable.
//   3. The same along the rows, with rows and columns exchanged.
//   4. A mode filter over 11 pixels along the columns, then along the rows: the most frequent disparity (the lowest
//      wins ties) replaces a pixel's own d if it is more frequent than d and its two neighbours (d − 1, d + 1)
//      together.
//
// The paper describes steps 2 and 3. The numbers, and steps 1 and 4, follow the program of its author
// (docs/notes/prehn.md). In that program, every pixel has a disparity. In this stage, an invalid pixel may be covered,
// and is ignored by step 4. A masked pixel does not change, and does not stop the propagation. A changed pixel is
// valid, and is marked as `repaired`.
//
// Input and output, in place: float disparity (NaN where invalid), validity. Input: prepared colours.
// Required input: lines of any length.
// Cost: a few comparisons per pixel and pass, and 121 in each mode filter.
#pragma once

#include "stages/cost/colours.hpp"
#include "stages/shared/stage.hpp"

namespace stereopsis::propagation {

struct Parameters {
  static constexpr const char* stage = "propagation";
  int reliability = 14;
  int variation = 5;

  static void describe(auto& p, auto&& visit) {
    visit("reliability", p.reliability, between(2, 10000),
          "approximate length of a run of equal disparities from which a disparity is reliable and spreads");
    visit("variation", p.variation, between(1, 1020).in("grey levels"),
          "difference of pixels from which on they form a gradient, which stops the spreading");
  }
};

inline int slight(const Parameters& p) { return (p.reliability * 85 + 50) / 100; }
inline int moderate(const Parameters& p) { return (p.reliability * 115 + 50) / 100; }
inline constexpr int mode_radius = 5;

// The result is in `disparity` and `validity`. The other two maps are scratch memory.
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
