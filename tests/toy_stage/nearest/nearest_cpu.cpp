#include "device/cpu/threads.hpp"
#include "nearest.hpp"

namespace stereopsis::nearest {

// The compiler vectorises this loop.
void cpu(const Parameters& p, ImageView<float> disparity, ImageView<std::uint8_t> validity, Threads& threads) {
  const float least = static_cast<float>(p.least);
  threads.rows(disparity.height, [&](int first, int last) {
    for (int y = first; y < last; ++y) {
      float* d = disparity.row(y);
      std::uint8_t* v = validity.row(y);
      for (int x = 0; x < disparity.width; ++x) {
        const bool far = d[x] < least;
        d[x] = far ? invalid_disparity : d[x];
        v[x] = static_cast<std::uint8_t>(v[x] | (far ? validity::ambiguous : 0));
      }
    }
  });
}

}  // namespace stereopsis::nearest
