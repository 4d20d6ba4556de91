// Sparse matches of a pair in two dimensions. The check of a pair judges it by them.
//
// On the coarse level of a pyramid of 2×2 averages, columns up to half the width away are searched, and rows as far as
// the caller says. The signs of the pixels relative to their local mean, 64 in a window, select the few windows that are
// compared by zero-mean normalised cross-correlation (ZNCC). A match must have texture, be distinctive, pass the check
// from the other image, and agree with neighbouring matches. On each finer level, the match is located again. Sums are
// integers, and results are rounded to 1/256 px, so that they are the same on every machine.
#pragma once

#include <vector>

#include "sparse/rows.hpp"
#include "sparse/windows.hpp"

namespace stereopsis::sparse {

// An image of a pair, prepared for the search.
class Side {
 public:
  explicit Side(std::vector<Level> levels) : levels_(std::move(levels)), coarse_(levels_.back()) {}
  explicit Side(const AnyImageView& image) : Side(pyramid(image)) {}
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  const std::vector<Level>& levels() const { return levels_; }  // the finest level is first
  const Level& finest() const { return levels_.front(); }
  const View& coarse() const { return coarse_; }
  // Returns the size of a pixel of the coarse level, in pixels of the image.
  int scale() const { return 1 << (levels_.size() - 1); }

 private:
  std::vector<Level> levels_;
  View coarse_;
};

// Matches of one level.
struct Matches {
  std::vector<Match> found;
  int textured = 0;  // number of cells that have a point with texture

  double share() const { return textured > 0 ? static_cast<double>(found.size()) / textured : 0; }
};

// Returns the matches of the coarse level, in its pixels: at most one for each cell of 6×6 pixels. The search covers rows
// up to `reach` away from those of `expected`, both in pixels of the level, and every `stride`-th cell of every
// `stride`-th row of cells.
Matches coarse_matches(const View& left, const View& right, int reach, int stride = 1, const RowPlane& expected = {});

// The matches of a pair on the coarse level, and in pixels of the image.
struct PairMatches {
  Matches coarse;
  std::vector<Match> refined;  // without the points on edges, whose row is not precise
};

// Finds the matches of the coarse level, up to `rows` rows of the image away. A sample of the cells is searched so far; if
// its matches lie on a plane, the other cells are searched around this plane.
Matches find_coarse_matches(const Side& left, const Side& right, int rows);
// Finds the matches of a sample of the cells; of all cells if the sample has few matches.
Matches sample_coarse_matches(const Side& left, const Side& right, int rows);

// Finds the matches of find_coarse_matches(), and refines them.
PairMatches find_matches(const Side& left, const Side& right, int rows);

// Returns the share of the textured cells of a sample that have a match, up to `rows` rows away; and these matches, in
// pixels of the image.
PairMatches sample_matches(const Side& left, const Side& right, int rows);

// Returns the matches that are no guess among the repetitions of a pattern.
std::vector<Match> distinct(std::vector<Match> matches);

// Returns the number of cells that have a point with texture.
int textured_cells(const Level& level);

// Returns whether a window with a disparity from `first` to `last` fits nearly as well as the match, as in a repetitive
// pattern.
bool fits_within(int first, int last, const Match& match, const Level& left, const Level& right);

}  // namespace stereopsis::sparse
