#include <limits>

#include "device/gpu/device.hpp"
#include "stages/vote_fill/vote_fill.hpp"

namespace stereopsis::vote_fill {
namespace {

constexpr int items = 64;          // ITEMS of vote_fill.cl
constexpr int most_groups = 4096;  // of all devices that are known, what they have at work at a time

struct Scratch {
  Scratch(Size size, gpu::Span memory) {
    const std::size_t before = memory.bytes, pixels = static_cast<std::size_t>(size.width) * size.height;
    q = memory.take(sizeof(std::int32_t) * pixels).as<std::int32_t>();
    colours = memory.take(sizeof(std::uint32_t) * pixels).as<std::uint32_t>();
    holes = memory.take(sizeof(std::int32_t) * pixels).as<std::int32_t>();
    counter = memory.take(sizeof(std::int32_t));
    bytes = before - memory.bytes;
  }

  gpu::Array<std::int32_t> q, holes;
  gpu::Array<std::uint32_t> colours;
  gpu::Span counter;
  std::size_t bytes;
};

}  // namespace

std::size_t gpu_scratch_bytes(const Parameters& p, Size size) {
  check(p);
  if (static_cast<long long>(size.width) * size.height > std::numeric_limits<std::int32_t>::max())
    throw Error(ErrorCategory::unsupported,
                text("vote_fill can't take an image of ", size.width, "×", size.height,
                     " on a GPU; it takes up to 2147483647 pixels, so use fill or smaller images"));
  return Scratch(size, {0, 0, std::numeric_limits<std::size_t>::max()}).bytes;
}

void gpu(const Parameters& p, const InputOf<gpu::View>& in, const MapOf<gpu::View>& map, gpu::Span memory,
         gpu::Queue& queue) {
  check_images(p, in, map);
  const Size size = map.disparity.size();
  const Scratch s(size, memory);
  const auto count = s.counter.as<std::int32_t>();
  queue.fill({s.counter.memory, s.counter.offset}, sizeof(std::int32_t), 0);
  queue.launch({"vote_fill", "prepare", "any"}, gpu::over(size), map.disparity, map.validity, map.confidence, in.image,
               s.q, s.colours, s.holes, count, in.image.channels, static_cast<float>(p.reject));
  const int groups =
      static_cast<int>(std::min<long long>(most_groups, static_cast<long long>(size.width) * size.height));
  queue.launch({"vote_fill", "vote_fill", "any"}, {groups, 1, items, 1}, map.disparity, map.validity, map.confidence,
               in.right, s.q, s.colours, s.holes, count, groups, p.step, p.reach, p.distance * p.distance, p.seen,
               p.hidden, p.impossible, added_variance(p), weights(p));
}

}  // namespace stereopsis::vote_fill
