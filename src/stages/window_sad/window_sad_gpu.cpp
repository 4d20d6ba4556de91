#include "core/rounding.hpp"
#include "device/gpu/device.hpp"
#include "stages/window_sad/window_sad.hpp"

namespace stereopsis::window_sad {

void gpu(const Window& window, const Source<gpu::View>& source, int min_disparity, int first_row,
         gpu::Volume<std::uint16_t> sums, gpu::Queue& queue) {
  constexpr int lanes = 32, strip = 24, near_radius = 8;  // the same values as in the kernel
  // Few rows share running sums, because starting the sums takes less time than a device loses with too few groups.
  const int band = std::max(16, window.height);
  const int strips = ceil_div(sums.width, strip), blocks = ceil_div(sums.disparities, 2 * lanes);
  queue.launch({"window_sad", "window_sad", window.radius_x() <= near_radius ? "near" : "far"},
               {strips * blocks, ceil_div(sums.height, band), lanes, 1}, source.left, source.right, sums.disparities,
               min_disparity, window.radius_x(), window.radius_y(), shift_of(window, source.kind.max_cost()), band,
               first_row, sums.height, sums.cells);
}

}  // namespace stereopsis::window_sad
