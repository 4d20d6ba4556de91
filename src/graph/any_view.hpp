// Images and volumes whose element type and location are known only at run time. Such images and volumes are the
// operands of a plan's steps.
#pragma once

#include <cstdint>

#include "core/word128.hpp"
#include "device/gpu/view.hpp"
#include "stereopsis/image.hpp"

namespace stereopsis {

enum class Element : std::uint8_t { same, u8, u16, s16, s32, u32, u64, w128, f32 };

template <class T>
constexpr Element element_of() {
  using U = std::remove_const_t<T>;
  if constexpr (std::is_same_v<U, std::uint8_t>) return Element::u8;
  if constexpr (std::is_same_v<U, std::uint16_t>) return Element::u16;
  if constexpr (std::is_same_v<U, std::int16_t>) return Element::s16;
  if constexpr (std::is_same_v<U, std::int32_t>) return Element::s32;
  if constexpr (std::is_same_v<U, std::uint32_t>) return Element::u32;
  if constexpr (std::is_same_v<U, std::uint64_t>) return Element::u64;
  if constexpr (std::is_same_v<U, Word128>) return Element::w128;
  return Element::f32;
}
constexpr int bytes_of(Element element) {
  switch (element) {
    case Element::u8: return 1;
    case Element::u16:
    case Element::s16: return 2;
    case Element::u64: return 8;
    case Element::w128: return 16;
    default: return 4;
  }
}
constexpr const char* name_of(Element element) {
  constexpr const char* names[] = {"same", "u8", "u16", "s16", "s32", "u32", "u64", "w128", "f32"};
  return names[static_cast<int>(element)];
}
constexpr Element element_of(PixelType type) {
  return type == PixelType::u8 ? Element::u8 : type == PixelType::u16 ? Element::u16 : Element::f32;
}

// Rows [first, last) of an image.
struct Rows {
  int first = 0;
  int last = 0;

  int count() const { return last - first; }
};

// A view of host or device memory. On the host, `memory` is an address. On a GPU, it is the driver's handle. A view
// without memory describes a shape only.
struct AnyView {
  std::uint64_t memory = 0;
  std::int64_t offset = 0;  // position of the first element, in elements
  Element element = Element::u8;
  int width = 0, height = 0;
  int channels = 1;
  // Number of disparities of a volume, the fastest index, with dense rows on a GPU; 0 for an image.
  int disparities = 0;
  std::int64_t pitch = 0;  // distance between rows, in elements
  // Address of a copy of a volume's last row on the host, or 0. Vector loads read past the costs of a pixel. A caller's
  // volume may end at the end of its memory, so its last row is read from a padded copy.
  std::uint64_t last_row = 0;

  bool empty() const { return width <= 0 || height <= 0; }
  Size size() const { return {width, height}; }
  bool is_volume() const { return disparities > 0; }
  int row_elements() const { return width * (is_volume() ? disparities : channels); }
  // Returns the size of all elements, in bytes, without the padding of rows.
  double bytes() const {
    return static_cast<double>(bytes_of(element)) * width * height * (is_volume() ? disparities : channels);
  }
  // Converts a volume to an image with a channel for each disparity.
  AnyView flat() const {
    AnyView image = *this;
    if (is_volume()) image.channels = disparities, image.disparities = 0;
    return image;
  }
  AnyView rows(int first, int count) const {
    AnyView part = *this;
    part.offset += first * pitch;
    part.height = count;
    if (first + count != height) part.last_row = 0;
    return part;
  }
  AnyView crop(const Rect& r) const {
    AnyView part = rows(r.y, r.height);
    part.offset += static_cast<std::int64_t>(r.x) * channels;
    part.width = r.width;
    return part;
  }

  template <class T>
  ImageView<T> on_host() const {
    if (memory == 0) return {};
    return {reinterpret_cast<T*>(memory) + offset, width, height, channels, static_cast<std::ptrdiff_t>(pitch)};
  }
  template <class T>
  VolumeView<T> volume_on_host() const {
    if (memory == 0) return {};
    return {reinterpret_cast<T*>(memory) + offset, width, height, disparities, static_cast<std::ptrdiff_t>(pitch),
            reinterpret_cast<T*>(last_row)};
  }
  template <class T>
  gpu::View<T> on_gpu() const {
    if (memory == 0) return {};
    return {memory, offset, width, height, channels, pitch};
  }
  template <class T>
  gpu::Volume<T> volume_on_gpu() const {
    if (memory == 0) return {};
    return {{memory, offset}, width, height, disparities};
  }

  template <class T>
  static AnyView of(const ImageView<T>& v) {
    return {reinterpret_cast<std::uint64_t>(v.data), 0, element_of<T>(), v.width, v.height, v.channels, 0, v.pitch};
  }
  template <class T>
  static AnyView of(const gpu::View<T>& v) {
    return {v.memory, v.offset, element_of<T>(), v.width, v.height, v.channels, 0, v.pitch};
  }
};

}  // namespace stereopsis
