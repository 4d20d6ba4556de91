// Window matching: the sum of absolute differences over a rectangular window (Prehn 2007, equation 5.1):
//
//   S(p, d) = ⌊ Σ C(p + i, d) / 2^k ⌋ over the W×H offsets i of the window,   C the matching cost of prepared colours
//
// k is 0 if the largest sum fits in 16 bits (11×11 with the default weights), else the smallest value with which it
// does. The costs C(·, d) are replicated at borders. The thesis omits these border pixels.
//
// Output: a volume of 16-bit sums.
// Required input: (W−1)/2 columns and (H−1)/2 rows on each side, in the right view also the range of disparities to
// their left.
// Cost: running sums take two costs and four additions per pixel and disparity, independently of the window. Each word
// is read twice per disparity, from caches, and 2 bytes are written.
#pragma once

#include "stages/shared/stage.hpp"
#include "stages/shared/windows.hpp"

namespace stereopsis::window_sad {

void oracle(const Window&, const Source<ImageView>&, int min_disparity, VolumeView<std::uint16_t> sums);
// `scratch` holds at least scratch_bytes() and starts at a multiple of 64 bytes.
std::size_t scratch_bytes(int width, int disparities, int threads);
void cpu(const Window&, const Source<ImageView>&, int min_disparity, VolumeView<std::uint16_t> sums,
         std::span<std::byte> scratch, Threads&);

// Computes as many rows as `sums` has, from row `first_row` on.
void gpu(const Window&, const Source<gpu::View>&, int min_disparity, int first_row, gpu::Volume<std::uint16_t> sums,
         gpu::Queue&);

}  // namespace stereopsis::window_sad
