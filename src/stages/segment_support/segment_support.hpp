// Aggregation over segments (Tombari, Mattoccia, Di Stefano and Addimanda, Near real-time stereo based on effective cost
// aggregation, ICPR 2008), as Mattoccia's lectures (Stereo vision: algorithms and applications, "fast aggregation") give it: the
// support is the whole segment of the reference view, and a window that keeps the cost from being the same all over it,
//
//   C'(p, d) = C_S(p, d) / |S_p| + C_W(p, d) / r²
//   C_S(p, d) = Σ C(q, d), q in the segment S_p of p      C_W(p, d) = Σ C(q, d), q in the r×r window around p
//
// Both means are whole numbers of 1/128: ⌊(128 Σ + ⌊n / 2⌋) / n⌋. q outside the image is the nearest pixel of the border.
//
// Input: segments, words of stages/slic/segments.hpp; costs in 8 bits. Output: costs in 1/128, of two means.
// Required input: the whole image, as segments have it. Cost: an addition a cell for the segments, whatever their size, and for the
// window four and a division; reads each cell three times, writes it once.
#pragma once

#include <cstddef>
#include <span>

#include "core/parameters.hpp"
#include "device/gpu/view.hpp"
#include "stereopsis/image.hpp"

namespace stereopsis {
class Threads;
}

namespace stereopsis::segment_support {

struct Parameters {
  static constexpr const char* stage = "segment_support";
  int window = 7;
};

template <class P, class Visitor>
  requires ParametersOf<P, Parameters>
void describe(P& p, Visitor&& visit) {
  visit("window", p.window, odd(1, 63), "columns and rows of the window that is added to the segment, pixels");
}

void oracle(const Parameters&, ImageView<const std::uint32_t> segments, VolumeView<const std::uint8_t> costs,
            VolumeView<std::uint16_t> aggregated);
// 64 bytes behind the costs may be read. `scratch` holds at least scratch_bytes() and starts at a multiple of 64.
std::size_t scratch_bytes(Size size, int disparities, int threads);
void cpu(const Parameters&, ImageView<const std::uint32_t> segments, VolumeView<const std::uint8_t> costs,
         VolumeView<std::uint16_t> aggregated, std::span<std::byte> scratch, Threads&);
void gpu(const Parameters&, gpu::View<const std::uint32_t> segments, gpu::Volume<const std::uint8_t> costs,
         gpu::Volume<std::uint16_t> aggregated, gpu::Queue&);

}  // namespace stereopsis::segment_support
