// Converts images of the public headers to the views on which steps operate, and back.
#pragma once

#include "graph/any_view.hpp"
#include "stereopsis/device_image.hpp"
#include "stereopsis/matcher.hpp"

namespace stereopsis {

template <class View>
AnyView any_view_on_host(const View& v, Element element) {
  return {reinterpret_cast<std::uint64_t>(v.data), 0, element, v.width, v.height, v.channels, 0, v.pitch};
}
template <class T>
AnyView any_view(const ImageView<T>& v) {
  return any_view_on_host(v, element_of<T>());
}
template <class T>
AnyView any_view(const Image<T>& image) {
  return any_view(image.view());
}
inline AnyView any_view(const AnyImageView& v) { return any_view_on_host(v, element_of(v.type)); }
inline AnyView any_view(const AnyImage& image) { return any_view(image.view()); }
inline AnyView any_view(const AnyOutputView& v) { return any_view_on_host(v, element_of(v.type)); }
inline AnyView any_view(const DeviceImageView& v) {
  return {v.memory, v.offset, element_of(v.type), v.width, v.height, v.channels, 0, v.pitch};
}

inline PixelType pixel_type_of_element(Element element) {
  return element == Element::u8 ? PixelType::u8 : element == Element::u16 ? PixelType::u16 : PixelType::f32;
}
// Returns a view of an image in host memory.
inline AnyImageView host_image(const AnyView& v, int bit_depth) {
  AnyImageView image;
  image.data = reinterpret_cast<const void*>(v.memory);
  image.type = pixel_type_of_element(v.element);
  image.width = v.width;
  image.height = v.height;
  image.channels = v.channels;
  image.pitch = static_cast<std::ptrdiff_t>(v.pitch);
  image.bit_depth = bit_depth;
  return image;
}

// Converts an image with a channel for each candidate to a volume.
inline AnyView as_volume(AnyView image) {
  std::swap(image.disparities, image.channels);
  image.channels = 1;
  return image;
}

}  // namespace stereopsis
