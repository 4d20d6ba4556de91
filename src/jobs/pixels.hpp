// Computations on the images of a pair and the maps of a result, on the way to files and reports.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include "stereopsis/calibration.hpp"
#include "stereopsis/image.hpp"
#include "stereopsis/matcher.hpp"

namespace stereopsis::jobs {

// Percentages of the requested pixels, 0 to 100: pixels outside the region do not count.
struct Densities {
  double measured = 0;              // valid, and neither filled nor repaired: the density before filling
  double valid = 0;                 // the density after filling
  double filled = 0, repaired = 0;  // valid, but not measured there; pixels that are both count as filled
  double no_candidate = 0, left_right = 0, ambiguous = 0, speckle = 0, masked = 0;
};
Densities densities(ImageView<const std::uint8_t> validity);

// Returns the percentages of measured pixels whose disparity is the lowest or the highest of the range, where
// disparities beyond the range accumulate. An end at 0 does not count, because disparity 0 is infinity.
std::pair<double, double> shares_at_ends(const Matched& result, DisparityRange range);

// Marks pixels with a bit of `kinds` (validity::filled, validity::repaired) and pixels with a confidence below
// `min_confidence` as invalid in all maps.
void drop_unwanted(Matched& result, std::uint8_t kinds, std::optional<double> min_confidence);

// Returns the image in grey (ITU-R BT.601, rounded as the stages do it).
AnyImage grey_of(AnyImage image);

// Returns an image with left and right exchanged.
template <class T>
Image<std::remove_const_t<T>> mirrored(ImageView<T> image) {
  if (image.empty()) return {};
  Image<std::remove_const_t<T>> out(image.size(), image.channels);
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x)
      for (int c = 0; c < image.channels; ++c) out(image.width - 1 - x, y, c) = image(x, y, c);
  return out;
}
AnyImage mirrored(const AnyImage& image);

// Returns an image with rows and columns exchanged.
template <class T>
Image<std::remove_const_t<T>> transposed(ImageView<T> image) {
  if (image.empty()) return {};
  Image<std::remove_const_t<T>> out({image.height, image.width}, image.channels);
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x)
      for (int c = 0; c < image.channels; ++c) out(y, x, c) = image(x, y, c);
  return out;
}
AnyImage transposed(const AnyImage& image);
// Returns the maps and images of a result with rows and columns exchanged, and with them the axes of the points.
Matched transposed(const Matched& result, Frame frame);

// Returns the depth in 16-bit millimetres, 0 where it is unknown or farther than 65.535 m; `too_far` counts the latter.
Image<std::uint16_t> millimetres(ImageView<const float> depth, const Rig& rig, long long& too_far);
// Converts any input image to 8 bits, with its channels.
Image<std::uint8_t> to_8_bits(const AnyImageView& image);
// Converts a confidence of 0 to 1 to 0 to 255.
Image<std::uint8_t> confidence_8_bits(ImageView<const float> confidence);

}  // namespace stereopsis::jobs
