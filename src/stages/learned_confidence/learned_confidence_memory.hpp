// Memory of the learned confidence on the CPU: rows of images and of the network's values, which learned_confidence_cpu.cpp
// and learned_confidence_evidence_cpu-inl.hpp share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "stages/learned_confidence/learned_confidence.hpp"

namespace stereopsis::learned_confidence {

// Takes memory for `count` elements from the front of a span. Without memory, only counts the bytes.
struct Taker {
  std::span<std::byte> memory;
  std::size_t bytes = 0;

  template <class T>
  T* take(std::ptrdiff_t count) {
    const std::size_t start = bytes;
    bytes += (static_cast<std::size_t>(count) * sizeof(T) + 63) / 64 * 64;
    return memory.empty() ? nullptr : reinterpret_cast<T*>(memory.data() + start);
  }
};

// The widest vector of 16-bit numbers.
inline constexpr int widest = 32;
constexpr std::ptrdiff_t whole_vectors(int width) { return (width + widest - 1) / widest * widest; }

// The last `kKept` rows of an image, with a margin on each side, so that vectors may read beyond the image. Rows outside
// the image are the first or the last one.
template <class T, int kKept>
struct Rows {
  static constexpr int margin = 16;

  Rows(Taker& taker, Size size)
      : height(size.height), pitch(whole_vectors(size.width) + 2 * margin), first(taker.take<T>(pitch * kKept)) {}

  T* row(int y) const { return first + std::clamp(y, 0, height - 1) % kKept * pitch + margin; }
  // Sets the margins to the values of the nearest pixels, or to given values.
  void surround(int y, int width) const { surround(y, width, row(y)[0], row(y)[width - 1]); }
  void surround(int y, int width, T left, T right) const {
    std::fill_n(row(y) - margin, margin, left);
    std::fill(row(y) + width, row(y) - margin + pitch, right);
  }

  int height;
  std::ptrdiff_t pitch;
  T* first;
};

// Values of the network at one size, [y][x][channel], with a column on each side and room for a last group of pixels.
// The columns repeat the nearest pixel. A plane keeps all rows or the last ones. Rows outside it are the first or the
// last one.
struct Plane {
  Plane(Taker& taker, Size s) : Plane(taker, s, s.height) {}
  Plane(Taker& taker, Size s, int kept_rows)
      : size(s),
        kept(kept_rows),
        pitch(static_cast<std::ptrdiff_t>(s.width + 2 + spare_pixels) * channels),
        first(taker.take<std::uint8_t>(pitch * kept)) {}

  std::uint8_t* before(int y) const { return first + std::clamp(y, 0, size.height - 1) % kept * pitch; }  // column −1
  std::uint8_t* row(int y) const { return before(y) + channels; }
  void surround(int y) const {
    std::memcpy(before(y), row(y), channels);
    std::uint8_t* const end = row(y) + static_cast<std::ptrdiff_t>(size.width) * channels;
    std::memcpy(end, end - channels, channels);
  }

  Size size;
  int kept;
  std::ptrdiff_t pitch;
  std::uint8_t* first;
};

// Images around a row of pixels, from which the evidence of these pixels is computed, and the evidence.
struct Evidence {
  Evidence(Taker& taker, Size s)
      : size(s),
        q(taker, s),
        measured(taker, s),
        grey(taker, s),
        gradient(taker, s),
        right(taker, s),
        inside(taker, s),
        largest(taker, s),
        pitch(whole_vectors(s.width)),
        groups(taker.take<std::int32_t>(groups_of(evidence_channels) * pitch)) {}

  // The evidence of a row depends on the 12 rows above and below it.
  static constexpr int reach = 12;

  Size size;
  Rows<std::int32_t, 32> q;         // Q, or `nothing`
  Rows<std::int16_t, 32> measured;  // −1 if a pixel is measured
  Rows<std::int16_t, 32> grey;      // grey values of the left view
  Rows<std::int16_t, 16> gradient;  // G
  Rows<std::uint8_t, 16> right;     // grey values of the right view
  Rows<std::int16_t, 1> inside;     // 255 in the image, and 0 beyond its sides
  Rows<std::int32_t, 1> largest;    // Z of the right view's columns in the current row
  std::ptrdiff_t pitch;
  std::int32_t* groups;  // the evidence of the current row, [group of four channels][x]
};

}  // namespace stereopsis::learned_confidence
