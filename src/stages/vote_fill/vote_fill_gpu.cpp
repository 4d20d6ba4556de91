#include <limits>

#include "device/gpu/device.hpp"
#include "stages/vote_fill/vote_fill.hpp"

namespace stereopsis::vote_fill {
namespace {

// No known device runs as many groups concurrently. A group processes several parts if the image is larger.
constexpr int most_groups = 2048;

// Returns the size of the image with the margin for samples at the largest reach.
Size with_margin(const Parameters& p, Size size) {
  const int margin = p.step * largest_reach;
  return {size.width + 2 * margin, size.height + 2 * margin};
}

struct Scratch {
  Scratch(const Parameters& p, Size size, gpu::Span memory) {
    const std::size_t before = memory.bytes, pixels = static_cast<std::size_t>(size.width) * size.height;
    const Size all = with_margin(p, size);
    samples = memory.take(sizeof(std::uint64_t) * all.width * all.height).as<std::uint64_t>();
    holes = memory.take(sizeof(std::int32_t) * pixels).as<std::int32_t>();
    counter = memory.take(sizeof(std::int32_t));
    bytes = before - memory.bytes;
  }

  gpu::Array<std::uint64_t> samples;
  gpu::Array<std::int32_t> holes;
  gpu::Span counter;
  std::size_t bytes;
};

}  // namespace

std::size_t gpu_scratch_bytes(const Parameters& p, Size size) {
  check(p);
  const long long margin = 2LL * p.step * largest_reach;
  if ((size.width + margin) * (size.height + margin) > std::numeric_limits<std::int32_t>::max())
    throw Error(ErrorCategory::unsupported,
                text("vote_fill does not support an image of ", size.width, "×", size.height, " on a GPU; (width + ",
                     margin, ") · (height + ", margin, ") must be at most 2147483647, so use fill or smaller images"));
  return Scratch(p, size, {0, 0, std::numeric_limits<std::size_t>::max()}).bytes;
}

void gpu(const Parameters& p, const InputOf<gpu::View>& in, const MapOf<gpu::View>& map, gpu::Span memory,
         gpu::Queue& queue) {
  check_images(p, in, map);
  const Size size = map.disparity.size();
  const Scratch s(p, size, memory);
  const auto count = s.counter.as<std::int32_t>();
  queue.fill({s.counter.memory, s.counter.offset}, sizeof(std::int32_t), 0);
  queue.launch({"vote_fill", "prepare", "any"}, gpu::over(with_margin(p, size)), map.disparity, map.validity,
               map.confidence, in.image, s.samples, s.holes, count, in.image.channels, static_cast<float>(p.reject),
               p.step, p.reach, p.distance * p.distance);
  const char* const instance = p.step != 3 ? "any" : queue.cuda_capability() > 0 ? "wide" : "usual";
  const int items = instance[0] == 'w' ? 64 : 32;  // equal to ITEMS of the instance
  const auto pixels = static_cast<std::size_t>(size.width) * size.height;
  const int groups = static_cast<int>(std::min<std::size_t>(most_groups, (pixels + items - 1) / items));
  queue.launch({"vote_fill", "vote_fill", instance}, {groups, 1, items, 1}, map.disparity, map.validity, map.confidence,
               in.right, s.samples, s.holes, count, groups, p.step, p.reach, p.seen, p.hidden, p.impossible,
               added_variance(p), weights(p));
}

}  // namespace stereopsis::vote_fill
