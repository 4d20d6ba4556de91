// The grid of kernels that compute a cost volume in the tiles of tile.cl.h.
#pragma once

#include "device/gpu/device.hpp"

namespace stereopsis::cost {

template <class T>
gpu::Grid over_tiles(const gpu::Volume<T>& costs) {
  constexpr int tile_x = 8, run = 4;  // the same values as in tile.cl.h
  gpu::Grid grid = gpu::over((costs.width + tile_x - 1) / tile_x * ((costs.disparities + run - 1) / run));
  grid.groups_y = costs.height;
  return grid;
}

}  // namespace stereopsis::cost
