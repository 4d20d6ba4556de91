#include "sparse/matches.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "sparse/search.hpp"

namespace stereopsis::sparse {
namespace {

constexpr int sample_cells = 500;           // approximate number of cells of a sample
constexpr std::size_t fewest_sampled = 60;  // smallest number of matches of a sample that determines where to search

using Grid = std::vector<std::optional<Match>>;

double rounded(double pixels) { return std::round(pixels * 256) / 256; }

// Returns the point of a cell that is best localised, or nothing if the cell has no texture.
std::optional<Match> textured_point(const Level& level, int cell_x, int cell_y) {
  double best = 0;
  Match point;
  for (int y = cell_y * cell; y < (cell_y + 1) * cell; y += 2)
    for (int x = cell_x * cell; x < (cell_x + 1) * cell; x += 2) {
      if (!holds_window(level, x, y)) continue;
      const double score = structure(level, x, y).smaller;
      if (score <= best) continue;
      best = score;
      point.x = x;
      point.y = y;
    }
  if (best > 0 && moments(level, point.x, point.y).norm > 0) return point;
  return {};
}

// Searches the right image for points of the left one, and back.
class CrossSearch {
 public:
  CrossSearch(const View& left, const View& right, int reach, const RowPlane& expected)
      : forward_(left, right, reach), backward_(right, left, reach), size_(left.level.size()), expected_(expected) {}

  std::optional<Match> operator()(Match match) {
    const int shift = static_cast<int>(
        std::lround(expected_.at((match.x + 0.5) / size_.width - 0.5, (match.y + 0.5) / size_.height - 0.5)));
    const Search::Best there = forward_(match.x, match.y, match.y - shift);
    if (there.score < least_correlation || 1 - there.score > most_ambiguous * (1 - there.second)) return {};
    const Search::Best back = backward_(there.x, there.y, there.y + shift);
    if (std::abs(back.x - match.x) > 1 || std::abs(back.y - match.y) > 1) return {};
    match.dx = rounded(match.x - (there.x + there.offset));
    match.dy = match.y - there.y;
    match.uniqueness = rounded(std::min(there.score - there.second, 1.0));
    return match;
  }

 private:
  Search forward_, backward_;
  Size size_;
  RowPlane expected_;
};

// Returns the matches with which at least two of the 24 surrounding cells agree. A wrong match usually agrees with no
// neighbour.
std::vector<Match> supported(const Grid& grid, int columns) {
  const int rows = static_cast<int>(grid.size()) / std::max(columns, 1);
  const auto at = [&](int x, int y) -> const std::optional<Match>& {
    return grid[static_cast<std::size_t>(y * columns + x)];
  };
  std::vector<Match> kept;
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < columns; ++x) {
      if (!at(x, y)) continue;
      int agreeing = -1;  // starts at −1, because a match agrees with itself
      for (int v = std::max(y - 2, 0); v <= std::min(y + 2, rows - 1); ++v)
        for (int u = std::max(x - 2, 0); u <= std::min(x + 2, columns - 1); ++u)
          if (const auto& other = at(u, v))
            agreeing += std::abs(other->dx - at(x, y)->dx) <= 2 && std::abs(other->dy - at(x, y)->dy) <= 1;
      if (agreeing >= 2) kept.push_back(*at(x, y));
    }
  return kept;
}

// Returns the matches in pixels of the image. Omits matches that are lost on a level, and points on edges, whose row is
// not precise.
std::vector<Match> refined(std::vector<Match> matches, const std::vector<Level>& left,
                           const std::vector<Level>& right) {
  const auto apply = [&matches](auto&& refine) {
    std::vector<Match> kept;
    for (const Match& match : matches)
      if (const auto finer = refine(match)) kept.push_back(*finer);
    matches = std::move(kept);
  };
  if (left.size() == 1) {
    const Refinement refine(left[0], right[0]);
    apply([&](const Match& m) {
      return refine.located(m, static_cast<int>(std::lround(m.x - m.dx)), static_cast<int>(std::lround(m.y - m.dy)));
    });
  }
  for (std::size_t level = left.size() - 1; level-- > 0;) apply(Refinement(left[level], right[level]));
  std::erase_if(matches, [&](const Match& match) {
    const Structure s = structure(left[0], match.x, match.y);
    return s.smaller < least_corner * s.larger;
  });
  for (Match& match : matches) {
    match.dx = rounded(match.dx);
    match.dy = rounded(match.dy);
  }
  return matches;
}

// Returns the stride, in both directions, of the cells of a sample.
int sample_stride(const Level& level) {
  const double cells = static_cast<double>(level.width() / cell) * (level.height() / cell);
  return std::max(1, static_cast<int>(std::sqrt(cells / sample_cells)));
}

// Returns whether the matches of a sample determine where the other cells match.
bool is_enough(const Matches& sample) {
  constexpr double least_share = 0.25;  // unrelated images have up to 8 %, and pairs a third or more
  return sample.found.size() >= fewest_sampled && sample.share() >= least_share;
}

int coarse_rows(double rows, int scale) { return static_cast<int>(std::ceil(rows / scale)); }

PairMatches refined(const Side& left, const Side& right, Matches coarse) {
  std::vector<Match> fine = refined(coarse.found, left.levels(), right.levels());
  return {std::move(coarse), std::move(fine)};
}

}  // namespace

Matches coarse_matches(const View& left, const View& right, int reach, int stride, const RowPlane& expected) {
  CrossSearch search(left, right, reach, expected);
  Matches matches;
  Grid grid;
  const int columns = left.level.width() / cell, rows = left.level.height() / cell;
  for (int cell_y = 0; cell_y < rows; cell_y += stride)
    for (int cell_x = 0; cell_x < columns; cell_x += stride) {
      const auto point = textured_point(left.level, cell_x, cell_y);
      matches.textured += point.has_value();
      grid.push_back(point ? search(*point) : std::nullopt);
    }
  matches.found = supported(grid, (columns + stride - 1) / stride);
  return matches;
}

PairMatches sample_matches(const Side& left, const Side& right, int rows) {
  return refined(left, right,
                 coarse_matches(left.coarse(), right.coarse(), coarse_rows(rows, left.scale()),
                                sample_stride(left.coarse().level)));
}

Matches sample_coarse_matches(const Side& left, const Side& right, int rows) {
  const View &a = left.coarse(), &b = right.coarse();
  const int reach = coarse_rows(rows, left.scale()), stride = sample_stride(a.level);
  Matches sample = coarse_matches(a, b, reach, stride);
  return stride == 1 || is_enough(sample) ? sample : coarse_matches(a, b, reach);
}

Matches find_coarse_matches(const Side& left, const Side& right, int rows) {
  constexpr double margin = 2, deviations = 4;
  const View &a = left.coarse(), &b = right.coarse();
  const int reach = coarse_rows(rows, left.scale()), stride = sample_stride(a.level);
  Matches sample = coarse_matches(a, b, reach, stride);
  if (stride == 1) return sample;
  if (!is_enough(sample)) return coarse_matches(a, b, reach);
  const RowFit fit = fit_rows(sample.found, a.level.size());
  const int around = static_cast<int>(std::ceil(deviations * fit.spread + margin / left.scale()));
  return around < reach ? coarse_matches(a, b, around, 1, fit.plane) : coarse_matches(a, b, reach);
}

PairMatches find_matches(const Side& left, const Side& right, int rows) {
  return refined(left, right, find_coarse_matches(left, right, rows));
}

std::vector<Match> distinct(std::vector<Match> matches) {
  constexpr double least_uniqueness = 0.1;
  std::erase_if(matches, [](const Match& m) { return m.uniqueness < least_uniqueness; });
  return matches;
}

int textured_cells(const Level& level) {
  int count = 0;
  for (int y = 0; y < level.height() / cell; ++y)
    for (int x = 0; x < level.width() / cell; ++x) count += textured_point(level, x, y).has_value();
  return count;
}

bool fits_within(int first, int last, const Match& match, const Level& left, const Level& right) {
  constexpr double nearly = 0.05;  // difference of the correlations
  const Moments here = moments(left, match.x, match.y);
  const int there = static_cast<int>(std::lround(match.dx)), row = static_cast<int>(std::lround(match.y - match.dy));
  const auto best = [&](int from, int to) {
    double score = -1;
    for (int d = std::max(from, match.x - right.width()); d <= std::min(to, match.x); ++d)
      score = std::max(score, correlation(left, match.x, match.y, here, right, match.x - d, row));
    return score;
  };
  return best(first, last) >= best(there - 1, there + 1) - nearly;
}

}  // namespace stereopsis::sparse
