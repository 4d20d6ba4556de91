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
  const View left_view(left.back()), right_view(right.back());
  return range_of(supported(coarse_matches(left_view, right_view, 0)), scale, left.back().width() * scale);
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

// An image of a pair, prepared for the search.
struct Side {
  explicit Side(std::vector<Level> made) : levels(std::move(made)), coarse(levels.back()) {}
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  int scale() const { return 1 << (levels.size() - 1); }
  // Returns the rows of the coarse level that correspond to `vertical_reach`.
  int reach() const { return (vertical_reach + scale() - 1) / scale(); }

  // Returns the stride of the cells that a quick check searches, in both directions.
  int sample_stride() const {
    const double cells = static_cast<double>(coarse.level.width() / cell) * (coarse.level.height() / cell);
    return std::max(1, static_cast<int>(std::lround(std::sqrt(cells / sample_cells))));
  }

  std::vector<Level> levels;  // the finest one first
  View coarse;
};

// The matches of a pair at the coarse level, and in pixels of the full image.
struct Found {
  std::vector<Match> coarse, refined;
  int textured = 0;

  double share() const { return textured > 0 ? static_cast<double>(coarse.size()) / textured : 0; }
};

Found find(const Side& left, const Side& right, int reach, int stride) {
  const Matches cells = coarse_matches(left.coarse, right.coarse, reach, stride);
  Found found{supported(cells), {}, cells.textured};
  found.refined = refined(found.coarse, left.levels, right.levels);
  return found;
}

void measure(std::vector<Match> matches, PairReport& report) {
  if (matches.size() < fewest_matches) return;
  std::vector<double> disparities, sizes, vertical;
  for (const Match& match : matches) {
    disparities.push_back(match.dx);
    sizes.push_back(std::abs(match.dx));
    vertical.push_back(std::abs(match.dy));
  }
  const auto negative = std::count_if(disparities.begin(), disparities.end(), [](double d) { return d < -0.5; });
  report.matches = static_cast<int>(matches.size());
  report.median_dy = quantile(vertical, 0.5);
  report.p95_dy = quantile(vertical, 0.95);
  report.median_disparity = quantile(disparities, 0.5);
  report.swapped = static_cast<double>(negative) >= mostly * static_cast<double>(matches.size());
  report.same_view = quantile(sizes, mostly) <= most_of_one_view && report.p95_dy <= most_of_one_view;
}

// Returns the report of a sample of the points, if it shows that the rows of both images agree. Unrelated rows agree in
// up to 8 % of the points, by chance; the rows of a pair in a third or more.
std::optional<PairReport> agreeing_rows(const Side& left, const Side& right) {
  constexpr double least_share = 0.25;
  const Found found = find(left, right, 1, left.sample_stride());
  PairReport report;
  if (found.share() >= least_share) measure(found.refined, report);
  return report.rectified() ? std::optional(report) : std::nullopt;
}

template <class F>
Level moved(const Level& level, Size size, F&& source) {
  Level out(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const Point from = source(x, y);
      out(x, y) = level(from.x, from.y);
    }
  return out;
}

Side turned(const Side& side, Turn turn) {
  const Level& level = side.levels.front();
  const int right = level.width() - 1, bottom = level.height() - 1;
  return Side(pyramid(moved(level, level.size(), [&](int x, int y) {
    return Point{turn == Turn::rows_reversed ? x : right - x, turn == Turn::mirrored ? y : bottom - y};
  })));
}

Side transposed(const Side& side) {
  const Level& level = side.levels.front();
  return Side(pyramid(moved(level, {level.height(), level.width()}, [](int x, int y) { return Point{y, x}; })));
}

int textured_cells(const Level& level) {
  int count = 0;
  for (int y = 0; y < level.height() / cell; ++y)
    for (int x = 0; x < level.width() / cell; ++x) count += textured_point(level, x, y).has_value();
  return count;
}

// The matches on the two levels above the coarse one, on which noise is averaged out, up to a quarter of the height up
// and down.
struct FarMatches {
  std::vector<Match> matches;  // in pixels of the full image; empty if no more are found than by chance
  bool searched = false;       // false if the images are too small, or without texture
};

// By chance, up to 4 % of the points match; with a noise of 30 grey levels, 20 % or more do on one of the levels.
FarMatches far_matches(const Side& left, const Side& right) {
  constexpr int fewest_cells = 100;
  constexpr double least_share = 0.12;
  FarMatches far;
  Level a = left.levels.back(), b = right.levels.back();
  if (std::max(textured_cells(a), textured_cells(b)) < fewest_cells) return far;
  for (int scale = 2 * left.scale(); scale <= 4 * left.scale(); scale *= 2) {
    a = halved(a);
    b = halved(b);
    if ((a.width() / cell) * (a.height() / cell) < fewest_cells) break;
    far.searched = true;
    const Matches cells = coarse_matches(View(a), View(b), a.height() / 4);
    far.matches = supported(cells);
    if (static_cast<double>(far.matches.size()) >= least_share * cells.textured && !far.matches.empty()) {
      for (Match& match : far.matches) match = {match.x * scale, match.y * scale, match.dx * scale, match.dy * scale};
      return far;
    }
  }
  far.matches.clear();
  return far;
}

// Returns the turn of the right image after which it fits the left one.
Turn turn_of(const Side& left, const Side& right, bool along_rows) {
  constexpr double least_share = 0.1;  // up to 24 rows away, a match is a chance in less than 1 % of the points
  for (const Turn turn : {Turn::half, Turn::rows_reversed, Turn::mirrored}) {
    const Side other = turned(right, turn);
    if (agreeing_rows(left, other)) return turn;
    if (!along_rows && find(left, other, left.reach(), left.sample_stride()).share() >= least_share) return turn;
  }
  return Turn::none;
}

// Finds out what is wrong with a pair whose rows do not agree.
void find_fault(const Side& left, const Side& right, PairReport& report) {
  if (const auto columns = agreeing_rows(transposed(left), transposed(right))) {
    report.vertical = true;
    report.swapped = columns->swapped;
    return;
  }
  report.turn = turn_of(left, right, report.matches > 0);
  if (report.matches > 0 || report.turn != Turn::none) return;
  const FarMatches far = far_matches(left, right);
  measure(far.matches, report);
  report.unrelated = far.searched && report.matches == 0;
}

}  // namespace

PairReport check_pair(const AnyImageView& left_image, const AnyImageView& right_image, CheckEffort effort) {
  check_input(left_image, right_image);
  const Side left(pyramid(left_image)), right(pyramid(right_image));
  std::optional<PairReport> sampled;
  if (effort == CheckEffort::quick) sampled = agreeing_rows(left, right);
  PairReport report = sampled.value_or(PairReport());
  report.same_image = same_pixels(left_image, right_image);
  // Around 0, a sample is too small to tell a far scene from one view.
  if (sampled && (report.same_image || std::abs(report.median_disparity) > most_of_one_view)) return report;

  const Found found = find(left, right, left.reach(), 1);
  measure(found.refined, report);
  if (!report.rectified() && !report.same_image) find_fault(left, right, report);
  if (effort == CheckEffort::quick || report.matches == 0) return report;
  // A rectified pair is searched along rows only, as in estimate_range().
  auto range = report.rectified() ? coarse_range(left.levels, right.levels) : std::nullopt;
  if (!range) range = range_of(found.coarse, left.scale(), left_image.width);
  if (range) report.range = *range;
  return report;
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
