// The seeds that reach the pixels of a row, for the CPU.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "stages/prior/prior.hpp"

namespace stereopsis::prior {

// The key with which a seed reaches a pixel, and the pixel's distance from the seed. Of two seeds, the one whose number is
// lower gives the values: it has the lower key or, if they are equal, comes first by rows.
class Reach {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  static constexpr int bits = 5, middle = 1 << (bits - 1);  // for a distance

  explicit Reach(std::uint32_t number) : number_(number) {}
  static constexpr std::uint32_t number(int key, int dx, int dy) {
    return static_cast<std::uint32_t>((key << bits | (middle - dy)) << bits | (middle - dx));
  }

  bool is_there() const { return number_ != none; }
  int key() const { return static_cast<int>(number_ >> 2 * bits); }
  int dx() const { return middle - static_cast<int>(number_ & (2 * middle - 1)); }
  int dy() const { return middle - static_cast<int>(number_ >> bits & (2 * middle - 1)); }

 private:
  std::uint32_t number_;
};

// A row of pixels with the lowest number of a Reach at each. Vectors may begin `most_reach` pixels before the row, and end
// after it.
class ReachedRow {
 public:
  explicit ReachedRow(int width) : width_(width), grey_(width + 2 * margin), numbers_(width + 2 * margin) {}

  void begin(const std::uint8_t* grey) {
    std::copy_n(grey, width_, grey_.data() + margin);
    std::fill(numbers_.begin(), numbers_.end(), Reach::none);
  }
  const std::uint8_t* grey(int x) const { return grey_.data() + margin + x; }
  std::uint32_t* numbers(int x) { return numbers_.data() + margin + x; }
  Reach reach(int x) const { return Reach(numbers_[static_cast<std::size_t>(margin + x)]); }

 private:
  static constexpr int margin = 64;

  int width_;
  std::vector<std::uint8_t> grey_;
  std::vector<std::uint32_t> numbers_;
};

}  // namespace stereopsis::prior
