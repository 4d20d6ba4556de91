// Checks a pair by the sparse matches of sparse/matches.hpp.
#include "stereopsis/pair_check.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/refuse.hpp"
#include "core/text.hpp"
#include "sparse/matches.hpp"
#include "sparse/shared_pattern.hpp"

namespace stereopsis {
namespace {

using namespace sparse;

double quantile(std::vector<double>& values, double fraction) {
  const auto index = static_cast<std::ptrdiff_t>(std::lround(fraction * static_cast<double>(values.size() - 1)));
  std::nth_element(values.begin(), values.begin() + index, values.end());
  return values[static_cast<std::size_t>(index)];
}

constexpr int smallest_side = 32;           // pixels
constexpr int vertical_reach = 24;          // rows, up and down, that check_pair searches
constexpr std::size_t fewest_matches = 12;  // smallest number of matches from which a range is estimated
// Smallest share of the points that match in a pair. In unrelated images, up to 8 % match by chance; in a pair, a third.
constexpr double least_share_of_pair = 0.25;
constexpr double mostly = 0.95;  // share of the disparities that counts as nearly all
// Largest disparity between two images of the same view, in pixels. The sub-pixel peak of a window with itself is off
// by up to 0.3.
constexpr double most_of_one_view = 0.4;
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

bool is_tiny(Size size) { return size.width < smallest_side || size.height < smallest_side; }

// Returns the range of the matches along rows.
std::optional<DisparityRange> coarse_range(const Side& left, const Side& right) {
  return range_of(coarse_matches(left.coarse(), right.coarse(), 0).found, left.scale(),
                  left.coarse().level.width() * left.scale());
}

void measure(const std::vector<Match>& matches, Size size, PairReport& report) {
  report.size = size;
  if (matches.size() < fewest_matches) return;
  std::vector<double> disparities, sizes, vertical;
  for (const Match& match : matches) {
    disparities.push_back(match.dx);
    sizes.push_back(std::abs(match.dx));
    vertical.push_back(std::abs(match.dy));
  }
  const auto negative = std::ranges::count_if(disparities, [](double d) { return d < -0.5; });
  const auto near = std::ranges::count_if(sizes, [](double d) { return d > 0.5; });
  report.matches = static_cast<int>(matches.size());
  report.median_dy = quantile(vertical, 0.5);
  report.p95_dy = quantile(vertical, 0.95);
  const RowFit rows = fit_rows(matches, size);
  report.rows = {rows.plane.offset, rows.plane.roll, rows.plane.zoom, rows.most_apart, rows.deviation};
  report.median_disparity = quantile(disparities, 0.5);
  // Far points, whose disparity is 0 in both orders of the images, do not count, unless nearly all points are far.
  report.swapped = negative >= most_negative * near && near >= least_near * sizes.size();
  report.same_view = quantile(sizes, mostly) <= most_of_one_view && report.p95_dy <= most_of_one_view;
}

// Returns the report from a sample of the points whose rows differ by at most a pixel of the coarse level, if the sample
// shows that the rows of both images agree.
std::optional<PairReport> agreeing_rows(const Side& left, const Side& right) {
  const PairMatches sample = sample_matches(left, right, left.scale());
  PairReport report;
  if (sample.coarse.share() >= least_share_of_pair) measure(sample.refined, left.finest().size(), report);
  return report.rectified() ? std::optional(report) : std::nullopt;
}

template <class F>
Level moved(const Level& level, Size size, F&& source) {
  Level out(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const auto [u, v] = source(x, y);
      out(x, y) = level(u, v);
    }
  return out;
}

Side turned(const Side& side, Turn turn) {
  const Level& level = side.finest();
  const int right = level.width() - 1, bottom = level.height() - 1;
  return Side(pyramid(moved(level, level.size(), [&](int x, int y) {
    return std::pair(turn == Turn::rows_reversed ? x : right - x, turn == Turn::mirrored ? y : bottom - y);
  })));
}

Side transposed(const Side& side) {
  const Level& level = side.finest();
  return Side(pyramid(moved(level, {level.height(), level.width()}, [](int x, int y) { return std::pair(y, x); })));
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
  Level a = left.coarse().level, b = right.coarse().level;
  if (std::max(textured_cells(a), textured_cells(b)) < fewest_cells) return far;
  for (int scale = 2 * left.scale(); scale <= 4 * left.scale(); scale *= 2) {
    a = halved(a);
    b = halved(b);
    if ((a.width() / cell) * (a.height() / cell) < fewest_cells) break;
    far.searched = true;
    const Matches cells = coarse_matches(View(a), View(b), a.height() / 4);
    if (cells.share() < least_share) continue;
    for (const Match& m : cells.found)
      far.matches.push_back({m.x * scale, m.y * scale, m.dx * scale, m.dy * scale, m.uniqueness});
    break;
  }
  return far;
}

// Returns the turn of the right image after which it matches the left image.
Turn turn_of(const Side& left, const Side& right, bool along_rows) {
  constexpr double least_share = 0.1;  // up to 24 rows away, less than 1 % of the points match by chance
  for (const Turn turn : {Turn::half, Turn::rows_reversed, Turn::mirrored}) {
    const Side other = turned(right, turn);
    if (agreeing_rows(left, other)) return turn;
    if (!along_rows && sample_matches(left, other, vertical_reach).coarse.share() >= least_share) return turn;
  }
  return Turn::none;
}

// Returns the shares of all matches that are among these, and that a range leaves out.
OutsideRange outside(const std::vector<Match>& matches, std::size_t all, const Side& left, const Side& right,
                     DisparityRange range) {
  const auto share = [&](auto&& is_outside) {
    const auto count = std::ranges::count_if(matches, [&](const Match& m) {
      return is_outside(m) && !fits_within(range.min, range.max(), m, left.finest(), right.finest());
    });
    return static_cast<double>(count) / static_cast<double>(all);
  };
  return {share([&](const Match& m) { return m.dx < range.min - 1; }),
          share([&](const Match& m) { return m.dx > range.max() + 1; })};
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
  measure(far.matches, left.finest().size(), report);
  report.unrelated = far.searched && report.matches == 0;
}

}  // namespace

PairReport check_pair(const AnyImageView& left_image, const AnyImageView& right_image, CheckEffort effort,
                      std::optional<DisparityRange> searched) {
  check_images(left_image, right_image);
  PairReport report;
  report.size = left_image.size();
  report.same_image = same_pixels(left_image, right_image);
  if (is_tiny(report.size)) return report;
  const Side left(left_image), right(right_image);
  const PairMatches matches = find_matches(left, right, vertical_reach);
  measure(matches.refined, left_image.size(), report);
  const std::vector<Match> sure = distinct(matches.refined);
  report.shared_pattern = !report.same_image && shared_pattern(sure, left.finest(), right.finest()).exists();
  if (searched && report.rectified()) report.outside = outside(sure, matches.refined.size(), left, right, *searched);
  if (!report.rectified() && !report.same_image) find_fault(left, right, report);
  if (effort == CheckEffort::quick || report.matches == 0) return report;
  // In a rectified pair, matches are searched only along rows, as in estimate_range().
  auto range = report.rectified() ? coarse_range(left, right) : std::nullopt;
  if (!range) range = range_of(matches.coarse.found, left.scale(), left_image.width);
  if (range) report.range = *range;
  return report;
}

std::optional<OutsideRange> matches_outside(const AnyImageView& left_image, const AnyImageView& right_image,
                                            DisparityRange range) {
  check_images(left_image, right_image);
  if (is_tiny(left_image.size())) return {};
  const Side left(left_image), right(right_image);
  const std::vector<Match> matches = find_matches(left, right, vertical_reach).refined;
  return matches.size() < fewest_matches ? std::nullopt
                                         : std::optional(outside(matches, matches.size(), left, right, range));
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
  check_images(left, right);
  if (is_tiny(left.size()))
    refuse(text("a pair of ", shown(left.size()), " is too small to estimate the search range; use a pair of at least ",
                shown({smallest_side, smallest_side}), ", or give the search range"));
  if (const auto range = coarse_range(Side(left), Side(right))) return *range;
  refuse(
      text("the search range cannot be estimated, because fewer than ", fewest_matches,
           " points of the left image were found in the right image; give the search range, or check that the pair is "
           "rectified and shows one scene"));
}

}  // namespace stereopsis
