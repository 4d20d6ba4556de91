#include "stereopsis/triangulation.hpp"

#include <cmath>

#include "core/refuse.hpp"
#include "core/text.hpp"

#ifdef STEREOPSIS_SIMD
#include "device/cpu/has_simd.hpp"
#include "device/cpu/threads.hpp"
#endif
#include "stages/triangulate/triangulate.hpp"

namespace stereopsis {

Triangulated triangulated(ImageView<const float> disparity, const Rig& rig, Frame frame, double disparity_error,
                          [[maybe_unused]] int threads, ImageView<const std::uint8_t> validity) {
  Triangulated result{Image<float>(disparity.size()), Image<float>(disparity.size(), 3),
                      Image<float>(disparity.size())};
  const triangulate::Parameters p{rig, frame, disparity_error};
  const triangulate::Output out{result.depth, result.points, result.uncertainty};
#ifdef STEREOPSIS_SIMD
  if (has_simd()) {
    Threads pool(threads);
    triangulate::cpu(p, {disparity, validity}, out, pool);
    return result;
  }
#endif
  triangulate::oracle(p, {disparity, validity}, out);
  return result;
}

Image<float> disparity_of_depth(ImageView<const float> depth, const Rig& rig, double unit) {
  if (!(rig.focal > 0 && rig.baseline > 0))
    refuse(text("a rig with focal length ", rig.focal, " and baseline ", rig.baseline,
                " gives depth no disparity; both must be above 0"));
  if (rig.unit == no_scale)
    refuse("depth is a length, and the calibration has no scale; estimate it with the length of the baseline");
  Image<float> disparity(depth.size());
  for (int y = 0; y < depth.height; ++y)
    for (int x = 0; x < depth.width; ++x) {
      const double z = depth(x, y) * unit;
      disparity(x, y) = z > 0 && std::isfinite(z) ? static_cast<float>(rig.disparity(z)) : invalid_disparity;
    }
  return disparity;
}

}  // namespace stereopsis
