// Images and volumes in GPU memory. These types resemble ImageView and VolumeView, but only kernels and copies access
// the data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "stereopsis/image.hpp"

namespace stereopsis {

// Returns whether two images start at the same address.
template <class A, class B>
bool same_start(const ImageView<A>& a, const ImageView<B>& b) {
  return a.data == b.data;
}

namespace gpu {

class Queue;

// The driver's handle of a memory object, a CUdeviceptr or a cl_mem; 0 means none.
using Handle = std::uint64_t;

// A contiguous run of elements.
template <class T>
struct Array {
  Handle memory = 0;
  std::int64_t offset = 0;  // position of the first element, in elements

  operator Array<const T>() const requires(!std::is_const_v<T>) { return {memory, offset}; }
};

// A span of memory, which starts at a multiple of 256 bytes.
struct Span {
  Handle memory = 0;
  std::int64_t offset = 0;
  std::size_t bytes = 0;

  template <class T>
  Array<T> as() const {
    return {memory, offset / static_cast<std::int64_t>(sizeof(T))};
  }
  // Removes the first `size` bytes from the span and returns them.
  Span take(std::size_t size) {
    const std::size_t used = (size + 255) / 256 * 256;
    const Span first{memory, offset, size};
    offset += static_cast<std::int64_t>(used);
    bytes -= used < bytes ? used : bytes;
    return first;
  }
};

template <class T>
struct View {
  Handle memory = 0;
  std::int64_t offset = 0;  // position of pixel (0, 0), in elements
  int width = 0;
  int height = 0;
  int channels = 1;
  std::int64_t pitch = 0;  // distance between rows, in elements

  bool empty() const { return memory == 0 || width <= 0 || height <= 0; }
  Size size() const { return {width, height}; }
  // Returns rows [first, first + count); an empty view if the view is empty.
  View rows(int first, int count) const {
    if (empty()) return *this;
    return {memory, offset + first * pitch, width, count, channels, pitch};
  }
  View crop(const Rect& r) const {
    return {memory, offset + r.y * pitch + static_cast<std::int64_t>(r.x) * channels, r.width, r.height, channels,
            pitch};
  }
  operator View<const T>() const requires(!std::is_const_v<T>) {
    return {memory, offset, width, height, channels, pitch};
  }
};

template <class A, class B>
bool same_start(const View<A>& a, const View<B>& b) {
  return a.memory == b.memory && a.offset == b.offset;
}

// A view of cells (x, y, d), with the disparity as the fastest index and dense rows.
template <class T>
struct Volume {
  Array<T> cells;
  int width = 0;
  int height = 0;
  int disparities = 0;

  operator Volume<const T>() const requires(!std::is_const_v<T>) { return {cells, width, height, disparities}; }
};

}  // namespace gpu
}  // namespace stereopsis
