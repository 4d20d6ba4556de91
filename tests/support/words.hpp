// Words that costs are compared from, drawn at random.
#pragma once

#include <random>
#include <type_traits>

#include "stages/colour_gradient/colour_gradient.hpp"
#include "stages/cost/cost.hpp"
#include "stereopsis/image.hpp"

namespace stereopsis::test {

// Any bits.
template <class Word>
Image<Word> random_words(Size size, unsigned seed) {
  std::mt19937_64 generator(seed);
  Image<Word> words(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      if constexpr (std::is_same_v<Word, Word128>)
        words(x, y) = {generator(), generator()};
      else
        words(x, y) = static_cast<Word>(generator());
    }
  return words;
}

// Colours and gradients that are alike often enough for costs below their limits.
inline Image<std::uint64_t> random_colours(Size size, unsigned seed) {
  std::mt19937_64 generator(seed);
  Image<std::uint64_t> words(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      words(x, y) = colour_gradient::word_of(generator() % 9, 100 + generator() % 9, generator() % 256,
                                             static_cast<int>(generator() % 13) - 6);
  return words;
}

}  // namespace stereopsis::test
