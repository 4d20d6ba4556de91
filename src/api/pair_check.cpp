// Finds sparse matches on a pyramid of 2×2 averages. On the coarse level, the whole range of both signs is searched.
// The signs of the pixels relative to their local mean, 64 in a window, select the few windows that are compared by
// zero-mean normalised cross-correlation (ZNCC). A match must have texture, be distinctive, pass the check from the
// other image, and agree with neighbouring matches. Sums are integers, so that the result is the same on every machine.
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

namespace stereopsis {
namespace {

using namespace sparse;

double quantile(std::vector<double>& values, double fraction) {
  const auto index = static_cast<std::ptrdiff_t>(std::lround(fraction * static_cast<double>(values.size() - 1)));
  std::nth_element(values.begin(), values.begin() + index, values.end());
  return values[static_cast<std::size_t>(index)];
}

constexpr std::size_t fewest_matches = 12;  // smallest number of matches from which a range is estimated
// In pairs of real scenes, at most 7 % of the disparities that are not 0 are negative, and at least 93 % if the images
// are swapped. Cameras that converge behind near objects have both signs.
constexpr double most_negative = 0.9;
constexpr double least_near = 0.25;  // smallest share of disparities that are not 0 from which the order is judged

// Returns the range that contains nearly all matches. The range starts at the quantiles of 1 % and grows outwards as
// long as the next match is close. A margin is added: 10 %, one pixel of the coarse level, and one pixel of the image.
// If hardly any match is negative, the margin does not extend below 0. The number of disparities is rounded up to a
// multiple of 16 at the near end.
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

void check_input(const AnyImageView& left, const AnyImageView& right) {
  if (left.size() != right.size())
    refuse(text("the left image is ", shown(left.size()), " and the right one ", shown(right.size()),
                "; both must have the same size"));
  if (left.width < smallest_side || left.height < smallest_side)
    refuse(text("a pair of ", shown(left.size()), " is too small to estimate the search range; use a pair of at least ",
                shown({smallest_side, smallest_side}), ", or give the search range"));
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

  // Returns the stride, in both directions, of the cells that a quick check searches.
  int sample_stride() const {
    const double cells = static_cast<double>(coarse.level.width() / cell) * (coarse.level.height() / cell);
    return std::max(1, static_cast<int>(std::lround(std::sqrt(cells / sample_cells))));
  }

  std::vector<Level> levels;  // the finest level is first
  View coarse;
};

// Returns the range of the matches along rows.
std::optional<DisparityRange> coarse_range(const Side& left, const Side& right) {
  return range_of(supported(coarse_matches(left.coarse, right.coarse, 0)), left.scale(),
                  left.coarse.level.width() * left.scale());
}

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

void measure(const std::vector<Match>& matches, PairReport& report) {
  if (matches.size() < fewest_matches) return;
  std::vector<double> disparities, sizes, vertical;
  for (const Match& match : matches) {
    disparities.push_back(match.dx);
    sizes.push_back(std::abs(match.dx));
    vertical.push_back(std::abs(match.dy));
  }
  const auto negative = std::ranges::count_if(disparities, [](double d) { return d < -0.5; });
  const auto near = std::ranges::count_if(sizes, [](double size) { return size > 0.5; });
  report.matches = static_cast<int>(matches.size());
  report.median_dy = quantile(vertical, 0.5);
  report.p95_dy = quantile(vertical, 0.95);
  report.median_disparity = quantile(disparities, 0.5);
  // Far points, whose disparity is 0 in both orders of the images, do not count, unless nearly all points are far.
  report.swapped = negative >= most_negative * near && near >= least_near * sizes.size();
  report.same_view = quantile(sizes, mostly) <= most_of_one_view && report.p95_dy <= most_of_one_view;
}

// Returns the report from a sample of the points, if the sample shows that the rows of both images agree. In unrelated
// images, up to 8 % of the points match by chance; in a pair, a third or more match.
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

// Matches on the two levels above the coarse level, up to a quarter of the height up and down. Averaging reduces the
// noise on these levels.
struct FarMatches {
  std::vector<Match> matches;  // matches in pixels of the full image; empty if there are not more than by chance
  bool searched = false;       // false if the images are too small, or without texture
};

// By chance, up to 4 % of the points match. In a pair with noise of 30 grey levels, there are matches for 20 % or more
// on one of the levels.
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

// Returns the turn of the right image after which it matches the left image.
Turn turn_of(const Side& left, const Side& right, bool along_rows) {
  constexpr double least_share = 0.1;  // up to 24 rows away, less than 1 % of the points match by chance
  for (const Turn turn : {Turn::half, Turn::rows_reversed, Turn::mirrored}) {
    const Side other = turned(right, turn);
    if (agreeing_rows(left, other)) return turn;
    if (!along_rows && find(left, other, left.reach(), left.sample_stride()).share() >= least_share) return turn;
  }
  return Turn::none;
}

// Determines the fault of a pair whose rows do not agree.
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
  const auto sampled = effort == CheckEffort::quick ? agreeing_rows(left, right) : std::nullopt;
  PairReport report = sampled.value_or(PairReport());
  report.same_image = same_pixels(left_image, right_image);
  // If the disparities are near 0, a sample is too small to distinguish a far scene from two images of the same view.
  if (sampled && (report.same_image || std::abs(report.median_disparity) > most_of_one_view)) return report;

  const Found found = find(left, right, left.reach(), 1);
  measure(found.refined, report);
  if (!report.rectified() && !report.same_image) find_fault(left, right, report);
  if (effort == CheckEffort::quick || report.matches == 0) return report;
  // In a rectified pair, matches are searched only along rows, as in estimate_range().
  auto range = report.rectified() ? coarse_range(left, right) : std::nullopt;
  if (!range) range = range_of(found.coarse, left.scale(), left_image.width);
  if (range) report.range = *range;
  return report;
}

std::optional<OutsideRange> matches_outside(const AnyImageView& left_image, const AnyImageView& right_image,
                                            DisparityRange range) {
  check_input(left_image, right_image);
  const Side left(pyramid(left_image)), right(pyramid(right_image));
  const std::vector<Match> matches = find(left, right, 0, 1).refined;
  if (matches.size() < fewest_matches) return {};
  const auto share = [&](auto&& is_outside) {
    const auto count = std::ranges::count_if(matches, [&](const Match& m) {
      return is_outside(m) && !fits_within(range.min, range.max(), m, left.levels.front(), right.levels.front());
    });
    return static_cast<double>(count) / static_cast<double>(matches.size());
  };
  return OutsideRange{share([&](const Match& m) { return m.dx < range.min - 1; }),
                      share([&](const Match& m) { return m.dx > range.max() + 1; })};
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
  if (const auto range = coarse_range(Side(pyramid(left)), Side(pyramid(right)))) return *range;
  refuse(
      text("the search range cannot be estimated, because fewer than ", fewest_matches,
           " points of the left image were found in the right image; give the search range, or check that the pair is "
           "rectified and shows one scene"));
}

}  // namespace stereopsis
