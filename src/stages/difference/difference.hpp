// Absolute and squared differences of pixels with truncation (AD and SD). Summed over windows, they are SAD and SSD
// (Prehn 2007, section 2.2.2; Reis and Souza 2017, section 2.2.1):
//
//   absolute_difference   C(p, d) = min(Σ_c |l_c − r_c|, t)
//   squared_difference    C(p, d) = ⌊255 / t² · min(Σ_c (l_c − r_c)², t²) + ½⌋     255 / t² truncated to 1/65536
//
// with the left pixel l at (x, y), the right pixel r at (x − d, y), and the channels c of a colour space in 8 bits:
//
//   grey   one channel, grey8                 rgb   red, green and blue
//   hsv    the bytes of stages/hsv with the default weights of window matching: hue (circular), saturation, value
//   lab    L*, a* + 128, b* + 128, rounded from the quarters of stages/lab, ties up
//
// Each pixel has one word with its channels in bytes, from the lowest byte up: cost::AbsoluteDifference and
// cost::SquaredDifference. The cost of a candidate outside the right image is that of the nearest right pixel of the
// row.
//
// Input: grey8, or words of stages/rgb, hsv or lab. Output: 32-bit words.
// Required input: the pixel alone, and its row.
// Cost: reads each pixel once and writes 4 bytes.
#pragma once

#include "stages/cost/cost.hpp"
#include "stages/shared/stage.hpp"

namespace stereopsis::difference {

enum class Space { grey, rgb, hsv, lab };
constexpr auto names_of(Space) {
  return std::array{std::pair{Space::grey, "grey"}, std::pair{Space::rgb, "rgb"}, std::pair{Space::hsv, "hsv"},
                    std::pair{Space::lab, "lab"}};
}

struct Absolute {
  static constexpr const char* stage = "absolute_difference";
  Space space = Space::rgb;
  int truncation = 40;

  cost::AbsoluteDifference kind() const { return {truncation}; }

  static void describe(auto& p, auto&& visit) {
    visit("space", p.space, any, "colours that are compared");
    visit("truncation", p.truncation, between(1, 255),
          "largest sum of differences, in 8-bit units; larger sums are truncated");
  }
};
struct Squared {
  static constexpr const char* stage = "squared_difference";
  Space space = Space::rgb;
  int truncation = 40;

  cost::SquaredDifference kind() const { return {truncation}; }

  static void describe(auto& p, auto&& visit) {
    visit("space", p.space, any, "colours that are compared");
    visit("truncation", p.truncation, between(1, 255),
          "root of the largest sum of squared differences, in 8-bit units; larger sums are truncated");
  }
};

// T is uint8_t for grey, uint32_t otherwise.
template <class T>
void oracle(Space, ImageView<const T> image, ImageView<std::uint32_t> words);
template <class T>
void cpu(Space, ImageView<const T> image, ImageView<std::uint32_t> words, Threads&);
template <class T>
void gpu(Space, gpu::View<const T> image, gpu::View<std::uint32_t> words, gpu::Queue&);

}  // namespace stereopsis::difference
