// The definition of window_mean.hpp: the mean over the window, in units of 1/128, rounded to nearest. Costs outside the
// image replicate the costs at the border.
#pragma once

#include <algorithm>

#include "stages/window_mean/window_mean.hpp"

namespace stereopsis::window_mean {

inline int mean(const Window& w, VolumeView<const std::uint8_t> costs, int x, int y, int k) {
  std::int64_t sum = 0;
  for (int v = y - w.radius_y; v <= y + w.radius_y; ++v)
    for (int u = x - w.radius_x; u <= x + w.radius_x; ++u)
      sum += costs(std::clamp(u, 0, costs.width - 1), std::clamp(v, 0, costs.height - 1), k);
  return static_cast<int>((128 * sum + w.area() / 2) / w.area());
}

}  // namespace stereopsis::window_mean
