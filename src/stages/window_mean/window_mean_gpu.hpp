// How kernels with window_mean.cl.h are launched.
#pragma once

#include <algorithm>

#include "device/gpu/device.hpp"
#include "stages/window_mean/window_mean.hpp"

namespace stereopsis::window_mean {

// Rows that share running sums are many, so that their start does not count, and few, so that there is work for all.
struct Launch {
  static constexpr int lanes = 64, strip = 24;  // as the kernel has them

  Launch(Window window, int width, int height, int disparities) : band(std::max(32, 8 * window.radius_y + 4)) {
    const int strips = (width + strip - 1) / strip, blocks = (disparities + lanes - 1) / lanes;
    grid = {strips * blocks, (height + band - 1) / band, lanes, 1};
  }

  int band;
  gpu::Grid grid;
};

}  // namespace stereopsis::window_mean
