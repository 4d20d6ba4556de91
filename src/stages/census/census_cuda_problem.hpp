// Constants and arguments shared by the host code and the tuned census kernel.
#pragma once

#include <cstdint>

namespace stereopsis::census {

inline constexpr int block_columns = 128;
// A block processes two pieces, one below the other. Low pieces are used when high ones would leave multiprocessors
// idle.
inline constexpr int high_piece = 8;
inline constexpr int low_piece = 2;

// One view, or two views of equal size.
struct Problem {
  static constexpr bool is_argument = true;

  const std::uint8_t* grey[2];
  void* words[2];
  std::int64_t grey_pitch[2], words_pitch[2];
  int width, height;
  int blocks_across;  // per view
};

}  // namespace stereopsis::census
