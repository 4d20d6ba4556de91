#include "sparse/tracks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "sparse/corners.hpp"
#include "sparse/normal_equations.hpp"
#include "sparse/patches.hpp"

namespace stereopsis::sparse {
namespace {

constexpr int smallest_square = 4;         // side of a square in pixels
constexpr int most_steps = 6;              // iterations of the refinement
constexpr double close_enough = 1.0 / 64;  // length of the last step of the refinement, in pixels
constexpr double most_moved = 3;           // largest distance between a prediction and its refinement, in pixels
constexpr double most_apart = 0.1;         // largest distance between the tracks forwards and backwards, in pixels

// Predicts the disparities of corners from the coarse matches around them.
class Prediction {
 public:
  Prediction(const Side& left, const Side& right, const Matches& coarse)
      : left_(left.levels()),
        right_(right.levels()),
        columns_(left.coarse().level.width() / cell + 1),
        rows_(left.coarse().level.height() / cell + 1),
        cells_(static_cast<std::size_t>(columns_ * rows_), nullptr),
        plane_(fit_rows(coarse.found, left.coarse().level.size()).plane) {
    for (const Match& m : coarse.found) cells_[index(m.x / cell, m.y / cell)] = &m;
  }

  // Returns a match of the level `base` with whole pixels for its point (x, y), or nothing.
  std::optional<Match> operator()(Corner corner, int base) {
    const int coarse = static_cast<int>(left_.size()) - 1, first = std::max(coarse - 1, base);
    find_shifts(corner.x >> (coarse - base), corner.y >> (coarse - base), 1 << (coarse - first));
    Match match = at(corner, base, first);
    const Size size = level(left_, first).size();
    const int row = static_cast<int>(std::lround(
        (1 << (coarse - first)) * plane_.at((match.x + 0.5) / size.width - 0.5, (match.y + 0.5) / size.height - 0.5)));
    if (!find_best(match, first, shifts_, row)) return {};
    for (int finer = first; finer-- > base;) {
      const int dx = 2 * static_cast<int>(match.dx), dy = 2 * static_cast<int>(match.dy);
      match = at(corner, base, finer);
      shifts_ = {dx - 1, dx, dx + 1};
      if (!find_best(match, finer, shifts_, dy)) return {};
    }
    return with_peaks(match, base);
  }

 private:
  static const Level& level(const std::vector<Level>& levels, int i) { return levels[static_cast<std::size_t>(i)]; }
  static Match at(Corner c, int base, int to) { return {c.x >> (to - base), c.y >> (to - base)}; }
  std::size_t index(int x, int y) const { return static_cast<std::size_t>(y * columns_ + x); }

  // Fills the disparities to try, in pixels of a level that is `factor` times finer than the coarse one: those of the
  // nearest matches.
  void find_shifts(int x, int y, int factor) {
    shifts_.clear();
    for (int reach = 1; reach <= 2 && shifts_.empty(); ++reach)
      for (int v = std::max(y / cell - reach, 0); v <= std::min(y / cell + reach, rows_ - 1); ++v)
        for (int u = std::max(x / cell - reach, 0); u <= std::min(x / cell + reach, columns_ - 1); ++u)
          if (const Match* m = cells_[index(u, v)]) {
            const int dx = static_cast<int>(std::lround(factor * m->dx));
            for (int i = -1; i <= 1; ++i) shifts_.push_back(dx + i);
          }
    std::ranges::sort(shifts_);
    shifts_.erase(std::unique(shifts_.begin(), shifts_.end()), shifts_.end());
  }

  bool find_best(Match& match, int at, const std::vector<int>& shifts, int row) const {
    const Level &a = level(left_, at), &b = level(right_, at);
    if (!holds_window(a, match.x, match.y)) return false;
    const Moments here = moments(a, match.x, match.y);
    double best = least_correlation;
    bool found = false;
    for (int dy = row - 1; dy <= row + 1; ++dy)
      for (const int dx : shifts) {
        const double score = correlation(a, match.x, match.y, here, b, match.x - dx, match.y - dy);
        if (score <= best) continue;
        best = score;
        match.dx = dx;
        match.dy = dy;
        found = true;
      }
    return found;
  }

  // Returns the match with sub-pixel precision.
  Match with_peaks(Match match, int at) const {
    const Level &a = level(left_, at), &b = level(right_, at);
    const Moments here = moments(a, match.x, match.y);
    const int x = match.x - static_cast<int>(match.dx), y = match.y - static_cast<int>(match.dy);
    const auto score = [&](int i, int j) { return correlation(a, match.x, match.y, here, b, x + i, y + j); };
    const double best = score(0, 0);
    match.dx -= peak(score(-1, 0), best, score(1, 0));
    match.dy -= peak(score(0, -1), best, score(0, 1));
    return match;
  }

  const std::vector<Level>& left_;
  const std::vector<Level>& right_;
  int columns_, rows_;
  std::vector<const Match*> cells_;
  RowPlane plane_;
  std::vector<int> shifts_;
};

using Point = std::array<double, 2>;

constexpr double noise = 2 * units;  // standard deviation of both images together
// Standard deviation of a track without noise, in pixels. The surfaces of real scenes are no planes.
constexpr double precision = 0.05;

// A position, the standard deviation of its row, and the place of the texture that determines the row.
struct Position {
  Point at;
  double deviation;
  Point texture;
};

NormalEquations<parameters> equations_of(const Patch& p) {
  Matrix<parameters> matrix;
  for (std::size_t i = 0; i < parameters; ++i)
    for (std::size_t j = 0; j < parameters; ++j) matrix[i][j] = static_cast<double>(p.products[i][j]);
  return NormalEquations<parameters>(matrix);
}

Vector<parameters> in_doubles(const Sums& sums) {
  Vector<parameters> v;
  for (std::size_t i = 0; i < parameters; ++i) v[i] = static_cast<double>(sums[i]);
  return v;
}

// Returns the position in `to` of the patch around (x, y) of `from`, or nothing if the search leaves the start or the
// image.
std::optional<Position> located(const Level& from, int x, int y, const Level& to, Point start) {
  if (!holds_patch(from, x, y)) return {};
  Patch p;
  fill_patch(from, x, y, p);
  const NormalEquations<parameters> equations = equations_of(p);
  if (!equations.is_definite()) return {};
  Point at = start;
  for (int i = 0; i < most_steps; ++i) {
    const int px = static_cast<int>(std::lround(at[0] * position_units)),
              py = static_cast<int>(std::lround(at[1] * position_units));
    if (px < 0 || py < 0 || !holds_patch(to, px / position_units, py / position_units)) return {};
    const Vector<parameters> moved = equations.solution(in_doubles(difference(p, to, px, py)));
    const double moved_y = moved[0], moved_x = moved[1];
    at = {static_cast<double>(px) / position_units - moved_x, static_cast<double>(py) / position_units - moved_y};
    if (std::abs(at[0] - start[0]) > most_moved || std::abs(at[1] - start[1]) > most_moved) return {};
    if (std::abs(moved_x) < close_enough && std::abs(moved_y) < close_enough)
      return Position{
          at,
          std::sqrt(precision * precision + noise * noise * equations.variance({1, 0, 0, 0, 0})),
          {equations.solution(in_doubles(p.of_slopes[0]))[0], equations.solution(in_doubles(p.of_slopes[1]))[0]}};
  }
  return {};
}

// Locates a point in the right image, and from there in the left one.
std::optional<Track> tracked(const Level& left, const Level& right, const Match& match) {
  const auto there = located(left, match.x, match.y, right, {match.x - match.dx, match.y - match.dy});
  if (!there) return {};
  const double dx = match.x - there->at[0], dy = match.y - there->at[1];
  const int x = static_cast<int>(std::lround(there->at[0])), y = static_cast<int>(std::lround(there->at[1]));
  const auto back = located(right, x, y, left, {x + dx, y + dy});
  if (!back) return {};
  const double apart_x = back->at[0] - x - dx, apart_y = back->at[1] - y - dy;
  if (apart_x * apart_x + apart_y * apart_y > most_apart * most_apart) return {};
  return Track{match.x,          match.y,           dx + 0.5 * apart_x, dy + 0.5 * apart_y,
               there->deviation, there->texture[0], there->texture[1]};
}

}  // namespace

std::vector<Track> find_tracks(const Side& left, const Side& right, int rows, int squares) {
  const Matches coarse = sample_coarse_matches(left, right, rows);
  Prediction predict(left, right, coarse);
  const int base = left.levels().size() > 1 ? 1 : 0, scale = 1 << base;
  const Level &level = left.levels()[static_cast<std::size_t>(base)], smooth_left = smoothed(left.finest()),
              smooth_right = smoothed(right.finest());
  const double pixels = static_cast<double>(level.width()) * level.height();
  const int side = std::max(smallest_square, static_cast<int>(std::sqrt(pixels / squares)));
  std::vector<Track> tracks;
  for (const Corner& corner : find_corners(level, side)) {
    const auto match = predict(corner, base);
    if (!match) continue;
    const Match fine{match->x * scale, match->y * scale, match->dx * scale, match->dy * scale};
    if (const auto track = tracked(smooth_left, smooth_right, fine)) tracks.push_back(*track);
  }
  return tracks;
}

}  // namespace stereopsis::sparse
