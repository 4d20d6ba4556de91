#include "sparse/corners.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace stereopsis::sparse {
namespace {

constexpr int radius = 3;  // radius of the window of a structure tensor
constexpr int side_of_window = 2 * radius + 1;
// Smallest smaller eigenvalue of a corner: a mean square of the gradient of (1 grey level per pixel)², with gradients
// that are differences over two pixels, in `units`.
constexpr float least_score = 1.0F * side_of_window * side_of_window * (2 * units) * (2 * units);
// Factor of the limit of a score, for the errors of rounding.
constexpr float above_limit = 1.00001F;

// The structure tensors of one row of pixels, summed along columns.
class ColumnSums {
 public:
  explicit ColumnSums(const Level& level)
      : level_(level),
        width_(static_cast<std::size_t>(level.width())),
        xx_(width_),
        xy_(width_),
        yy_(width_),
        window_xx_(width_),
        window_yy_(width_),
        limits_(width_) {}

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

  // Returns an upper limit of the smaller eigenvalue of each pixel of the row, 0 where the window leaves the image.
  const std::vector<int>& limits() {
    const std::size_t first = radius + 1, last = width_ - radius - 1;
    add_along(xx_, window_xx_);
    add_along(yy_, window_yy_);
    for (std::size_t x = first; x < last; ++x) limits_[x] = std::min(window_xx_[x], window_yy_[x]);
    return limits_;
  }

  // Returns the smaller eigenvalue of a pixel of the row whose limits were computed last; 0 on an edge.
  float score(std::size_t x) const {
    const int xx = window_xx_[x], yy = window_yy_[x];
    const int xy = std::accumulate(xy_.data() + x - radius, xy_.data() + x + radius + 1, 0);
    const float mean = 0.5F * (static_cast<float>(xx) + static_cast<float>(yy)),
                half = 0.5F * (static_cast<float>(xx) - static_cast<float>(yy)), mixed = static_cast<float>(xy);
    const float root = std::sqrt(half * half + mixed * mixed);
    const float smaller = mean - root;
    return smaller < static_cast<float>(least_corner) * (mean + root) ? 0.0F : smaller;
  }

 private:
  // Sums the windows along the row.
  void add_along(const std::vector<int>& columns, std::vector<int>& windows) const {
    const int* c = columns.data() + 1;
    int* sums = windows.data() + radius + 1;
    const std::size_t count = width_ - 2 * radius - 2;
    for (std::size_t i = 0; i < count; ++i)
      sums[i] = c[i] + c[i + 1] + c[i + 2] + c[i + 3] + c[i + 4] + c[i + 5] + c[i + 6];
  }

  const Level& level_;
  std::size_t width_;
  std::vector<int> xx_, xy_, yy_, window_xx_, window_yy_, limits_;
};

}  // namespace

std::vector<Corner> find_corners(const Level& level, int side) {
  std::vector<Corner> corners;
  const int width = level.width(), height = level.height(), columns = width / side;
  if (height < 2 * radius + 3 || width < 2 * radius + 3) return corners;
  ColumnSums sums(level);
  for (int y = 1; y < 2 * radius + 1; ++y) sums.add(y, 1);
  struct Best {
    float score = least_score;
    Corner at;
  };
  std::vector<Best> best;
  const auto flush = [&] {
    for (const Best& b : best)
      if (b.score > least_score) corners.push_back(b.at);
  };
  for (int y = radius + 1; y + radius + 1 < height; ++y) {
    sums.add(y + radius, 1);
    if (y > radius + 1) sums.add(y - radius - 1, -1);
    const std::vector<int>& limits = sums.limits();
    if (y % side == 0 || best.empty()) {
      flush();
      best.assign(static_cast<std::size_t>(columns), {});
    }
    for (int column = 0; column < columns; ++column) {
      Best& b = best[static_cast<std::size_t>(column)];
      for (int x = std::max(column * side, radius + 1); x < std::min((column + 1) * side, width - radius - 1); ++x) {
        const auto at = static_cast<std::size_t>(x);
        if (above_limit * static_cast<float>(limits[at]) <= b.score) continue;
        if (const float score = sums.score(at); score > b.score) b = {score, {x, y}};
      }
    }
  }
  flush();
  return corners;
}

}  // namespace stereopsis::sparse
