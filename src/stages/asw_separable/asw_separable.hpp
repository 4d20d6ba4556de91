// Adaptive support weights in two passes (Gong, Yang, Wang and Gong 2007; Yu et al. 2010, section 2.1). Only the
// weights of the reference view are used. The costs are averaged first over the pixels of the row, then over those of
// the column:
//
//   C^h(p) = Σ w(p, q) C₀(q)  / Σ w(p, q),  q = (x + i, y), |i| ≤ r
//   C(p)   = Σ w(p, q) C^h(q) / Σ w(p, q),  q = (x, y + i), |i| ≤ r
//
// with the weights of stages/support_weight. A q outside the image is replaced by the nearest border pixel.
//
// The result is the same on all devices: weights are integers in units of 1/256 (at most 255), and costs are in units
// of 1/128 intensity. The sums are exact in 32 bits. The quotient is also exact, rounded to nearest, ties up: ⌊(Σ w C +
// ⌊Σ w / 2⌋) / Σ w⌋.
//
// Input: words of stages/lab; 8-bit costs. Output: costs in units of 1/128.
// Required input: r pixels on each side.
// Cost: 2 window products per cell; each pass reads and writes the volume once.
#pragma once

#include "stages/shared/stage.hpp"
#include "stages/support_weight/support_weight.hpp"

namespace stereopsis::asw_separable {

struct Parameters {
  static constexpr const char* stage = "asw_separable";
  int window = 33;
  double gamma_colour = 10;
  double gamma_distance = 20;

  static void describe(auto& p, auto&& visit) {
    visit("window", p.window, odd(1, 63).in("pixels"), "length of the horizontal and of the vertical window");
    visit("gamma_color", p.gamma_colour, support_weight::gammas.in("units of L*a*b*"),
          "colour distance at which a weight falls to 1/e");
    visit("gamma_distance", p.gamma_distance, support_weight::gammas.in("pixels"),
          "distance at which a weight falls to 1/e");
  }
};

inline Rect required_input(const Parameters& p, const Rect& output) { return grow(output, p.window / 2, p.window / 2); }

void oracle(const Parameters&, ImageView<const std::uint32_t> lab, VolumeView<const std::uint8_t> costs,
            VolumeView<std::uint16_t> aggregated);
// `horizontal` holds the volume between the passes; `scratch` holds at least scratch_bytes().
std::size_t scratch_bytes(const Parameters&, int width, int threads);
void cpu(const Parameters&, ImageView<const std::uint32_t> lab, VolumeView<const std::uint8_t> costs,
         VolumeView<std::uint16_t> horizontal, VolumeView<std::uint16_t> aggregated, std::span<std::byte> scratch,
         Threads&);
// `horizontal` holds the volume between the passes, `weights` holds gpu_weights_bytes().
std::size_t gpu_weights_bytes(const Parameters&, Size);
void gpu(const Parameters&, gpu::View<const std::uint32_t> lab, gpu::Volume<const std::uint8_t> costs,
         gpu::Volume<std::uint16_t> horizontal, gpu::Volume<std::uint16_t> aggregated, gpu::Span weights, gpu::Queue&);

}  // namespace stereopsis::asw_separable
