#include "sparse/rows.hpp"

#include <algorithm>
#include <cmath>

#include "sparse/normal_equations.hpp"

namespace stereopsis::sparse {
namespace {

constexpr std::size_t terms = 4;  // offset, roll, zoom, keystone

Vector<terms> factors_at(double u, double v) { return {1, u, v, u * v}; }

struct Row {
  Vector<terms> factors;
  double dy;
};

// Weighted least squares. The prior, that roll, zoom and keystone are below `most` px, makes the plane unique for any set
// of points.
class Fit {
 public:
  Fit(const std::vector<RowPoint>& points, RowTerms which) : prior_{1e-9, prior(40), prior(40), prior(40)} {
    if (which == RowTerms::linear) prior_[3] = prior(1e-6);
    for (const RowPoint& p : points) {
      Row row{factors_at(p.u, p.v), p.dy / p.deviation};
      for (double& factor : row.factors) factor /= p.deviation;
      rows_.push_back(row);
    }
    residuals_.assign(rows_.size(), 0);
  }

  template <class Weight>
  void solve(Weight&& weight) {
    Matrix<terms> normal = {};
    Vector<terms> right = {};
    for (std::size_t j = 0; j < terms; ++j) normal[j][j] = prior_[j];
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const double w = weight(residuals_[i]);
      for (std::size_t j = 0; j < terms; ++j) {
        for (std::size_t k = 0; k < terms; ++k) normal[j][k] += w * rows_[i].factors[j] * rows_[i].factors[k];
        right[j] += w * rows_[i].factors[j] * rows_[i].dy;
      }
    }
    equations_ = NormalEquations<terms>(normal);
    solution_ = equations_.solution(right);
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

  const Vector<terms>& solution() const { return solution_; }
  // Returns the variance of the plane's value where a point has these factors, if points have a variance of 1.
  double variance(const Vector<terms>& factors) const { return equations_.variance(factors); }

 private:
  static constexpr double prior(double most) { return 1 / (most * most); }

  Vector<terms> prior_;
  std::vector<Row> rows_;
  std::vector<double> residuals_;
  Vector<terms> solution_ = {};
  NormalEquations<terms> equations_{Matrix<terms>{}};
};

RowPlane plane_of(const Vector<terms>& v) { return {v[0], v[1], v[2], v[3]}; }

}  // namespace

RowFit fit_rows(const std::vector<RowPoint>& points, RowTerms which, double precision) {
  constexpr int absolute_steps = 20, robust_steps = 6;
  constexpr double tukey = 4.685;
  if (points.empty()) return {};
  Fit fit(points, which);
  // The least sum of absolute differences is a start that outliers hardly move.
  const double flat = 2 * precision;
  for (int i = 0; i < absolute_steps; ++i) fit.solve([&](double residual) { return flat / std::max(residual, flat); });
  double spread = 0;
  for (int i = 0; i < robust_steps; ++i) {
    spread = std::max(fit.spread(), precision);
    fit.solve([&](double residual) {
      const double share = residual / (tukey * spread), rest = 1 - share * share;
      return share < 1 ? rest * rest : 0.0;
    });
  }
  const auto deviation = [&](const Vector<terms>& factors) { return spread * std::sqrt(fit.variance(factors)); };
  RowFit result;
  result.plane = plane_of(fit.solution());
  result.deviations = {deviation({1, 0, 0, 0}), deviation({0, 1, 0, 0}), deviation({0, 0, 1, 0}),
                       deviation({0, 0, 0, 1})};
  result.spread = spread;
  result.most_apart = -1;
  for (const double u : {-0.5, 0.5})
    for (const double v : {-0.5, 0.5})
      if (const double apart = std::abs(result.plane.at(u, v)); apart > result.most_apart) {
        result.most_apart = apart;
        result.deviation = deviation(factors_at(u, v));
      }
  return result;
}

RowFit fit_rows(const std::vector<Match>& matches, Size size) {
  constexpr double precision = 0.05;
  std::vector<RowPoint> points;
  for (const Match& m : matches)
    points.push_back({(m.x + 0.5) / size.width - 0.5, (m.y + 0.5) / size.height - 0.5, m.dy});
  return fit_rows(points, RowTerms::linear, precision);
}

}  // namespace stereopsis::sparse
