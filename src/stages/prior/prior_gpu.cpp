#include <limits>

#include "core/rounding.hpp"
#include "device/gpu/device.hpp"
#include "stages/prior/prior.hpp"

namespace stereopsis::prior {
namespace {

constexpr int items = 256;  // work-items in a group; the same value as in prior.cl
// A group makes several seeds if there are more than the groups have items.
constexpr int most_groups = 1024, making_items = 64;

struct Scratch {
  Scratch(Size size, gpu::Span memory) {
    const std::size_t before = memory.bytes, pixels = static_cast<std::size_t>(size.width) * size.height;
    known = memory.take(sizeof(std::uint32_t) * ceil_div(size.width, 32) * size.height).as<std::uint32_t>();
    list = memory.take(sizeof(std::int32_t) * pixels).as<std::int32_t>();
    made = memory.take(2 * sizeof(std::int32_t) * pixels).as<std::int32_t>();
    counter = memory.take(sizeof(std::int32_t));
    rows = memory.take(sizeof(std::int32_t) * size.height);
    bytes = before - memory.bytes;
  }

  gpu::Array<std::uint32_t> known;
  gpu::Array<std::int32_t> list, made;
  gpu::Span counter, rows;
  std::size_t bytes;
};

}  // namespace

std::size_t gpu_scratch_bytes(Size size) {
  return Scratch(size, {0, 0, std::numeric_limits<std::size_t>::max()}).bytes;
}

void gpu(const Parameters& p, const InputOf<gpu::View>& in, DisparityRange range, gpu::View<std::uint32_t> prior,
         gpu::Span memory, gpu::Queue& queue) {
  const Size size = prior.size();
  const Scratch s(size, memory);
  const auto count = s.counter.as<std::int32_t>();
  const int most = 16 * (range.count - 1), words = ceil_div(size.width, 32);
  queue.fill({s.counter.memory, s.counter.offset}, sizeof(std::int32_t), 0);
  const auto rows = s.rows.as<std::int32_t>();
  queue.fill({s.rows.memory, s.rows.offset}, sizeof(std::int32_t) * size.height, 0);
  queue.launch({"prior", "find_seeds", "any"}, {ceil_div(size.width, items), size.height, items, 1}, in.seeds, in.trust,
               s.known, s.list, count, words, range.min, most);
  queue.launch({"prior", "make_seeds", "any"}, {most_groups, 1, making_items, 1}, in.seeds, in.trust, in.grey8, s.known,
               s.list, count, s.made, rows, most_groups * making_items, words, range.min, p.similar, p.tolerance,
               p.reach);
  queue.launch({"prior", "spread_seeds", "any"}, gpu::over(size), in.grey8, s.known, s.made, rows, prior, words, most,
               p.contrast, p.reach);
}

}  // namespace stereopsis::prior
