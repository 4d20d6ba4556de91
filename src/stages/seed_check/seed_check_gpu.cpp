#include "device/gpu/device.hpp"
#include "stages/seed_check/seed_check.hpp"

namespace stereopsis::seed_check {

void gpu(const InputOf<gpu::View>& in, gpu::View<std::uint8_t> validity, gpu::Queue& queue) {
  queue.launch({"seed_check", "seed_check", "any"}, gpu::over(validity.size()), in.prior, in.left, in.right,
               in.disparity, in.first_disparity, in.first_validity, validity);
}

}  // namespace stereopsis::seed_check
