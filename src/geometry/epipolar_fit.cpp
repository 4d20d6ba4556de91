#include "geometry/epipolar_fit.hpp"

#include <algorithm>
#include <cmath>

namespace stereopsis::epipolar {
namespace {

using sparse::NormalEquations;

constexpr double shared_error = 0.01;  // error that the points of one part of the image share in all pairs, in pixels
constexpr std::size_t parts = 4;       // number along each side of the image
constexpr double precision = 0.25;     // smallest spread of the points, in their standard deviations

double square(double v) { return v * v; }
Vector3 unit(const Vector3& v) {
  const double l = length(v);
  return {v[0] / l, v[1] / l, v[2] / l};
}
double dot(const Vector3& a, const Vector3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

Vector3 sum(const Vector3& a, double u, const Vector3& b) {
  return {a[0] + u * b[0], a[1] + u * b[1], a[2] + u * b[2]};
}

// The ray (x, y, 1) of a pixel, and how it changes.
struct Seen {
  Vector3 ray, right, down;  // `right` and `down`: by a step of one pixel
  Vector3 by_k1, by_focal;   // by a larger coefficient of the lens, and by a relatively larger focal length

  Seen(const Lens& lens, const InverseLens& ray_of, const std::array<double, 2>& at) : ray(ray_of(at[0], at[1])) {
    right = sum(ray_of(at[0] + 0.5, at[1]), -1, ray_of(at[0] - 0.5, at[1]));
    down = sum(ray_of(at[0], at[1] + 0.5), -1, ray_of(at[0], at[1] - 0.5));
    constexpr double step = 1e-4;
    Lens less = lens, more = lens;
    less.distortion[0] -= step;
    more.distortion[0] += step;
    const std::array<double, 2> from = less.project(ray), to = more.project(ray);
    by_k1 = against((to[0] - from[0]) / (2 * step), (to[1] - from[1]) / (2 * step));
    by_focal = against(at[0] - lens.cx, at[1] - lens.cy);
  }

  // Returns the change of the ray if the lens moves the image by (u, v), and the pixel stays.
  Vector3 against(double u, double v) const { return sum({-u * right[0], -u * right[1], -u * right[2]}, -v, down); }
};

// A point in both images.
struct Rays {
  Seen left, right;

  Rays(const Cameras& c, const Point& p) : left(c.left, c.left_ray, p.left), right(c.right, c.right_ray, p.right) {}

  // Returns the distance, in pixels, of the right point from the epipolar line of the left one, after small changes.
  double distance(const Cameras& c, const Vector<terms>& by) const {
    const Vector3 from = sum(sum(left.ray, by[k1_left], left.by_k1), by[focal], left.by_focal);
    const Vector3 to = sum(sum(sum(right.ray, by[k1_right], right.by_k1), by[focal] + by[ratio], right.by_focal),
                           -by[row], right.down);
    const Matrix3 turn = product(rotation_by({by[pitch], by[yaw], by[roll]}), c.rotation);
    const Vector3 line = turned(turn, cross(c.moved_centre(by), from));
    return (1 + by[focal]) * dot(line, to) / std::hypot(dot(line, right.right), dot(line, right.down));
  }

  Vector<terms> derivatives(const Cameras& c) const {
    constexpr double step = 1e-5;
    Vector<terms> slopes;
    for (std::size_t i = 0; i < terms; ++i) {
      Vector<terms> by{};
      by[i] = step;
      const double above = distance(c, by);
      by[i] = -step;
      slopes[i] = (above - distance(c, by)) / (2 * step);
    }
    return slopes;
  }
};

double median_size(std::vector<double> values) {
  for (double& v : values) v = std::abs(v);
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Returns the sum of the products of each vector with itself.
Matrix<terms> squares_of(const std::vector<Vector<terms>>& vectors) {
  Matrix<terms> sum{};
  for (const Vector<terms>& v : vectors)
    for (std::size_t j = 0; j < terms; ++j)
      for (std::size_t k = 0; k < terms; ++k) sum[j][k] += v[j] * v[k];
  return sum;
}

}  // namespace

Cameras::Cameras(const StereoCalibration& c)
    : left(c.left.lens), right(c.right.lens), left_ray(left), right_ray(right) {
  const Vector3& t = c.translation;
  place(c.rotation, turned(transposed(c.rotation), {-t[0], -t[1], -t[2]}));
}

void Cameras::place(const Matrix3& by, const Vector3& at) {
  rotation = by;
  centre = at;
  const Vector3 along = unit(centre), ahead = unit(cross(along, {0, 1, 0}));
  across = {cross(ahead, along), ahead};
}

Vector3 Cameras::moved_centre(const Vector<terms>& by) const {
  Vector3 c = centre;
  const double b = length(c);
  for (std::size_t i = 0; i < 3; ++i) c[i] += b * (by[down] * across[0][i] + by[forward] * across[1][i]);
  const double scale = b / length(c);
  return {scale * c[0], scale * c[1], scale * c[2]};
}

void Cameras::move(const Vector<terms>& by) {
  centre = moved_centre(by);
  rotation = product(rotation_by({by[pitch], by[yaw], by[roll]}), rotation);
  for (const auto& [lens, scale] : {std::pair{&left, 1 + by[focal]}, {&right, (1 + by[focal]) * (1 + by[ratio])}}) {
    lens->fx *= scale;
    lens->fy *= scale;
  }
  right.cy += by[row];
  left.distortion[0] += by[k1_left];
  right.distortion[0] += by[k1_right];
  left_ray = InverseLens(left);
  right_ray = InverseLens(right);
}

StereoCalibration Cameras::rectified(const StereoCalibration& given) const {
  const Vector3 t = turned(rotation, centre);
  StereoCalibration c = stereo_rectified({given.size, left, right, {rotation, {-t[0], -t[1], -t[2]}}, given.rig.unit});
  close_gaps(c);
  return c;
}

Vector<terms> correction(const Cameras& given, const Cameras& found) {
  const Vector3 turn = axis_and_angle_of(product(found.rotation, transposed(given.rotation)));
  const Vector3 along = unit(found.centre);
  const double scale = found.left.fx / given.left.fx;
  return {turn[0],
          turn[1],
          turn[2],
          std::asin(dot(along, given.across[0])),
          std::asin(dot(along, given.across[1])),
          found.right.fx / (given.right.fx * scale) - 1,
          found.right.cy - given.right.cy,
          found.left.distortion[0] - given.left.distortion[0],
          found.right.distortion[0] - given.right.distortion[0],
          scale - 1};
}

double distance(const Cameras& cameras, const Point& point) { return Rays(cameras, point).distance(cameras, {}); }

Vector<terms> derivatives(const Cameras& cameras, const Point& point) {
  return Rays(cameras, point).derivatives(cameras);
}

double median_distance(const Cameras& cameras, const std::vector<Point>& points) {
  std::vector<double> all;
  for (const Point& p : points) all.push_back(distance(cameras, p));
  return median_size(std::move(all));
}

void Fit::solve(const std::vector<Point>& points, std::size_t pairs) {
  constexpr int most_steps = 40;
  constexpr double enough = 1e-8;
  for (int i = 0; i < most_steps; ++i) {
    const Vector<terms> by = step(points, pairs);
    cameras_.move(by);
    for (std::size_t k = 0; k < terms; ++k) sum_[k] += by[k];
    if (i > 4 && std::ranges::all_of(by, [](double v) { return std::abs(v) < enough; })) return;
  }
}

Matrix<terms> Fit::covariance(std::size_t pairs) const {
  const double n = static_cast<double>(pairs), scale = pairs > 1 ? n / (n - 1) : 0;
  Matrix<terms> of_gradients = with_prior(information_), result{}, half{};
  for (std::size_t i = 0; i < terms; ++i)
    for (std::size_t j = 0; j < terms; ++j) of_gradients[i][j] += scale * between_pairs_[i][j] + of_shared_[i][j];
  const NormalEquations<terms> equations(with_prior(information_));
  for (std::size_t i = 0; i < terms; ++i) half[i] = equations.solution(of_gradients[i]);
  for (std::size_t i = 0; i < terms; ++i) {
    Vector<terms> column;
    for (std::size_t j = 0; j < terms; ++j) column[j] = half[j][i];
    result[i] = equations.solution(column);
  }
  return result;
}

Matrix<terms> Fit::with_prior(Matrix<terms> m) const {
  for (std::size_t i = 0; i < terms; ++i) m[i][i] += 1 / square(usual_[i]);
  return m;
}

std::size_t Fit::part_of(const Point& p) const {
  const auto along = [](double at, int length) {
    return std::min(parts - 1, static_cast<std::size_t>(std::max(0.0, at * parts / length)));
  };
  return along(p.left[1], size_.height) * parts + along(p.left[0], size_.width);
}

// Returns the next step. Points that are far from their lines have no weight (Tukey).
Vector<terms> Fit::step(const std::vector<Point>& points, std::size_t pairs) {
  constexpr double tukey = 4.685;
  std::vector<Rays> rays;
  std::vector<double> errors;
  for (const Point& p : points) {
    rays.emplace_back(cameras_, p);
    errors.push_back(rays.back().distance(cameras_, {}) / p.deviation);
  }
  const double spread = std::max(1.4826 * median_size(errors), precision);
  std::vector<Vector<terms>> gradients(pairs), of_parts(parts * parts);
  information_ = {};
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double rest = 1 - square(errors[i] / (tukey * spread));
    if (rest <= 0) continue;
    const Vector<terms> slopes = rays[i].derivatives(cameras_);
    const double scale = 1 / (points[i].deviation * spread), weight = rest * rest * scale;
    for (std::size_t j = 0; j < terms; ++j) {
      for (std::size_t k = 0; k < terms; ++k) information_[j][k] += weight * scale * slopes[j] * slopes[k];
      gradients[points[i].pair][j] -= weight * slopes[j] * errors[i] / spread;
      of_parts[part_of(points[i])][j] += shared_error * weight * scale * slopes[j];
    }
  }
  between_pairs_ = squares_of(gradients);
  of_shared_ = squares_of(of_parts);
  Vector<terms> right{};
  for (std::size_t j = 0; j < terms; ++j) right[j] = -sum_[j] / square(usual_[j]);
  for (const Vector<terms>& g : gradients)
    for (std::size_t j = 0; j < terms; ++j) right[j] += g[j];
  return NormalEquations<terms>(with_prior(information_)).solution(right);
}

}  // namespace stereopsis::epipolar
