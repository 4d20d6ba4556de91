// Aggregation of matching costs over cross-based regions (Zhang, Lu and Lafruit 2009; Mei et al. 2011, section 2.2).
// The result is the mean of the costs of a disparity over the region of the pixel's cross,
//
//   C'(p, d) = ⌊(Σ_{q ∈ U(p, d)} C(q, d) + ⌊N / 2⌋) / N⌋,   N = |U(p, d)|
//
// repeatedly: in odd iterations (the first, the third, …), U consists of the horizontal arms of the pixels on p's
// vertical arms; in even iterations, of the vertical arms of the pixels on its horizontal arms ("for iterations 1 and 3
// … first horizontally and then vertically", four in all: Mei et al. after Salaün and Monasse, AD Census, draft for
// IPOL, 2013).
//
// With support = left, the arms of the left view are used, as in that draft and in Li's public program (AD-Census,
// 2020). With support = both, each arm is intersected with the arm of the right pixel q − d, as in Zhang et al. If the
// regions in the two views differ, one region extends across an object border. A right pixel outside the image is
// replaced by the nearest pixel of the row.
//
// Each iteration has two passes of running sums, which are exact integers. Sums along rows or columns are computed
// modulo 2¹⁶, which is enough for the 255 8-bit costs of an arm. Sums over regions are computed modulo 2³².
//
// Input: arms of both views (stages/cross). Input and output, in place: 8-bit costs.
// Required input: iterations × 2 × the longest arm, in the right view displaced by the disparities. Cost per cell and
// iteration: 3 running sums, 3 differences, 1 division.
#pragma once

#include <array>

#include "stages/shared/arms.hpp"
#include "stages/shared/stage.hpp"

namespace stereopsis::cross_aggregation {

enum class Support { both, left };
constexpr auto names_of(Support) {
  return std::array{std::pair{Support::both, "both"}, std::pair{Support::left, "left"}};
}

struct Parameters {
  static constexpr const char* stage = "cross_aggregation";
  int iterations = 4;
  Support support = Support::both;
  int longest_arm = cross::longest_arm;  // limit of the arm length in the pipeline; set when the step is planned

  static void describe(auto& p, auto&& visit) {
    visit("iterations", p.iterations, between(1, 16), "number of iterations of averaging");
    visit("support", p.support, any, "arms that bound a region: those of both views, or only those of the left view");
  }
};

inline Rect required_input(const Parameters& p, const Rect& output) {
  const int reach = 2 * p.iterations * cross::longest_arm;
  return grow(output, reach, reach);
}

// The arms of the right view are read only if support = both, and may be empty otherwise.
template <template <class> class View>
struct ArmsOf {
  View<const std::uint32_t> left, right;
  int longest = cross::longest_arm;  // upper bound of the length of an arm
};
using Arms = ArmsOf<ImageView>;

template <template <class> class View>
void check_images(const Parameters& p, const ArmsOf<View>& arms) {
  if (p.support == Support::both && arms.right.size() != arms.left.size())
    throw Error(ErrorCategory::call, text("cross_aggregation.support = both has right arms of ", arms.right.width, "×",
                                          arms.right.height, " for left arms of ", arms.left.width, "×",
                                          arms.left.height, "; pass arms of the same size, or set support = left"));
}

void oracle(const Parameters&, const Arms&, int min_disparity, VolumeView<std::uint8_t> costs);

// `scratch` holds at least scratch_bytes() and starts at a multiple of 64 bytes. Each thread aggregates the costs of one
// disparity at a time (cross_aggregation_cpu.hpp).
std::size_t scratch_bytes(Size size, int disparities, int threads);
void cpu(const Parameters&, const Arms&, int min_disparity, VolumeView<std::uint8_t> costs,
         std::span<std::byte> scratch, Threads&);

std::size_t gpu_scratch_bytes(Size size, int disparities);
void gpu(const Parameters&, const ArmsOf<gpu::View>&, int min_disparity, gpu::Volume<std::uint8_t> costs,
         gpu::Span scratch, gpu::Queue&);

}  // namespace stereopsis::cross_aggregation
