// Sparse matches, found on the coarse level and refined on the finer levels, for pair_check.cpp.
#pragma once

#include <optional>

#include "api/sparse_windows.hpp"

namespace stereopsis::sparse {

// Finds the best match of a window of `from` in `to`, up to half the width and `reach` rows away.
class Search {
 public:
  Search(const View& from, const View& to, int reach) : from_(from), to_(to), reach_(reach) {}

  struct Best {
    int x = 0;
    int y = 0;
    double score = -1;
    double second = -1;  // score of the best window that is not adjacent to the best window
    double offset = 0;   // offset of the sub-pixel peak, relative to x
  };

  Best operator()(int x, int y) {
    find_candidates(x, y);
    const Level &a = from_.level, &b = to_.level;
    const Moments here = moments(a, x, y);
    Best best;
    for (Candidate& c : candidates_) {
      c.score = correlation(a, x, y, here, b, c.x, c.y);
      if (c.score > best.score) best = {c.x, c.y, c.score, -1, 0};
    }
    for (const Candidate& c : candidates_)
      if (std::abs(c.x - best.x) > 2 || std::abs(c.y - best.y) > 2) best.second = std::max(best.second, c.score);
    if (best.score > 0)
      best.offset = peak(correlation(a, x, y, here, b, best.x - 1, best.y), best.score,
                         correlation(a, x, y, here, b, best.x + 1, best.y));
    return best;
  }

 private:
  struct Candidate {
    int x, y, distance;
    double score;
  };

  // Fills the shortlist of windows to compare. The shortlist remains empty if no window is similar, or if too many
  // windows are.
  void find_candidates(int x, int y) {
    const Level &a = from_.level, &b = to_.level;
    const int first = std::max(x - a.width() / 2, before), last = std::min(x + a.width() / 2, b.width() - 1 - after);
    const int top = std::max(y - reach_, before), bottom = std::min(y + reach_, b.height() - 1 - after);
    const std::uint64_t here = from_.signs(x, y);
    candidates_.clear();
    int limit = most_signs_apart;
    for (int v = top; v <= bottom; ++v) {
      const std::uint64_t* there = to_.signs.row(v);
      for (int u = first; u <= last; ++u) {
        const int distance = std::popcount(here ^ there[u]);
        if (distance > limit) continue;
        limit = std::min(limit, distance + shortlist);
        candidates_.push_back({u, v, distance, -1});
      }
    }
    std::erase_if(candidates_, [&](const Candidate& c) { return c.distance > limit; });
    if (candidates_.size() > most_candidates) candidates_.clear();
  }

  const View& from_;
  const View& to_;
  int reach_;
  std::vector<Candidate> candidates_;
};

struct Point {
  int x = 0, y = 0;
};

using Grid = std::vector<std::optional<Match>>;

struct Matches {
  int columns = 0;   // number of cells in a row
  int textured = 0;  // number of cells that have a point with texture
  Grid grid;
};

inline std::optional<Match> match_at(Search& forward, Search& backward, int x, int y) {
  const Search::Best there = forward(x, y);
  if (there.score < least_correlation || 1 - there.score > most_ambiguous * (1 - there.second)) return {};
  const Search::Best back = backward(there.x, there.y);
  if (std::abs(back.x - x) > 1 || std::abs(back.y - y) > 1) return {};
  return Match{x, y, x - (there.x + there.offset), static_cast<double>(y - there.y)};
}

// Returns the point of a cell that is best localised, or nothing if the cell has no texture.
inline std::optional<Point> textured_point(const Level& level, int cell_x, int cell_y) {
  double best = 0;
  Point point;
  for (int y = cell_y * cell; y < (cell_y + 1) * cell; y += 2)
    for (int x = cell_x * cell; x < (cell_x + 1) * cell; x += 2) {
      if (!holds_window(level, x, y)) continue;
      const double score = structure(level, x, y).smaller;
      if (score <= best) continue;
      best = score;
      point = {x, y};
    }
  if (best > 0 && moments(level, point.x, point.y).norm > 0) return point;
  return {};
}

// Returns one match per cell, for every `stride`-th cell of every `stride`-th row of cells.
inline Matches coarse_matches(const View& left, const View& right, int reach, int stride = 1) {
  Search forward(left, right, reach), backward(right, left, reach);
  Matches matches;
  const int columns = left.level.width() / cell, rows = left.level.height() / cell;
  matches.columns = (columns + stride - 1) / stride;
  for (int cell_y = 0; cell_y < rows; cell_y += stride)
    for (int cell_x = 0; cell_x < columns; cell_x += stride) {
      const auto point = textured_point(left.level, cell_x, cell_y);
      matches.textured += point.has_value();
      matches.grid.push_back(point ? match_at(forward, backward, point->x, point->y) : std::nullopt);
    }
  return matches;
}

// Returns the matches with which at least two of the 24 surrounding cells agree. A wrong match usually agrees with no
// neighbour.
inline std::vector<Match> supported(const Matches& matches) {
  const int rows = static_cast<int>(matches.grid.size()) / std::max(matches.columns, 1);
  const auto at = [&](int x, int y) -> const std::optional<Match>& {
    return matches.grid[static_cast<std::size_t>(y * matches.columns + x)];
  };
  std::vector<Match> kept;
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < matches.columns; ++x) {
      if (!at(x, y)) continue;
      int agreeing = -1;  // starts at −1, because a match agrees with itself
      for (int v = std::max(y - 2, 0); v <= std::min(y + 2, rows - 1); ++v)
        for (int u = std::max(x - 2, 0); u <= std::min(x + 2, matches.columns - 1); ++u)
          if (const auto& other = at(u, v))
            agreeing += std::abs(other->dx - at(x, y)->dx) <= 2 && std::abs(other->dy - at(x, y)->dy) <= 1;
      if (agreeing >= 2) kept.push_back(*at(x, y));
    }
  return kept;
}

// Refines a match on the next finer level: finds the most distinctive point near the match, then the best window of the
// right image.
class Refinement {
 public:
  Refinement(const Level& left, const Level& right) : left_(left), right_(right) {}

  std::optional<Match> operator()(const Match& coarse) const {
    Match match = most_distinctive(2 * coarse.x, 2 * coarse.y);
    if (!holds_window(left_, match.x, match.y)) return {};
    return located(match, static_cast<int>(std::lround(match.x - 2 * coarse.dx)),
                   static_cast<int>(std::lround(match.y - 2 * coarse.dy)));
  }

  // Returns the best window within 2 pixels of (x, y) in the right image, with sub-pixel precision.
  std::optional<Match> located(Match match, int x, int y) const {
    constexpr int reach = 2, side = 2 * reach + 3;  // one additional window on each side, which the parabola requires
    std::array<std::array<double, side>, side> scores;
    const Moments here = moments(left_, match.x, match.y);
    int best_i = 1, best_j = 1;
    for (int j = 0; j < side; ++j)
      for (int i = 0; i < side; ++i) {
        double& score = scores[static_cast<std::size_t>(j)][static_cast<std::size_t>(i)];
        score = correlation(left_, match.x, match.y, here, right_, x + i - reach - 1, y + j - reach - 1);
        const bool inside = i > 0 && i < side - 1 && j > 0 && j < side - 1;
        if (inside && score > scores[static_cast<std::size_t>(best_j)][static_cast<std::size_t>(best_i)]) {
          best_i = i;
          best_j = j;
        }
      }
    const auto at = [&](int i, int j) { return scores[static_cast<std::size_t>(j)][static_cast<std::size_t>(i)]; };
    const double best = at(best_i, best_j);
    if (best < least_correlation) return {};
    match.dx = match.x - (x + best_i - reach - 1 + peak(at(best_i - 1, best_j), best, at(best_i + 1, best_j)));
    match.dy = match.y - (y + best_j - reach - 1 + peak(at(best_i, best_j - 1), best, at(best_i, best_j + 1)));
    return match;
  }

 private:
  Match most_distinctive(int x, int y) const {
    Match match{x, y, 0, 0};
    double best = -1;
    for (int v = y - 1; v <= y + 2; ++v)
      for (int u = x - 1; u <= x + 2; ++u) {
        if (!holds_window(left_, u, v)) continue;
        const double score = structure(left_, u, v).smaller;
        if (score <= best) continue;
        best = score;
        match.x = u;
        match.y = v;
      }
    return match;
  }

  const Level& left_;
  const Level& right_;
};

// Returns the matches in pixels of the full image. Omits matches that are lost on a level, and points on edges, whose
// row is not precise.
inline std::vector<Match> refined(std::vector<Match> matches, const std::vector<Level>& left,
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
  return matches;
}

// Returns whether a window with a disparity from `first` to `last` fits nearly as well as the match, as in a repetitive
// pattern.
inline bool fits_within(int first, int last, const Match& match, const Level& left, const Level& right) {
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
