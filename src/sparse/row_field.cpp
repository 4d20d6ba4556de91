#include "sparse/row_field.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "core/cubic.hpp"
#include "core/row_spline.hpp"

namespace stereopsis::sparse {
namespace {

struct Shape {
  int columns, rows;
};

// Fields along y alone, and over both sides.
constexpr std::array along_columns = {Shape{1, 7}, Shape{1, 11}, Shape{1, 19}, Shape{1, 35}, Shape{1, 67}};
constexpr std::array over_both = {Shape{8, 6},   Shape{8, 11},  Shape{11, 9}, Shape{8, 19},
                                  Shape{11, 15}, Shape{16, 11}, Shape{8, 30}, Shape{16, 15}};
constexpr double least_spread = 0.1;       // px; points that are nearer to a plane than this require no field
constexpr std::size_t points_of_knot = 6;  // smallest mean number of points that determine a knot
constexpr double most_share = 0.7;         // largest error of a field at other points, as a part of the plane's
constexpr double enough_share = 0.2;       // a field along y with this part of the error is not compared with others
constexpr double better_share = 0.97;      // a finer field has at most this part of the error of a coarser one
constexpr double precise = 0.05;           // px; points with this deviation have a weight of 1
constexpr double clip = 3;                 // spreads; larger errors count as this error
constexpr int patches_across = 24, patches_down = 18;  // patches of the image that belong to the halves by turns

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Returns whether a point belongs to the first half.
bool is_in_first_half(const RowPoint& p) {
  return ((static_cast<int>((p.u + 0.5) * patches_across) + static_cast<int>((p.v + 0.5) * patches_down)) & 1) == 0;
}

// A symmetric matrix with a band, and its decomposition L D Lᵀ.
class Band {
 public:
  Band(int size, int width) : size_(size), width_(width), values_(static_cast<std::size_t>(size * (width + 1)), 0) {}

  // Returns the element of row i and of column j ≤ i.
  double& at(int i, int j) { return values_[static_cast<std::size_t>(i * (width_ + 1) + j - i + width_)]; }

  // Solves the equations. The matrix becomes its decomposition.
  std::vector<double> solve(std::vector<double> x) {
    for (int i = 0; i < size_; ++i)
      for (int j = first_of(i); j <= i; ++j) {
        double rest = at(i, j);
        for (int k = std::max(first_of(i), first_of(j)); k < j; ++k) rest -= at(i, k) * at(j, k) * at(k, k);
        at(i, j) = j < i ? rest / at(j, j) : rest;
      }
    const auto value = [&x](int i) -> double& { return x[static_cast<std::size_t>(i)]; };
    for (int i = 0; i < size_; ++i)
      for (int k = first_of(i); k < i; ++k) value(i) -= at(i, k) * value(k);
    for (int i = size_; i-- > 0;) {
      value(i) /= at(i, i);
      for (int k = i + 1; k <= std::min(i + width_, size_ - 1); ++k) value(i) -= at(k, i) * value(k);
    }
    return x;
  }

 private:
  int first_of(int i) const { return std::max(i - width_, 0); }

  int size_, width_;
  std::vector<double> values_;
};

// Fits a spline so that outliers have no weight. A spline along y has two more terms, a roll and a keystone, because a plane
// that was fitted to waves has wrong ones.
class SplineFit {
 public:
  SplineFit(const std::vector<const RowPoint*>& points, const Shape& shape)
      : columns_(shape.columns),
        rows_(shape.rows),
        knots_(static_cast<std::size_t>(columns_ * rows_ + (columns_ == 1 ? 2 : 0)), 0) {
    for (const RowPoint* p : points) {
      const double scale = precise / std::max(p->deviation, precise);
      rows_of_equations_.push_back(
          {SplineSupport(p->u, columns_), SplineSupport(p->v, rows_), {p->u, p->u * p->v}, scale, p->dy, p->dy});
    }
  }

  RowAlignment fitted() {
    constexpr int absolute_steps = 4, robust_steps = 3;
    constexpr double flat = 0.2, tukey = 4.685;
    for (int i = 0; i < absolute_steps; ++i) solve([=](double apart) { return flat / std::max(apart, flat); });
    for (int i = 0; i < robust_steps; ++i) {
      std::vector<double> apart;
      for (const Equation& e : rows_of_equations_) apart.push_back(std::abs(e.apart) * e.scale);
      const double limit = tukey * std::max(1.4826 * median(apart), precise);
      solve([limit](double by) {
        const double share = by / limit, rest = 1 - share * share;
        return share < 1 ? rest * rest : 0.0;
      });
    }
    RowField field{columns_, rows_};
    const auto count = static_cast<std::size_t>(field.count());
    for (std::size_t i = 0; i < count; ++i) field.knots[i] = static_cast<float>(to_grid(knots_[i]));
    if (columns_ > 1) return {0, 0, 0, 0, field};
    return {0, knots_[count], 0, knots_[count + 1], field};
  }

 private:
  struct Equation {
    SplineSupport across, down;
    std::array<double, 2> slopes;  // factors of the roll and of the keystone
    double scale, dy, apart;
  };

  // Calls f(knot, factor) for each knot of a point.
  template <class F>
  void for_each_knot(const Equation& e, F&& f) const {
    for (int j = 0; j < e.down.count; ++j)
      for (int i = 0; i < e.across.count; ++i)
        f((e.down.first + j) * columns_ + e.across.first + i, e.down.weight(j) * e.across.weight(i));
    if (columns_ == 1)
      for (int i = 0; i < 2; ++i) f(rows_ + i, e.slopes[static_cast<std::size_t>(i)]);
  }

  template <class Weight>
  void solve(Weight&& weight) {
    const int size = static_cast<int>(knots_.size());
    Band normal(size, columns_ == 1 ? size - 1 : 3 * columns_ + 3);
    std::vector<double> right(knots_.size(), 0);
    for (const Equation& e : rows_of_equations_) {
      const double w = weight(std::abs(e.apart) * e.scale) * e.scale * e.scale;
      if (w == 0) continue;
      for_each_knot(e, [&](int i, double a) {
        right[static_cast<std::size_t>(i)] += w * a * e.dy;
        for_each_knot(e, [&](int j, double b) {
          if (j <= i) normal.at(i, j) += w * a * b;
        });
      });
    }
    add_prior(normal);
    knots_ = normal.solve(std::move(right));
    for (Equation& e : rows_of_equations_) {
      e.apart = e.dy;
      for_each_knot(e, [&](int i, double a) { e.apart -= a * knots_[static_cast<std::size_t>(i)]; });
    }
  }

  // The prior, that neighbouring knots differ little and bend little, fills parts of the image without points.
  void add_prior(Band& normal) const {
    constexpr double of_value = 1e-3, of_slope = 1e-3, of_bend = 1e-2;
    const auto add = [&](int middle, int step, int first, int last) {
      if (middle < last) {
        normal.at(middle, middle) += of_slope;
        normal.at(middle + step, middle + step) += of_slope;
        normal.at(middle + step, middle) -= of_slope;
      }
      if (middle == first || middle >= last) return;
      constexpr std::array<double, 3> factors = {1, -2, 1};
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j <= i; ++j)
          normal.at(middle + (i - 1) * step, middle + (j - 1) * step) +=
              of_bend * factors[static_cast<std::size_t>(i)] * factors[static_cast<std::size_t>(j)];
    };
    for (int i = 0; i < static_cast<int>(knots_.size()); ++i) normal.at(i, i) += of_value;
    for (int y = 0; y < rows_; ++y)
      for (int x = 0; x < columns_; ++x) {
        const int knot = y * columns_ + x;
        add(knot, 1, y * columns_, y * columns_ + columns_ - 1);
        add(knot, columns_, x, (rows_ - 1) * columns_ + x);
      }
  }

  int columns_, rows_;
  std::vector<double> knots_;
  std::vector<Equation> rows_of_equations_;
};

// Returns the mean distance of the points from a field. Larger distances than `most` count as `most`.
double error_of(const RowAlignment& field, const std::vector<const RowPoint*>& points, double most) {
  double sum = 0;
  for (const RowPoint* p : points) sum += std::min(std::abs(p->dy - field.at(p->u, p->v)), most);
  return sum / static_cast<double>(points.size());
}

std::vector<const RowPoint*> pointers_to(const std::vector<RowPoint>& points) {
  std::vector<const RowPoint*> pointers;
  for (const RowPoint& p : points) pointers.push_back(&p);
  return pointers;
}

// Two halves of the points, of which each shows the error of what was fitted to the other one.
class Halves {
 public:
  explicit Halves(const std::vector<RowPoint>& points) {
    std::vector<double> apart;
    for (const RowPoint& p : points) {
      apart.push_back(std::abs(p.dy));
      halves_[is_in_first_half(p) ? 0 : 1].push_back(&p);
    }
    spread_ = 1.4826 * median(std::move(apart));
  }

  double spread() const { return spread_; }
  template <class Fit>
  double error(Fit&& fit) const {
    return error_of(fit(halves_[0]), halves_[1], clip * spread_) +
           error_of(fit(halves_[1]), halves_[0], clip * spread_);
  }

 private:
  std::array<std::vector<const RowPoint*>, 2> halves_;
  double spread_;
};

}  // namespace

Level aligned(const Level& right, const RowAlignment& alignment) {
  constexpr int bits = 14, white = 255 * units;
  Level out(right.size());
  for (int y = 0; y < right.height(); ++y)
    for (int x = 0; x < right.width(); ++x) {
      const int position = static_cast<int>(std::lround((y + alignment.at(x, y, right.size())) * cubic_positions));
      const auto weights = cubic_weights<bits>(position & (cubic_positions - 1));
      const int row = static_cast<int>(std::floor(static_cast<double>(position) / cubic_positions)) - 1;
      int sum = 1 << (bits - 1);
      for (int k = 0; k < 4; ++k)
        sum += weights[static_cast<std::size_t>(k)] * right(x, std::clamp(row + k, 0, right.height() - 1));
      out(x, y) = static_cast<std::int16_t>(std::clamp(sum >> bits, 0, white));
    }
  return out;
}

RowAlignment fit_field(const std::vector<RowPoint>& points, const RowField& shape) {
  return SplineFit(pointers_to(points), {shape.columns, shape.rows}).fitted();
}

std::optional<RowAlignment> fit_field(const std::vector<RowPoint>& points) {
  const Halves halves(points);
  if (halves.spread() < least_spread) return {};
  const double of_plane = halves.error([](const auto&) { return RowAlignment(); });
  double least = most_share * of_plane;
  const Shape* best = nullptr;
  const auto search = [&](const auto& shapes, double share) {
    for (const Shape& shape : shapes) {
      if (points.size() < points_of_knot * static_cast<std::size_t>(shape.columns * shape.rows)) continue;
      const double error = halves.error([&](const auto& half) { return SplineFit(half, shape).fitted(); });
      if (error >= share * least) continue;
      least = error;
      best = &shape;
      share = better_share;
    }
  };
  search(along_columns, 1);
  if (least > enough_share * of_plane) search(over_both, best == nullptr ? 1 : most_share);
  return best == nullptr ? std::nullopt : std::optional(fit_field(points, RowField{best->columns, best->rows}));
}

}  // namespace stereopsis::sparse
