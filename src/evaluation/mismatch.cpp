// Finds out why a disparity map and its ground truth differ nearly everywhere: a factor, a reversed order of rows or
// bytes, or zeros for unknown disparities.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "evaluation/checks.hpp"
#include "stereopsis/evaluation.hpp"

namespace stereopsis {
namespace {

std::uint32_t reversed(std::uint32_t v) { return v << 24 | (v & 0xFF00U) << 8 | (v >> 8 & 0xFF00U) | v >> 24; }

struct Known {
  double disparity, truth;
};

// The pixels that count and have a disparity in both maps. Pixels with a truth of 0 are excluded, because 0 may mean
// unknown, and the ratio is undefined.
std::vector<Known> known_pixels(ImageView<const float> disparity, ImageView<const float> truth,
                                ImageView<const std::uint8_t> mask) {
  std::vector<Known> known;
  for (int y = 0; y < truth.height; ++y)
    for (int x = 0; x < truth.width; ++x)
      if (counts(mask, x, y) && std::isfinite(disparity(x, y)) && std::isfinite(truth(x, y)) && truth(x, y) != 0)
        known.push_back({disparity(x, y), truth(x, y)});
  return known;
}

// Returns the median of f over the pixels with a disparity of at least one pixel; 0 if there are too few pixels.
template <class F>
double median_of(const std::vector<Known>& known, F&& f) {
  std::vector<double> values;
  for (const Known& pixel : known)
    if (std::abs(pixel.disparity) >= 1) values.push_back(f(pixel));
  constexpr std::size_t fewest = 30;
  if (values.size() < fewest) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double median_ratio(const std::vector<Known>& known) {
  return median_of(known, [](const Known& pixel) { return pixel.truth / pixel.disparity; });
}

double median_product(const std::vector<Known>& known) {
  return median_of(known, [](const Known& pixel) { return pixel.truth * pixel.disparity; });
}

// Returns whether a factor may be a wrong scale or sign. Other factors result from errors of the disparities, such as
// an offset.
bool is_scale(double factor) {
  constexpr double least = 1.4;
  return factor < 0 || factor == 1 || factor >= least || (factor > 0 && factor <= 1 / least);
}

// Returns the share of the pixels whose disparity agrees with `expected`, within one pixel and 5 %.
template <class F>
double agreement(const std::vector<Known>& known, F&& expected) {
  const auto agree = std::ranges::count_if(known, [&](const Known& pixel) {
    return std::abs(expected(pixel.truth) - pixel.disparity) <= 1 + 0.05 * std::abs(pixel.disparity);
  });
  return known.empty() ? 0 : static_cast<double>(agree) / static_cast<double>(known.size());
}

double agreement_with_factor(const std::vector<Known>& known, double factor) {
  return agreement(known, [factor](double truth) { return truth / factor; });
}

// Returns whether there are pixels with a truth of 0, and whether nearly all their disparities are far from 0.
bool zeros_mean_unknown(ImageView<const float> disparity, ImageView<const float> truth,
                        ImageView<const std::uint8_t> mask) {
  constexpr double least_share = 0.005, nearly_all = 0.9, far = 2;
  long long counted = 0, zeros = 0, apart = 0;
  for (int y = 0; y < truth.height; ++y)
    for (int x = 0; x < truth.width; ++x) {
      if (!counts(mask, x, y) || !std::isfinite(disparity(x, y)) || !std::isfinite(truth(x, y))) continue;
      ++counted;
      zeros += truth(x, y) == 0;
      apart += truth(x, y) == 0 && std::abs(disparity(x, y)) > far;
    }
  return zeros > 0 && static_cast<double>(zeros) >= least_share * static_cast<double>(counted) &&
         static_cast<double>(apart) >= nearly_all * static_cast<double>(zeros);
}

}  // namespace

Image<float> with_reversed_bytes(ImageView<const float> truth, double code_scale) {
  Image<float> out(truth);
  for (int y = 0; y < out.height(); ++y)
    for (float& value : std::span(out.row(y), static_cast<std::size_t>(out.width()))) {
      if (code_scale == 0) {
        value = std::bit_cast<float>(reversed(std::bit_cast<std::uint32_t>(value)));
      } else if (std::isfinite(value)) {
        const auto code = static_cast<std::uint32_t>(std::lround(value * code_scale)) & 0xFFFFU;
        value = static_cast<float>(((code << 8 | code >> 8) & 0xFFFFU) / code_scale);
      }
    }
  return out;
}

Image<float> upside_down(ImageView<const float> map) {
  Image<float> out(map.size());
  for (int y = 0; y < map.height; ++y) std::copy_n(map.row(map.height - 1 - y), map.width, out.row(y));
  return out;
}

Mismatch find_mismatch(ImageView<const float> disparity, ImageView<const float> truth,
                       ImageView<const std::uint8_t> mask, double code_scale) {
  check_plane("disparity", disparity);
  check_plane("truth", truth, disparity.size());
  check_mask_of(disparity.size(), mask);
  constexpr double enough = 0.5;  // a wrong truth agrees with at most a third of a map
  Mismatch found;
  found.zeros_unknown = zeros_mean_unknown(disparity, truth, mask);
  const double as_it_is = agreement_with_factor(known_pixels(disparity, truth, mask), 1);
  if (as_it_is >= enough) return found;
  double best = std::max(enough, as_it_is + 0.3);
  for (const bool bytes : {false, true})
    for (const bool rows : {false, true}) {
      Image<float> reordered = bytes ? with_reversed_bytes(truth, code_scale) : Image<float>(truth);
      if (rows) reordered = upside_down(reordered);
      const std::vector<Known> known = known_pixels(disparity, reordered, mask);
      for (const double factor : {1.0, median_ratio(known)}) {
        const double agreed = is_scale(factor) ? agreement_with_factor(known, factor) : 0;
        if (agreed < best) continue;
        best = agreed + 0.05;  // an additional change must explain more pixels
        found.reversed_bytes = bytes;
        found.upside_down = rows;
        found.factor = factor;
      }
    }
  const std::vector<Known> known = known_pixels(disparity, truth, mask);
  const double product = median_product(known);
  if (agreement(known, [product](double value) { return product / value; }) < best) return found;
  return {.product = product};
}

}  // namespace stereopsis
