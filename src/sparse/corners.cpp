#include "sparse/corners.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace stereopsis::sparse {
namespace {

constexpr int radius = 3;  // radius of the window of a structure tensor
constexpr int side_of_window = 2 * radius + 1;
// Smallest smaller eigenvalue of a corner: a mean square of the gradient of (1 grey level per pixel)², with gradients
// that are differences over two pixels, in `units`.
constexpr float least_score = 1.0F * side_of_window * side_of_window * (2 * units) * (2 * units);

// The structure tensors of one row of pixels, summed along columns.
class ColumnSums {
 public:
  explicit ColumnSums(const Level& level)
      : level_(level), width_(static_cast<std::size_t>(level.width())), xx_(width_), xy_(width_), yy_(width_) {}

  // Adds the gradients of a row, or subtracts them if `sign` is −1.
  void add(int y, int sign) {
    const std::int16_t *v = level_.row(y), *above = level_.row(y - 1), *below = level_.row(y + 1);
    for (std::size_t x = 1; x + 1 < width_; ++x) {
      const int gx = v[x + 1] - v[x - 1], gy = below[x] - above[x];
      xx_[x] += sign * gx * gx;
      xy_[x] += sign * gx * gy;
      yy_[x] += sign * gy * gy;
    }
  }

  // Sets the smaller eigenvalue of each pixel of the row whose window the sums cover.
  void scores(std::vector<float>& score) const {
    for (std::size_t x = radius + 1; x + radius + 1 < width_; ++x) {
      int xx = 0, xy = 0, yy = 0;
      for (std::size_t i = x - radius; i <= x + radius; ++i) xx += xx_[i], xy += xy_[i], yy += yy_[i];
      const float mean = 0.5F * (static_cast<float>(xx) + static_cast<float>(yy)),
                  half = 0.5F * (static_cast<float>(xx) - static_cast<float>(yy)), mixed = static_cast<float>(xy);
      const float root = std::sqrt(half * half + mixed * mixed);
      const float smaller = mean - root;
      score[x] = smaller < static_cast<float>(least_corner) * (mean + root) ? 0.0F : smaller;
    }
  }

 private:
  const Level& level_;
  std::size_t width_;
  std::vector<int> xx_, xy_, yy_;
};

}  // namespace

std::vector<Corner> find_corners(const Level& level, int side) {
  std::vector<Corner> corners;
  const int width = level.width(), height = level.height(), columns = width / side;
  if (height < 2 * radius + 3 || width < 2 * radius + 3) return corners;
  ColumnSums sums(level);
  for (int y = 1; y < 2 * radius + 1; ++y) sums.add(y, 1);
  std::vector<float> score(static_cast<std::size_t>(width)), best;
  std::vector<Corner> points;
  const auto flush = [&] {
    for (std::size_t i = 0; i < points.size(); ++i)
      if (best[i] > least_score) corners.push_back(points[i]);
  };
  for (int y = radius + 1; y + radius + 1 < height; ++y) {
    sums.add(y + radius, 1);
    if (y > radius + 1) sums.add(y - radius - 1, -1);
    sums.scores(score);
    if (y % side == 0 || points.empty()) {
      flush();
      best.assign(static_cast<std::size_t>(columns), 0.0F);
      points.assign(static_cast<std::size_t>(columns), {});
    }
    for (int column = 0; column < columns; ++column)
      for (int x = std::max(column * side, radius + 1); x < std::min((column + 1) * side, width - radius - 1); ++x)
        if (score[static_cast<std::size_t>(x)] > best[static_cast<std::size_t>(column)]) {
          best[static_cast<std::size_t>(column)] = score[static_cast<std::size_t>(x)];
          points[static_cast<std::size_t>(column)] = {x, y};
        }
  }
  flush();
  return corners;
}

}  // namespace stereopsis::sparse
