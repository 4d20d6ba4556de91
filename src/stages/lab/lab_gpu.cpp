#include "device/gpu/device.hpp"
#include "stages/lab/lab.hpp"

namespace stereopsis::lab {

void gpu(gpu::View<const std::uint32_t> rgb, gpu::View<std::uint32_t> lab, gpu::Queue& queue) {
  queue.launch({"lab", "lab", "any"}, gpu::over(lab.size()), rgb, lab, transfer());
}

}  // namespace stereopsis::lab
