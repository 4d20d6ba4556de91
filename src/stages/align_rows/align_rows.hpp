// Aligns the rows of the right image with those of the left one (stereopsis/row_alignment.hpp): in the image, or in the
// map that rectifies it. Moves disparity maps of the aligned right view back to the rows of the given one. The stages are
// our own. The alignment belongs to a pair, so that one plan serves pairs with different alignments.
//
// The position of row y of column x is a plane with a keystone and a field F, in 1/2⁴⁰ px, and is rounded to 1/256 px:
//
//   P(x, y) = ⌊(at + across·x + down·y + both·x·y + F(x, y)) / 2³² + ½⌋,  r = ⌊P / 256⌋,  f = P − 256·r
//
// F is a uniform cubic B-spline with coefficients K, whose weights W(t) are multiples of 1/2¹⁶ (`knots_at`). i and j are the
// first knots of the interval of x and of y:
//
//   F(x, y) = 4 · Σ W_a(t_x) · ⌊(Σ W_b(t_y) · K(i + a, j + b)) / 2⁴⌋,  a, b = 0 to 3
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
// `restore_rows` takes the nearest row of a map M of the aligned image. The second step inverts fields:
//
//   O(x, y) = M(x, z + y − ⌊(P(x, z) + 128) / 256⌋), or NaN outside the map,  z = 2y − ⌊(P(x, y) + 128) / 256⌋
//
// Input: 8-bit, 16-bit or float, 1 or 3 channels, any size up to 2²²; a mask (0 = not usable) or none. Output: an image
// of the same type and channels; usable, 255 or 0. Maps are float.
// Required input: the rows r − 1 to r + 2 (RowAlignment::rows_for).
// Cost: 4 multiplications per pixel and channel, and 15 operations for the weights of a pixel.
#pragma once

#include <algorithm>
#include <array>
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
  int columns = 0, rows = 0;                          // knots of the field; 0: none
  std::int64_t left = 0, per_column = 0;  // intervals of the field from its left side to a column, in 1/2³²
  std::int64_t top = 0, per_row = 0;      // and from its upper side to a row
  std::array<std::int16_t, RowField::most_knots> knots = {};  // coefficients of the field in 1/1024 px
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

 private:
  void add_field(Parameters& p, const RowField& field) const;
};

// The knots on which a position of a spline depends.
struct Knots {
  int first;
  std::array<int, 4> weights;  // in 1/2¹⁶
};

// Returns the knots at a position in intervals, in 1/2³².
inline Knots knots_at(std::int64_t at, int count) {
  constexpr int bits = 12;               // bits of the position in an interval
  constexpr std::int64_t sixth = 43691;  // in 1/2¹⁸
  const auto rounded = [](std::int64_t cube) { return static_cast<int>(((cube >> 12) * sixth + (1 << 25)) >> 26); };
  const int first = static_cast<int>(std::clamp<std::int64_t>(at >> 32, 0, count - 4));
  const std::int64_t one = 1 << bits, t = std::clamp<std::int64_t>((at >> (32 - bits)) - first * one, 0, one),
                     rest = one - t, cube = t * t * t;
  const int w0 = rounded(rest * rest * rest), w2 = rounded(3 * ((t * one + t * t) * one - cube) + one * one * one),
            w3 = rounded(cube);
  return {first, {w0, (1 << 16) - w0 - w2 - w3, w2, w3}};
}

// Returns the spline along one column of knots, in 1/2²² px.
inline int down_knots(const Parameters& p, const Knots& down, int column) {
  std::int64_t sum = 0;
  for (int k = 0; k < 4; ++k)
    sum += std::int64_t{down.weights[static_cast<std::size_t>(k)]} *
           p.knots[static_cast<std::size_t>((down.first + k) * p.columns + column)];
  return static_cast<int>(sum >> 4);
}

// Returns F(x, y). The function `of_column` returns the spline along a column of knots at row y.
template <class Column>
std::int64_t across_knots(const Parameters& p, int x, Column&& of_column) {
  if (p.columns == 1) return std::int64_t{1 << 18} * of_column(0);
  const Knots across = knots_at(p.left + p.per_column * x, p.columns);
  std::int64_t sum = 0;
  for (int k = 0; k < 4; ++k)
    sum += std::int64_t{across.weights[static_cast<std::size_t>(k)]} * of_column(across.first + k);
  return 4 * sum;
}

// The positions of the pixels of one row.
class RowPositions {
 public:
  RowPositions(const Parameters& p, int y) : p_(p), at_(p.at + p.down * y + half), across_(p.across + p.both * y) {
    if (p.rows == 0) return;
    const Knots down = knots_at(p.top + p.per_row * y, p.rows);
    for (int i = 0; i < p.columns; ++i) columns_[static_cast<std::size_t>(i)] = down_knots(p, down, i);
    if (p.columns == 1) at_ += across_knots(p, 0, [this](int) { return columns_[0]; });
  }

  // Returns whether the positions are at() + across() · x, in 1/2⁴⁰ px plus a half of 1/256 px.
  bool is_straight() const { return p_.columns <= 1; }
  std::int64_t at() const { return at_; }
  std::int64_t across() const { return across_; }
  // Returns P(x, y).
  int operator()(int x) const {
    const std::int64_t field =
        is_straight() ? 0 : across_knots(p_, x, [this](int i) { return columns_[static_cast<std::size_t>(i)]; });
    return static_cast<int>((at_ + across_ * x + field) >> shift);
  }

  static constexpr int shift = plane_bits - fraction_bits;

 private:
  static constexpr std::int64_t half = std::int64_t{1} << (shift - 1);

  const Parameters& p_;
  std::int64_t at_, across_;
  std::array<int, RowField::most_knots> columns_;
};

// Returns P(x, y).
inline int position(const Parameters& p, int x, int y) { return RowPositions(p, y)(x); }

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

// Returns the row of a map of the aligned image that is nearest to row y of the given one.
inline int restored_row(const Parameters& p, int x, int y) {
  const auto nearest = [&](int row) { return (position(p, x, row) + (1 << (fraction_bits - 1))) >> fraction_bits; };
  const int first = 2 * y - nearest(y);
  return p.rows == 0 ? first : first + y - nearest(first);
}

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
