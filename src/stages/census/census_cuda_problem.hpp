// Constants and arguments shared by the host code and the tuned census kernel.
#pragma once

#include <cstdint>

#include "device/gpu/tuning.hpp"

namespace stereopsis::census {

struct Tuning {
  int capability;
  int block_columns;
  int high_piece, low_piece;  // rows of a piece; a block processes two pieces, one below the other
  int least_high_blocks;      // per multiprocessor; with fewer, low pieces are used
};
inline constexpr Tuning tunings[] = {
    // On an H100, the kernel reaches 64 to 70 % of the rate of a copy at 5×5 and 9×7. The numbers were not measured alone.
    {.capability = 80, .block_columns = 128, .high_piece = 8, .low_piece = 2, .least_high_blocks = 2},
};

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
