#include "stereopsis/rig.hpp"

#include <cmath>

#include "core/text.hpp"
#include "stages/triangulate/rig_check.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis {
namespace {

// No image is wide enough for a larger disparity.
constexpr double largest_side = 1 << 20;

bool close_to(double a, double b, double tolerance) { return std::abs(a - b) <= tolerance; }

}  // namespace

std::array<double, 3> Rig::point(double x, double y, double d, Frame frame) const {
  const double z = depth(d), across = (x - cx_left) * z / focal, down = (y - cy) * z / focal;
  if (frame == Frame::head) return {z, baseline / 2 - across, -down};
  return {across, down, z};
}

DisparityRange Rig::range(double near, double far) const {
  check_rig(*this);
  if (!(near > 0) || !(far >= near))
    throw Error(ErrorCategory::call,
                text("the depths from ", number_text(near), " to ", number_text(far),
                     " are not a range; the near depth must be positive, and the far depth must not be below it"));
  const double low = std::floor(disparity(far)), high = std::ceil(disparity(near));
  if (!(low >= -largest_side && high <= largest_side))
    throw Error(ErrorCategory::call,
                text("the depths from ", number_text(near), " to ", number_text(far), ' ', unit,
                     " require the disparities from ", number_text(low), " to ", number_text(high),
                     ", which are more than an image has columns; check the unit, or use a larger near depth"));
  return {static_cast<int>(low), static_cast<int>(high - low) + 1};
}

std::array<double, 16> reprojection_of(const Rig& rig) {
  return {1,
          0,
          0,
          -rig.cx_left,  //
          0,
          1,
          0,
          -rig.cy,  //
          0,
          0,
          0,
          rig.focal,  //
          0,
          0,
          1 / rig.baseline,
          -(rig.cx_left - rig.cx_right) / rig.baseline};
}

Rig rig_of_reprojection(const std::array<double, 16>& q) {
  const auto refuse = [](const std::string& sentence) { throw Error(ErrorCategory::format, sentence); };
  for (const std::size_t index : {1, 2, 4, 6, 8, 9, 10, 12, 13})
    if (!close_to(q[index], 0, 1e-9))
      refuse(text("Q(", index / 4, ", ", index % 4, ") is ", number_text(q[index]),
                  "; it must be 0 for cameras side by side"));
  if (!close_to(q[0], 1, 1e-6) || !close_to(q[5], 1, 1e-6))
    refuse("Q(0, 0) or Q(1, 1) is not 1; give the Q that stereoRectify returns");
  if (!(q[11] > 0)) refuse(text("Q(2, 3) is ", number_text(q[11]), "; it is the focal length and must be positive"));
  if (!(q[14] > 0))
    refuse(text("Q(3, 2) is ", number_text(q[14]),
                "; it is 1 / baseline and must be positive; calibrate with the left camera as the first camera"));
  Rig rig;
  rig.focal = q[11];
  rig.cx_left = -q[3];
  rig.cx_right = -q[3] + q[15] / q[14];
  rig.cy = -q[7];
  rig.baseline = 1 / q[14];
  return rig;
}

}  // namespace stereopsis
