#include <algorithm>

#include "device/gpu/device.hpp"
#include "stages/scanline/scanline.hpp"

namespace stereopsis::scanline {
namespace {

// What scanline.cl keeps in local memory.
constexpr int narrow_disparities = 1024;
constexpr int most_items = 256;

// Two disparities for each work-item, in whole warps.
int items_for(int disparities) { return std::clamp((disparities / 2 + 31) / 32 * 32, 32, most_items); }

}  // namespace

std::size_t gpu_scratch_bytes(Size size, int disparities) {
  if (disparities <= narrow_disparities) return 0;
  return 2 * sizeof(std::uint16_t) * static_cast<std::size_t>(std::max(size.width, size.height)) * (disparities + 2);
}

void gpu(const Parameters& p, const ImagesOf<gpu::View>& images, int min_disparity,
         gpu::Volume<const std::uint8_t> costs, gpu::Volume<std::uint16_t> sums, gpu::Span scratch, gpu::Queue& queue) {
  check(p);
  const auto [near, one, both] = penalties(p);
  struct Direction {
    int dx, dy;
  };
  int add = 0;
  for (const auto [dx, dy] : {Direction{1, 0}, {-1, 0}, {0, 1}, {0, -1}}) {
    queue.launch({"scanline", "paths", costs.disparities > narrow_disparities ? "wide" : "narrow"},
                 {dy == 0 ? costs.height : costs.width, 1, items_for(costs.disparities), 1}, images.left, images.right,
                 costs.cells, sums.cells, scratch.as<std::uint16_t>(), costs.width, costs.height, images.left.channels,
                 costs.disparities, min_disparity, dx, dy, add, p.colour, near.p1, one.p1, both.p1, near.p2, one.p2,
                 both.p2);
    add = 1;
  }
}

}  // namespace stereopsis::scanline
