// Aggregation over segments (Tombari, Mattoccia, Di Stefano and Addimanda, Near real-time stereo based on effective
// cost aggregation, ICPR 2008), as described in Mattoccia's lectures (Stereo vision: algorithms and applications, "fast
// aggregation"). The support of a pixel is its whole segment in the reference view, plus a window. Without the window,
// the cost would be constant over the segment:
//
//   C'(p, d) = C_S(p, d) / |S_p| + C_W(p, d) / r²
//   C_S(p, d) = Σ C(q, d), q in the segment S_p of p      C_W(p, d) = Σ C(q, d), q in the r×r window around p
//
// Both means are integers in units of 1/128: ⌊(128 Σ + ⌊n / 2⌋) / n⌋. A q outside the image is replaced by the nearest
// border pixel.
//
// Input: segments, words of stages/shared/segments.hpp; 8-bit costs. Output: costs in units of 1/128, the sum of two
// means.
// Required input: the whole image, which the segments require.
// Cost: one addition per cell for the segments, independent of their size; four additions and a division for the
// window. Reads each cell three times and writes it once.
#pragma once

#include "stages/shared/stage.hpp"

namespace stereopsis::segment_support {

struct Parameters {
  static constexpr const char* stage = "segment_support";
  int window = 7;

  static void describe(auto& p, auto&& visit) {
    visit("window", p.window, odd(1, 63), "width and height of the window that is added to the segment, in pixels");
  }
};

void oracle(const Parameters&, ImageView<const std::uint32_t> segments, VolumeView<const std::uint8_t> costs,
            VolumeView<std::uint16_t> aggregated);
// The function may read 64 bytes past the costs. `scratch` holds at least scratch_bytes() and starts at a multiple of
// 64 bytes.
std::size_t scratch_bytes(Size size, int disparities, int threads);
void cpu(const Parameters&, ImageView<const std::uint32_t> segments, VolumeView<const std::uint8_t> costs,
         VolumeView<std::uint16_t> aggregated, std::span<std::byte> scratch, Threads&);
void gpu(const Parameters&, gpu::View<const std::uint32_t> segments, gpu::Volume<const std::uint8_t> costs,
         gpu::Volume<std::uint16_t> aggregated, gpu::Queue&);

}  // namespace stereopsis::segment_support
