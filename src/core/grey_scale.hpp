// The grey levels of an image whose values may lie in a small part of their range.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "stereopsis/image.hpp"

namespace stereopsis {

// Returns the grey value (BT.601) of a pixel.
template <class T>
float grey_of(const T* pixel, int channels) {
  return channels < 3 ? static_cast<float>(pixel[0])
                      : 0.299F * static_cast<float>(pixel[0]) + 0.587F * static_cast<float>(pixel[1]) +
                            0.114F * static_cast<float>(pixel[2]);
}

// Maps values to the grey levels 0 to 255: level = (value − black) · scale.
struct GreyScale {
  float black, scale;
};

// Returns the scale from 0 to white. The scale of a deep image stretches a small part of this range if nearly all values
// lie in this part, as in thermal images; a few defective pixels do not count.
template <class T>
GreyScale grey_scale(ImageView<const T> image, int bit_depth) {
  constexpr float narrow = 1.0F / 16, least = 1.0F / 1024;  // parts of the range
  constexpr std::size_t most_samples = 1 << 16, of_defects = 1000;
  const float white = std::is_same_v<T, float> ? 255.0F : static_cast<float>((1 << bit_depth) - 1);
  const GreyScale whole{0, std::is_same_v<T, float> ? 1.0F : 255.0F / white};
  if constexpr (sizeof(T) == 1) {
    return whole;
  } else {
    const std::size_t pixels = static_cast<std::size_t>(image.width) * image.height, step = pixels / most_samples + 1;
    std::vector<float> values;
    for (std::size_t i = 0; i < pixels; i += step) {
      const float grey =
          grey_of(image.row(static_cast<int>(i / image.width)) + i % image.width * image.channels, image.channels);
      if (!std::is_same_v<T, float> || std::isfinite(grey)) values.push_back(grey);
    }
    if (values.empty()) return whole;
    std::ranges::sort(values);
    const std::size_t defects = values.size() / of_defects;
    const float low = values[defects], high = values[values.size() - 1 - defects];
    if (high - low >= narrow * white) return whole;
    return {low, 255.0F / std::max(high - low, least * white)};
  }
}

}  // namespace stereopsis
