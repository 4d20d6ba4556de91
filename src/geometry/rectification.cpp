#include "stereopsis/rectification.hpp"

#include <cmath>
#include <limits>

#include "core/text.hpp"
#include "stages/triangulate/rig_check.hpp"
#ifdef STEREOPSIS_SIMD
#include "device/cpu/has_simd.hpp"
#include "device/cpu/threads.hpp"
#endif
#include "geometry/lens.hpp"
#include "geometry/rig_filter.hpp"
#include "geometry/rotations.hpp"
#include "stages/remap/remap.hpp"
#include "stereopsis/error.hpp"
#include "stereopsis/mask.hpp"

namespace stereopsis {
namespace {

std::int32_t position_of(double pixels) {
  constexpr double one = 1 << remap::fraction_bits, largest = 1 << 30;
  const double position = std::nearbyint(pixels * one);
  return std::abs(position) <= largest ? static_cast<std::int32_t>(position) : std::numeric_limits<std::int32_t>::min();
}

Image<std::int32_t> map_of(const CalibratedCamera& camera, double focal, double cx, double cy, Size size) {
  const Matrix3& r = camera.rectification;
  const double fold = fold_of(camera.lens);
  Image<std::int32_t> map(size, 2);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const double u = (x - cx) / focal, v = (y - cy) / focal;
      // The inverse of a rotation is its transpose.
      const Vector3 ray{r[0] * u + r[3] * v + r[6], r[1] * u + r[4] * v + r[7], r[2] * u + r[5] * v + r[8]};
      map(x, y, 0) = map(x, y, 1) = std::numeric_limits<std::int32_t>::min();
      if (!(ray[2] > 0) || ray[0] * ray[0] + ray[1] * ray[1] >= fold * ray[2] * ray[2]) continue;
      const auto [px, py] = camera.lens.project(ray);
      map(x, y, 0) = position_of(px);
      map(x, y, 1) = position_of(py);
    }
  return map;
}

bool is_complete(const Image<std::int32_t>& map, Size input) {
  const std::int32_t last_x = (input.width - 1) << remap::fraction_bits, last_y = (input.height - 1)
                                                                                  << remap::fraction_bits;
  for (int y = 0; y < map.height(); ++y)
    for (int x = 0; x < map.width(); ++x)
      if (map(x, y, 0) < 0 || map(x, y, 0) > last_x || map(x, y, 1) < 0 || map(x, y, 1) > last_y) return false;
  return true;
}

}  // namespace

std::array<double, 2> Lens::project(const Vector3& point) const {
  const double x = point[0] / point[2], y = point[1] / point[2], r2 = x * x + y * y;
  const auto& k = distortion;
  if (model == Model::fisheye) {
    const double r = std::sqrt(r2), theta = std::atan(r), t2 = theta * theta;
    const double distorted = theta * (1 + t2 * (k[0] + t2 * (k[1] + t2 * (k[2] + t2 * k[3]))));
    const double scale = r > 0 ? distorted / r : 1;
    return {fx * x * scale + cx, fy * y * scale + cy};
  }
  const double radial = (1 + r2 * (k[0] + r2 * (k[1] + r2 * k[4]))) / (1 + r2 * (k[5] + r2 * (k[6] + r2 * k[7])));
  const double p1 = k[2], p2 = k[3];
  const double x2 = radial * x + 2 * p1 * x * y + p2 * (r2 + 2 * x * x) + r2 * (k[8] + r2 * k[9]);
  const double y2 = radial * y + p1 * (r2 + 2 * y * y) + 2 * p2 * x * y + r2 * (k[10] + r2 * k[11]);
  return {fx * x2 + cx, fy * y2 + cy};
}

RectificationMaps rectification_maps(const StereoCalibration& c) {
  const auto refuse = [](const std::string& sentence) { throw Error(ErrorCategory::call, sentence); };
  for (const Size& size : {c.size, c.rig.size})
    if (size.width < 1 || size.height < 1 || size.width > remap::largest_side || size.height > remap::largest_side)
      refuse(text("a calibration for images of ", size.width, "×", size.height,
                  " is not allowed; width and height must be 1 to ", remap::largest_side));
  check_rig(c.rig);
  check_lens("the left camera", c.left.lens);
  check_lens("the right camera", c.right.lens);
  if (!is_rotation(c.left.rectification, rotation_tolerance) || !is_rotation(c.right.rectification, rotation_tolerance))
    refuse("the rectification of a camera is not a rotation; its rows must be orthonormal, and its determinant 1");
  RectificationMaps maps{c.size, map_of(c.left, c.rig.focal, c.rig.cx_left, c.rig.cy, c.rig.size),
                         map_of(c.right, c.rig.focal, c.rig.cx_right, c.rig.cy, c.rig.size)};
  maps.left_complete = is_complete(maps.left, c.size);
  maps.right_complete = is_complete(maps.right, c.size);
  return maps;
}

RectificationMaps with_turned_right(const RectificationMaps& before, const StereoCalibration& now) {
  RectificationMaps maps = before;
  maps.right = map_of(now.right, now.rig.focal, now.rig.cx_right, now.rig.cy, now.rig.size);
  maps.right_complete = is_complete(maps.right, now.size);
  return maps;
}

RectifiedView rectified(const AnyImageView& image, const Image<std::int32_t>& map, ImageView<const std::uint8_t> mask,
                        [[maybe_unused]] int threads) {
  check_mask_in_place(mask);
  RectifiedView out;
  out.usable = Image<std::uint8_t>(map.size());
#ifdef STEREOPSIS_SIMD
  Threads pool(threads);
#endif
  with_pixels(image, [&]<class T>(const ImageView<const T>& pixels) {
    Image<T> result(map.size(), pixels.channels);
    const remap::InputOf<T, ImageView> from{pixels, mask, map};
    const remap::OutputOf<T, ImageView> to{result, out.usable};
#ifdef STEREOPSIS_SIMD
    if (has_simd())
      remap::cpu(from, to, pool);
    else
#endif
      remap::oracle(from, to);
    out.image.pixels = std::move(result);
  });
  out.image.bit_depth = image.bit_depth;
  return out;
}

}  // namespace stereopsis
