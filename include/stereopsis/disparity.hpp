// What a disparity is here, and why a pixel may have none.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace stereopsis {

// d = x_left − x_right, in pixels of the left input image; searched are the integers
// [min, min + count).
struct DisparityRange {
  int min = 0;     // the lowest, of any sign
  int count = 64;  // how many, at least 1

  bool operator==(const DisparityRange&) const = default;
  int max() const { return min + count - 1; }  // the highest, included
};

// The disparity of a pixel that has none. Test with std::isnan.
inline constexpr float invalid_disparity = std::numeric_limits<float>::quiet_NaN();

// Bits of the validity image. Those up to `outside` are reasons why a pixel is invalid; `filled` and
// `repaired` mark pixels that are valid, with a disparity that was not measured there.
namespace validity {
inline constexpr std::uint8_t no_candidate = 1;  // no disparity of the range lies inside the right image
inline constexpr std::uint8_t left_right = 2;    // failed the left-right check
inline constexpr std::uint8_t ambiguous = 4;     // no texture, or not unique
inline constexpr std::uint8_t speckle = 8;       // a small isolated region
inline constexpr std::uint8_t masked = 16;       // masked in the input, or not a finite number there
inline constexpr std::uint8_t outside = 32;      // outside the region of interest
inline constexpr std::uint8_t filled = 64;       // valid, but taken from around
inline constexpr std::uint8_t repaired = 128;    // valid, but replaced by what confident pixels around agree on
inline constexpr std::uint8_t reasons = 63;      // all that make a pixel invalid

// "left_right, speckle" for people.
std::string describe(std::uint8_t bits);
}  // namespace validity

}  // namespace stereopsis
