// Helpers that the tests of all stages share: awkward sizes, views with a pitch, poison around them.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "stereopsis/image.hpp"

namespace stereopsis::test {

inline const std::vector<Size> awkward_sizes = {{1, 1},  {1, 9},   {9, 1},    {2, 3},  {5, 7},
                                                {17, 6}, {67, 13}, {131, 37}, {256, 9}};

// A view inside a larger poisoned block: its pitch is not its width, and whatever is written outside
// the view is found by guard_intact().
template <class T>
class PitchedImage {
 public:
  PitchedImage(Size size, int channels = 1)
      : block_(size.width + 2 * margin_, size.height + 2 * margin_, channels), size_(size) {
    poison();
  }
  explicit PitchedImage(ImageView<const T> source) : PitchedImage(source.size(), source.channels) {
    for (int y = 0; y < source.height; ++y)
      std::copy_n(source.row(y), static_cast<std::size_t>(source.width) * source.channels, view().row(y));
  }

  ImageView<T> view() { return block_.view().crop({margin_, margin_, size_.width, size_.height}); }
  ImageView<T> block() { return block_; }  // with the poison around
  operator ImageView<T>() { return view(); }
  operator ImageView<const T>() { return view(); }
  void poison() {
    for (int y = 0; y < block_.height(); ++y) std::memset(block_.row(y), 0xA5, row_bytes());
  }
  bool guard_intact() const {
    std::vector<unsigned char> poison(row_bytes(), 0xA5);
    const std::size_t side = sizeof(T) * margin_ * block_.channels();
    for (int y = 0; y < block_.height(); ++y) {
      const auto* row = reinterpret_cast<const unsigned char*>(block_.row(y));
      const bool inside = y >= margin_ && y < margin_ + size_.height;
      const std::size_t first = inside ? side : row_bytes();
      if (std::memcmp(row, poison.data(), first) != 0) return false;
      if (inside && std::memcmp(row + row_bytes() - side, poison.data(), side) != 0) return false;
    }
    return true;
  }

 private:
  std::size_t row_bytes() const { return sizeof(T) * block_.width() * block_.channels(); }

  static constexpr int margin_ = 3;
  Image<T> block_;
  Size size_;
};

// Uniform integers in [low, high], as T.
template <class T>
Image<T> random_image(Size size, unsigned seed, int low, int high, int channels = 1) {
  std::mt19937 generator(seed);
  const unsigned count = static_cast<unsigned>(high) - static_cast<unsigned>(low) + 1;
  Image<T> image(size, channels);
  for (int y = 0; y < size.height; ++y)
    for (int i = 0; i < size.width * channels; ++i)
      image.row(y)[i] = static_cast<T>(low + static_cast<int>(generator() % count));
  return image;
}

// A pixel in a message.
template <class T>
auto shown(const T& pixel) {
  if constexpr (std::is_arithmetic_v<T>)
    return +pixel;
  else
    return testing::PrintToString(pixel);
}

// Equal to the bit (so that NaN equals NaN); names the first pixel that differs.
template <class T>
testing::AssertionResult same_bits(ImageView<T> got, ImageView<const std::remove_const_t<T>> expected) {
  if (got.size() != expected.size() || got.channels != expected.channels)
    return testing::AssertionFailure() << "sizes differ";
  for (int y = 0; y < got.height; ++y)
    for (int i = 0; i < got.width * got.channels; ++i)
      if (std::memcmp(got.row(y) + i, expected.row(y) + i, sizeof(T)) != 0)
        return testing::AssertionFailure()
               << "at x = " << i / got.channels << ", y = " << y << " of " << got.width << "x" << got.height << ": got "
               << shown(got.row(y)[i]) << ", expected " << shown(expected.row(y)[i]);
  return testing::AssertionSuccess();
}

// Runs `device(output)` twice on poisoned pitched output and compares it with `oracle(output)`.
template <class T, class Oracle, class Device>
void expect_equals_oracle(Size size, Oracle&& oracle, Device&& device, int channels = 1) {
  Image<T> expected(size, channels);
  oracle(expected.view());
  PitchedImage<T> got(size, channels);
  for (int run = 0; run < 2; ++run) {
    got.poison();
    device(got.view());
    EXPECT_TRUE(same_bits(got.view(), expected.view())) << "run " << run;
    EXPECT_TRUE(got.guard_intact());
  }
}

}  // namespace stereopsis::test
