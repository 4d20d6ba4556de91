#include "device/gpu/device.hpp"
#include "stages/cross/cross.hpp"

namespace stereopsis::cross {
void gpu(const Parameters& p, gpu::View<const std::uint8_t> image, gpu::View<std::uint32_t> arms, gpu::Queue& queue) {
  check(p, image.size());
  queue.launch({"cross", "make_arms", "any"}, gpu::over(arms.size()), image, arms, image.channels, p.longest(),
               p.short_length, p.colour, p.strict_colour);
}

}  // namespace stereopsis::cross
