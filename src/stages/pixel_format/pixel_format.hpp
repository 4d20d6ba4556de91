// Converts images in the formats of cameras and decoders to RGB; stereopsis/formats.hpp defines the formats.
//
//   BGR, RGBA, BGRA  the channels, in their order
//   NV12             ITU-R BT.601, luma 16 to 235: c = y − 16, d = u − 128, e = v − 128 of the chroma at (⌊x/2⌋,
//                    ⌊y/2⌋); R = (298c + 409e + 128) >> 8, G = (298c − 100d − 208e + 128) >> 8, B = (298c + 516d + 128)
//                    >> 8, clipped to 0…255
//   Bayer mosaics    bilinear: a colour that a pixel lacks is the mean of the 2 or 4 nearest pixels that have it.
//                    Pixels outside the image are mirrored at the edge pixel, so that they have the right colour
//       integers     rounded to nearest, halves up
//       float        summed row by row, from the left, each step rounded to float
//
// Input: 8-bit, 16-bit or float, with the channels of the format; a mosaic has at least 2×2 pixels. NV12 is 8-bit, and
// its chroma is a separate plane with 2 channels. Output: RGB of the same type.
// Required input: the pixel alone; for NV12 its block of 2×2, for mosaics the 3×3 around it. For both, parts begin at
// even columns and rows, so that the pattern of colours does not shift: see part_read() in core/pixel_layout.hpp.
// Cost: reads each pixel once, writes 3 values; NV12 takes 5 products, mosaics 10 additions.
#pragma once

#include "stages/shared/stage.hpp"
#include "stereopsis/pixel_format.hpp"

namespace stereopsis::pixel_format {

struct Parameters {
  PixelFormat format = PixelFormat::bgr;
  // Position of the first output pixel in the mosaic or, for NV12, in the chroma scaled to the size of the luma.
  Pixel first = {};
};

template <class T, template <class> class View>
struct InputOf {
  View<const T> image;   // for NV12, the luma, which begins at the first output pixel
  View<const T> chroma;  // the chroma of NV12; empty for other formats
};

// T is uint8_t, uint16_t or float.
template <class T>
void oracle(const Parameters&, const InputOf<T, ImageView>&, ImageView<T> rgb);
template <class T>
void cpu(const Parameters&, const InputOf<T, ImageView>&, ImageView<T> rgb, Threads&);
template <class T>
void gpu(const Parameters&, const InputOf<T, gpu::View>&, gpu::View<T> rgb, gpu::Queue&);

// The position of red in each block of 2×2 pixels of a mosaic.
struct Mosaic {
  explicit Mosaic(PixelFormat f)
      : red_x(f == PixelFormat::bayer_bggr || f == PixelFormat::bayer_grbg ? 1 : 0),
        red_y(f == PixelFormat::bayer_bggr || f == PixelFormat::bayer_gbrg ? 1 : 0) {}
  int red_x, red_y;
};

}  // namespace stereopsis::pixel_format
