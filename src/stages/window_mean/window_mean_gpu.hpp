// The launch configuration of kernels that include window_mean.cl.h.
#pragma once

#include <algorithm>

#include "device/gpu/device.hpp"
#include "stages/window_mean/window_mean.hpp"

namespace stereopsis::window_mean {

// The number of rows that share running sums. The number is large enough that the cost of starting the sums is
// negligible, and small enough that the whole device is used.
struct Launch {
  static constexpr int lanes = 64, strip = 24;  // the same values as in the kernel

  Launch(Window window, int width, int height, int disparities) : band(std::max(32, 8 * window.radius_y + 4)) {
    const int strips = (width + strip - 1) / strip, blocks = (disparities + lanes - 1) / lanes;
    grid = {strips * blocks, (height + band - 1) / band, lanes, 1};
  }

  int band;
  gpu::Grid grid;
};

}  // namespace stereopsis::window_mean
