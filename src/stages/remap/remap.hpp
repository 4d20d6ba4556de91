// Resamples an image at the positions of a map, which has one position for every pixel of the output (inverse mapping
// with bilinear interpolation; Wolberg 1990, chapter 6). Rectification is this stage with the maps of
// src/geometry/rectification.cpp.
//
// A map has two integers per pixel, 256·x and 256·y of the source position. The output O is computed with x0 = ⌊x⌋ and
// a = 256·(x − x0), and with y0 and b, which are defined likewise:
//
//   integers   O = ((256 − b)·((256 − a)·I(x0, y0)     + a·I(x0 + 1, y0)) +
//                          b ·((256 − a)·I(x0, y0 + 1) + a·I(x0 + 1, y0 + 1)) + 2¹⁵) >> 16
//   float      the same with weights in units of 1/256 and without the final rounding, each step rounded to float
//
// A neighbour with the weight 0 is not read, so that the last column and row are valid positions. A pixel has no source
// if its position lies outside [0, width − 1] × [0, height − 1], if one of its neighbours is masked, or if a float
// result is not finite. Such a pixel becomes 0 and is not usable.
//
// Input: 8-bit, 16-bit or float, 1 or 3 channels, any size up to 2²³; a mask (0 = not usable) or none. Output: an image
// of the same type and channels in the map's size; usable, 255 or 0.
// Required input: the positions in the map.
// Cost: 3 interpolations per pixel and channel; reads 8 bytes of the map and the image once, writes the output and
// usable.
#pragma once

#include "core/text.hpp"
#include "stages/shared/stage.hpp"

namespace stereopsis::remap {

inline constexpr int fraction_bits = 8;  // number of fractional bits of a position
inline constexpr int largest_side = 1 << 23;

template <class T, template <class> class View>
struct InputOf {
  View<const T> image;
  View<const std::uint8_t> mask;  // empty if all pixels are usable
  View<const std::int32_t> map;   // 2 channels, x and y
};
template <class T, template <class> class View>
struct OutputOf {
  View<T> image;
  View<std::uint8_t> usable;  // empty if the mask is not requested
};

// T is uint8_t, uint16_t or float.
template <class T>
void oracle(const InputOf<T, ImageView>&, const OutputOf<T, ImageView>&);

template <class T>
void cpu(const InputOf<T, ImageView>&, const OutputOf<T, ImageView>&, Threads&);

template <class T>
void gpu(const InputOf<T, gpu::View>&, const OutputOf<T, gpu::View>&, gpu::Queue&);

template <class In, class Out>
void check(const In& in, const Out& out) {
  const auto refuse = [](const std::string& sentence) { throw Error(ErrorCategory::call, sentence); };
  if (in.image.channels != 1 && in.image.channels != 3)
    refuse(text("an image with ", in.image.channels, " channels cannot be resampled; it must have 1 or 3 channels"));
  if (in.image.width > largest_side || in.image.height > largest_side)
    refuse(text("an image of ", in.image.width, "×", in.image.height,
                " cannot be resampled; width and height must be at most ", largest_side));
  if (in.map.channels != 2 || in.map.size() != out.image.size() ||
      (!out.usable.empty() && out.usable.size() != out.image.size()) || out.image.channels != in.image.channels)
    refuse(text("a map of ", in.map.width, "×", in.map.height, " with ", in.map.channels,
                " channels does not match the output of ", out.image.width, "×", out.image.height,
                "; it must have two channels and the size of the output"));
}

}  // namespace stereopsis::remap
