// The search for single matches: on the coarse level, and again on each finer level. matches.cpp uses it.
#pragma once

#include <optional>

#include "sparse/rows.hpp"
#include "sparse/windows.hpp"

namespace stereopsis::sparse {

// Finds the best match of a window of `from` in `to`, up to half the width away, and up to `reach` rows away from where it
// is expected.
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

  Best operator()(int x, int y, int expected_row) {
    find_candidates(x, y, expected_row);
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
  void find_candidates(int x, int y, int row) {
    const Level &a = from_.level, &b = to_.level;
    const int first = std::max(x - a.width() / 2, before), last = std::min(x + a.width() / 2, b.width() - 1 - after);
    const int top = std::max(row - reach_, before), bottom = std::min(row + reach_, b.height() - 1 - after);
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

// Refines a match on the next finer level: finds the most distinctive point near the match, then the best window of the
// right image.
class Refinement {
 public:
  Refinement(const Level& left, const Level& right) : left_(left), right_(right) {}

  std::optional<Match> operator()(const Match& coarse) const {
    Match match = most_distinctive(2 * coarse.x, 2 * coarse.y);
    match.uniqueness = coarse.uniqueness;
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
    Match match{x, y};
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

}  // namespace stereopsis::sparse
