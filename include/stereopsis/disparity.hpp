// Definitions of disparity and of the reasons why a pixel is invalid.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace stereopsis {

// A search range: the integers [min, min + count). A disparity is d = x_left − x_right, in pixels of the left input
// image.
struct DisparityRange {
  int min = 0;     // lowest candidate, of any sign
  int count = 64;  // number of candidates, at least 1

  bool operator==(const DisparityRange&) const = default;
  int max() const { return min + count - 1; }  // highest candidate, inclusive
};

// The disparity of an invalid pixel. Use std::isnan to test for this value.
inline constexpr float invalid_disparity = std::numeric_limits<float>::quiet_NaN();

// Bits of the validity map. The bits up to `outside` are reasons why a pixel is invalid. The bits `filled` and
// `repaired` mark valid pixels that do not count as measured. `filled` also marks pixels without contrast
// (ConstantRegions), pixels whose disparity only a seed supports and, with the slot `density`, pixels whose measured
// disparity the confidence does not trust.
namespace validity {
inline constexpr std::uint8_t no_candidate = 1;  // no candidate of the range lies inside the right image
inline constexpr std::uint8_t left_right = 2;    // failed the left-right check
inline constexpr std::uint8_t ambiguous = 4;     // without texture, or without a unique best candidate
inline constexpr std::uint8_t speckle = 8;       // in a small isolated region
inline constexpr std::uint8_t masked = 16;       // masked in the input, not finite, or in a black border region
inline constexpr std::uint8_t outside = 32;      // outside the region of interest
inline constexpr std::uint8_t filled = 64;       // valid, but the disparity comes from surrounding pixels
inline constexpr std::uint8_t repaired = 128;    // valid, but the disparity comes from confident neighbours that agree
inline constexpr std::uint8_t reasons = 63;      // all bits that make a pixel invalid

// Returns a readable description of the bits, such as "left_right, speckle".
std::string describe(std::uint8_t bits);
}  // namespace validity

}  // namespace stereopsis
