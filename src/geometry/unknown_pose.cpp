#include "geometry/unknown_pose.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace stereopsis::epipolar {
namespace {

using sparse::NormalEquations;

constexpr int most_samples = 150, steps = 8;
constexpr std::size_t sample_size = 8, most_scored = 400;
constexpr double close = 2;      // distance of a point from its line that counts as none, in pixels
constexpr double damping = 0.1;  // weight of the present pose, in pixels per radian

// Terms of the pose. They are the first ones.
constexpr std::size_t pose = 5;

void move_towards(Cameras& cameras, const std::vector<Point>& points) {
  Matrix<pose> matrix{};
  Vector<pose> right{};
  for (std::size_t j = 0; j < pose; ++j) matrix[j][j] = damping * damping;
  for (const Point& p : points) {
    const Vector<terms> slopes = derivatives(cameras, p);
    const double error = distance(cameras, p);
    for (std::size_t j = 0; j < pose; ++j) {
      for (std::size_t k = 0; k < pose; ++k) matrix[j][k] += slopes[j] * slopes[k];
      right[j] -= slopes[j] * error;
    }
  }
  const Vector<pose> found = NormalEquations<pose>(matrix).solution(right);
  Vector<terms> by{};
  for (std::size_t j = 0; j < pose; ++j) by[j] = std::clamp(found[j], -0.3, 0.3);
  cameras.place(product(rotation_by({by[pitch], by[yaw], by[roll]}), cameras.rotation), cameras.moved_centre(by));
}

double score(const Cameras& cameras, const std::vector<Point>& points) {
  double sum = 0;
  for (const Point& p : points) sum += std::min(std::abs(distance(cameras, p)), close);
  return sum;
}

std::vector<Point> some_of(const std::vector<Point>& points, std::size_t count, std::mt19937& random) {
  std::vector<Point> some;
  for (std::size_t i = 0; i < count; ++i) some.push_back(points[random() % points.size()]);
  return some;
}

// Moves the cameras by the points that are close to their lines.
void polish(Cameras& cameras, const std::vector<Point>& points) {
  for (int i = 0; i < steps; ++i) {
    std::vector<Point> near;
    for (const Point& p : points)
      if (std::abs(distance(cameras, p)) < close) near.push_back(p);
    if (near.size() >= sample_size) move_towards(cameras, near);
  }
}

// Returns whether most points lie before both cameras: s · left ray = centre + u · right ray with a positive s.
bool sees_points(const Cameras& c, const std::vector<Point>& points) {
  std::size_t before = 0;
  for (const Point& p : points) {
    const Vector3 left = c.left_ray(p.left[0], p.left[1]),
                  right = turned(transposed(c.rotation), c.right_ray(p.right[0], p.right[1]));
    const Vector3 a = cross(c.centre, right), b = cross(left, right);
    before += a[0] * b[0] + a[1] * b[1] + a[2] * b[2] > 0;
  }
  return 2 * before >= points.size();
}

}  // namespace

void place(Cameras& cameras, const std::vector<Point>& points) {
  std::mt19937 random(1);
  const double b = length(cameras.centre);
  const std::vector<Point> scored = some_of(points, most_scored, random);
  Cameras best = cameras;
  double least = score(best, scored);
  for (int i = 0; i < most_samples; ++i) {
    const std::vector<Point> sample = some_of(points, sample_size, random);
    for (const Vector3& centre : {Vector3{b, 0, 0}, Vector3{0, 0, b}, Vector3{0.1 * b, b, 0}}) {
      Cameras tried = cameras;
      tried.place(no_rotation, centre);
      for (int step = 0; step < steps; ++step) move_towards(tried, sample);
      const double sum = score(tried, scored);
      if (sum < least) {
        least = sum;
        best = tried;
      }
    }
  }
  polish(best, points);
  if (!sees_points(best, scored)) best.place(best.rotation, {-best.centre[0], -best.centre[1], -best.centre[2]});
  cameras = best;
}

std::optional<std::array<double, 2>> epipole(const Cameras& cameras, Size size) {
  Vector3 c = cameras.centre;
  if (c[2] == 0) return {};
  if (c[2] < 0) c = {-c[0], -c[1], -c[2]};
  const std::array<double, 2> at = cameras.left.project(c);
  const bool inside = at[0] > 0 && at[1] > 0 && at[0] < size.width - 1 && at[1] < size.height - 1;
  return inside ? std::optional(at) : std::nullopt;
}

}  // namespace stereopsis::epipolar
