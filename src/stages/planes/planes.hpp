// Planes through the measured pixels of a method, as seeds of a second pass. The paths of semi-global matching prefer
// surfaces that face the camera; a weak seed on the plane of its surroundings takes this preference away where the
// images decide little. Planes as priors of semi-global matching: Scharstein, Taniai and Sinha, Semi-global stereo
// matching with surface orientation priors (3DV 2017). The fit and its place as a term of the costs are our own.
//
// Segments are the superpixels of stages/slic, of two sizes; those of each size give a seed per pixel. dx and dy count
// from the first pixel of the segment's cell. A point is a measured pixel with a confidence of at least `confidence` (1
// without a map of confidence) and q = ⌊16 (D − min) + ½⌋ in −16 … 16 count. A plane has the slopes a and b, and the
// value c, in 1/4096 of a sixteenth of a pixel:
//
//   v(p) = ⌊(a dx + b dy + c + 2048) / 4096⌋
//
// There are four rounds with the tolerances τ = ∞, 32, 16 and 10 sixteenths. Each has the following steps.
//
// Sums: the points of a segment that lie within τ of its plane of the round before take part. They have n, Σx, Σy, Σq,
// Σx², Σxy, Σy², Σxq and Σyq. Without a plane, no point takes part after the first round.
//
// Group: a segment joins the segments whose cells are at most r columns and rows away, r the first of 0, 1 and 2 with
// which n ≥ 120 points take part, or 2. It joins those whose mean colour differs by less than `similar` in each channel
// and, if the segment has a plane of the round before, whose mean lies within a pixel of it: |a Σx + b Σy + n c − 4096
// Σq| ≤ 65536 n. Σx and Σy count from the cell of the joining segment.
//
// Fit: if at least 30 points take part, with X = Σx² − ⌊(Σx)² / n⌋ + 1, Y alike, Z = Σxy − ⌊Σx Σy / n⌋, E = Σxq −
// ⌊Σx Σq / n⌋ and F = Σyq − ⌊Σy Σq / n⌋, both limited to ±2³²,
//
//   a = ⌊4096 (E Y − F Z) / (X Y − Z²)⌋,  b = ⌊4096 (F X − E Z) / (X Y − Z²)⌋,  c = ⌊(4096 Σq − a Σx − b Σy) / n⌋
//
// where numerators and denominator are halved until the denominator is below 2⁴⁰. Slopes beyond ±1 pixel per pixel are
// no plane. In the last round, n must also be at least half of the number N of the group's points. Segments without a
// point of their own have no plane: what neighbours of the same colour say about the sky, or behind an object, is often
// wrong.
//
// Output, as stages/prior: 256 v(p) + w with w = ⌊(weight ⌊256 n / N⌋ + 128) / 256⌋; 0 at pixels whose segment has no
// plane, and where v(p) is outside 0 … 16 (count − 1).
// Required input: two cells around the cells of the segments.
// Cost: about 20 operations per pixel and round, and 25 sums of 9 terms per segment and round.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

#include "stages/shared/segments.hpp"
#include "stages/shared/stage.hpp"

namespace stereopsis::planes {

inline constexpr int rounds = 4, tolerances[rounds] = {1 << 30, 32, 16, 10};
inline constexpr int farthest = 2, enough = 120, fewest = 30;
inline constexpr int one = 4096;         // units of the slopes in a sixteenth of a pixel
inline constexpr int largest_cell = 24;  // sums fit in their types up to this size

struct Parameters {
  static constexpr const char* stage = "planes";
  int cell = 12;
  int coarse_cell = 20;
  int similar = 8;
  double confidence = 0;
  int weight = 14;

  static void describe(auto& p, auto&& visit) {
    visit("cell", p.cell, between(slic::block, largest_cell).in("pixels"),
          "width and height of the cells, each of which has one superpixel");
    visit("coarse_cell", p.coarse_cell, between(slic::block, largest_cell).in("pixels"),
          "width and height of the cells of larger superpixels, whose planes are further seeds");
    visit("similar", p.similar, between(1, 255).in("8-bit units"),
          "difference in each colour below which neighbouring superpixels share a plane");
    visit("confidence", p.confidence, between(0, 1),
          "lowest confidence of the pixels through which planes go; 0: all measured pixels, whose confidence is not "
          "computed");
    visit("weight", p.weight, between(0, 255), "largest weight of a plane, in 1/255 of that of a seed");
  }
};

template <template <class> class View>
struct InputOf {
  View<const std::uint32_t> segments, rgb;
  View<const float> disparity;
  View<const std::uint8_t> validity;
  View<const float> confidence;  // may be empty
};
using Input = InputOf<ImageView>;

struct Sums {
  std::int64_t n = 0, x = 0, y = 0, q = 0, xx = 0, xy = 0, yy = 0, xq = 0, yq = 0;
};

struct Plane {
  std::int32_t a = 0, b = 0, c = 0;

  int at(int dx, int dy) const { return (a * dx + b * dy + c + one / 2) >> 12; }
};

constexpr std::int64_t floor_div(std::int64_t n, std::int64_t divisor) {
  return n / divisor - (n % divisor != 0 && (n < 0) != (divisor < 0) ? 1 : 0);
}

// Returns the plane through the points with these sums.
inline std::optional<Plane> fit(const Sums& s) {
  constexpr std::int64_t most = std::int64_t{1} << 32, largest = std::int64_t{1} << 40;
  if (s.n < fewest) return {};
  const auto about_means = [&](std::int64_t product, std::int64_t first, std::int64_t second) {
    return product - floor_div(first * second, s.n);
  };
  const std::int64_t x = about_means(s.xx, s.x, s.x) + 1, y = about_means(s.yy, s.y, s.y) + 1,
                     z = about_means(s.xy, s.x, s.y);
  const std::int64_t e = std::clamp(about_means(s.xq, s.x, s.q), -most, most),
                     f = std::clamp(about_means(s.yq, s.y, s.q), -most, most);
  std::int64_t a = e * y - f * z, b = f * x - e * z, all = x * y - z * z;
  for (; all >= largest; all >>= 1) a >>= 1, b >>= 1;
  if (all <= 0 || std::abs(a) > 16 * all || std::abs(b) > 16 * all) return {};
  a = floor_div(one * a, all);
  b = floor_div(one * b, all);
  const std::int64_t c = floor_div(one * s.q - a * s.x - b * s.y, s.n);
  return Plane{static_cast<std::int32_t>(a), static_cast<std::int32_t>(b), static_cast<std::int32_t>(c)};
}

// The value of a point, or `no_point`.
inline constexpr int no_point = -(1 << 30);
inline int point(float disparity, std::uint8_t validity, float confidence, float least, DisparityRange range) {
  if (validity != 0 || !(confidence >= least) || !(std::abs(disparity) < 32768)) return no_point;
  const int q = static_cast<int>(std::floor(16.0f * (disparity - static_cast<float>(range.min)) + 0.5f));
  return q >= -16 && q <= 16 * range.count ? q : no_point;
}

void oracle(const Parameters&, const Input&, DisparityRange, ImageView<std::uint32_t> planes);
std::size_t scratch_bytes(Size, int cell);
void cpu(const Parameters&, const Input&, DisparityRange, ImageView<std::uint32_t> planes, std::span<std::byte> scratch,
         Threads&);
std::size_t gpu_scratch_bytes(Size, int cell);
void gpu(const Parameters&, const InputOf<gpu::View>&, DisparityRange, gpu::View<std::uint32_t> planes,
         gpu::Span scratch, gpu::Queue&);

}  // namespace stereopsis::planes
