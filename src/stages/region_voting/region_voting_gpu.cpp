#include <algorithm>
#include <limits>

#include "core/rounding.hpp"
#include "device/gpu/device.hpp"
#include "stages/region_voting/region_voting.hpp"
#include "stages/region_voting/region_voting_cuda_problem.hpp"

namespace stereopsis::region_voting {
namespace {

constexpr int items = 64;          // equal to ITEMS in region_voting.cl
constexpr int most_groups = 4096;  // no known device runs more groups concurrently

struct Scratch {
  Scratch(Size size, int cuda_capability, gpu::Span memory) {
    const std::size_t before = memory.bytes, pixels = static_cast<std::size_t>(size.width) * size.height;
    gaps = memory.take(sizeof(std::int32_t) * pixels).as<std::int32_t>();
    voted = memory.take(sizeof(float) * pixels).as<float>();
    found = memory.take(3 * sizeof(std::int32_t));
    if (gpu::runs(tunings, cuda_capability)) {
      const int tile = gpu::pick(tunings, cuda_capability).tile;
      sides = memory.take(sizeof(std::uint16_t) * pixels).as<std::uint16_t>();
      changed = memory.take(static_cast<std::size_t>(ceil_div(size.width, tile)) * ceil_div(size.height, tile));
    }
    bytes = before - memory.bytes;
  }

  gpu::Array<std::int32_t> gaps;
  gpu::Array<float> voted;
  gpu::Span found;  // the argument `found` of region_voting.cl
  // The tuned kernels store, for each listed pixel, the extent of its region to the left and to the right. For each
  // tile, they store the iteration in which a pixel was last filled.
  gpu::Array<std::uint16_t> sides;
  gpu::Span changed;
  std::size_t bytes;
};

void vote_tuned(const Parameters& p, gpu::View<const std::uint32_t> arms, const MapOf<gpu::View>& map, const Scratch& s,
                gpu::Queue& queue) {
  constexpr const char* file = "region_voting_cuda";
  const auto found = s.found.as<std::int32_t>();
  const auto changed = s.changed.as<std::uint8_t>();
  const gpu::Properties& device = queue.properties();
  const Tuning& tuning = gpu::pick(tunings, device);
  const int threads = 32 * tuning.warps, tiles = ceil_div(map.disparity.width, tuning.tile);
  const gpu::Grid grid{device.multiprocessors * (device.threads_per_multiprocessor / threads), 1, threads, 1};
  queue.fill({s.changed.memory, s.changed.offset}, s.changed.bytes, 0);
  for (int iteration = 1; iteration <= p.iterations; ++iteration) {
    queue.launch({file, "vote", "any"}, grid, map.disparity, arms, s.gaps, found, changed, s.sides, s.voted, tiles,
                 iteration, p.votes, p.share);
    queue.launch({file, "fill", "any"}, grid, map.disparity, map.validity, s.gaps, found, changed, s.voted, tiles,
                 iteration);
  }
}

}  // namespace

std::size_t gpu_scratch_bytes(Size size, int cuda_capability) {
  if (static_cast<long long>(size.width) * size.height > std::numeric_limits<std::int32_t>::max())
    throw Error(ErrorCategory::unsupported,
                text("region_voting does not support an image of ", size.width, "×", size.height,
                     " on a GPU; the limit is 2147483647 pixels, so use fill or smaller images"));
  return Scratch(size, cuda_capability, {0, 0, std::numeric_limits<std::size_t>::max()}).bytes;
}

void gpu(const Parameters& p, gpu::View<const std::uint32_t> arms, const MapOf<gpu::View>& map, gpu::Span memory,
         gpu::Queue& queue) {
  const Size size = map.disparity.size();
  const Scratch s(size, queue.cuda_capability(), memory);
  const auto found = s.found.as<std::int32_t>();
  queue.fill({s.found.memory, s.found.offset}, s.found.bytes, 0);
  queue.launch({"region_voting", "list", "any"}, gpu::over(size), map.disparity, map.validity, s.gaps, found);
  if (gpu::runs(tunings, queue.properties())) return vote_tuned(p, arms, map, s, queue);
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
