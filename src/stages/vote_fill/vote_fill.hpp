// Filling by votes that also consult the other view. An invalid pixel gets the disparity on which the valid pixels
// around it agree. Pixels that are near or of similar colour have a larger weight. Disparities that the right view
// could see also have a larger weight. This stage is our own. The stage follows the bilateral weights of Tomasi and
// Manduchi 1998 and the visibility constraint of Sun, Li, Kang and Shum 2005.
//
// First, pixels with a confidence below `reject` become invalid, with the reason ambiguous. Pipelines with fewer than
// four disparities reject no pixels, because a candidate may have no alternative. Disparities are converted to units of
// 1/256, Q = ⌊256 D + ½⌋, and to whole pixels, B = ⌊(Q + 128) / 256⌋. Disparities of 32768 and more are ignored. An
// invalid pixel p examines the valid pixels q = p + step · (i, j), |i|, |j| ≤ reach, that lie in the image I. A grey
// channel counts three times.
//
//   w(q) = ⌊S C / 65536⌋,   S = ⌊65535 exp(−step · |(i, j)| / σs)⌉,   C = ⌊65535 exp(−Σ |I_p − I_q| / σc)⌉
//
//   V(b) = seen        if |R − b| ≤ 1, R the right view's disparity at p − b: it sees the same surface there
//          hidden      if R > b + 1, because a nearer surface occludes it, and if there is no R
//          impossible  if R < b − 1: the right view sees past p, which cannot be so near
//
//   H(b) = V(b) Σ_{B(q) = b} w(q)
//   b*   = argmax 2 H(b) + H(b − 1) + H(b + 1); ties go to the lowest
//   m    = ⌊Σ V w Q / Σ V w⌋ over the q with |B(q) − b*| ≤ 1
//
// and D(p) is the value at p of the plane through Q over (i, j) with the least Σ V w · (difference)² over the q with
// |Q(q) − m| ≤ 3 · 256, where 8 / step² is added to both variances of the coordinates; it is at most 3 pixels from m.
// (A few pixels in a line do not determine the slope of the plane. The added variance then draws the slope towards 0.)
// Moments are exact integers relative to m. From their quotients by Σ V w on, all operations are rounded to float.
//
// A pixel remains invalid if no q counts (w V = 0), or if the nearest q is farther away than `distance`. The stage
// `fill` may follow. Masked pixels and pixels outside the region of interest also remain invalid. A filled pixel is
// valid, and marked as filled. The confidence of a filled pixel is the share of the winner in the votes, (2 H(b*) +
// H(b* − 1) + H(b* + 1)) / (4 Σ H). The confidence is at most ½, because the pixel was not measured. The confidence of
// pixels that remain invalid becomes 0.
//
// Input: the right view's disparity, the left image in 8 bits, 1 or 3 channels; confidence where reject > 0. Input and
// output, in place: float disparity (NaN where invalid), validity and, if it is given, confidence.
// Required input: step · reach pixels on each side; in the right view the range of disparities to the left.
// Cost: each invalid pixel examines (2 reach + 1)² samples twice, with about 1,000 operations each time for 225
// samples.
#pragma once

#include <array>
#include <cmath>
#include <limits>

#include "core/order.hpp"
#include "stages/shared/stage.hpp"

namespace stereopsis::vote_fill {

inline constexpr int largest_step = 8, largest_reach = 7, largest_side = 2 * largest_reach + 1;

struct Parameters {
  static constexpr const char* stage = "vote_fill";
  int step = 3;
  int reach = 7;
  int distance = 10;
  double sigma_space = 12;
  double sigma_colour = 10.5;
  int seen = 10;
  int hidden = 5;
  int impossible = 1;
  double reject = 0;

  static void describe(auto& p, auto&& visit) {
    visit("step", p.step, between(1, largest_step).in("pixels"), "distance between voting pixels");
    visit("reach", p.reach, between(1, largest_reach), "number of voting pixels to each side");
    visit("distance", p.distance, between(1, 80).in("pixels"), "largest distance to the nearest voting pixel");
    visit("sigma_space", p.sigma_space, between(1, 1000).in("pixels"), "distance at which the weight falls to 1/e");
    // The limit is 21. From 21.7 on, the weight at a difference of 255, the end of the table, is not 0.
    visit("sigma_color", p.sigma_colour, between(1, 21).in("8-bit intensities"),
          "sum of the channels' differences at which the weight falls to 1/e");
    visit("seen", p.seen, between(1, 15), "weight of disparities that agree with the right view");
    visit("hidden", p.hidden, between(0, 15), "weight of disparities that are occluded in the right view");
    visit("impossible", p.impossible, between(0, 15),
          "weight of disparities at which the right view sees a farther point");
    visit("reject", p.reject, between(0, 1).planned(),
          "confidence below which pixels become invalid and are filled; 0: none");
  }
};

// Throws an Error if weights are not in order, or if no pixel could vote.
inline void check(const Parameters& p) {
  check_order("vote_fill", "impossible", p.impossible, "hidden", p.hidden);
  check_order("vote_fill", "hidden", p.hidden, "seen", p.seen);
  check_order("vote_fill", "step", p.step, "distance", p.distance);  // otherwise, no pixel could vote
}

inline Rect required_input(const Parameters& p, const Rect& output) {
  return grow(output, p.step * p.reach, p.step * p.reach);
}

// Weights in units of 1/65535. Colour weights are indexed by the sum of the colour differences, up to 255, and distance
// weights by |j| · (largest_reach + 1) + |i|.
struct Weights {
  static constexpr bool is_argument = true;
  std::array<std::uint16_t, 256> colour;
  std::array<std::uint16_t, (largest_reach + 1) * (largest_reach + 1)> distance;
};
inline Weights weights(const Parameters& p) {
  const auto weight = [](double v, double sigma) {
    return static_cast<std::uint16_t>(std::nearbyint(65535 * std::exp(-v / sigma)));
  };
  Weights w{};
  for (int i = 0; i < 256; ++i) w.colour[i] = weight(i, p.sigma_colour);
  for (int j = 0; j <= largest_reach; ++j)
    for (int i = 0; i <= largest_reach; ++i)
      w.distance[j * (largest_reach + 1) + i] = weight(p.step * std::sqrt(i * i + j * j), p.sigma_space);
  return w;
}

// Returns Q of a disparity, or `nothing` if the disparity is not a number or is too large.
inline constexpr std::int32_t nothing = std::numeric_limits<std::int32_t>::min();
inline std::int32_t in_256ths(float disparity) {
  return std::abs(disparity) < 32768 ? static_cast<std::int32_t>(std::floor(disparity * 256 + 0.5f)) : nothing;
}
// Converts units of 1/256 to whole pixels.
constexpr std::int32_t whole(std::int32_t q) { return (q + 128) >> 8; }

inline int visibility(const Parameters& p, float right, int b) {
  const auto whole_b = static_cast<float>(b);
  return std::abs(right - whole_b) <= 1 ? p.seen : right < whole_b - 1 ? p.impossible : p.hidden;
}

// Σ V w times 1, i, j, i², j², i j, Q − m, i (Q − m) and j (Q − m).
struct Moments {
  std::int64_t one = 0, i = 0, j = 0, ii = 0, jj = 0, ij = 0, q = 0, iq = 0, jq = 0;

  void add(std::int64_t weight, int di, int dj, int dq) {
    one += weight;
    i += weight * di;
    j += weight * dj;
    ii += weight * (di * di);
    jj += weight * (dj * dj);
    ij += weight * (di * dj);
    q += weight * dq;
    iq += weight * (di * dq);
    jq += weight * (dj * dq);
  }
};

// Returns the value of the plane at p as a disparity.
inline float plane_at_centre(const Moments& sums, int m, float added_variance) {
  const auto one = static_cast<float>(sums.one);
  const auto mean = [one](std::int64_t sum) { return static_cast<float>(sum) / one; };
  const float i = mean(sums.i), j = mean(sums.j), q = mean(sums.q);
  const float ii = mean(sums.ii) - i * i + added_variance, jj = mean(sums.jj) - j * j + added_variance;
  const float ij = mean(sums.ij) - i * j, iq = mean(sums.iq) - i * q, jq = mean(sums.jq) - j * q;
  const float determinant = ii * jj - ij * ij;
  const float slope_i = (jj * iq - ij * jq) / determinant, slope_j = (ii * jq - ij * iq) / determinant;
  const float at = q - slope_i * i - slope_j * j;
  return (static_cast<float>(m) + std::min(std::max(at, -768.0f), 768.0f)) * (1.0f / 256) + 0.0f;
}
inline float added_variance(const Parameters& p) { return 8.0f / static_cast<float>(p.step * p.step); }

template <template <class> class View>
struct InputOf {
  View<const float> right;
  View<const std::uint8_t> image;
};
using Input = InputOf<ImageView>;

// The map that is filled in place. The confidence may be empty if no pixels are rejected.
template <template <class> class View>
struct MapOf {
  View<float> disparity;
  View<std::uint8_t> validity;
  View<float> confidence;
};
using Map = MapOf<ImageView>;

template <template <class> class View>
void check_images(const Parameters& p, const InputOf<View>& in, const MapOf<View>& map) {
  check(p);
  if (in.right.size() != map.disparity.size() || in.image.size() != map.disparity.size())
    throw Error(ErrorCategory::call,
                text("vote_fill has a right disparity map of ", in.right.width, "×", in.right.height,
                     " and an image of ", in.image.width, "×", in.image.height, " for a disparity map of ",
                     map.disparity.width, "×", map.disparity.height, "; all must have the same size"));
  if (p.reject > 0 && map.confidence.empty())
    throw Error(ErrorCategory::call,
                text("vote_fill.reject = ", p.reject,
                     " requires a confidence map, and there is none; pass one, or set reject = 0"));
}

void oracle(const Parameters&, const Input&, const Map&);

// Returns the number of bytes that cpu() needs in `scratch`, which must be aligned to 64 bytes.
std::size_t scratch_bytes(const Parameters&, Size size);
void cpu(const Parameters&, const Input&, const Map&, std::span<std::byte> scratch, Threads&);

// `scratch` holds at least gpu_scratch_bytes().
std::size_t gpu_scratch_bytes(const Parameters&, Size size);
void gpu(const Parameters&, const InputOf<gpu::View>&, const MapOf<gpu::View>&, gpu::Span scratch, gpu::Queue&);

}  // namespace stereopsis::vote_fill
