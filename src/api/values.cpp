#include "api/values.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/refuse.hpp"
#include "stereopsis/arguments.hpp"

namespace stereopsis {
namespace {

// Rounding and the overshoot of an interpolation stay below half of an 8-bit unit.
constexpr float slack = 0.5f, white = 255;

bool is_outside(float v) {
  constexpr float most = std::numeric_limits<float>::max();
  return (v > white + slack && v <= most) || (v < -slack && v >= -most);  // pixels that are not finite are masked
}

template <class T, class F>
void for_each_outside(const AnyImageView& image, F&& is_outside, auto&& reject) {
  const auto pixels = image.as<T>();
  const int elements = image.width * image.channels;
  for (int y = 0; y < image.height; ++y) {
    const T* const row = pixels.row(y);
    bool any = false;
    for (int i = 0; i < elements; ++i) any |= is_outside(row[i]);  // no branch, so that the loop vectorises
    for (int i = 0; any && i < elements; ++i)
      if (is_outside(row[i])) reject(row[i], i / image.channels, y);
  }
}

}  // namespace

std::string image_name(Binding binding) {
  if (is_output(binding)) return text("the output '", output_table[output_row(binding)].name, "'");
  return input_table[static_cast<std::size_t>(binding) - static_cast<std::size_t>(Binding::left)].sentence_name;
}

// Every stage would treat intensities above white as white, so such intensities are rejected.
void check_intensities(const std::string& name, const AnyImageView& image) {
  const auto found = [&](auto value, int x, int y, const std::string& allowed) {
    refuse(text("the intensity of ", name, " is ", value, " at ", x, ",", y, "; ", allowed));
  };
  if (image.type == PixelType::f32)
    for_each_outside<float>(image, is_outside, [&](float value, int x, int y) {
      found(value, x, y,
            "float images must be from 0 to 255 (white), so scale them, or set pixels without data to NaN");
    });
  if (image.type != PixelType::u16 || image.bit_depth >= 16) return;
  const auto most = static_cast<std::uint16_t>((1u << image.bit_depth) - 1);
  for_each_outside<std::uint16_t>(
      image, [most](std::uint16_t v) { return v > most; },
      [&](std::uint16_t value, int x, int y) {
        found(value, x, y,
              text("an image with a bit depth of ", image.bit_depth, " has values from 0 to ", most,
                   ", so give the number of significant bits of the image"));
      });
}

void check_path_costs(const std::string& name, ImageView<const std::uint16_t> paths) {
  for (int y = 0; y < paths.height; ++y)
    for (int x = 0; x < paths.width; ++x)
      if (const auto costs = paths.row(y) + static_cast<std::ptrdiff_t>(x) * paths.channels;
          *std::min_element(costs, costs + paths.channels) != 0)
        refuse(text(name, " have no path cost of 0 at ", x, ",", y,
                    "; subtract the minimum of each pixel, as a result's path costs have it"));
}

void check_validity(ImageView<const float> disparity, ImageView<const std::uint8_t> bits) {
  for (int y = 0; y < disparity.height; ++y)
    for (int x = 0; x < disparity.width; ++x) {
      const bool valid = (bits.row(y)[x] & validity::reasons) == 0;
      if (valid != std::isfinite(disparity.row(y)[x]))
        refuse(text("the given maps contradict each other at ", x, ",", y, ": the validity says that the pixel is ",
                    valid ? "valid, but its disparity is not finite" : "invalid, but it has a disparity",
                    "; pass both maps as a matcher returned them"));
    }
}

}  // namespace stereopsis
