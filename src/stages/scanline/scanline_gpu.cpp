#include <algorithm>
#include <limits>

#include "device/gpu/device.hpp"
#include "stages/scanline/scanline.hpp"

namespace stereopsis::scanline {
namespace {

// Limits of the path costs that scanline.cl stores in local memory.
constexpr int narrow_disparities = 1024;
constexpr int most_items = 256;

// One disparity for each work-item, in whole warps.
int items_for(int disparities) { return std::min((disparities + 31) / 32 * 32, most_items); }

struct Scratch {
  Scratch(Size size, int disparities, gpu::Span memory) {
    const std::size_t before = memory.bytes, lines = std::max(size.width, size.height);
    for (auto* marks : {&left_marks, &right_marks})
      *marks = memory.take(static_cast<std::size_t>(size.width) * size.height).as<std::uint8_t>();
    if (disparities > narrow_disparities)
      states = memory.take(2 * sizeof(std::uint16_t) * lines * (disparities + 2)).as<std::uint16_t>();
    bytes = before - memory.bytes;
  }

  gpu::Array<std::uint8_t> left_marks, right_marks;
  gpu::Array<std::uint16_t> states;
  std::size_t bytes;
};

}  // namespace

std::size_t gpu_scratch_bytes(Size size, int disparities) {
  constexpr gpu::Span unlimited{0, 0, std::numeric_limits<std::size_t>::max()};
  return Scratch(size, disparities, unlimited).bytes;
}

void gpu(const Parameters& p, const ImagesOf<gpu::View>& images, int min_disparity,
         gpu::Volume<const std::uint8_t> costs, gpu::Volume<std::uint16_t> sums, gpu::Span memory, gpu::Queue& queue) {
  check(p);
  const auto [near, one, both] = penalties(p);
  const Size size{costs.width, costs.height};
  const Scratch s(size, costs.disparities, memory);
  const auto mark = [&](gpu::View<const std::uint8_t> image, gpu::Array<std::uint8_t> marks) {
    queue.launch({"scanline", "marks", "narrow"}, gpu::over(size), image, marks, size.width, image.channels, p.colour);
  };
  mark(images.left, s.left_marks);
  mark(images.right, s.right_marks);
  struct Direction {
    int dx, dy;
  };
  int add = 0;
  for (const auto [dx, dy] : {Direction{1, 0}, {-1, 0}, {0, 1}, {0, -1}}) {
    queue.launch({"scanline", "paths", costs.disparities > narrow_disparities ? "wide" : "narrow"},
                 {dy == 0 ? size.height : size.width, 1, items_for(costs.disparities), 1}, s.left_marks, s.right_marks,
                 costs.cells, sums.cells, s.states, size.width, size.height, costs.disparities, min_disparity, dx, dy,
                 add, p.colour == 0 ? 1 : 0, near.p1, one.p1, both.p1, near.p2, one.p2, both.p2);
    add = 1;
  }
}

}  // namespace stereopsis::scanline
