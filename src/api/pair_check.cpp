// Sparse matches on a pyramid of 2×2 averages. The coarse level is searched whole, both signs: the signs of the pixels
// against their local mean, 64 in a window, find the few windows that zero-mean normalised cross-correlation (ZNCC)
// then compares. A match must be textured, distinctive, found again from the other image, and agree with matches near
// it. Sums are integers, so that the same pair gives the same answer everywhere.
#include "stereopsis/pair_check.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <type_traits>
#include <vector>

#include "api/refuse.hpp"
#include "api/sparse_matches.hpp"
#include "core/text.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis {
namespace {

using namespace sparse;

double quantile(std::vector<double>& values, double fraction) {
  const auto index = static_cast<std::ptrdiff_t>(std::lround(fraction * static_cast<double>(values.size() - 1)));
  std::nth_element(values.begin(), values.begin() + index, values.end());
  return values[static_cast<std::size_t>(index)];
}

constexpr std::size_t fewest_matches = 12;  // fewest matches from which a range is estimated

// Returns the range of nearly all matches: it starts at the quantiles of 1 % and grows outwards as long as the next
// match is close. A margin of 10 %, one pixel of the coarse level and one of the image is added. If hardly any match is
// negative, the margin does not go below 0. The count is rounded up to a multiple of 16 at the near side.
std::optional<DisparityRange> range_of(const std::vector<Match>& matches, int scale, int width) {
  if (matches.size() < fewest_matches) return {};
  std::vector<double> disparities;
  for (const Match& match : matches) disparities.push_back(match.dx * scale);
  std::sort(disparities.begin(), disparities.end());
  const std::size_t last = disparities.size() - 1;
  std::size_t low = last / 100, high = last - low;
  const double gap = std::max(0.1 * (disparities[high] - disparities[low]), 2.0 * scale);
  while (low > 0 && disparities[low] - disparities[low - 1] <= gap) --low;
  while (high < last && disparities[high + 1] - disparities[high] <= gap) ++high;
  const double margin = 0.1 * (disparities[high] - disparities[low]) + scale + 1;
  const bool in_front = disparities[last / 50] >= -0.5 * scale;
  const double near = std::min(disparities[high] + margin, width - 1.0);
  const double far = std::max(disparities[low] - margin, in_front ? 0.0 : 1.0 - width);
  const int min = static_cast<int>(std::floor(far)), max = static_cast<int>(std::ceil(near));
  return DisparityRange{min, (max - min + 16) / 16 * 16};
}

std::optional<DisparityRange> coarse_range(const std::vector<Level>& left, const std::vector<Level>& right) {
  const int scale = 1 << (left.size() - 1);
  return range_of(supported(coarse_matches(left.back(), right.back(), 0)), scale, left.back().width() * scale);
}

void check_input(const AnyImageView& left, const AnyImageView& right) {
  if (left.size() != right.size())
    throw Error(ErrorCategory::call, text("the left image is ", left.width, "×", left.height, " and the right one ",
                                          right.width, "×", right.height, "; both must have the same size"));
  if (left.width < smallest_side || left.height < smallest_side)
    throw Error(ErrorCategory::call, text("a pair of ", left.width, "×", left.height,
                                          " is too small to estimate the search range; it must be at least ",
                                          smallest_side, "×", smallest_side, ", or give the search range"));
  for (const AnyImageView* image : {&left, &right}) {
    check_bit_depth(image->type, image->bit_depth);
    check_pixels(image == &left ? "the left image" : "the right image", image->data, image->size(), image->channels,
                 image->pitch);
  }
}

}  // namespace

PairCheck check_pair(const AnyImageView& left, const AnyImageView& right) {
  check_input(left, right);
  const std::vector<Level> left_levels = pyramid(left), right_levels = pyramid(right);
  const int scale = 1 << (left_levels.size() - 1);
  const std::vector<Match> coarse =
      supported(coarse_matches(left_levels.back(), right_levels.back(), (vertical_reach + scale - 1) / scale));
  const std::vector<Match> matches = refined(coarse, left_levels, right_levels);

  PairCheck check;
  check.same_image = same_pixels(left, right);
  if (matches.size() < fewest_matches) return check;
  std::vector<double> disparities, vertical;
  for (const Match& match : matches) {
    disparities.push_back(match.dx);
    vertical.push_back(std::abs(match.dy));
  }
  const auto negative = std::count_if(disparities.begin(), disparities.end(), [](double d) { return d < -0.5; });
  check.matches = static_cast<int>(matches.size());
  check.median_dy = quantile(vertical, 0.5);
  check.p95_dy = quantile(vertical, 0.95);
  check.median_disparity = quantile(disparities, 0.5);
  check.swapped = static_cast<double>(negative) >= mostly * static_cast<double>(matches.size());
  // A rectified pair is searched along rows only, as in estimate_range().
  auto range = check.rectified() ? coarse_range(left_levels, right_levels) : std::nullopt;
  if (!range) range = range_of(coarse, scale, left.width);
  if (range) check.range = *range;
  return check;
}

bool same_pixels(const AnyImageView& a, const AnyImageView& b) {
  if (a.empty() || a.size() != b.size() || a.type != b.type || a.channels != b.channels || a.bit_depth != b.bit_depth)
    return false;
  return with_pixels(a, [&](auto pixels) {
    const auto others = b.as<std::remove_cvref_t<decltype(*pixels.data)>>();
    const std::size_t item = sizeof(*pixels.data), bytes = item * static_cast<std::size_t>(a.width) * a.channels;
    bool varies = false;
    for (int y = 0; y < a.height; ++y) {
      const auto* const row = pixels.row(y);
      if (std::memcmp(row, others.row(y), bytes) != 0) return false;
      varies = varies || std::memcmp(row, pixels.data, item) != 0 || std::memcmp(row, row + 1, bytes - item) != 0;
    }
    return varies;
  });
}

DisparityRange estimate_range(const AnyImageView& left, const AnyImageView& right) {
  check_input(left, right);
  if (const auto range = coarse_range(pyramid(left), pyramid(right))) return *range;
  throw Error(ErrorCategory::call, text("the search range cannot be estimated, because fewer than ", fewest_matches,
                                        " points of the left image were found in the right image; give the search "
                                        "range, or check that the pair is rectified and shows one scene"));
}

}  // namespace stereopsis
