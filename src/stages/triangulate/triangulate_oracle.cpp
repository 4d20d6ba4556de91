#include "stages/triangulate/triangulate.hpp"

#include <algorithm>
#include <cmath>

#include "stereopsis/disparity.hpp"

namespace stereopsis::triangulate {
namespace {

float error_of(float confidence) {
  const float c = std::clamp(confidence, least_confidence, most_confidence);
  return 1 / std::sqrt(c / (1 - c));
}

}  // namespace

void oracle(const Parameters& p, const Input& in, const Output& out) {
  check(p, in, out);
  const ImageView<const float> disparity = in.disparity;
  const Constants k(p, !in.confidence.empty());
  for (int y = 0; y < disparity.height; ++y)
    for (int x = 0; x < disparity.width; ++x) {
      const float w = disparity(x, y) - k.offset;
      const bool measured = in.validity.empty() || in.validity(x, y) == 0;
      const bool valid = measured && w >= nearest_to_infinity && w <= largest_disparity;
      const float z = valid ? k.depth_scale / w : invalid_disparity;
      if (!out.depth.empty()) out.depth(x, y) = z;
      if (!out.uncertainty.empty()) {
        const float error = in.confidence.empty() ? 1 : error_of(in.confidence(x, y));
        out.uncertainty(x, y) = valid ? z * z * k.error_scale * error : invalid_disparity;
      }
      if (out.points.empty()) continue;
      const float across = (k.step * static_cast<float>(x) + k.first_x) * k.inverse_focal * z;
      const float down = (k.step * static_cast<float>(y) + k.first_y) * k.inverse_focal * z;
      const float optical[] = {across, down, z}, head[] = {z, k.half_baseline - across, -down};
      for (int c = 0; c < 3; ++c) out.points(x, y, c) = !valid ? invalid_disparity : k.head ? head[c] : optical[c];
    }
}

}  // namespace stereopsis::triangulate
