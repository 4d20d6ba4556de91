#include <limits>

#include "core/rounding.hpp"
#include "device/gpu/device.hpp"
#include "stages/learned_confidence/learned_confidence.hpp"

namespace stereopsis::learned_confidence {
namespace {

// Values of the network at one size: [y][x][group of four channels].
struct Plane {
  Size size;
  gpu::Array<std::int32_t> values;
};

struct Scratch {
  Scratch(Size size, gpu::Span& memory) : half(half_of(size)), quarter(half_of(half)), eighth(half_of(quarter)) {
    const std::size_t before = memory.bytes;
    const auto take = [&](Size s, int groups) {
      const std::size_t pixels_of = static_cast<std::size_t>(s.width) * s.height;
      return Plane{s, memory.take(sizeof(std::int32_t) * groups * pixels_of).as<std::int32_t>()};
    };
    nearest_bytes = sizeof(std::int32_t) * size.width * size.height;
    nearest = memory.take(nearest_bytes);
    packed = memory.take(nearest_bytes).as<std::int32_t>();
    constexpr int groups = groups_of(channels);
    pixels = take(half, groups), s0 = take(half, groups), logits = take(half, 1);
    quarter_a = take(quarter, groups), s1 = take(quarter, groups);
    eighth_a = take(eighth, groups), eighth_b = take(eighth, groups);
    bytes = before - memory.bytes;
  }

  Size half, quarter, eighth;
  std::size_t nearest_bytes, bytes;
  gpu::Span nearest;                // 2¹⁶ − d for the largest whole disparity d that points to each right pixel
  gpu::Array<std::int32_t> packed;  // the disparity, the validity and the left image of each pixel
  Plane pixels, s0, logits, quarter_a, s1, eighth_a, eighth_b;
};

// Ways in which a convolution reads the input, with the values of learned_confidence.cl.
enum Reading { as_it_is, halved, doubled_and_added };

}  // namespace

std::size_t gpu_scratch_bytes(Size size) {
  gpu::Span memory{0, 0, std::numeric_limits<std::size_t>::max()};
  return Scratch(size, memory).bytes;
}

void gpu(const InputOf<gpu::View>& in, gpu::Array<const std::int32_t> words, gpu::View<float> confidence,
         gpu::Span memory, gpu::Queue& queue) {
  const Size size = in.disparity.size();
  const Scratch s(size, memory);
  const auto nearest = s.nearest.as<std::int32_t>();
  queue.fill({s.nearest.memory, s.nearest.offset}, s.nearest_bytes, 0x7F);  // larger than any of these numbers
  queue.launch({"learned_confidence", "pack", "any"}, gpu::over(size), in.disparity, in.validity, in.left, nearest,
               s.packed);
  queue.launch({"learned_confidence", "apply_layer_0", "any"}, gpu::over(size), in.disparity, in.validity, in.left,
               in.right, gpu::Array<const std::int32_t>(nearest), gpu::Array<const std::int32_t>(s.packed), words,
               s.pixels.values);
  words.offset += first_words;

  const auto convolve = [&](Reading reading, const Plane& from, const Plane& added, const Plane& to, int outputs) {
    constexpr int tile_x = 32, tile_y = 4, items = 128;  // the same values as in learned_confidence.cl
    queue.launch({"learned_confidence", "convolve", "any"},
                 {ceil_div(to.size.width, tile_x), ceil_div(to.size.height, tile_y), items, 1},
                 gpu::Array<const std::int32_t>(from.values), gpu::Array<const std::int32_t>(added.values), words,
                 to.values, to.size.width, to.size.height, from.size.width, from.size.height, outputs,
                 static_cast<int>(reading));
    words.offset += words_of(channels, outputs);
  };
  convolve(as_it_is, s.pixels, s.pixels, s.s0, channels);
  convolve(halved, s.s0, s.s0, s.quarter_a, channels);
  convolve(as_it_is, s.quarter_a, s.quarter_a, s.s1, channels);
  convolve(halved, s.s1, s.s1, s.eighth_a, channels);
  convolve(as_it_is, s.eighth_a, s.eighth_a, s.eighth_b, channels);
  convolve(doubled_and_added, s.eighth_b, s.s1, s.quarter_a, channels);
  convolve(doubled_and_added, s.quarter_a, s.s0, s.pixels, channels);
  convolve(as_it_is, s.pixels, s.pixels, s.logits, logits);

  queue.launch({"learned_confidence", "look_up", "any"}, gpu::over(size), in.disparity,
               gpu::Array<const std::int32_t>(s.logits.values), words, confidence);
}

}  // namespace stereopsis::learned_confidence
