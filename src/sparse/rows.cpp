#include "sparse/rows.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace stereopsis::sparse {
namespace {

using Vector = std::array<double, 3>;
using Matrix = std::array<Vector, 3>;

struct Row {
  Vector factors;  // the factors of offset, roll and zoom
  double dy;
};

double product(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

Vector times(const Matrix& m, const Vector& v) { return {product(m[0], v), product(m[1], v), product(m[2], v)}; }

// Returns the inverse of a positive definite symmetric matrix.
Matrix inverse(const Matrix& m) {
  Matrix cofactors;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      const std::size_t a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
      cofactors[j][i] = m[a][c] * m[b][d] - m[a][d] * m[b][c];
    }
  const double determinant = product(m[0], {cofactors[0][0], cofactors[1][0], cofactors[2][0]});
  for (Vector& row : cofactors)
    for (double& value : row) value /= determinant;
  return cofactors;
}

// Weighted least squares. The prior, that roll and zoom are below 40 px, makes the plane unique for any set of points.
class Fit {
 public:
  explicit Fit(const std::vector<Row>& rows) : rows_(rows), residuals_(rows.size(), 0) {}

  template <class Weight>
  void solve(Weight&& weight) {
    Matrix normal = {};
    Vector right = {};
    normal[1][1] = normal[2][2] = 1.0 / (40 * 40);
    normal[0][0] = 1e-9;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const double w = weight(residuals_[i]);
      for (std::size_t j = 0; j < 3; ++j) {
        for (std::size_t k = 0; k < 3; ++k) normal[j][k] += w * rows_[i].factors[j] * rows_[i].factors[k];
        right[j] += w * rows_[i].factors[j] * rows_[i].dy;
      }
    }
    inverse_ = inverse(normal);
    solution_ = times(inverse_, right);
    for (std::size_t i = 0; i < rows_.size(); ++i)
      residuals_[i] = std::abs(rows_[i].dy - product(rows_[i].factors, solution_));
  }

  // Returns the standard deviation of the points around the plane, as their median implies.
  double spread() const {
    std::vector<double> sorted = residuals_;
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    return 1.4826 * *middle;
  }

  const Vector& solution() const { return solution_; }
  // Returns the variance of the plane's value where a point has these factors, if points have a variance of 1.
  double variance(const Vector& factors) const { return product(factors, times(inverse_, factors)); }

 private:
  const std::vector<Row>& rows_;
  std::vector<double> residuals_;
  Vector solution_ = {};
  Matrix inverse_ = {};
};

}  // namespace

RowFit fit_rows(const std::vector<Match>& matches, Size size) {
  constexpr int absolute_steps = 20, robust_steps = 6;
  constexpr double least_spread = 0.05, tukey = 4.685;
  if (matches.empty()) return {};
  std::vector<Row> rows;
  for (const Match& m : matches)
    rows.push_back({{1, (m.x + 0.5) / size.width - 0.5, (m.y + 0.5) / size.height - 0.5}, m.dy});
  Fit fit(rows);
  // The least sum of absolute differences is a start that outliers hardly move.
  for (int i = 0; i < absolute_steps; ++i) fit.solve([](double residual) { return 0.1 / std::max(residual, 0.1); });
  double spread = 0;
  for (int i = 0; i < robust_steps; ++i) {
    spread = std::max(fit.spread(), least_spread);
    fit.solve([&](double residual) {
      const double share = residual / (tukey * spread), rest = 1 - share * share;
      return share < 1 ? rest * rest : 0.0;
    });
  }
  const auto [offset, roll, zoom] = fit.solution();
  RowFit result{{offset, roll, zoom}, -1, 0, spread};
  for (const double u : {-0.5, 0.5})
    for (const double v : {-0.5, 0.5})
      if (const double apart = std::abs(result.plane.at(u, v)); apart > result.most_apart) {
        result.most_apart = apart;
        result.deviation = spread * std::sqrt(fit.variance({1, u, v}));
      }
  return result;
}

}  // namespace stereopsis::sparse
