#include "geometry/lens.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/text.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis {
namespace {

constexpr double steepest = 10;  // r = 10 corresponds to 84° off the axis

// Returns whether a ray is too steep for a lens with the polynomial model. Beyond its widest angle, the polynomial maps
// rays back into the image.
bool folds(const Lens& lens, double r2) {
  if (lens.model == Lens::Model::fisheye) return false;
  const auto& k = lens.distortion;
  // The derivative d(r·s)/dr, where s = numerator / denominator.
  const double numerator = 1 + r2 * (k[0] + r2 * (k[1] + r2 * k[4]));
  const double denominator = 1 + r2 * (k[5] + r2 * (k[6] + r2 * k[7]));
  const double numerator_slope = 2 * r2 * (k[0] + r2 * (2 * k[1] + r2 * 3 * k[4]));
  const double denominator_slope = 2 * r2 * (k[5] + r2 * (2 * k[6] + r2 * 3 * k[7]));
  return denominator <= 0 ||
         numerator * denominator + numerator_slope * denominator - numerator * denominator_slope <= 0;
}

// Returns the distance from the principal point, for fx = 1, at which a ray of slope `r` is seen if there is no
// tangential distortion.
double distorted(const Lens& lens, double r) {
  const auto& k = lens.distortion;
  if (lens.model == Lens::Model::fisheye) {
    const double theta = std::atan(r), t2 = theta * theta;
    return theta * (1 + t2 * (k[0] + t2 * (k[1] + t2 * (k[2] + t2 * k[3]))));
  }
  const double r2 = r * r;
  return r * (1 + r2 * (k[0] + r2 * (k[1] + r2 * k[4]))) / (1 + r2 * (k[5] + r2 * (k[6] + r2 * k[7])));
}

// Inverts distorted() by bisection.
double slope_of(const Lens& lens, double distance, double widest) {
  double low = 0, high = widest;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (distorted(lens, middle) < distance ? low : high) = middle;
  }
  return high;
}

}  // namespace

void check_lens(std::string_view name, const Lens& lens) {
  if (!(lens.fx > 0) || !(lens.fy > 0))
    throw Error(ErrorCategory::call, text(name, " has the focal lengths ", number_text(lens.fx), " and ",
                                          number_text(lens.fy), "; both must be positive"));
  std::vector<double> numbers{lens.fx, lens.fy, lens.cx, lens.cy};
  numbers.insert(numbers.end(), lens.distortion.begin(), lens.distortion.end());
  for (const double number : numbers)
    if (!std::isfinite(number))
      throw Error(ErrorCategory::call, text("the lens of ", name, " has the number ", number_text(number),
                                            "; all numbers of a lens must be finite"));
}

double fold_of(const Lens& lens) {
  constexpr double step = 0.01;
  for (double r = step; r < steepest; r += step)
    if (folds(lens, r * r)) return r * r;
  return std::numeric_limits<double>::infinity();
}

InverseLens::InverseLens(const Lens& lens) : lens_(lens), widest_(std::min(steepest, std::sqrt(fold_of(lens)))) {}

// The radial part is inverted by bisection. The other parts, which are small, are inverted by fixed-point iteration.
Vector3 InverseLens::operator()(double px, double py) const {
  const double goal_x = (px - lens_.cx) / lens_.fx, goal_y = (py - lens_.cy) / lens_.fy;
  double seen_x = goal_x, seen_y = goal_y;
  Vector3 ray{0, 0, 1};
  for (int i = 0; i < 10; ++i) {
    const double distance = std::hypot(seen_x, seen_y);
    if (distance == 0) return {0, 0, 1};
    const double scale = slope_of(lens_, distance, widest_) / distance;
    ray = {seen_x * scale, seen_y * scale, 1};
    const auto [x, y] = lens_.project(ray);
    const double error_x = goal_x - (x - lens_.cx) / lens_.fx, error_y = goal_y - (y - lens_.cy) / lens_.fy;
    if (std::hypot(error_x, error_y) < 1e-12 || scale * distance >= widest_ * (1 - 1e-9)) return ray;
    seen_x += error_x;
    seen_y += error_y;
  }
  return ray;
}

}  // namespace stereopsis
