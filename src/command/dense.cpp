#include "command/dense.hpp"

#include <algorithm>
#include <cmath>

namespace stereopsis::command {
namespace {

// Fills the runs without a disparity; returns false if the whole row has none.
bool fill(float* row, int width) {
  int done = 0;  // columns
  for (int x = 0; x < width; ++x) {
    if (std::isnan(row[x])) continue;
    std::fill(row + done, row + x, done > 0 ? std::min(row[done - 1], row[x]) : row[x]);
    done = x + 1;
  }
  if (done > 0) std::fill(row + done, row + width, row[done - 1]);
  return done > 0;
}

}  // namespace

void make_dense(Image<float>& disparity) {
  int first = disparity.height();  // first row with any disparity
  for (int y = 0; y < disparity.height(); ++y) {
    if (fill(disparity.row(y), disparity.width()))
      first = std::min(first, y);
    else if (y > first)
      std::copy_n(disparity.row(y - 1), disparity.width(), disparity.row(y));
  }
  for (int y = 0; y < first && first < disparity.height(); ++y)
    std::copy_n(disparity.row(first), disparity.width(), disparity.row(y));
}

}  // namespace stereopsis::command
