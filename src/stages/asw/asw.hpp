// Adaptive support weights over the full window in both views (Yoon and Kweon 2005; Yu et al. 2010, equation 5), or
// over the pixels of the column only (Wang, Liao, Gong, Yang and Nistér 2006):
//
//   C(p, d) = Σ w(p, q) w(p̄, q̄) C₀(q, d) / Σ w(p, q) w(p̄, q̄),   q in the W×W window around p, or in its column
//
// with the weights of stages/support_weight. p̄ = (x − d, y) and q̄ = p̄ + (q − p) are the right view's pixels for p
// and q at disparity d. Pixels outside an image are replaced by the nearest pixels of its border.
//
// The result is the same on all devices: weights are integers in units of 1/256 (at most 255), and both sums are exact
// integers. The quotient is in units of 1/128 intensity, rounded to nearest, ties up: ⌊(128 Σ w w̄ C₀ + ⌊Σ w w̄ / 2⌋) /
// Σ w w̄⌋.
//
// Input: words of stages/lab of both views; 8-bit costs. Output: costs in units of 1/128.
// Required input: W/2 pixels on each side, or above and below only.
// Cost: 3 W² or 3 W operations per cell.
#pragma once

#include "stages/shared/stage.hpp"
#include "stages/support_weight/support_weight.hpp"

namespace stereopsis::asw {

enum class Area { square, column };
constexpr auto names_of(Area) {
  return std::array{std::pair{Area::square, "square"}, std::pair{Area::column, "column"}};
}

struct Parameters {
  static constexpr const char* stage = "asw";
  Area area = Area::square;
  int window = 33;
  double gamma_colour = 11;
  double gamma_distance = 28;

  // Number of pixels of the window on each side.
  int radius_x() const { return area == Area::square ? window / 2 : 0; }
  int radius_y() const { return window / 2; }

  static void describe(auto& p, auto&& visit) {
    visit("area", p.area, any, "shape of the window: the square around a pixel, or the column through it");
    visit("window", p.window, odd(1, 63).in("pixels"), "side of the square window, or length of the column");
    visit("gamma_color", p.gamma_colour, support_weight::gammas.in("units of L*a*b*"),
          "colour distance at which a weight falls to 1/e");
    visit("gamma_distance", p.gamma_distance, support_weight::gammas.in("pixels"),
          "distance at which a weight falls to 1/e");
  }
};

inline Rect required_input(const Parameters& p, const Rect& output) { return grow(output, p.radius_x(), p.radius_y()); }

// Returns ⌊4 Δg⌋ for the pixel at a distance of dx columns and dy rows.
inline int quarters(int dx, int dy) { return support_weight::root(16 * (dx * dx + dy * dy)); }

void oracle(const Parameters&, ImageView<const std::uint32_t> lab_left, ImageView<const std::uint32_t> lab_right,
            int min_disparity, VolumeView<const std::uint8_t> costs, VolumeView<std::uint16_t> aggregated);
// The function may read 64 bytes past the costs. `scratch` holds at least scratch_bytes() and starts at a multiple of
// 64 bytes.
std::size_t scratch_bytes(const Parameters&, int width, int disparities, int threads);
void cpu(const Parameters&, ImageView<const std::uint32_t> lab_left, ImageView<const std::uint32_t> lab_right,
         int min_disparity, VolumeView<const std::uint8_t> costs, VolumeView<std::uint16_t> aggregated,
         std::span<std::byte> scratch, Threads&);

void gpu(const Parameters&, gpu::View<const std::uint32_t> lab_left, gpu::View<const std::uint32_t> lab_right,
         int min_disparity, gpu::Volume<const std::uint8_t> costs, gpu::Volume<std::uint16_t> aggregated, gpu::Queue&);

}  // namespace stereopsis::asw
