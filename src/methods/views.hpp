// What a run is given and what it makes.
#pragma once

#include <cstdint>

#include "stereopsis/image.hpp"

namespace stereopsis {

// Both views as they are given; masks are empty where all pixels are usable.
template <class T, template <class> class View>
struct Inputs {
  View<const T> left, right;
  View<const std::uint8_t> mask_left, mask_right;
};

template <template <class> class View>
struct OutputsOf {
  View<float> disparity;
  View<std::uint8_t> validity;
  View<float> right;       // empty: not wanted
  View<float> confidence;  // empty: not wanted
};
using Outputs = OutputsOf<ImageView>;

}  // namespace stereopsis
