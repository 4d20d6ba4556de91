#include <algorithm>
#include <limits>

#include "device/gpu/device.hpp"
#include "stages/region_voting/region_voting.hpp"

namespace stereopsis::region_voting {
namespace {

constexpr int items = 64;          // equal to ITEMS in region_voting.cl
constexpr int most_groups = 4096;  // no known device runs more groups concurrently

struct Scratch {
  Scratch(Size size, gpu::Span memory) {
    const std::size_t before = memory.bytes, pixels = static_cast<std::size_t>(size.width) * size.height;
    gaps = memory.take(sizeof(std::int32_t) * pixels).as<std::int32_t>();
    voted = memory.take(sizeof(float) * pixels).as<float>();
    found = memory.take(3 * sizeof(std::int32_t));
    bytes = before - memory.bytes;
  }

  gpu::Array<std::int32_t> gaps;
  gpu::Array<float> voted;
  gpu::Span found;  // the argument `found` of region_voting.cl
  std::size_t bytes;
};

}  // namespace

std::size_t gpu_scratch_bytes(Size size) {
  if (static_cast<long long>(size.width) * size.height > std::numeric_limits<std::int32_t>::max())
    throw Error(ErrorCategory::unsupported,
                text("region_voting does not support an image of ", size.width, "×", size.height,
                     " on a GPU; the limit is 2147483647 pixels, so use fill or smaller images"));
  return Scratch(size, {0, 0, std::numeric_limits<std::size_t>::max()}).bytes;
}

void gpu(const Parameters& p, gpu::View<const std::uint32_t> arms, const MapOf<gpu::View>& map, gpu::Span memory,
         gpu::Queue& queue) {
  const Size size = map.disparity.size();
  const Scratch s(size, memory);
  const auto found = s.found.as<std::int32_t>();
  queue.fill({s.found.memory, s.found.offset}, s.found.bytes, 0);
  queue.launch({"region_voting", "list", "any"}, gpu::over(size), map.disparity, map.validity, s.gaps, found);
  const int groups =
      static_cast<int>(std::min<long long>(most_groups, static_cast<long long>(size.width) * size.height));
  for (int iteration = 0; iteration < p.iterations; ++iteration) {
    queue.launch({"region_voting", "vote", "any"}, {groups, 1, items, 1}, map.disparity, arms, s.gaps, found, s.voted,
                 groups, p.votes, p.share);
    queue.launch({"region_voting", "fill_voted", "any"}, {groups, 1, items, 1}, map.disparity, map.validity, s.gaps,
                 found, s.voted, groups * items);
  }
}

}  // namespace stereopsis::region_voting
