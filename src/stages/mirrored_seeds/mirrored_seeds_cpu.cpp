#include <algorithm>
#include <limits>

#include "device/cpu/threads.hpp"
#include "stages/mirrored_seeds/mirrored_seeds.hpp"

namespace stereopsis::mirrored_seeds {

void cpu(const Input& in, DisparityRange range, const Output& out, Threads& threads) {
  const int width = in.seeds.width;
  threads.rows(in.seeds.height, [&](int first, int last) {
    for (int y = first; y < last; ++y) {
      std::fill_n(out.seeds.row(y), width, std::numeric_limits<float>::quiet_NaN());
      std::fill_n(out.trust.row(y), width, 0.0f);
      for (int x = 0; x < width; ++x) {  // later seeds replace those that they hide
        const float trust = in.trust.empty() ? 1 : in.trust(x, y);
        const int d = whole_disparity(in.seeds(x, y), trust), u = x - d;
        if (d < range.min || d > range.max() || u < 0 || u >= width) continue;
        out.seeds(u, y) = -in.seeds(x, y);
        out.trust(u, y) = trust;
      }
    }
  });
}

}  // namespace stereopsis::mirrored_seeds
