// The seeds of an image as the CPU finds them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "stages/prior/dense.hpp"
#include "stages/prior/prior.hpp"

namespace stereopsis::prior {

// A pixel with a seed.
struct Known {
  std::int32_t x, value;
  std::uint8_t grey, trust;
};

// The seeds of all rows, compact: row y has its seeds from `known[y · width]` on. `before` counts the seeds to the left of
// each column, and `above` those to the left in all rows above.
class Seeds {
 public:
  Seeds(Size size, std::span<std::byte> scratch) : size_(size) {
    const std::size_t pixels = static_cast<std::size_t>(size.width) * size.height;
    known_ = take<Known>(scratch, pixels);
    made_ = take<Seed>(scratch, pixels);
    before_ = take<std::int32_t>(scratch, pixels + size.height);
    above_ = take<std::int32_t>(scratch, pixels + size.height + size.width + 1);
    values_ = take<std::int32_t>(scratch, pixels);
    reaches_ = take<std::int32_t>(scratch, size.height);
  }

  static std::size_t bytes(Size size) {
    const std::size_t pixels = static_cast<std::size_t>(size.width) * size.height;
    return pixels * (sizeof(Known) + sizeof(Seed) + 3 * sizeof(std::int32_t)) +
           (3 * static_cast<std::size_t>(size.height) + size.width + 1) * sizeof(std::int32_t) + 384;
  }

  void find_row(const Input& in, DisparityRange range, int y) {
    const auto most = 16.0f * static_cast<float>(range.count - 1);
    std::int32_t *const before = before_ + corner(y), *const values = values_ + at(y);
    std::fill_n(values, size_.width, none);
    int count = 0;
    for (int x = 0; x < size_.width; ++x) {
      before[x] = count;
      const float s = in.seeds(x, y);
      if (!(std::abs(s) < 32768.0f)) continue;
      const float v = std::floor(16.0f * (s - static_cast<float>(range.min)) + 0.5f);
      const int trust = in.trust.empty() ? 255 : in_255ths(in.trust(x, y));
      if (!(v >= 0 && v <= most) || trust == 0) continue;
      values[x] = static_cast<int>(v);
      known_[at(y) + count++] = {x, values[x], in.grey8(x, y), static_cast<std::uint8_t>(trust)};
    }
    before[size_.width] = count;
  }

  // Counts the seeds above each row, after all rows were found.
  void count_above() {
    std::fill_n(above_, size_.width + 1, 0);
    for (int y = 0; y < size_.height; ++y)
      for (int x = 0; x <= size_.width; ++x) above_[corner(y + 1) + x] = above_[corner(y) + x] + before_[corner(y) + x];
  }

  // Returns the seeds of a row in the columns [first, end), which are limited to the image.
  std::span<const Known> in_columns(int y, int first, int end) const {
    const auto [from, to] = part(y, first, end);
    return {known_ + at(y) + from, known_ + at(y) + to};
  }
  std::span<const Known> in_row(int y) const { return in_columns(y, 0, size_.width); }
  // Returns what the seeds of a row give to the pixels around them.
  Seed* made(int y) const { return made_ + at(y); }
  // Returns what the seed of a pixel gives.
  const Seed& made(int x, int y) const { return made_[at(y) + before_[corner(y) + x]]; }
  Size size() const { return size_; }

  // The largest reach of the seeds of a row.
  std::int32_t& reach(int y) const { return reaches_[y]; }
  // Returns the values of a row, `none` where no seed is.
  const std::int32_t* values(int y) const { return values_ + at(y); }

  int spacing(int x, int y) const {
    const int first_y = std::max(0, y - window), end_y = std::min(size_.height, y + window + 1);
    const int first_x = std::max(0, x - window), end_x = std::min(size_.width, x + window + 1);
    const std::int32_t *const top = above_ + corner(first_y), *const bottom = above_ + corner(end_y);
    const int seeds = bottom[end_x] - bottom[first_x] - top[end_x] + top[first_x];
    // The argument is below 2²⁰: its root, if it is no integer, differs from the next one by more than the rounding.
    return static_cast<int>(std::sqrt(static_cast<float>(256 * (end_y - first_y) * (end_x - first_x) / seeds)));
  }

 private:
  template <class T>
  static T* take(std::span<std::byte>& from, std::size_t count) {
    T* const first = reinterpret_cast<T*>(from.data());
    from = from.subspan((count * sizeof(T) + 63) / 64 * 64);
    return first;
  }
  static int in_255ths(float t) { return t >= 0 ? static_cast<int>(std::floor(255.0f * std::min(t, 1.0f) + 0.5f)) : 0; }
  std::size_t at(int y) const { return static_cast<std::size_t>(y) * size_.width; }
  std::size_t corner(int y) const { return static_cast<std::size_t>(y) * (size_.width + 1); }
  std::pair<int, int> part(int y, int first, int end) const {
    const std::int32_t* const before = before_ + corner(y);
    return {before[std::max(first, 0)], before[std::min(end, size_.width)]};
  }

  const Size size_;
  Known* known_;
  Seed* made_;
  std::int32_t *before_, *above_, *values_, *reaches_;
};

}  // namespace stereopsis::prior
