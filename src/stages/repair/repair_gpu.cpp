#include "device/gpu/device.hpp"
#include "stages/repair/repair.hpp"

namespace stereopsis::repair {

void gpu(const Parameters& p, const MapsOf<gpu::View>& maps, gpu::Queue& queue) {
  const gpu::Grid grid = gpu::over(maps.disparity.size());
  const auto pass = [&](bool along_rows, const auto& disparity, const auto& confidence, const auto& disparity_out,
                        const auto& confidence_out) {
    queue.launch({"repair", "repair", "any"}, grid, p.reach, p.factor(), static_cast<float>(p.tolerance),
                 along_rows ? 1 : 0, disparity, confidence, maps.validity, disparity_out, confidence_out);
  };
  pass(true, maps.disparity, maps.confidence, maps.repaired, maps.scratch);
  pass(false, maps.repaired, maps.scratch, maps.disparity, maps.confidence);
  pass(true, maps.disparity, maps.confidence, maps.repaired, maps.scratch);
  queue.launch({"repair", "copy", "any"}, grid, maps.scratch, maps.confidence);
}

}  // namespace stereopsis::repair
