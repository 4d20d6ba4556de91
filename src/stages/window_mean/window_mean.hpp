// Means of costs over a window, in units of 1/128, computed by running sums. The stages that average over windows (box,
// segment_support) share this code.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stereopsis/image.hpp"

namespace stereopsis::window_mean {

struct Window {
  int radius_x, radius_y;

  int area() const { return (2 * radius_x + 1) * (2 * radius_y + 1); }
};

// The memory of one thread.
struct Scratch {
  // If `memory` is null, the constructor only counts the bytes.
  Scratch(int width, int disparities, std::byte* memory) : padded((disparities + 31) / 32 * 32) {
    const auto take = [&]<class T>(T*& pointer, std::size_t count) {
      if (memory != nullptr) pointer = reinterpret_cast<T*>(memory + bytes);
      bytes += (count * sizeof(T) + 63) / 64 * 64;
    };
    take(columns, static_cast<std::size_t>(width) * padded);
    take(window, padded);
    take(averages, padded);
  }

  int padded;  // disparities, padded
  std::int32_t* columns{};
  std::int32_t* window{};
  std::uint16_t* averages{};
  std::size_t bytes = 0;
};

}  // namespace stereopsis::window_mean
