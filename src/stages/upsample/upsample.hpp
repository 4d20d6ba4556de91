// Upsamples a disparity map along the edges of the image, after joint bilateral upsampling (Kopf et al. 2007).
//
// Among the four pixels of the reduced map around a pixel of the image, the valid one with the largest weight decides,
// because it lies on the pixel's surface. Others within one pixel of its disparity lie on that surface too, and are
// interpolated:
//
//   w(q) = bilinear(q) · max(1, 64 · 2^−⌊|I(p) − I'(q)| / edge⌋)
//   D(p) = f · (D'(q₀) + Σ w(q) t(q) / (256 Σ w(q))),   t(q) = rint(256 (D'(q) − D'(q₀))),   q₀ = argmax w (first)
//
// Kopf et al. average over all of them, which creates disparities between those of two objects at their border.
//
// A pixel takes the validity and the confidence of q₀. If no neighbour is valid, it takes the validity of the
// bilinearly nearest one; a masked pixel of the image is masked.
//
// Input: float disparity and validity of the reduced image; 8-bit grey of both images. Output: the same in the image's
// size.
// Required input: one pixel on each side in the reduced map.
// Cost: four reads each of map and grey per pixel.
#pragma once

#include "core/parameters.hpp"
#include "device/gpu/view.hpp"
#include "stereopsis/disparity.hpp"
#include "stereopsis/image.hpp"

namespace stereopsis {
class Threads;
}

namespace stereopsis::upsample {

struct Parameters {
  int factor = 1;
  bool centred = true;  // a reduced pixel lies in the middle of its block; false: on its first pixel
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

// `validity` and `confidence` are empty if those of the input are.
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
