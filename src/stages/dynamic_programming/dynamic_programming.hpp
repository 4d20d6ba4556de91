// Dynamic programming along rows (Scharstein and Szeliski 2002, section 4.3; the optimisation of Wang, Liao, Gong, Yang
// and Nistér 2006). Each row is processed separately, and gets the disparities that minimise
//
//   E(d) = Σ_x C(x, d_x) + Σ_x V(d_x, d_x−1),   V(a, b) = 0 where a = b, P1 where |a − b| = 1, P2 otherwise
//
// by a forward and a backward pass:
//
//   L_r(x, d) = C(x, d) + min[ L_r(x−r, d), L_r(x−r, d±1) + P1, min_k L_r(x−r, k) + P2 ] − min_k L_r(x−r, k)
//   S(x, d)   = L_1(x, d) + L_−1(x, d) − C(x, d)
//
// with r = 1 and −1, and L_r = C where a pass begins. Except for a constant of the pixel, S(x, d) is the lowest E of
// all sequences of disparities with d at x. The lowest S therefore lies on the best sequence, which back-tracking from
// the end of the forward pass would find. (If several sequences are equally good, the selection takes the lowest of
// their disparities at each pixel.) In contrast to back-tracking, S also describes how much worse the other disparities
// are, which sub-pixel interpolation, uniqueness and confidence use.
//
// Input: 8-bit costs. Output: S in 16 bits.
// Required input: the pixel's row. All values are integers.
// Cost: per cell and pass 3 minima, 3 additions and 1 running minimum; reads the costs twice, writes 4 bytes and reads
// 2.
#pragma once

#include "core/order.hpp"
#include "stages/shared/stage.hpp"

namespace stereopsis::dynamic_programming {

// S is at most C + 2 P2, and remains below 65535, which marks an absent candidate.
inline constexpr int largest_penalty = (65534 - 255) / 2;

struct Parameters {
  static constexpr const char* stage = "dynamic_programming";
  int p1 = 20;
  int p2 = 100;

  static void describe(auto& p, auto&& visit) {
    visit("p1", p.p1, between(1, largest_penalty).in("units of the matching cost"),
          "penalty for a disparity change of one pixel");
    visit("p2", p.p2, between(1, largest_penalty).in("units of the matching cost"),
          "penalty for a larger disparity change");
  }
};

inline void check(const Parameters& p) { check_order("dynamic_programming", "p1", p.p1, "p2", p.p2); }

void oracle(const Parameters&, VolumeView<const std::uint8_t> costs, VolumeView<std::uint16_t> sums);

// `scratch` holds at least scratch_bytes() and starts at a multiple of 64 bytes. The function may read 64 bytes past
// the costs.
std::size_t scratch_bytes(int width, int disparities, int threads);
void cpu(const Parameters&, VolumeView<const std::uint8_t> costs, VolumeView<std::uint16_t> sums,
         std::span<std::byte> scratch, Threads&);

// `scratch` holds at least gpu_scratch_bytes().
std::size_t gpu_scratch_bytes(Size size, int disparities);
void gpu(const Parameters&, gpu::Volume<const std::uint8_t> costs, gpu::Volume<std::uint16_t> sums, gpu::Span scratch,
         gpu::Queue&);

}  // namespace stereopsis::dynamic_programming
