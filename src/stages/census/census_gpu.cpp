#include <span>

#include "core/rounding.hpp"
#include "device/gpu/device.hpp"
#include "stages/census/census.hpp"
#ifdef STEREOPSIS_CUDA
#include "device/cuda/address.hpp"
#include "stages/census/census_cuda_problem.hpp"
#endif

namespace stereopsis::census {
namespace {

template <class T, class Word>
constexpr const char* instance() {
  constexpr auto choose = [](const char* w32, const char* w64, const char* w128) {
    return sizeof(Word) == 4 ? w32 : sizeof(Word) == 8 ? w64 : w128;
  };
  if constexpr (std::is_same_v<T, std::uint8_t>)
    return choose("u8_32", "u8_64", "u8_128");
  else if constexpr (std::is_same_v<T, std::uint16_t>)
    return choose("u16_32", "u16_64", "u16_128");
  else
    return choose("f32_32", "f32_64", "f32_128");
}

#ifdef STEREOPSIS_CUDA
constexpr const char* tuned_window(Window window, bool low) {
  constexpr const char* high_ones[] = {"w3x3", "w5x5", "w7x5", "w7x7", "w9x7", "w9x9", "w11x9", "w11x11"};
  constexpr const char* low_ones[] = {"low_w3x3", "low_w5x5", "low_w7x5",  "low_w7x7",
                                      "low_w9x7", "low_w9x9", "low_w11x9", "low_w11x11"};
  return (low ? low_ones : high_ones)[static_cast<int>(window)];
}

// Returns whether the tuned kernel is used: for 8-bit images on a CUDA device, in the narrowest words that hold the
// window.
template <class Word>
bool is_tuned(const Parameters& p, int height, const gpu::Queue& queue) {
  const int bits = shape_of(p.window).bits();
  return gpu::runs(tunings, queue.properties()) &&
         height <= 2 * gpu::pick(tunings, queue.properties()).high_piece * gpu::most_cuda_groups_y &&
         sizeof(Word) == (bits <= 32   ? 4
                          : bits <= 64 ? 8
                                       : 16);
}

template <class Word>
void tuned(const Parameters& p, std::span<const gpu::View<const std::uint8_t>> grey,
           std::span<const gpu::View<Word>> census, gpu::Queue& queue) {
  Problem problem{};
  problem.width = census[0].width;
  problem.height = census[0].height;
  const Tuning& tuning = gpu::pick(tunings, queue.properties());
  problem.blocks_across = ceil_div(problem.width, tuning.block_columns);
  for (std::size_t v = 0; v < grey.size(); ++v) {
    problem.grey[v] = address(grey[v]);
    problem.words[v] = address(census[v]);
    problem.grey_pitch[v] = grey[v].pitch;
    problem.words_pitch[v] = census[v].pitch;
  }
  const auto grid = [&](int piece_rows) {
    return gpu::Grid{problem.blocks_across * static_cast<int>(grey.size()), ceil_div(problem.height, 2 * piece_rows),
                     tuning.block_columns, 1};
  };
  const gpu::Grid high = grid(tuning.high_piece);
  const bool low = high.groups_x * high.groups_y < tuning.least_high_blocks * queue.properties().multiprocessors;
  queue.launch({"census_cuda", "census", tuned_window(p.window, low)}, low ? grid(tuning.low_piece) : high, problem);
}
#endif

}  // namespace

template <class T, class Word>
void gpu(const Parameters& p, gpu::View<const T> grey, gpu::View<Word> census, gpu::Queue& queue) {
  check_word<Word>(p);
#ifdef STEREOPSIS_CUDA
  if constexpr (std::is_same_v<T, std::uint8_t>)
    if (is_tuned<Word>(p, census.height, queue)) return tuned<Word>(p, {&grey, 1}, {&census, 1}, queue);
#endif
  const Shape shape = shape_of(p.window);
  queue.launch({"census", "census", instance<T, Word>()}, gpu::over(census.size()), grey, census, shape.width / 2,
               shape.height / 2);
}

template <class T, class Word>
void gpu(const Parameters& p, const std::array<gpu::View<const T>, 2>& grey,
         const std::array<gpu::View<Word>, 2>& census, gpu::Queue& queue) {
#ifdef STEREOPSIS_CUDA
  if constexpr (std::is_same_v<T, std::uint8_t>) {
    if (is_tuned<Word>(p, census[0].height, queue) && census[0].size() == census[1].size()) {
      check_word<Word>(p);
      return tuned<Word>(p, grey, census, queue);
    }
  }
#endif
  for (int v = 0; v < 2; ++v) gpu(p, grey[v], census[v], queue);
}

#define STEREOPSIS_INSTANCE(T, Word)                                                      \
  template void gpu(const Parameters&, gpu::View<const T>, gpu::View<Word>, gpu::Queue&); \
  template void gpu(const Parameters&, const std::array<gpu::View<const T>, 2>&,          \
                    const std::array<gpu::View<Word>, 2>&, gpu::Queue&);
#define STEREOPSIS_INSTANCES(T)         \
  STEREOPSIS_INSTANCE(T, std::uint32_t) \
  STEREOPSIS_INSTANCE(T, std::uint64_t) \
  STEREOPSIS_INSTANCE(T, Word128)
STEREOPSIS_INSTANCES(std::uint8_t)
STEREOPSIS_INSTANCES(std::uint16_t)
STEREOPSIS_INSTANCES(float)
#undef STEREOPSIS_INSTANCES
#undef STEREOPSIS_INSTANCE

}  // namespace stereopsis::census
