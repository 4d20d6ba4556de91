// Scanline optimisation in four directions with penalties that depend on colours (Mei et al. 2011, section 2.3, after
// Mattoccia, Tombari and Di Stefano 2007 and Hirschmüller 2008):
//
//   L_r(p, d) = C(p, d) + min[ L_r(p−r, d), L_r(p−r, d±1) + P1, min_k L_r(p−r, k) + P2 ] − min_k L_r(p−r, k)
//   S(p, d)   = Σ_r L_r(p, d)          r: to the left, to the right, up and down
//
// Let D1 = D_c(p, p−r) in the left view and D2 = D_c(pd, pd−r) in the right view, where pd = p − d, and D_c is the
// largest difference of a channel. The penalties (P1, P2) are (Π1, Π2) if D1 < τ and D2 < τ, (Π1, Π2) / 4 if only one
// of D1 and D2 is below τ, and (Π1, Π2) / 10 otherwise, rounded down. The values Π1 = 1 and Π2 = 3, in units of the
// paper's cost, and τ = 15 follow Li's program (AD-Census, 2020). The rules follow Salaün and Monasse (AD Census, draft
// for IPOL, 2013). The paper uses the mean of the four paths, which is a quarter of S. A path starts with L_r = C at
// the image border. A right pixel outside the image is replaced by the nearest pixel of the row.
//
// Input: 8-bit costs, 8-bit images of both views with 1 or 3 channels. Output: S in 16 bits.
// Required input: the whole image. All values are integers.
// Cost: per cell and direction 3 minima, 3 additions, 1 comparison, 1 running minimum.
#pragma once

#include <array>

#include "core/order.hpp"
#include "stages/shared/stage.hpp"

namespace stereopsis::scanline {

// Sums of four paths remain below 65535, which marks an absent candidate.
inline constexpr int largest_penalty = 65534 / 4 - 255;

struct Parameters {
  static constexpr const char* stage = "scanline";
  int p1 = 127;
  int p2 = 381;
  int colour = 15;

  static void describe(auto& p, auto&& visit) {
    visit("p1", p.p1, between(0, largest_penalty).in("units of the matching cost"),
          "penalty for a disparity change of one pixel");
    visit("p2", p.p2, between(0, largest_penalty).in("units of the matching cost"),
          "penalty for a larger disparity change");
    visit("color", p.colour, between(0, 256).in("8-bit intensities"),
          "colour difference along the path from which on penalties are reduced");
  }
};

inline void check(const Parameters& p) { check_order("scanline", "p1", p.p1, "p2", p.p2); }

struct Penalties {
  int p1, p2;
};
// The penalties, indexed by the number of D1 and D2 that are not below the threshold.
inline std::array<Penalties, 3> penalties(const Parameters& p) {
  return {{{p.p1, p.p2}, {p.p1 / 4, p.p2 / 4}, {p.p1 / 10, p.p2 / 10}}};
}

template <template <class> class View>
struct ImagesOf {
  View<const std::uint8_t> left, right;
};
using Images = ImagesOf<ImageView>;

void oracle(const Parameters&, const Images&, int min_disparity, VolumeView<const std::uint8_t> costs,
            VolumeView<std::uint16_t> sums);

// `scratch` holds at least scratch_bytes() and starts at a multiple of 64 bytes. The function may read 64 bytes past
// the costs.
std::size_t scratch_bytes(Size size, int disparities, int threads);
void cpu(const Parameters&, const Images&, int min_disparity, VolumeView<const std::uint8_t> costs,
         VolumeView<std::uint16_t> sums, std::span<std::byte> scratch, Threads&);

// `scratch` holds at least gpu_scratch_bytes().
std::size_t gpu_scratch_bytes(Size size, int disparities);
void gpu(const Parameters&, const ImagesOf<gpu::View>&, int min_disparity, gpu::Volume<const std::uint8_t> costs,
         gpu::Volume<std::uint16_t> sums, gpu::Span scratch, gpu::Queue&);

}  // namespace stereopsis::scanline
