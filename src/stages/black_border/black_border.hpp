// Black regions at the border of a view, which hold no data: the black around a rectified image, around the round
// picture of an endoscope, or outside a satellite tile. The stage is our own.
//
// A pixel is black if each of its first 3 channels is at most `level`. The regions of black pixels are connected over
// horizontal and vertical neighbours. A region is without data if it contains a pixel of the image's border and has at
// least `fewest` pixels.
//
//   usable(p) = 0 if p + first is in a region without data, or if the given mask of p is 0; otherwise 255
//
// The set of these pixels is unique, so that the order in which devices visit pixels does not matter. A value that is
// not a number is not black.
//
// Input: an image of 8-bit, 16-bit or float pixels with 1, 3 or 4 channels, as it is given, of at most 2³¹ − 2 pixels;
// a mask of the part of the image that begins at `first`, or none. Output: usable, of the size of this part.
// Required input: the whole image, also for a part of it.
// Cost: on the CPU, the border of the image, and one visit per black pixel if a border pixel is black; on a GPU, two
// visits per pixel.
#pragma once

#include "graph/any_view.hpp"
#include "stages/shared/stage.hpp"

namespace stereopsis::black_border {

inline constexpr int fewest = 64;  // number of pixels of the smallest region without data

struct Parameters {
  float level = 0;   // largest value of a black pixel, in the unit of the image
  Pixel first = {};  // pixel of the image at which `usable` begins
};

template <class T, template <class> class View>
struct InputOf {
  View<const T> image;
  View<const std::uint8_t> mask;  // empty if all pixels are usable
};

template <class T>
bool is_black(const ImageView<const T>& image, float level, int x, int y) {
  const T* const pixel = image.row(y) + static_cast<std::ptrdiff_t>(x) * image.channels;
  for (int c = 0; c < image.channels && c < 3; ++c)
    if (!(static_cast<float>(pixel[c]) <= level)) return false;
  return true;
}

// Returns whether a pixel of the part is usable according to the given mask.
inline bool is_given(const ImageView<const std::uint8_t>& mask, int x, int y) {
  return mask.empty() || mask(x, y) != 0;
}

// T is uint8_t, uint16_t or float.
template <class T>
void oracle(const Parameters&, const InputOf<T, ImageView>&, ImageView<std::uint8_t> usable);

// Returns whether an image on the host has a region without data.
bool has_region(const Parameters&, const AnyView& image);

// `scratch` holds at least scratch_bytes() of the whole image, and is aligned for std::int32_t.
std::size_t scratch_bytes(Size image);
template <class T>
void cpu(const Parameters&, const InputOf<T, ImageView>&, ImageView<std::uint8_t> usable, std::span<std::byte> scratch,
         Threads&);

std::size_t gpu_scratch_bytes(Size image);
template <class T>
void gpu(const Parameters&, const InputOf<T, gpu::View>&, gpu::View<std::uint8_t> usable, gpu::Span scratch,
         gpu::Queue&);

}  // namespace stereopsis::black_border
