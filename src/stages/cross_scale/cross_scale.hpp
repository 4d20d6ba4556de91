// Cross-scale cost aggregation (Zhang et al. 2014). The method couples the aggregated costs C_s of the levels s = 0 …
// S. Each level has half the size of the previous one. The coupled costs Ĉ minimise the following sum, where λ is the
// smoothness of equation 8:
//
//   Σ_s (Ĉ_s − C_s)² + λ Σ_s (Ĉ_s − Ĉ_{s−1})²     so that     Ĉ = A⁻¹ C (equations 10 to 12)
//
// with the tridiagonal matrix A: 1 + λ at both ends of the diagonal, 1 + 2λ between them, −λ next to it. Only the
// finest level is needed:
//   Ĉ_0(p, d) = Σ_s w_s C_s(p_s, d_s),   w the first row of A⁻¹, which is known beforehand.
//
// Windows of coarser levels are wider than those of the authors, who use one radius for all levels. The coarser levels
// determine the result where the finest level is ambiguous. With narrow windows, they cause as many errors as they
// correct (docs/notes/costfilter.md).
//
// We read the paper as p_s = ⌊p / 2^s⌋ and d_s = ⌈d / 2^s⌉, as in the authors' program, which computes (d + 1) / 2 at
// each level. The corresponding disparity of −d is −⌈d / 2^s⌉ for costs of the right view. Each level has ⌈size / 2⌉
// pixels of the previous one, and is computed by 2×2 averaging, ⌊(a + b + c + d + 2) / 4⌋, with replicated borders.
// Float sums are computed from the finest level to the coarsest.
//
// `halve` computes an 8-bit image from an 8-bit image. `combine` adds a level, costs ← w · costs + w_s · coarse, where
// each product and the sum are rounded to float. `combine` reads and writes each fine cell once.
#pragma once

#include <vector>

#include "stages/shared/stage.hpp"

namespace stereopsis::cross_scale {

struct Parameters {
  static constexpr const char* stage = "cross_scale";
  double lambda = 0;
  int levels = 5;
  int radius = 27;

  static void describe(auto& p, auto&& visit) {
    visit("lambda", p.lambda, between(0, 100).planned(),
          "strength of the smoothness between levels; 0: only the finest level");
    visit("levels", p.levels, between(1, 16).planned(), "number of levels, each half the size of the previous one");
    visit("radius", p.radius, between(1, 64).in("pixels of the level").planned(),
          "radius of the filter window on the coarser levels");
  }
};

// Returns the number of levels that contribute to the result.
inline int levels_of(const Parameters& p) { return p.lambda > 0 ? p.levels : 1; }

// Returns the weights w, computed by eliminating the coarser levels.
inline std::vector<float> weights(const Parameters& p) {
  const int count = levels_of(p);
  if (count == 1) return {1.0f};
  // Eliminates levels from the coarsest level up. Level s then has (C_s + λ Ĉ_{s−1} + the share of s + 1) / pivot[s].
  std::vector<double> pivot(count);
  for (int s = count - 1; s >= 0; --s) {
    const int neighbours = (s > 0 ? 1 : 0) + (s < count - 1 ? 1 : 0);
    pivot[s] = 1 + p.lambda * neighbours - (s < count - 1 ? p.lambda * p.lambda / pivot[s + 1] : 0);
  }
  std::vector<float> result;
  double weight = 1 / pivot[0];
  for (int s = 0; s < count; ++s) {
    if (s > 0) weight *= p.lambda / pivot[s];
    result.push_back(static_cast<float>(weight));
  }
  return result;
}

inline Size half(Size size) { return {(size.width + 1) / 2, (size.height + 1) / 2}; }

// Returns ⌈d / 2^s⌉, or −⌈−d / 2^s⌉ if d is the value −d of the right view.
inline int at_level(int d, int s, bool from_right) { return from_right ? d >> s : -(-d >> s); }

// A coarse volume, described by its level, its first disparity, and the first rows of both volumes.
struct Level {
  int s = 1;
  bool from_right = false;
  int min_disparity = 0, coarse_min_disparity = 0;
  int first_row = 0, coarse_first_row = 0;
};

void oracle_halve(ImageView<const std::uint8_t> image, ImageView<std::uint8_t> halved);
void cpu_halve(ImageView<const std::uint8_t> image, ImageView<std::uint8_t> halved, Threads&);
void gpu_halve(gpu::View<const std::uint8_t> image, gpu::View<std::uint8_t> halved, gpu::Queue&);

void oracle_combine(const Level&, float weight, float coarse_weight, VolumeView<const float> coarse,
                    VolumeView<float> costs);
void cpu_combine(const Level&, float weight, float coarse_weight, VolumeView<const float> coarse,
                 VolumeView<float> costs, Threads&);
void gpu_combine(const Level&, float weight, float coarse_weight, gpu::Volume<const float> coarse,
                 gpu::Volume<float> costs, gpu::Queue&);

}  // namespace stereopsis::cross_scale
