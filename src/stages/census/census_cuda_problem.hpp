// What the tuned census transform is given.
#pragma once

#include <cstdint>

namespace stereopsis::census {

inline constexpr int block_columns = 128;
// A block has two pieces, one below the other: low ones where the image would leave multiprocessors without blocks.
inline constexpr int high_piece = 8;
inline constexpr int low_piece = 2;

// One view, or two of one size.
struct Problem {
  static constexpr bool is_argument = true;

  const std::uint8_t* grey[2];
  void* words[2];
  std::int64_t grey_pitch[2], words_pitch[2];
  int width, height;
  int blocks_across;  // a view
};

}  // namespace stereopsis::census
