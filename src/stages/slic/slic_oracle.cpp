#include <limits>
#include <vector>

#include "stages/slic/slic.hpp"

namespace stereopsis::slic {
namespace {

// Position and colour: x, y, red, green, blue.
struct Point {
  long long of[5];
};

Point point_at(ImageView<const std::uint32_t> rgb, int x, int y) {
  const std::uint32_t word = rgb(x, y);
  return {{x, y, word & 255, word >> 8 & 255, word >> 16 & 255}};
}

long long distance(const Parameters& p, const Point& a, const Point& b) {
  long long squares[2] = {};  // squared distances of position and of colour
  for (int i = 0; i < 5; ++i) squares[i < 2 ? 0 : 1] += (a.of[i] - b.of[i]) * (a.of[i] - b.of[i]);
  return squares[1] * p.cell * p.cell + squares[0] * p.compactness * p.compactness;
}

int nearest(const Parameters& p, const Cells& cells, const std::vector<Point>& centres, const Point& pixel) {
  const auto own_column = static_cast<int>(pixel.of[0]) / p.cell, own_row = static_cast<int>(pixel.of[1]) / p.cell;
  long long lowest = std::numeric_limits<long long>::max();
  int found = 0;
  for (int row = std::max(0, own_row - 1); row <= std::min(cells.rows - 1, own_row + 1); ++row)
    for (int column = std::max(0, own_column - 1); column <= std::min(cells.columns - 1, own_column + 1); ++column) {
      const int i = row * cells.columns + column;
      const long long far = distance(p, pixel, centres[i]);
      if (far >= lowest) continue;
      lowest = far;
      found = i;
    }
  return found;
}

void move(const std::vector<int>& nearest_of, ImageView<const std::uint32_t> rgb, std::vector<Point>& centres) {
  std::vector<Point> sums(centres.size(), Point{});
  std::vector<long long> pixels(centres.size());
  for (int y = 0; y < rgb.height; ++y)
    for (int x = 0; x < rgb.width; ++x) {
      const int i = nearest_of[static_cast<std::size_t>(y) * rgb.width + x];
      const Point pixel = point_at(rgb, x, y);
      for (int k = 0; k < 5; ++k) sums[i].of[k] += pixel.of[k];
      ++pixels[i];
    }
  for (std::size_t i = 0; i < centres.size(); ++i)
    for (int k = 0; k < 5 && pixels[i] > 0; ++k) centres[i].of[k] = (sums[i].of[k] + pixels[i] / 2) / pixels[i];
}

}  // namespace

void oracle(const Parameters& p, ImageView<const std::uint32_t> rgb, ImageView<std::uint32_t> segments) {
  check(rgb.size());
  const Cells cells(rgb.size(), p.cell);
  std::vector<Point> centres;
  for (int row = 0; row < cells.rows; ++row)
    for (int column = 0; column < cells.columns; ++column)
      centres.push_back(point_at(rgb, cells.middle_x(column), cells.middle_y(row)));
  std::vector<int> nearest_of(static_cast<std::size_t>(rgb.width) * rgb.height);
  for (int iteration = 0; iteration < p.iterations; ++iteration) {
    if (iteration > 0) move(nearest_of, rgb, centres);
    for (int y = 0; y < rgb.height; ++y)
      for (int x = 0; x < rgb.width; ++x)
        nearest_of[static_cast<std::size_t>(y) * rgb.width + x] = nearest(p, cells, centres, point_at(rgb, x, y));
  }
  for (int y = 0; y < rgb.height; ++y)
    for (int x = 0; x < rgb.width; ++x) {
      const int i = nearest_of[static_cast<std::size_t>(y) * rgb.width + x];
      segments(x, y) = cells.word(i % cells.columns, i / cells.columns);
    }
}

}  // namespace stereopsis::slic
