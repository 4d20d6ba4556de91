#include "stages/shared/convolution.hpp"

#include <span>

namespace stereopsis {
namespace {

// The limits of sums of products of adjacent bytes.
class SumLimits {
 public:
  SumLimits(int out, int most_byte) : most_byte_(most_byte), highest_(2 * out), lowest_(2 * out) {}

  // Adds a number of each output. Returns whether all sums fit in 16 bits.
  bool add(std::span<const std::int32_t> numbers) {
    bool fit = true;
    for (std::size_t pair = 0; pair < highest_.size(); ++pair) {
      const std::int32_t two = numbers[pair / 2] >> pair % 2 * 16;
      for (const int weight : {static_cast<std::int8_t>(two), static_cast<std::int8_t>(two >> 8)})
        (weight > 0 ? highest_ : lowest_)[pair] += most_byte_ * weight;
      fit = fit && highest_[pair] <= 32767 && lowest_[pair] >= -32768;
    }
    return fit;
  }

 private:
  int most_byte_;
  std::vector<int> highest_, lowest_;
};

}  // namespace

PackedConvolution::PackedConvolution(const Convolution& layer)
    : in(layer.in == 1 ? 1 : padded(layer.in)),
      out(padded(layer.out)),
      used(layer.out),
      shift(layer.shift),
      low(layer.low),
      step(in == 1 ? 1 : 4),
      row_numbers(in == 1 ? 2 : 3 * in / 4),
      weights(static_cast<std::size_t>(3) * row_numbers * out),
      biases(out) {
  for (int o = 0; o < used; ++o) {
    biases[o] = layer.biases[o] + (1 << (shift - 1));
    for (int i = 0; i < layer.in; ++i)
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) {
          const int weight = layer.weight(o, i, dy, dx), at = position(i, dx);
          if (in == 1) biases[o] -= 128 * weight;
          std::int32_t& number = weights[static_cast<std::size_t>((dy + 1) * row_numbers + at / 4) * out + o];
          number |= static_cast<std::int32_t>(static_cast<std::uint32_t>(weight & 255) << at % 4 * 8);
        }
  }
  for (int row = 0; row < 3; ++row) append_runs(row * row_numbers, (row + 1) * row_numbers);
}

// Divides the numbers [first, end) into runs that are as long as possible.
void PackedConvolution::append_runs(int first, int end) {
  const auto numbers = [&](int i) { return std::span(weights).subspan(static_cast<std::size_t>(i) * out, out); };
  while (first < end) {
    SumLimits limits(out, in == 1 ? 255 : 127);
    limits.add(numbers(first));
    int next = first + 1;
    while (next < end && limits.add(numbers(next))) ++next;
    runs.push_back(next - first);
    first = next;
  }
}

}  // namespace stereopsis
