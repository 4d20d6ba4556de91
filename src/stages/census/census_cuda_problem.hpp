// What the tuned census transform is given.
#pragma once

#include <cstdint>

namespace stereopsis::census {

inline constexpr int block_columns = 128;
inline constexpr int block_rows = 16;

struct Problem {
  static constexpr bool is_argument = true;

  const std::uint8_t* grey;
  void* words;
  std::int64_t grey_pitch, words_pitch;
  int width, height;
};

}  // namespace stereopsis::census
