#include "stages/window_sad/window_sad.hpp"

namespace stereopsis::window_sad {

void oracle(const Window& window, const Source<ImageView>& source, int min_disparity, VolumeView<std::uint16_t> sums) {
  const int shift = shift_of(window, source.kind.max_cost());
  for (int y = 0; y < sums.height; ++y)
    for (int x = 0; x < sums.width; ++x)
      for (int k = 0; k < sums.disparities; ++k) {
        int sum = 0;
        for (int dy = -window.radius_y(); dy <= window.radius_y(); ++dy)
          for (int dx = -window.radius_x(); dx <= window.radius_x(); ++dx)
            sum += cost::evaluate(source, std::clamp(x + dx, 0, sums.width - 1), std::clamp(y + dy, 0, sums.height - 1),
                                  min_disparity + k);
        sums(x, y, k) = static_cast<std::uint16_t>(sum >> shift);
      }
}

}  // namespace stereopsis::window_sad
