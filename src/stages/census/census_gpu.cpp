#include "device/gpu/device.hpp"
#include "stages/census/census.hpp"
#ifdef STEREOPSIS_CUDA
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
constexpr const char* tuned_window(Window window) {
  constexpr const char* names[] = {"w3x3", "w5x5", "w7x5", "w7x7", "w9x7", "w9x9", "w11x9", "w11x11"};
  return names[static_cast<int>(window)];
}

// 8-bit images on a CUDA device, in the narrowest words that hold the window.
template <class Word>
bool is_tuned(const Parameters& p, const gpu::Queue& queue) {
  const int bits = shape_of(p.window).bits();
  return queue.cuda_capability() >= 80 && sizeof(Word) == (bits <= 32 ? 4 : bits <= 64 ? 8 : 16);
}

template <class Word>
void tuned(const Parameters& p, gpu::View<const std::uint8_t> grey, gpu::View<Word> census, gpu::Queue& queue) {
  const Problem problem{reinterpret_cast<const std::uint8_t*>(grey.memory) + grey.offset,
                        reinterpret_cast<Word*>(census.memory) + census.offset,
                        grey.pitch,
                        census.pitch,
                        census.width,
                        census.height};
  queue.launch({"census_cuda", "census", tuned_window(p.window)},
               {(census.width + block_columns - 1) / block_columns, (census.height + block_rows - 1) / block_rows,
                block_columns, 1},
               problem);
}
#endif

}  // namespace

template <class T, class Word>
void gpu(const Parameters& p, gpu::View<const T> grey, gpu::View<Word> census, gpu::Queue& queue) {
  check_word<Word>(p);
#ifdef STEREOPSIS_CUDA
  if constexpr (std::is_same_v<T, std::uint8_t>)
    if (is_tuned<Word>(p, queue)) return tuned(p, grey, census, queue);
#endif
  const Shape shape = shape_of(p.window);
  queue.launch({"census", "census", instance<T, Word>()}, gpu::over(census.size()), grey, census, shape.width / 2,
               shape.height / 2);
}

template void gpu(const Parameters&, gpu::View<const std::uint8_t>, gpu::View<std::uint32_t>, gpu::Queue&);
template void gpu(const Parameters&, gpu::View<const std::uint16_t>, gpu::View<std::uint32_t>, gpu::Queue&);
template void gpu(const Parameters&, gpu::View<const float>, gpu::View<std::uint32_t>, gpu::Queue&);
template void gpu(const Parameters&, gpu::View<const std::uint8_t>, gpu::View<std::uint64_t>, gpu::Queue&);
template void gpu(const Parameters&, gpu::View<const std::uint16_t>, gpu::View<std::uint64_t>, gpu::Queue&);
template void gpu(const Parameters&, gpu::View<const float>, gpu::View<std::uint64_t>, gpu::Queue&);
template void gpu(const Parameters&, gpu::View<const std::uint8_t>, gpu::View<Word128>, gpu::Queue&);
template void gpu(const Parameters&, gpu::View<const std::uint16_t>, gpu::View<Word128>, gpu::Queue&);
template void gpu(const Parameters&, gpu::View<const float>, gpu::View<Word128>, gpu::Queue&);

}  // namespace stereopsis::census
