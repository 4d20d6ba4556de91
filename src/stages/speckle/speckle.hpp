// Speckle filter: removes small isolated regions (Hirschmüller 2008, section 2.5.1, "removal of peaks").
//
// Two valid pixels that are horizontal or vertical neighbours are connected if |d − d'| ≤ difference, computed in
// float. Regions are the connected components. A region with fewer than `size` pixels becomes invalid, with the reason
// speckle.
//
// Input and output, in place: float disparity (NaN where invalid) and validity, of at most 2³¹ − 1 pixels.
// Required input: the whole image.
// Cost: 2 comparisons per pixel, and a union wherever runs of pixels in two rows begin to touch; reads the disparity
// twice.
#pragma once

#include "stages/shared/stage.hpp"

namespace stereopsis::speckle {

struct Parameters {
  static constexpr const char* stage = "speckle";
  int size = 100;
  double difference = 1;

  static void describe(auto& p, auto&& visit) {
    visit("size", p.size, between(0, 1'000'000), "regions of fewer pixels are removed; 0 and 1 remove none");
    visit("difference", p.difference, between(0, 100).in("pixels"),
          "largest difference between neighbours of the same region");
  }
};

void oracle(const Parameters&, ImageView<float> disparity, ImageView<std::uint8_t> validity);

// Returns the number of bytes that cpu() needs in `scratch`, which must be aligned for std::uint64_t. Throws
// Error(unsupported) for images that are too large.
std::size_t scratch_bytes(Size size);

void cpu(const Parameters&, ImageView<float> disparity, ImageView<std::uint8_t> validity, std::span<std::byte> scratch,
         Threads&);

// `scratch` holds at least gpu_scratch_bytes().
std::size_t gpu_scratch_bytes(Size size);
void gpu(const Parameters&, gpu::View<float> disparity, gpu::View<std::uint8_t> validity, gpu::Span scratch,
         gpu::Queue&);

}  // namespace stereopsis::speckle
