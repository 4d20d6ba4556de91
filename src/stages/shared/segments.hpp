// The words of a segment image. A word identifies the segment of the pixel, and limits the area with the other pixels
// of the segment.
//
//   bits 0–24   the segment's number: the index of a block of 8×8 pixels, in rows of ⌈width / 8⌉; no two segments share
//               a block
//   bits 25–31  S: the segment's pixels lie in columns [x₀ − S, x₀ + 2S) and rows [y₀ − S, y₀ + 2S), where (x₀, y₀) is
//               the pixel of its block whose coordinates are multiples of S; all segments of an image have the same S
//
// A stage that sums over segments therefore knows the largest number of segments, and the area to read for each
// segment, without analysing the image.
#pragma once

#include <algorithm>
#include <cstdint>

#include "stereopsis/image.hpp"

namespace stereopsis::slic {

inline constexpr int block = 8;
inline constexpr int number_bits = 25;

inline int blocks_across(int length) { return (length + block - 1) / block; }
inline std::int64_t block_count(Size size) {
  return std::int64_t{blocks_across(size.width)} * blocks_across(size.height);
}

struct Segment {
  int number, cell;
};
inline Segment segment_of(std::uint32_t word) {
  return {static_cast<int>(word & ((1u << number_bits) - 1)), static_cast<int>(word >> number_bits)};
}

// The cells of an image, row by row.
struct Cells {
  Cells(Size size_, int cell_)
      : size(size_), cell(cell_), columns((size.width + cell - 1) / cell), rows((size.height + cell - 1) / cell) {}

  int count() const { return columns * rows; }
  int first_x(int column) const { return column * cell; }
  int first_y(int row) const { return row * cell; }
  int middle_x(int column) const { return first_x(column) + std::min(cell, size.width - first_x(column)) / 2; }
  int middle_y(int row) const { return first_y(row) + std::min(cell, size.height - first_y(row)) / 2; }
  std::uint32_t word(int column, int row) const {
    const int number = first_y(row) / block * blocks_across(size.width) + first_x(column) / block;
    return static_cast<std::uint32_t>(number) | static_cast<std::uint32_t>(cell) << number_bits;
  }
  // Returns the index of the cell whose segment has this word.
  int index(std::uint32_t word) const {
    const int number = segment_of(word).number, across = blocks_across(size.width);
    const auto cell_of = [&](int block_index) { return (block_index * block + cell - 1) / cell; };
    return cell_of(number / across) * columns + cell_of(number % across);
  }

  Size size;
  int cell, columns, rows;
};

}  // namespace stereopsis::slic
