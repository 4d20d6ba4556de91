// Sparse matches on a pyramid of 2×2 averages. The coarse level is searched whole, both signs: the signs of the pixels
// against their local mean, 64 in a window, find the few windows that zero-mean normalised cross-correlation (ZNCC)
// then compares. A match must be textured, distinctive, found again from the other image, and agree with matches near
// it. Sums are integers, so that the same pair gives the same answer everywhere.
#include "stereopsis/pair_check.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/text.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis {
namespace {

// A window of 8×8 pixels whose pixel (4, 4) is the point: its signs are one word.
constexpr int window = 8;
constexpr int before = 4;                   // rows and columns of the window before the point
constexpr int after = window - before - 1;  // and after it
constexpr int units = 16;                   // of a grey level: pixels are 12 bits, and 64 products fit 32 bits

constexpr int smallest_side = 32;     // pixels
constexpr int coarse_width = 400;     // the coarse level has at most as many columns, unless it got too low
constexpr int coarse_height = 48;     // and at least as many rows, where the image has them
constexpr int cell = 6;               // at most one match for each cell of so many pixels, coarse level
constexpr int vertical_reach = 24;    // rows of the full image that check_pair looks up and down
constexpr double mostly = 0.95;       // of the disparities are negative in a swapped pair
constexpr double least_contrast = 1;  // standard deviation in a window, grey levels
constexpr double least_correlation = 0.8;
constexpr double most_ambiguous = 0.8;  // (1 − best) / (1 − second best)
constexpr double least_corner = 0.1;    // smaller / larger eigenvalue; below it a point is on an edge and may slide
constexpr int most_signs_apart = 20;    // of the 64 of the best window
constexpr int shortlist = 10;           // windows with so many more signs apart are compared too
constexpr std::size_t most_candidates = 200;

using Level = Image<std::int16_t>;

// Grey (BT.601) in units. What is not a number repeats the pixel before, so that it gives no texture of its own.
template <class T>
Level grey_level(ImageView<const T> image, int bit_depth) {
  const float scale = std::is_same_v<T, float> ? 1.0F : 255.0F / static_cast<float>((1 << bit_depth) - 1);
  Level level(image.size());
  for (int y = 0; y < image.height; ++y) {
    const T* in = image.row(y);
    std::int16_t* out = level.row(y);
    std::int16_t previous = 0;
    for (int x = 0; x < image.width; ++x, in += image.channels) {
      const float grey = image.channels < 3 ? static_cast<float>(in[0])
                                            : 0.299F * static_cast<float>(in[0]) + 0.587F * static_cast<float>(in[1]) +
                                                  0.114F * static_cast<float>(in[2]);
      if (std::is_same_v<T, float> && !std::isfinite(grey)) {
        out[x] = previous;
      } else {
        previous = out[x] = static_cast<std::int16_t>(std::clamp(grey * scale, 0.0F, 255.0F) * units + 0.5F);
      }
    }
  }
  return level;
}

Level halved(const Level& fine) {
  Level coarse(fine.width() / 2, fine.height() / 2);
  for (int y = 0; y < coarse.height(); ++y) {
    const std::int16_t *a = fine.row(2 * y), *b = fine.row(2 * y + 1);
    for (int x = 0; x < coarse.width(); ++x)
      coarse(x, y) = static_cast<std::int16_t>((a[2 * x] + a[2 * x + 1] + b[2 * x] + b[2 * x + 1] + 2) / 4);
  }
  return coarse;
}

// The finest level first.
std::vector<Level> pyramid(const AnyImageView& image) {
  std::vector<Level> levels;
  levels.push_back(with_pixels(image, [&](auto pixels) { return grey_level(pixels, image.bit_depth); }));
  while (levels.back().width() > coarse_width && levels.back().height() >= 2 * coarse_height)
    levels.push_back(halved(levels.back()));
  return levels;
}

bool holds_window(const Level& level, int x, int y) {
  return x >= before && y >= before && x + after < level.width() && y + after < level.height();
}

struct Moments {
  int sum = 0;
  double norm = 0;  // 1 / √(n Σv² − (Σv)²), or 0 without contrast
};

Moments moments(const Level& level, int x, int y) {
  int sum = 0, squares = 0;
  for (int row = y - before; row <= y + after; ++row) {
    const std::int16_t* v = level.row(row) + x - before;
    for (int i = 0; i < window; ++i) {
      sum += v[i];
      squares += v[i] * v[i];
    }
  }
  constexpr double n = window * window, least = n * n * units * units * least_contrast * least_contrast;
  const double variance = n * squares - static_cast<double>(sum) * sum;
  return {sum, variance >= least ? 1 / std::sqrt(variance) : 0};
}

// The eigenvalues of the structure tensor. A corner has two large ones: it is localised in both directions.
struct Structure {
  double smaller = 0;
  double larger = 0;
};

Structure structure(const Level& level, int x, int y) {
  std::int64_t xx = 0, xy = 0, yy = 0;
  for (int row = std::max(y - 3, 1); row <= std::min(y + 2, level.height() - 2); ++row)
    for (int column = std::max(x - 3, 1); column <= std::min(x + 2, level.width() - 2); ++column) {
      const int gx = level(column + 1, row) - level(column - 1, row),
                gy = level(column, row + 1) - level(column, row - 1);
      xx += gx * gx;
      xy += gx * gy;
      yy += gy * gy;
    }
  const double mean = 0.5 * static_cast<double>(xx + yy), half_difference = 0.5 * static_cast<double>(xx - yy);
  const double root = std::sqrt(half_difference * half_difference + static_cast<double>(xy) * static_cast<double>(xy));
  return {mean - root, mean + root};
}

// The signs of every window of a level, against the mean of 8×8 pixels around each pixel.
class Signs {
 public:
  explicit Signs(const Level& level) : words_(level.size(), 1, 0) {
    const int width = level.width(), height = level.height();
    std::vector<int> sums(static_cast<std::size_t>(width), 0);  // of the window's rows in each column
    for (int bottom = 0; bottom < height; ++bottom) {
      for (int x = 0; x < width; ++x)
        sums[static_cast<std::size_t>(x)] += level(x, bottom) - (bottom >= window ? level(x, bottom - window) : 0);
      if (bottom >= window - 1) add_row(level, sums, bottom - after);
    }
  }

  // Of the window whose point is (x, y).
  std::uint64_t operator()(int x, int y) const { return words_(x + after, y + after); }
  // Of the windows whose points are (0, y), (1, y), …; those that reach out of the image are of no use.
  const std::uint64_t* row(int y) const { return words_.row(y + after) + after; }

 private:
  // Each word holds the 8×8 signs up to its pixel: those of the row above, and 8 new ones.
  void add_row(const Level& level, const std::vector<int>& sums, int y) {
    int sum = 0;
    unsigned signs = 0;
    for (int x = 0; x < level.width(); ++x) {
      const int right = x + after;  // the last column of the mean around x
      if (x == 0)
        for (int column = 0; column < std::min(right, level.width()); ++column)
          sum += sums[static_cast<std::size_t>(column)];
      if (right < level.width()) sum += sums[static_cast<std::size_t>(right)];
      if (x > before) sum -= sums[static_cast<std::size_t>(x - before - 1)];
      signs = (signs << 1 | (level(x, y) * window * window > sum)) & 0xFFU;
      words_(x, y) = (y > 0 ? words_(x, y - 1) << 8 : 0) | signs;
    }
  }

  Image<std::uint64_t> words_;
};

struct View {
  const Level& level;
  Signs signs;

  explicit View(const Level& pixels) : level(pixels), signs(pixels) {}
};

int products(const Level& a, int ax, int ay, const Level& b, int bx, int by) {
  int sum = 0;
  for (int row = -before; row <= after; ++row) {
    const std::int16_t *va = a.row(ay + row) + ax - before, *vb = b.row(by + row) + bx - before;
    for (int i = 0; i < window; ++i) sum += va[i] * vb[i];
  }
  return sum;
}

double zncc(int product, const Moments& a, const Moments& b) {
  return (static_cast<double>(window * window) * product - static_cast<double>(a.sum) * b.sum) * a.norm * b.norm;
}

// In pixels of the level: (x, y) of the left image is (x − dx, y − dy) of the right one.
struct Match {
  int x = 0;
  int y = 0;
  double dx = 0;
  double dy = 0;
};

// The peak of a parabola through three neighbouring scores, from the middle one: −½ to ½.
double peak(double before_it, double at, double after_it) {
  const double curvature = before_it - 2 * at + after_it;
  return curvature < 0 ? std::clamp(0.5 * (before_it - after_it) / curvature, -0.5, 0.5) : 0;
}

double correlation(const Level& a, int ax, int ay, const Moments& of_a, const Level& b, int bx, int by) {
  if (!holds_window(b, bx, by)) return -1;
  return zncc(products(a, ax, ay, b, bx, by), of_a, moments(b, bx, by));
}

// The best match of one window of `from` in all of `to` up to half the width and `reach` rows away.
class Search {
 public:
  Search(const View& from, const View& to, int reach) : from_(from), to_(to), reach_(reach) {}

  struct Best {
    int x = 0;
    int y = 0;
    double score = -1;
    double second = -1;  // of the best one that is not beside the best
    double offset = 0;   // of the sub-pixel peak from x
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

  // The shortlist; empty where no window is near, or so many are that none can be meant.
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

using Grid = std::vector<std::optional<Match>>;

struct Matches {
  int columns = 0;  // of cells
  Grid grid;
};

std::optional<Match> match_at(Search& forward, Search& backward, int x, int y) {
  const Search::Best there = forward(x, y);
  if (there.score < least_correlation || 1 - there.score > most_ambiguous * (1 - there.second)) return {};
  const Search::Best back = backward(there.x, there.y);
  if (std::abs(back.x - x) > 1 || std::abs(back.y - y) > 1) return {};
  return Match{x, y, x - (there.x + there.offset), static_cast<double>(y - there.y)};
}

// One match for each cell, at the point that is localised best.
Matches coarse_matches(const Level& left, const Level& right, int reach) {
  const View left_view(left), right_view(right);
  Search forward(left_view, right_view, reach), backward(right_view, left_view, reach);
  Matches matches;
  matches.columns = left.width() / cell;
  for (int cell_y = 0; cell_y < left.height() / cell; ++cell_y)
    for (int cell_x = 0; cell_x < matches.columns; ++cell_x) {
      double best = 0;
      int best_x = 0, best_y = 0;
      for (int y = cell_y * cell; y < (cell_y + 1) * cell; y += 2)
        for (int x = cell_x * cell; x < (cell_x + 1) * cell; x += 2) {
          if (!holds_window(left, x, y)) continue;
          const double score = structure(left, x, y).smaller;
          if (score <= best) continue;
          best = score;
          best_x = x;
          best_y = y;
        }
      const bool textured = best > 0 && moments(left, best_x, best_y).norm > 0;
      matches.grid.push_back(textured ? match_at(forward, backward, best_x, best_y) : std::nullopt);
    }
  return matches;
}

// Those that at least two of the 24 cells around agree with: a wrong match is alone.
std::vector<Match> supported(const Matches& matches) {
  const int rows = static_cast<int>(matches.grid.size()) / std::max(matches.columns, 1);
  const auto at = [&](int x, int y) -> const std::optional<Match>& {
    return matches.grid[static_cast<std::size_t>(y * matches.columns + x)];
  };
  std::vector<Match> kept;
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < matches.columns; ++x) {
      if (!at(x, y)) continue;
      int agreeing = -1;  // it agrees with itself
      for (int v = std::max(y - 2, 0); v <= std::min(y + 2, rows - 1); ++v)
        for (int u = std::max(x - 2, 0); u <= std::min(x + 2, matches.columns - 1); ++u)
          if (const auto& other = at(u, v))
            agreeing += std::abs(other->dx - at(x, y)->dx) <= 2 && std::abs(other->dy - at(x, y)->dy) <= 1;
      if (agreeing >= 2) kept.push_back(*at(x, y));
    }
  return kept;
}

double quantile(std::vector<double>& values, double fraction) {
  const auto index = static_cast<std::ptrdiff_t>(std::lround(fraction * static_cast<double>(values.size() - 1)));
  std::nth_element(values.begin(), values.begin() + index, values.end());
  return values[static_cast<std::size_t>(index)];
}

constexpr std::size_t fewest_matches = 12;  // that a range may rest on

// What nearly all matches lie in: from the quantiles of 1 % outward as long as the matches follow one another closely,
// and a margin of 10 %, one pixel of the coarse level and one of the image. Where next to none is negative, no
// margin goes below 0. The count is a multiple of 16; what that adds goes to the near side.
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
                                          right.width, "×", right.height, "; both must have one size"));
  if (left.width < smallest_side || left.height < smallest_side)
    throw Error(ErrorCategory::call, text("a pair of ", left.width, "×", left.height,
                                          " is too small to be judged; it must "
                                          "be at least ",
                                          smallest_side, "×", smallest_side, ", or the range be given"));
}

// Follows a match to the next finer level: its most distinctive point there, then the best window around.
class Refinement {
 public:
  Refinement(const Level& left, const Level& right) : left_(left), right_(right) {}

  std::optional<Match> operator()(const Match& coarse) const {
    Match match = most_distinctive(2 * coarse.x, 2 * coarse.y);
    if (!holds_window(left_, match.x, match.y)) return {};
    return located(match, static_cast<int>(std::lround(match.x - 2 * coarse.dx)),
                   static_cast<int>(std::lround(match.y - 2 * coarse.dy)));
  }

  // The best window within 2 pixels of (x, y) in the right image, to a fraction of a pixel.
  std::optional<Match> located(Match match, int x, int y) const {
    constexpr int reach = 2, side = 2 * reach + 3;  // one more on each side for the parabola
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

// Every match in pixels of the full image; left out are those that are lost on the way, and points on edges, which say
// little about rows.
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
  return matches;
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
  // Along the rows alone, as estimate_range looks, where that is fit.
  auto range = check.rectified() ? coarse_range(left_levels, right_levels) : std::nullopt;
  if (!range) range = range_of(coarse, scale, left.width);
  if (range) check.range = *range;
  return check;
}

DisparityRange estimate_range(const AnyImageView& left, const AnyImageView& right) {
  check_input(left, right);
  if (const auto range = coarse_range(pyramid(left), pyramid(right))) return *range;
  throw Error(ErrorCategory::call, text("the disparity range can't be estimated: less than ", fewest_matches,
                                        " points of the left image were found in the right one; give the range, or "
                                        "check that the pair is rectified and shows one scene"));
}

}  // namespace stereopsis
