#include <limits>

#include "stages/mirrored_seeds/mirrored_seeds.hpp"

namespace stereopsis::mirrored_seeds {

void oracle(const Input& in, DisparityRange range, const Output& out) {
  for (int y = 0; y < in.seeds.height; ++y)
    for (int u = 0; u < in.seeds.width; ++u) {
      out.seeds(u, y) = std::numeric_limits<float>::quiet_NaN();
      out.trust(u, y) = 0;
      for (int d = range.min; d <= range.max(); ++d) {
        const int x = u + d;
        if (x < 0 || x >= in.seeds.width) continue;
        const float trust = in.trust.empty() ? 1 : in.trust(x, y);
        if (whole_disparity(in.seeds(x, y), trust) != d) continue;
        out.seeds(u, y) = -in.seeds(x, y);
        out.trust(u, y) = trust;
      }
    }
}

}  // namespace stereopsis::mirrored_seeds
