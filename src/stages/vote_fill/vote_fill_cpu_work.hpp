// The data structures with which the CPU processes one pixel after the other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "stages/vote_fill/vote_fill.hpp"

namespace stereopsis::vote_fill {

constexpr int lanes_of_row = 16;  // number of lanes per row of samples, including lanes after the last sample
constexpr int most_samples = largest_side * lanes_of_row;

// The pixels that may vote, row by row. The pixels of a row whose columns are equal modulo the step are contiguous. The
// samples of a pixel in a row are therefore also contiguous. Padding before and after the rows stands for samples
// outside the image.
struct Rows {
  static constexpr std::uint32_t no_vote =
      0xFF000000;  // colour of pixels that may not vote, which has no weight with any colour

  Rows(const Parameters& p, Size size, std::byte* memory)
      : step(p.step),
        reach(p.reach),
        room((size.width + p.step - 1) / p.step + largest_reach + lanes_of_row),
        q(reinterpret_cast<std::int32_t*>(memory)),
        colours(reinterpret_cast<std::uint32_t*>(memory) + static_cast<std::size_t>(pitch()) * size.height) {}

  std::ptrdiff_t pitch() const { return static_cast<std::ptrdiff_t>(step) * room; }
  // Returns the position of the first sample of the pixel, at the left end of the reach.
  std::ptrdiff_t first_sample(int x, int y) const { return y * pitch() + x % step * room + x / step; }
  std::ptrdiff_t at(int x, int y) const { return first_sample(x, y) + reach; }

  int step, reach;
  std::ptrdiff_t room;
  std::int32_t* q;
  std::uint32_t* colours;
};

// The weights of the samples of a pixel, row by row; 0 after the last sample of a row.
struct Pattern {
  explicit Pattern(const Parameters& p) {
    const Weights table = weights(p);
    std::copy(table.colour.begin(), table.colour.end(), colour);
    for (int j = -p.reach; j <= p.reach; ++j)
      for (int i = -p.reach; i < lanes_of_row - p.reach; ++i) {
        const int at = (j + p.reach) * lanes_of_row + i + p.reach;
        space[at] = i > p.reach ? 0 : table.distance[std::abs(j) * (largest_reach + 1) + std::abs(i)];
        near[at] = i > p.reach || p.step * p.step * (i * i + j * j) > p.distance * p.distance ? 0 : -1;
        place[at] = at;
      }
    near_rows = std::min(p.reach, p.distance / p.step);
    short_colour = std::all_of(colour + 127, colour + 256, [](std::uint32_t w) { return w == 0; });
  }

  alignas(64) std::uint32_t colour[256];
  bool short_colour;  // true if all weights from 127 on are 0
  alignas(64) std::uint32_t space[most_samples];
  alignas(64) std::int32_t near[most_samples];  // nonzero for samples at which the distance allows filling
  int near_rows;
  alignas(64) std::uint32_t place[most_samples];
};

// The samples of a pixel with nonzero weight, padded with samples of weight 0 up to a whole vector.
struct Samples {
  static constexpr int place_bits = 8;

  int count = 0;
  int low = 0, high = 0;  // bins
  alignas(64) std::int32_t q[most_samples + 64];
  alignas(64) std::int32_t votes[most_samples + 64];  // weight · 2⁸ + place
  alignas(64) std::int32_t bin[most_samples + 64];
  alignas(64) std::int32_t weight[most_samples + 64];
};

// V of adjacent bins, from `first` on.
struct Factors {
  static constexpr int count = lanes_of_row;
  int first;
  alignas(64) std::int32_t values[count];
};

// H of the bins first − 1 … first + bins, from which the winner among the inner bins is found. A wide range is
// processed in several parts.
struct Votes {
  static constexpr int bins = 1022, tables = 4;

  std::uint32_t most, all;
  int best;
  alignas(64) std::int32_t index[most_samples + 64];  // index of the bin of each sample
  // Four consecutive samples use different tables, so that no sample waits for the store of the previous one. The
  // tables are 0 while no votes are counted.
  alignas(64) std::uint32_t votes[tables][bins + 2 + 2 * lanes_of_row] = {};
};

// The numbers of the lanes in each set of eight lanes, one byte per lane.
struct LanesOfSets {
  constexpr LanesOfSets() {
    for (unsigned set = 0; set < 256; ++set)
      for (unsigned lane = 0, n = 0; lane < 8; ++lane)
        if ((set >> lane & 1) != 0) bytes[set][n++] = static_cast<std::uint8_t>(lane);
  }
  std::uint8_t bytes[256][8] = {};
};
inline constexpr LanesOfSets lanes_of_sets;

// The memory of a thread that processes one pixel after the other.
struct Work {
  Samples samples;
  Votes votes;
};

}  // namespace stereopsis::vote_fill
