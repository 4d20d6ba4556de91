// Random cross-based support regions for tests, including regions that no image has.
#pragma once

#include <algorithm>
#include <random>

#include "stages/cross/cross.hpp"
#include "stereopsis/image.hpp"

namespace stereopsis::test {

// Arms up to `longest` that end at the border.
inline Image<std::uint32_t> random_arms(Size size, unsigned seed, int longest) {
  std::mt19937 generator(seed);
  const auto up_to = [&](int room) { return static_cast<int>(generator() % (std::min(room, longest) + 1)); };
  Image<std::uint32_t> arms(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      arms(x, y) = cross::word_of({up_to(x), up_to(size.width - 1 - x), up_to(y), up_to(size.height - 1 - y)});
  return arms;
}

}  // namespace stereopsis::test
