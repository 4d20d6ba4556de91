#include "stages/census/census.hpp"

namespace stereopsis::census {

template <class T, class Word>
void oracle(const Parameters& p, ImageView<const T> grey, ImageView<Word> census) {
  check_word<Word>(p);
  const Shape shape = shape_of(p.window);
  for (int y = 0; y < grey.height; ++y)
    for (int x = 0; x < grey.width; ++x) {
      Word word{};
      for (int dy = -(shape.height / 2); dy <= shape.height / 2; ++dy)
        for (int dx = -(shape.width / 2); dx <= shape.width / 2; ++dx)
          if (dx != 0 || dy != 0) word = appended(word, grey(x, y) > grey.clamped(x + dx, y + dy));
      census(x, y) = word;
    }
}

template void oracle(const Parameters&, ImageView<const std::uint8_t>, ImageView<std::uint32_t>);
template void oracle(const Parameters&, ImageView<const std::uint16_t>, ImageView<std::uint32_t>);
template void oracle(const Parameters&, ImageView<const float>, ImageView<std::uint32_t>);
template void oracle(const Parameters&, ImageView<const std::uint8_t>, ImageView<std::uint64_t>);
template void oracle(const Parameters&, ImageView<const std::uint16_t>, ImageView<std::uint64_t>);
template void oracle(const Parameters&, ImageView<const float>, ImageView<std::uint64_t>);
template void oracle(const Parameters&, ImageView<const std::uint8_t>, ImageView<Word128>);
template void oracle(const Parameters&, ImageView<const std::uint16_t>, ImageView<Word128>);
template void oracle(const Parameters&, ImageView<const float>, ImageView<Word128>);

}  // namespace stereopsis::census
