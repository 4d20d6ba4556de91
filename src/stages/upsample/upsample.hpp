// Upsamples a disparity map along the edges of the image, after joint bilateral upsampling (Kopf et al. 2007).
//
// Four pixels of the reduced map surround a pixel of the image. Among them, the valid pixel with the largest weight is
// q₀, because it lies on the surface of the pixel. Other valid pixels within one pixel of the disparity of q₀ also lie
// on this surface, and are interpolated:
//
//   w(q) = bilinear(q) · max(1, 64 · 2^−⌊|I(p) − I'(q)| / edge⌋)
//   D(p) = f · (D'(q₀) + Σ w(q) t(q) / (256 Σ w(q))),   t(q) = rint(256 (D'(q) − D'(q₀))),   q₀ = argmax w (first)
//
// Kopf et al. average over all four pixels, which creates disparities between those of two objects at their border.
//
// A pixel gets the validity and the confidence of q₀. If no neighbour is valid, a pixel gets the validity of the
// bilinearly nearest neighbour. A masked pixel of the image is masked.
//
// Input: float disparity and validity of the reduced image; 8-bit grey of both images. Output: the same in the image's
// size.
// Required input: one pixel on each side in the reduced map.
// Cost: four reads each of map and grey per pixel.
#pragma once

#include "stages/shared/stage.hpp"

namespace stereopsis::upsample {

struct Parameters {
  int factor = 1;
  // True if a reduced pixel lies in the middle of its block, false if it lies on the first pixel of the block.
  bool centred = true;
  int edge = 6;
};

// `reduced_confidence` and `mask` may be empty.
template <template <class> class View>
struct InputOf {
  View<const float> disparity;
  View<const std::uint8_t> validity;  // empty for the right view, which has no validity
  View<const float> confidence;
  View<const std::uint8_t> reduced_grey, grey;
  View<const std::uint8_t> mask;
};
using Input = InputOf<ImageView>;

// `validity` and `confidence` must be empty if those of the input are empty.
template <template <class> class View>
struct OutputOf {
  View<float> disparity;
  View<std::uint8_t> validity;
  View<float> confidence;
};
using Output = OutputOf<ImageView>;

void oracle(const Parameters&, const Input&, const Output&);
void cpu(const Parameters&, const Input&, const Output&, Threads&);
void gpu(const Parameters&, const InputOf<gpu::View>&, const OutputOf<gpu::View>&, gpu::Queue&);

}  // namespace stereopsis::upsample
