#include "device/gpu/device.hpp"
#include "stages/census/census.hpp"

namespace stereopsis::census {
namespace {

template <class T, class Word>
constexpr const char* instance() {
  constexpr bool narrow = sizeof(Word) == 4;
  if constexpr (std::is_same_v<T, std::uint8_t>)
    return narrow ? "u8_32" : "u8_64";
  else if constexpr (std::is_same_v<T, std::uint16_t>)
    return narrow ? "u16_32" : "u16_64";
  else
    return narrow ? "f32_32" : "f32_64";
}

}  // namespace

template <class T, class Word>
void gpu(const Parameters& p, gpu::View<const T> grey, gpu::View<Word> census, gpu::Queue& queue) {
  check_word<Word>(p);
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

}  // namespace stereopsis::census
