// Aligns the rows of the right image with those of the left one (stereopsis/row_alignment.hpp): in the image, or in the
// map that rectifies it. Moves disparity maps of the aligned right view back to the rows of the given one. The stages are
// our own. The alignment belongs to a pair, so that one plan serves pairs with different alignments.
//
// The position of row y of column x is a plane with a keystone, in 1/2⁴⁰ px, and is rounded to 1/256 px:
//
//   P(x, y) = ⌊(at + across·x + down·y + both·x·y) / 2³² + ½⌋,  r = ⌊P / 256⌋,  f = P − 256·r
//
// `align_rows` interpolates along columns by Keys' cubic (1981), whose weights w(f) are integers (core/cubic.hpp):
//
//   integers   O(x, y) = min(max((Σ w_k(f) · I(x, r + k − 1) + 2¹³) >> 14, 0), white),  k = 0 to 3
//   float      O(x, y) = min(max(((w_0·I(x, r − 1) + w_1·I(x, r)) + w_2·I(x, r + 1)) + w_3·I(x, r + 2), 0), white), with
//              w_k(f) / 2¹⁴
//
// Rows outside the image replicate its edge. A pixel is not usable if P is more than half a pixel outside the image, if a
// pixel that has a weight other than 0 is masked, or if a float sum is not finite; the result then becomes 0.
//
// `align_map` interpolates a map M of positions (stages/remap) linearly between two rows. If the value is not between
// −2³⁰ and 2³⁰, or if one of the two is −2³¹, the result is −2³¹, which has no source.
//
//   O(x, y) = ⌊(M(x, r)·(256 − g) + M(x, r + 1)·g) / 256 + ½⌋,  r = min(max(⌊P / 256⌋, 0), height − 2),  g = P − 256·r
//
// `restore_rows` takes the nearest row of a map M of the aligned image:
//
//   O(x, y) = M(x, 2y − ⌊(P(x, y) + 128) / 256⌋), or NaN outside the map
//
// Input: 8-bit, 16-bit or float, 1 or 3 channels, any size up to 2²²; a mask (0 = not usable) or none. Output: an image
// of the same type and channels; usable, 255 or 0. Maps are float.
// Required input: the rows r − 1 to r + 2 (RowAlignment::rows_for).
// Cost: 4 multiplications per pixel and channel, and 15 operations for the weights of a pixel.
#pragma once

#include <limits>

#include "core/text.hpp"
#include "stages/shared/stage.hpp"
#include "stereopsis/row_alignment.hpp"

namespace stereopsis::align_rows {

inline constexpr int fraction_bits = 8;  // fractional bits of a position
inline constexpr int weight_bits = 14;
inline constexpr int plane_bits = 40;  // fractional bits of the coefficients
inline constexpr int largest_side = 1 << 22;

struct Parameters {
  static constexpr bool is_argument = true;  // kernels take the struct as an argument

  std::int64_t at = 0;                                // position of row 0 at column 0
  std::int64_t across = 0;                            // change along a row
  std::int64_t down = std::int64_t{1} << plane_bits;  // change along a column
  std::int64_t both = 0;                              // change of `across` along a column
  int white = 255;                                    // largest value of a pixel
};

// The parameters of a step. The alignment is that of the pair.
struct Planned {
  RowAlignment alignment = {};
  Size whole = {1, 1};  // size of the images to which the alignment refers
  Pixel origin = {};    // the first pixel of the output, in the whole aligned image
  int first_row = 0;    // the first row of the input, in the whole given image
  int white = 255;      // largest value of a pixel
  int factor = 1;       // width of a pixel of the whole image, in pixels of the alignment

  Parameters for_kernels() const;
};

// Returns P(x, y).
inline int position(const Parameters& p, int x, int y) {
  constexpr int shift = plane_bits - fraction_bits;
  const std::int64_t plane = p.at + p.across * x + (p.down + p.both * x) * y;
  return static_cast<int>((plane + (std::int64_t{1} << (shift - 1))) >> shift);
}

template <class T, template <class> class View>
struct InputOf {
  View<const T> image;
  View<const std::uint8_t> mask;  // empty if all pixels are usable
};
template <class T, template <class> class View>
struct OutputOf {
  View<T> image;
  View<std::uint8_t> usable;  // empty if the mask is not requested
};

// T is uint8_t, uint16_t or float.
template <class T>
void oracle(const Parameters&, const InputOf<T, ImageView>&, const OutputOf<T, ImageView>&);
template <class T>
void cpu(const Parameters&, const InputOf<T, ImageView>&, const OutputOf<T, ImageView>&, Threads&);
template <class T>
void gpu(const Parameters&, const InputOf<T, gpu::View>&, const OutputOf<T, gpu::View>&, gpu::Queue&);

void map_oracle(const Parameters&, ImageView<const std::int32_t> map, ImageView<std::int32_t> out);
void map_cpu(const Parameters&, ImageView<const std::int32_t> map, ImageView<std::int32_t> out, Threads&);
void map_gpu(const Parameters&, gpu::View<const std::int32_t> map, gpu::View<std::int32_t> out, gpu::Queue&);

void restore_oracle(const Parameters&, ImageView<const float> map, ImageView<float> out);
void restore_cpu(const Parameters&, ImageView<const float> map, ImageView<float> out, Threads&);
void restore_gpu(const Parameters&, gpu::View<const float> map, gpu::View<float> out, gpu::Queue&);

// Returns the value of a map at the row `at` / 256, from the values of rows `r` and `r` + 1.
inline std::int32_t between(std::int32_t upper, std::int32_t lower, int at, int r) {
  constexpr std::int64_t none = std::numeric_limits<std::int32_t>::min(), largest = std::int64_t{1} << 30;
  constexpr int one = 1 << fraction_bits;
  if (upper == none || lower == none) return static_cast<std::int32_t>(none);
  const std::int64_t part = at - std::int64_t{one} * r;
  const std::int64_t value = (upper * (one - part) + lower * part + one / 2) >> fraction_bits;
  return static_cast<std::int32_t>(value >= -largest && value <= largest ? value : none);
}

template <class In, class Out>
void check(const In& in, const Out& out) {
  const auto refuse = [](const std::string& sentence) { throw Error(ErrorCategory::call, sentence); };
  if (in.image.channels != 1 && in.image.channels != 3)
    refuse(text("the rows of an image with ", in.image.channels,
                " channels cannot be aligned; it must have 1 or 3 channels"));
  if (in.image.width > largest_side || in.image.height > largest_side)
    refuse(text("the rows of an image of ", in.image.width, "×", in.image.height,
                " cannot be aligned; width and height must be at most ", largest_side));
  if (out.image.width != in.image.width || out.image.channels != in.image.channels ||
      (!out.usable.empty() && out.usable.size() != out.image.size()) ||
      (!in.mask.empty() && in.mask.size() != in.image.size()))
    refuse(text("an image of ", in.image.width, "×", in.image.height, " with ", in.image.channels,
                " channels does not match the output of ", out.image.width, "×", out.image.height, " with ",
                out.image.channels, " channels; widths, channels and the sizes of the masks must be the same"));
}

}  // namespace stereopsis::align_rows
