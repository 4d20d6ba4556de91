#include "device/gpu/device.hpp"
#include "stages/repair/repair.hpp"

namespace stereopsis::repair {
namespace {

// Returns the grid for work-groups of width × height pixels, the same numbers as in the kernel.
gpu::Grid tiles(Size size, int width, int height, int items_x, int items_y) {
  return {(size.width + width - 1) / width, (size.height + height - 1) / height, items_x, items_y};
}

}  // namespace

void gpu(const Parameters& p, const MapsOf<gpu::View>& maps, gpu::Queue& queue) {
  const Size size = maps.disparity.size();
  const bool far = p.reach > 10;
  const auto pass = [&](const char* instance, const gpu::Grid& grid, const auto& disparity, const auto& confidence,
                        const auto& disparity_out, const auto& confidence_out) {
    queue.launch({"repair", "repair", instance}, grid, p.reach, p.factor(), static_cast<float>(p.tolerance), disparity,
                 confidence, maps.validity, disparity_out, confidence_out);
  };
  const auto along_rows = [&] {
    pass(far ? "rows_far" : "rows", tiles(size, 128, 8, 32, 8), maps.disparity, maps.confidence, maps.repaired,
         maps.scratch);
  };
  along_rows();
  pass(far ? "columns_far" : "columns", tiles(size, 16, 64, 16, 16), maps.repaired, maps.scratch, maps.disparity,
       maps.confidence);
  along_rows();
  queue.launch({"repair", "copy", "rows"}, gpu::over(size), maps.scratch, maps.confidence);
}

}  // namespace stereopsis::repair
