#include "core/rounding.hpp"
#include "device/cuda/address.hpp"
#include "device/gpu/device.hpp"
#include "stages/cross/cross.hpp"
#include "stages/cross/cross_cuda_problem.hpp"

namespace stereopsis::cross {
namespace {

bool is_tuned(const Parameters& p, Size size, int cuda_capability) {
  return cuda_capability >= 80 && p.longest() <= reach && size.height <= high_tile * gpu::most_cuda_groups_y;
}

void make_tuned(const Parameters& p, gpu::View<const std::uint8_t> image, gpu::View<std::uint32_t> arms,
                gpu::Queue& queue) {
  const Problem problem{address(image), address(arms), image.pitch,    arms.pitch, arms.width,     arms.height,
                        image.channels, p.longest(),   p.short_length, p.colour,   p.strict_colour};
  const int across = ceil_div(arms.width, tile_width);
  const bool is_low = across * ceil_div(arms.height, high_tile) < least_high_tiles;
  queue.launch({"cross_cuda", "make_arms", is_low ? "low" : "high"},
               {across, ceil_div(arms.height, is_low ? low_tile : high_tile), items, 1}, problem);
}

}  // namespace

void gpu(const Parameters& p, gpu::View<const std::uint8_t> image, gpu::View<std::uint32_t> arms, gpu::Queue& queue) {
  check(p, image.size());
  if (is_tuned(p, arms.size(), queue.cuda_capability())) return make_tuned(p, image, arms, queue);
  queue.launch({"cross", "make_arms", "any"}, gpu::over(arms.size()), image, arms, image.channels, p.longest(),
               p.short_length, p.colour, p.strict_colour);
}

}  // namespace stereopsis::cross
