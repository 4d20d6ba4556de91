#include <limits>

#include "device/gpu/device.hpp"
#include "stages/fill/fill.hpp"

namespace stereopsis::fill {
namespace {

// The modes have the same numbers in fill.cl.
static_assert(static_cast<int>(Mode::nearest) == 1 && static_cast<int>(Mode::second_lowest) == 2 &&
              static_cast<int>(Mode::hirschmueller) == 3 && static_cast<int>(Mode::cross) == 4 &&
              static_cast<int>(Mode::box) == 5);

constexpr int small_radius = 7;  // equal to BOX_RADIUS in fill.cl
constexpr int word = 32;         // equal to WORD in fill.cl
constexpr int words_of(int pixels) { return (pixels + word - 1) / word; }

struct Scratch {
  Scratch(const Parameters& p, Size size, gpu::Span memory) {
    const std::size_t before = memory.bytes;
    const std::size_t width = p.mode == Mode::box ? 0 : size.width, height = p.mode == Mode::box ? 0 : size.height;
    const std::size_t pixels = p.mode == Mode::hirschmueller ? width * height : 0;
    in_rows = memory.take(sizeof(std::uint32_t) * words_of(size.width) * height).as<std::uint32_t>();
    in_columns = memory.take(sizeof(std::uint32_t) * width * words_of(size.height)).as<std::uint32_t>();
    rows = memory.take(sizeof(std::int32_t) * height).as<std::int32_t>();
    serving = memory.take(sizeof(std::int32_t) * height).as<std::int32_t>();
    labels = memory.take(sizeof(std::int32_t) * pixels).as<std::int32_t>();
    met = memory.take(pixels).as<std::uint8_t>();
    occluded = memory.take(pixels).as<std::uint8_t>();
    bytes = before - memory.bytes;
  }

  gpu::Array<std::uint32_t> in_rows, in_columns;
  gpu::Array<std::int32_t> rows, serving, labels;
  gpu::Array<std::uint8_t> met, occluded;
  std::size_t bytes;
};

}  // namespace

std::size_t gpu_scratch_bytes(const Parameters& p, Size size) {
  check(p);
  if (p.mode == Mode::hirschmueller &&
      static_cast<long long>(size.width) * size.height > std::numeric_limits<std::int32_t>::max())
    throw Error(ErrorCategory::unsupported,
                text("fill.mode = hirschmueller does not support an image of ", size.width, "×", size.height,
                     " on a GPU; the limit is 2147483647 pixels, so use another mode or smaller images"));
  return Scratch(p, size, {0, 0, std::numeric_limits<std::size_t>::max()}).bytes;
}

void gpu(const Parameters& p, const InputOf<gpu::View>& in, gpu::View<float> filled, gpu::View<std::uint8_t> validity,
         gpu::Span memory, gpu::Queue& queue) {
  check_images(p, in, filled);
  const Size size = filled.size();
  const gpu::Grid pixels = gpu::over(size), rows = gpu::over(size.height);
  if (p.mode == Mode::box) {
    const int radius = p.window / 2;
    queue.launch({"fill", radius <= small_radius ? "small_box" : "large_box", "any"}, pixels, in.disparity, filled,
                 validity, radius);
    return;
  }
  const Scratch s(p, size, memory);
  queue.launch({"fill", "mark_valid", "any"}, {words_of(size.width), words_of(size.height), word, 8}, in.disparity,
               s.in_rows, s.in_columns);
  if (p.mode != Mode::cross) {
    queue.launch({"fill", "find_rows", "any"}, rows, s.in_rows, s.rows, words_of(size.width), size.height);
    queue.launch({"fill", "choose_rows", "any"}, rows, s.rows, s.serving, size.height);
  }
  if (p.mode == Mode::hirschmueller) {
    queue.launch({"fill", "start", "any"}, pixels, in.disparity, s.labels, s.met, s.occluded);
    queue.launch({"fill", "unite", "any"}, pixels, in.disparity, validity, in.right, s.labels, s.met);
    queue.launch({"fill", "mark_occluded", "any"}, pixels, in.disparity, validity, s.labels, s.met, s.occluded);
  }
  queue.launch({"fill", "fill", "any"}, pixels, in.disparity, filled, validity, s.in_rows, s.in_columns, s.serving,
               s.labels, s.occluded, static_cast<int>(p.mode),
               p.mode == Mode::cross ? p.distance : std::numeric_limits<int>::max());
}

}  // namespace stereopsis::fill
