// Both views as grey images, the beginning of several routes.
#pragma once

#include <type_traits>

#include "methods/views.hpp"

namespace stereopsis {

// A view as a grey image; its mask is empty where all pixels are usable.
template <class T, template <class> class View>
struct Grey {
  View<const T> image;
  View<const std::uint8_t> mask;
};

template <class T, template <class> class View>
struct BothViews {
  Grey<T, View> left, right;
};

template <class T, template <class> class View, class Backend>
BothViews<T, View> grey_views(const Inputs<T, View>& in, Backend& backend) {
  constexpr bool is_float = std::is_same_v<T, float>;
  if (in.left.channels == 1 && !is_float) return {{in.left, in.mask_left}, {in.right, in.mask_right}};
  const Size size = in.left.size();
  const View<T> left = backend.template image<T>(size), right = backend.template image<T>(size);
  View<std::uint8_t> usable_left, usable_right;
  if (is_float) {
    usable_left = backend.template image<std::uint8_t>(size);
    usable_right = backend.template image<std::uint8_t>(size);
  }
  backend.stage("grey", 2.0 * sizeof(T) * size.width * size.height * (in.left.channels + 1), [&] {
    backend.grey(in.left, in.mask_left, left, usable_left);
    backend.grey(in.right, in.mask_right, right, usable_right);
  });
  if (is_float) return {{left, usable_left}, {right, usable_right}};
  return {{left, in.mask_left}, {right, in.mask_right}};
}

}  // namespace stereopsis
