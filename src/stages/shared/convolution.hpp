// A 3×3 convolution of 8-bit channels by 8-bit weights, a layer of the networks of learned_features.hpp and
// learned_confidence.hpp:
//
//   a(x, y, o) = clamp((b(o) + Σ w(o, i, dy, dx) · before(x + dx, y + dy, i) + 2^(shift − 1)) >> shift, low, 127)
#pragma once

#include <cstdint>
#include <vector>

namespace stereopsis {

struct Convolution {
  int in, out, shift, low;
  std::vector<std::int8_t> weights;  // [out][in][3][3]
  std::vector<std::int32_t> biases;  // [out]

  int weight(int o, int i, int dy, int dx) const { return weights[((o * in + i) * 3 + dy + 1) * 3 + dx + 1]; }
};

// The number of groups of four 8-bit channels, which kernels read as one number.
constexpr int groups_of(int channels) { return (channels + 3) / 4; }

// Packs four weights of an output in a number: weight(from) and the next ones, up to `end`.
template <class F>
std::int32_t four_weights(int from, int end, F&& weight) {
  std::uint32_t word = 0;
  for (int j = 0; j < 4 && from + j < end; ++j) word |= static_cast<std::uint32_t>(weight(from + j) & 255) << (8 * j);
  return static_cast<std::int32_t>(word);
}

// Appends a convolution in the order of portable kernels: the biases, then the weights by [tap][group of
// inputs][output]. Channels are padded with zeros to whole groups.
inline void append_words(const Convolution& layer, std::vector<std::int32_t>& words) {
  const int groups = groups_of(layer.in), out = 4 * groups_of(layer.out);
  for (int o = 0; o < out; ++o) words.push_back(o < layer.out ? layer.biases[o] : 0);
  for (int tap = 0; tap < 9; ++tap)
    for (int g = 0; g < groups; ++g)
      for (int o = 0; o < out; ++o)
        words.push_back(four_weights(4 * g, o < layer.out ? layer.in : 0,
                                     [&](int i) { return layer.weight(o, i, tap / 3 - 1, tap % 3 - 1); }));
}
constexpr int words_of(int in, int out) { return 4 * groups_of(out) * (1 + 9 * groups_of(in)); }

// A convolution in the order that vectors of the CPU read: for each row of taps, numbers of four input bytes' weights, of
// all outputs. The biases include the rounding term. A layer of one input channel reads bytes from 0 to 255, from which
// 128 must be subtracted: the biases include that subtraction. The other layers read bytes from 0 to 127.
struct PackedConvolution {
  static constexpr int padding = 16;  // channels: as many as the widest vectors have 32-bit lanes
  static constexpr int padded(int channels) { return (channels + padding - 1) / padding * padding; }

  int in, out, used, shift, low;  // the first `used` outputs are not padding
  int step, row_numbers;          // bytes from a number's inputs to those of the next; numbers per row of taps
  std::vector<std::int32_t> weights, biases;
  // The lengths of runs of numbers. In a run, the sums of the products of adjacent bytes fit in 16 bits.
  std::vector<int> runs;

  explicit PackedConvolution(const Convolution& layer);

 private:
  // Returns the position of a weight among those of its row of taps. Products of the single channel's adjacent bytes
  // might not fit in 16 bits, so that the weights of these bytes are apart.
  int position(int i, int dx) const { return in == 1 ? (dx == 0 ? 4 : dx + 1) : (dx + 1) * in + i; }
  void append_runs(int first, int end);
};

// A row is convolved for so many pixels at once. Rows have `spare_pixels` for a last, incomplete group of pixels.
inline constexpr int convolved_pixels = 6, spare_pixels = convolved_pixels + 2;

}  // namespace stereopsis
