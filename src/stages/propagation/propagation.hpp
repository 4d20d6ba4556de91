// Propagation of reliable disparities: the post-processor of Birchfield and Tomasi, Depth discontinuities by pixel-to-pixel
// stereo, 1998, section 5, which Prehn 2007 puts behind its pyramid. Disparities are compared as whole numbers ⌊D + ½⌋.
//
//   1. From the top to the bottom, a pixel whose neighbours above and below agree takes the upper one's disparity.
//   2. Along the columns, disparities of moderately reliable runs spread:
//      - Reliability is the length of the run of equal disparities that a pixel is in; 0 where it is invalid. It is slight
//        from 85 % of `reliability` on, moderate from 115 % on.
//      - A gradient: of three pixels in a column of which two differ by `variation` or more (prepared colours), all three; as far
//        as there are at least three of them side by side in a row.
//      - From each moderately reliable run, from the first to the last, its disparity d spreads to the one side and then to the other,
//        until it meets a gradient, or a pixel that is slightly reliable with a disparity other than d and below d + 2. What it
//        has covered takes d, keeping its fraction if it has d already, and counts as moderately reliable.
//   3. The same along the rows, with rows and columns exchanged.
//   4. A mode filter over 11 pixels along the columns, then along the rows: the most frequent disparity (of equals the lowest)
//      wins over a pixel's own, if it is more frequent than that and its two neighbours (d − 1, d + 1) together.
//
// The paper tells 2 and 3; the numbers, 1 and 4 are those of its author's program (docs/notes/prehn.md). There every
// pixel has a disparity. Here an invalid one may be covered, and is passed over by 4; a masked pixel stays as it is and stops
// nothing. A pixel that changed is valid, and marked `repaired`.
//
// In and out: float disparity (NaN where invalid), validity. Input: prepared colours. Required input: lines of any length.
// Cost: some comparisons a pixel and pass, and 121 in each mode filter.
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
        "pixels in a line that must agree, about, for a disparity to spread");
  visit("variation", p.variation, between(1, 1020).in("grey levels"),
        "difference of close pixels that it does not cross");
}

inline int slight(const Parameters& p) { return (p.reliability * 85 + 50) / 100; }
inline int moderate(const Parameters& p) { return (p.reliability * 115 + 50) / 100; }
inline constexpr int mode_radius = 5;

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
