#include "stereopsis/row_alignment.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/row_spline.hpp"

namespace stereopsis {
namespace {

constexpr int samples = 8;  // samples of a field along each interval, from which its root mean square is computed

}  // namespace

double RowField::at(double s, double t) const {
  if (empty()) return 0;
  const SplineSupport across(s, columns), down(t, rows);
  double sum = 0;
  for (int j = 0; j < down.count; ++j)
    for (int i = 0; i < across.count; ++i)
      sum += down.weight(j) * across.weight(i) *
             static_cast<double>(knots[static_cast<std::size_t>((down.first + j) * columns + across.first + i)]);
  return sum;
}

double RowField::most() const {
  float most = 0;
  for (const float knot : knots) most = std::max(most, std::abs(knot));
  return static_cast<double>(most);
}

RowField RowField::scaled(double factor) const {
  RowField result = *this;
  for (float& knot : result.knots) knot = static_cast<float>(factor * static_cast<double>(knot));
  return result;
}

double RowAlignment::most() const {
  double corner = 0;
  for (const double s : {-0.5, 0.5})
    for (const double t : {-0.5, 0.5}) corner = std::max(corner, std::abs(plane().at(s, t)));
  return corner + field.most();
}

double RowAlignment::rms() const {
  if (field.empty()) return std::sqrt(offset * offset + (roll * roll + zoom * zoom) / 12 + keystone * keystone / 144);
  const int across = samples * field.columns, down = samples * field.rows;
  double sum = 0;
  for (int j = 0; j < down; ++j)
    for (int i = 0; i < across; ++i) {
      const double v = at((i + 0.5) / across - 0.5, (j + 0.5) / down - 0.5);
      sum += v * v;
    }
  return std::sqrt(sum / (across * down));
}

RowAlignment RowAlignment::mirrored() const {
  RowAlignment result = {-offset, roll, -zoom, keystone, field.scaled(-1)};
  for (int row = 0; row < field.rows; ++row) {
    float* const first = result.field.knots.data() + row * field.columns;
    std::reverse(first, first + field.columns);
  }
  return result;
}

}  // namespace stereopsis
