#include "core/rounding.hpp"
#include "device/cuda/address.hpp"
#include "device/gpu/device.hpp"
#include "stages/cross/cross.hpp"
#include "stages/cross/cross_cuda_problem.hpp"

namespace stereopsis::cross {
namespace {

bool is_tuned(const Parameters& p, Size size, const gpu::Properties& device) {
  return gpu::runs(tunings, device) && p.longest() <= reach &&
         size.height <= gpu::pick(tunings, device).high_tile * gpu::most_cuda_groups_y;
}

void make_tuned(const Parameters& p, gpu::View<const std::uint8_t> image, gpu::View<std::uint32_t> arms,
                gpu::Queue& queue) {
  const Problem problem{address(image), address(arms), image.pitch,    arms.pitch, arms.width,     arms.height,
                        image.channels, p.longest(),   p.short_length, p.colour,   p.strict_colour};
  const Tuning& tuning = gpu::pick(tunings, queue.properties());
  const int across = ceil_div(arms.width, tuning.tile_width);
  const bool is_low =
      across * ceil_div(arms.height, tuning.high_tile) < tuning.least_high_tiles * queue.properties().multiprocessors;
  queue.launch({"cross_cuda", "make_arms", is_low ? "low" : "high"},
               {across, ceil_div(arms.height, is_low ? tuning.low_tile : tuning.high_tile), tuning.items, 1}, problem);
}

}  // namespace

void gpu(const Parameters& p, gpu::View<const std::uint8_t> image, gpu::View<std::uint32_t> arms, gpu::Queue& queue) {
  check(p, image.size());
  if (is_tuned(p, arms.size(), queue.properties())) return make_tuned(p, image, arms, queue);
  queue.launch({"cross", "make_arms", "any"}, gpu::over(arms.size()), image, arms, image.channels, p.longest(),
               p.short_length, p.colour, p.strict_colour);
}

}  // namespace stereopsis::cross
