#include <algorithm>

#include "device/gpu/device.hpp"
#include "stages/dynamic_programming/dynamic_programming.hpp"

namespace stereopsis::dynamic_programming {
namespace {

// Limits up to which dynamic_programming.cl stores path costs in local memory.
constexpr int narrow_disparities = 1024;
constexpr int most_items = 256;

// Returns the number of work-items, in whole warps, for two disparities each.
int items_for(int disparities) { return std::clamp((disparities / 2 + 31) / 32 * 32, 32, most_items); }

}  // namespace

std::size_t gpu_scratch_bytes(Size size, int disparities) {
  if (disparities <= narrow_disparities) return 0;
  return 2 * sizeof(std::uint16_t) * static_cast<std::size_t>(size.height) * (disparities + 2);
}

void gpu(const Parameters& p, gpu::Volume<const std::uint8_t> costs, gpu::Volume<std::uint16_t> sums, gpu::Span scratch,
         gpu::Queue& queue) {
  check(p);
  queue.launch({"dynamic_programming", "optimise", costs.disparities > narrow_disparities ? "wide" : "narrow"},
               {costs.height, 1, items_for(costs.disparities), 1}, costs.cells, sums.cells, scratch.as<std::uint16_t>(),
               costs.width, costs.disparities, p.p1, p.p2);
}

}  // namespace stereopsis::dynamic_programming
