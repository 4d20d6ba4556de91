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
  Scratch(const Parameters& p, Size size, gpu::Span& memory)
      : half(half_of(size)), quarter(half_of(half)), eighth(half_of(quarter)) {
    const std::size_t before = memory.bytes;
    const auto take = [&](Size s, int groups) {
      const std::size_t pixels_of = static_cast<std::size_t>(s.width) * s.height;
      return Plane{s, memory.take(sizeof(std::int32_t) * groups * pixels_of).as<std::int32_t>()};
    };
    nearest_bytes = sizeof(std::int32_t) * size.width * size.height;
    nearest = memory.take(nearest_bytes);
    packed = memory.take(nearest_bytes).as<std::int32_t>();
    const std::size_t words = static_cast<std::size_t>(ceil_div(size.width, 32)) * size.height;
    measured = memory.take(sizeof(std::int32_t) * words).as<std::int32_t>();
    constexpr int groups = groups_of(channels);
    pixels = take(half, groups), s0 = take(half, groups), logits = take(half, 1);
    quarter_a = take(quarter, groups), s1 = take(quarter, groups);
    eighth_a = take(eighth, groups), eighth_b = take(eighth, groups);
    // Without a choice, no kernel reads or writes this memory.
    const std::size_t numbers = p.decide ? (1 + sums) * static_cast<std::size_t>(size.width) * size.height : 1;
    choice = memory.take(sizeof(std::int32_t) * numbers).as<std::int32_t>();
    bytes = before - memory.bytes;
  }

  Size half, quarter, eighth;
  std::size_t nearest_bytes, bytes;
  gpu::Span nearest;                  // 2¹⁶ − d for the largest whole disparity d that points to each right pixel
  gpu::Array<std::int32_t> packed;    // the disparity, the validity and the left image of each pixel
  gpu::Array<std::int32_t> measured;  // a bit for each pixel
  gpu::Array<std::int32_t> choice;    // the distances of the candidates of each pixel, then the direct sums of each
  Plane pixels, s0, logits, quarter_a, s1, eighth_a, eighth_b;
};

// Ways in which a convolution reads the input, with the values of learned_confidence.cl.
enum Reading { as_it_is, halved, doubled_and_added };

}  // namespace

std::size_t gpu_scratch_bytes(const Parameters& p, Size size) {
  gpu::Span memory{0, 0, std::numeric_limits<std::size_t>::max()};
  return Scratch(p, size, memory).bytes;
}

void gpu(const Parameters& p, const InputOf<gpu::View>& in, gpu::Array<const std::int32_t> words,
         const OutputOf<gpu::View>& out, gpu::Span memory, gpu::Queue& queue) {
  const Size size = in.disparity.size();
  const Scratch s(p, size, memory);
  const auto nearest = s.nearest.as<std::int32_t>();
  queue.fill({s.nearest.memory, s.nearest.offset}, s.nearest_bytes, 0x7F);  // larger than any of these numbers
  queue.launch({"learned_confidence", "pack", "any"}, gpu::over(size), in.disparity, in.validity, in.left, nearest,
               s.packed, s.measured);
  const gpu::Array<const std::int32_t> packed = s.packed;
  gpu::Array<const std::int32_t> direct = words;
  direct.offset += static_cast<std::int64_t>(gpu_words(true).size()) - sums * groups_of(evidence_channels);
  queue.launch({"learned_confidence", "apply_layer_0", "any"}, gpu::over(size), in.disparity, in.validity, in.left,
               in.right, gpu::Array<const std::int32_t>(nearest), packed, gpu::Array<const std::int32_t>(s.measured),
               words, s.pixels.values, direct, s.choice, p.decide ? 1 : 0);
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

  const gpu::Array<const std::int32_t> logits_there = s.logits.values;
  if (!p.decide) {
    queue.launch({"learned_confidence", "look_up", "any"}, gpu::over(size), in.disparity, logits_there, words,
                 out.confidence);
    return;
  }
  gpu::Array<const std::int32_t> choice = words;
  choice.offset += static_cast<std::int64_t>(network(true).probability.size());
  queue.launch({"learned_confidence", "choose", "any"}, gpu::over(size), in.disparity, in.validity, logits_there,
               gpu::Array<const std::int32_t>(s.pixels.values), gpu::Array<const std::int32_t>(s.choice), choice, words,
               out.disparity, out.validity, out.confidence, in_units(p.nearer), in_units(p.farther));
}

}  // namespace stereopsis::learned_confidence
