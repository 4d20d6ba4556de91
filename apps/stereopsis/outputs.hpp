// What `match` writes besides disparity.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "stereopsis/calibration.hpp"
#include "stereopsis/image.hpp"
#include "stereopsis/matcher.hpp"

namespace stereopsis::command {

// Lower case, with its dot.
std::string extension_of(const std::filesystem::path& file);
// Refuses a TIFF where this build has none.
void check_tiff(const std::filesystem::path& file);
// Refuses a file name whose extension is none of these, and whatever can't be written.
void check_output(const std::filesystem::path& file, std::span<const char* const> extensions,
                  const std::string& option);

// Share of pixels, 0 to 100, of what was wanted: those outside the region do not count.
struct Densities {
  double measured = 0;              // valid, and neither filled nor repaired: the density before fill
  double valid = 0;                 // after it
  double filled = 0, repaired = 0;  // valid, but not measured there; what is both counts as filled
  double no_candidate = 0, left_right = 0, ambiguous = 0, speckle = 0, masked = 0;
};
Densities densities(ImageView<const std::uint8_t> validity);

// Of the measured pixels the shares, 0 to 100, whose disparity is the lowest or the highest of the range: what lies beyond it
// gathers there. At 0, where infinity is, nothing lies beyond.
std::pair<double, double> shares_at_ends(const Matched& result, DisparityRange range);

// Left and right exchanged.
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

Frame to_frame(const std::string& name);
// 16-bit millimetres. 0 where unknown or farther than 65.535 m; `too_far` counts the latter.
Image<std::uint16_t> millimetres(ImageView<const float> depth, const Rig& rig, long long& too_far);
// Any input image in 8 bits, with its channels.
Image<std::uint8_t> to_8_bits(const AnyImageView& image);
// A confidence of 0 to 1 as 0 to 255.
Image<std::uint8_t> confidence_8_bits(ImageView<const float> confidence);

}  // namespace stereopsis::command
