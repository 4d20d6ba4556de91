// Constants and arguments shared by the host code and the tuned census kernel.
#pragma once

#include <cstdint>

#include "device/gpu/tuning.hpp"

namespace stereopsis::census {

struct Tuning {
  int capability;
  int block_columns;
  int high_piece, low_piece;  // rows of a part of a column; a block processes two parts, one below the other
  // Least number of blocks per multiprocessor with high parts; with fewer blocks, low parts are used.
  int least_high_blocks;
};
inline constexpr Tuning tunings[] = {
    // On an H100, the kernel reaches 64 to 70 % of the rate of a memory copy at 5×5 and 9×7. The numbers were not
    // varied separately.
    {.capability = 80, .block_columns = 128, .high_piece = 8, .low_piece = 2, .least_high_blocks = 2},
};

// Arguments for one view, or for two views of equal size.
struct Problem {
  static constexpr bool is_argument = true;

  const std::uint8_t* grey[2];
  void* words[2];
  std::int64_t grey_pitch[2], words_pitch[2];
  int width, height;
  int blocks_across;  // per view
};

}  // namespace stereopsis::census
