#include "sparse/rows.hpp"

#include <algorithm>
#include <cmath>

namespace stereopsis::sparse {
namespace {

template <std::size_t n>
Vector<n> factors_of(const RowPoint& p) {
  Vector<n> factors{1, p.u, p.v, p.u * p.v};
  if constexpr (n > plane_terms) factors[plane_terms] = p.disparity;
  return factors;
}

// Weighted least squares. The prior, that the terms other than the offset are below `most` px, makes the solution unique
// for any set of points.
template <std::size_t n>
class Fit {
 public:
  Fit(const std::vector<RowPoint>& points, RowTerms which) {
    prior_.fill(prior(40));
    prior_[0] = 1e-9;
    if (which == RowTerms::linear) prior_[3] = prior(1e-6);
    for (const RowPoint& p : points) {
      Row row{factors_of<n>(p), p.dy / p.deviation};
      for (double& factor : row.factors) factor /= p.deviation;
      rows_.push_back(row);
    }
    residuals_.assign(rows_.size(), 0);
  }

  // Solves with weights by which outliers have none. `precision` is the smallest spread.
  void solve_robustly(double precision) {
    constexpr int absolute_steps = 20, robust_steps = 6;
    constexpr double tukey = 4.685;
    // The least sum of absolute differences is a start that outliers hardly move.
    const double flat = 2 * precision;
    for (int i = 0; i < absolute_steps; ++i) solve([&](double residual) { return flat / std::max(residual, flat); });
    for (int i = 0; i < robust_steps; ++i) {
      spread_ = std::max(median_spread(), precision);
      solve([&](double residual) {
        const double share = residual / (tukey * spread_), rest = 1 - share * share;
        return share < 1 ? rest * rest : 0.0;
      });
    }
  }

  double spread() const { return spread_; }
  const Vector<n>& solution() const { return solution_; }
  // Returns the matrix of the normal equations without the prior, for points with a standard deviation of 1.
  const Matrix<n>& normal() const { return normal_; }
  // Returns the standard deviation of the solution's value where a point has these factors.
  double deviation(const Vector<n>& factors) const { return spread_ * std::sqrt(equations_.variance(factors)); }

 private:
  struct Row {
    Vector<n> factors;
    double dy;
  };

  static constexpr double prior(double most) { return 1 / (most * most); }

  template <class Weight>
  void solve(Weight&& weight) {
    normal_ = {};
    Vector<n> right = {};
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const double w = weight(residuals_[i]);
      for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t k = 0; k < n; ++k) normal_[j][k] += w * rows_[i].factors[j] * rows_[i].factors[k];
        right[j] += w * rows_[i].factors[j] * rows_[i].dy;
      }
    }
    Matrix<n> with_prior = normal_;
    for (std::size_t j = 0; j < n; ++j) with_prior[j][j] += prior_[j];
    equations_ = NormalEquations<n>(with_prior);
    solution_ = equations_.solution(right);
    for (std::size_t i = 0; i < rows_.size(); ++i)
      residuals_[i] = std::abs(rows_[i].dy - product(rows_[i].factors, solution_));
  }

  // Returns the standard deviation of the points around the solution, as their median implies.
  double median_spread() const {
    std::vector<double> sorted = residuals_;
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    return 1.4826 * *middle;
  }

  Vector<n> prior_;
  std::vector<Row> rows_;
  std::vector<double> residuals_;
  Vector<n> solution_ = {};
  Matrix<n> normal_ = {};
  NormalEquations<n> equations_{Matrix<n>{}};
  double spread_ = 0;
};

RowPlane plane_of(const Vector<plane_terms>& v) { return {v[0], v[1], v[2], v[3]}; }

}  // namespace

TermsFit fit_terms(const std::vector<RowPoint>& points, double precision) {
  if (points.empty()) return {};
  Fit<all_terms> fit(points, RowTerms::keystone);
  fit.solve_robustly(precision);
  TermsFit result{fit.solution(), fit.normal()};
  for (Vector<all_terms>& row : result.information)
    for (double& value : row) value /= fit.spread() * fit.spread();
  return result;
}

RowFit fit_rows(const std::vector<RowPoint>& points, RowTerms which, double precision) {
  if (points.empty()) return {};
  Fit<plane_terms> fit(points, which);
  fit.solve_robustly(precision);
  RowFit result;
  result.plane = plane_of(fit.solution());
  result.deviations = {fit.deviation({1, 0, 0, 0}), fit.deviation({0, 1, 0, 0}), fit.deviation({0, 0, 1, 0}),
                       fit.deviation({0, 0, 0, 1})};
  result.spread = fit.spread();
  result.most_apart = -1;
  for (const double u : {-0.5, 0.5})
    for (const double v : {-0.5, 0.5})
      if (const double apart = std::abs(result.plane.at(u, v)); apart > result.most_apart) {
        result.most_apart = apart;
        result.deviation = fit.deviation({1, u, v, u * v});
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
