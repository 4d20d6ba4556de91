// Small systems of normal equations.
#pragma once

#include <array>
#include <cstddef>

namespace stereopsis::sparse {

template <std::size_t n>
using Vector = std::array<double, n>;
template <std::size_t n>
using Matrix = std::array<Vector<n>, n>;

template <std::size_t n>
double product(const Vector<n>& a, const Vector<n>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

// The decomposition L D Lᵀ of a symmetric matrix. Each operation is rounded correctly, and their order is fixed, so that
// the solutions are the same on every machine.
template <std::size_t n>
class NormalEquations {
 public:
  explicit NormalEquations(const Matrix<n>& matrix) {
    for (std::size_t i = 0; i < n && definite_; ++i) {
      for (std::size_t j = 0; j < i; ++j) l_[i][j] = rest(matrix, i, j) / d_[j];
      d_[i] = rest(matrix, i, i);
      definite_ = d_[i] > 0;
    }
  }

  // Returns whether the matrix is positive definite. If it is not, there is no solution.
  bool is_definite() const { return definite_; }

  Vector<n> solution(Vector<n> x) const {
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < i; ++k) x[i] -= l_[i][k] * x[k];
    for (std::size_t i = n; i-- > 0;) {
      x[i] /= d_[i];
      for (std::size_t k = i + 1; k < n; ++k) x[i] -= l_[k][i] * x[k];
    }
    return x;
  }
  // Returns the variance of Σ factors · solution, if observations have a variance of 1.
  double variance(const Vector<n>& factors) const { return product(factors, solution(factors)); }

 private:
  double rest(const Matrix<n>& matrix, std::size_t i, std::size_t j) const {
    double sum = matrix[i][j];
    for (std::size_t k = 0; k < j; ++k) sum -= l_[i][k] * l_[j][k] * d_[k];
    return sum;
  }

  Matrix<n> l_{};
  Vector<n> d_{};
  bool definite_ = true;
};

template <std::size_t n>
Matrix<n> inverse(const Matrix<n>& m) {
  const NormalEquations<n> equations(m);
  Matrix<n> result;
  for (std::size_t i = 0; i < n; ++i) {
    Vector<n> unit{};
    unit[i] = 1;
    result[i] = equations.solution(unit);
  }
  return result;
}

// Returns the covariance of independent values.
template <std::size_t n>
Matrix<n> covariance_of(const Vector<n>& deviations) {
  Matrix<n> result{};
  for (std::size_t i = 0; i < n; ++i) result[i][i] = deviations[i] * deviations[i];
  return result;
}

template <std::size_t n>
Vector<n> product(const Matrix<n>& m, const Vector<n>& v) {
  Vector<n> result;
  for (std::size_t i = 0; i < n; ++i) result[i] = product(m[i], v);
  return result;
}

template <std::size_t n>
Matrix<n> sum(Matrix<n> a, const Matrix<n>& b) {
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) a[i][j] += b[i][j];
  return a;
}

// Joins an estimate and an independent measurement, with weights that follow from their covariances.
template <std::size_t n>
void join(Vector<n>& values, Matrix<n>& covariance, const Vector<n>& measured, const Matrix<n>& information) {
  const Matrix<n> known = inverse(covariance);
  Vector<n> both = product(known, values);
  const Vector<n> now = product(information, measured);
  for (std::size_t i = 0; i < n; ++i) both[i] += now[i];
  covariance = inverse(sum(known, information));
  values = product(covariance, both);
}

}  // namespace stereopsis::sparse
