// Exponential step adaptive weight aggregation (Yu, Chen and Hoe 2010). Iteration t = 1, 2, … of
//
//   os = round(base^(t−1))                                                                  equation 6
//   C^h(p) = Σ w(q, p) C^(t−1)(q) over q = (x − os, y), p, (x + os, y)                      equation 7
//   C^t(p) = Σ w(q, p) C^h(q)     over q = (x, y − os), p, (x, y + os)                      equation 8
//
// with the weights of stages/support_weight; w(p, p) = 1, and a q outside the image is replaced by the nearest border
// pixel. The sums of the paper are not normalised. The parameter `normalise` selects one of two interpretations:
//
//   step   each of the two sums is divided by its weights, 1 + w_left + w_right. The default: its error falls over the
//          iterations as the paper's Table 2 does.
//   end    the paper's sums, divided at the end by the same sums over C⁰ = 1, N. As each C / N is an average of
//          the C(q) / N(q) with the weights w(q, p) N(q), costs are kept divided here, too, and no sum can overflow.
//
// The result is the same on all devices: the weights of an average are integers in units of 1/256, which sum to 256:
//
//   n_q = ⌊256 w(q, p) / Σ w + 1/2⌋ for the two neighbours, the rest of 256 for p (n of the second: at most that rest)
//   C'(p) = ⌊(n_left C(left) + n_p C(p) + n_right C(right) + 128) / 256⌋
//
// Costs are integers in units of 1/128 intensity, 15 bits. Unlike floats or halves, integers do not depend on the order
// of additions or on the vector width. A volume of such costs is half as large as a volume of floats. The average of
// the paper's 12 error rates differs by at most 0.02 from that with floats throughout (docs/notes/esaw.md). For `end`,
// N is a float. The value n_q is the number of k = 1 … 255 with (k − 1/2) · S ≤ 256 · w N(q), where S = (N(p) + w
// N(left)) + w N(right). Each operation is rounded to float. 3^(2 · 32) fits.
//
// Input: words of stages/lab for the weights; 8-bit costs. Output: costs in units of 1/128.
// Required input: Σ os pixels on each side (42 with the defaults).
// Cost: 6 products per cell and iteration; each iteration reads and writes the volume once.
#pragma once

#include <vector>

#include "stages/shared/stage.hpp"
#include "stages/support_weight/support_weight.hpp"

namespace stereopsis::esaw {

enum class Normalise { step, end };
constexpr auto names_of(Normalise) {
  return std::array{std::pair{Normalise::step, "step"}, std::pair{Normalise::end, "end"}};
}

struct Parameters {
  static constexpr const char* stage = "esaw";
  int iterations = 5;
  double base = 2.2;
  double gamma_colour = 10;
  double gamma_distance = 20;
  Normalise normalise = Normalise::step;

  static void describe(auto& p, auto&& visit) {
    visit("iterations", p.iterations, between(1, 32).planned(),
          "number of aggregation steps, each with a horizontal and a vertical sum");
    visit("base", p.base, between(1, 1000).in("pixels").planned(), "the offset of step t is base^(t - 1), rounded");
    visit("gamma_color", p.gamma_colour, support_weight::gammas.in("units of L*a*b*"),
          "colour distance at which a weight falls to 1/e");
    visit("gamma_distance", p.gamma_distance, support_weight::gammas.in("pixels"),
          "distance at which a weight falls to 1/e");
    visit("normalise", p.normalise, any, "when costs are divided by the weights: after each step, or once at the end");
  }
};

struct Step {
  int offset;         // pixels
  int distance_part;  // distance part of the exponent of the step's weights
};
// Offsets that exceed the size of any image are not increased further.
inline std::vector<Step> steps(const Parameters& p) {
  const auto scales = support_weight::scales(p.gamma_colour, p.gamma_distance);
  std::vector<Step> steps;
  for (int t = 0; t < p.iterations; ++t) {
    const int offset = static_cast<int>(std::floor(std::min(std::pow(p.base, t), 1e6) + 0.5));
    steps.push_back({offset, support_weight::distance_part(scales, 4 * offset)});
  }
  return steps;
}

inline Rect required_input(const Parameters& p, const Rect& output) {
  int reach = 0;
  for (const Step& step : steps(p)) reach += std::min(step.offset, 1 << 24);
  return grow(output, reach, reach);
}

// The values n of an average, for the neighbours before and after the pixel.
struct Shares {
  int before, behind;
};
inline Shares shares(int before, int behind) {
  const int sum = 65536 + before + behind;
  return {(512 * before + sum) / (2 * sum), (512 * behind + sum) / (2 * sum)};
}

// The weights of all steps are stored in images one below the other: the weights for step t and pixel (x, y) are at (x,
// t · height + y). A word holds n for the left, the right, the upper and the lower neighbour, from the lowest byte up.
inline Size weights_size(const Parameters& p, Size size) { return {size.width, size.height * p.iterations}; }
inline int rest(std::uint32_t word, int shift) {
  return 256 - static_cast<int>(word >> shift & 255) - static_cast<int>(word >> (shift + 8) & 255);
}

void oracle_weights(const Parameters&, ImageView<const std::uint32_t> lab, ImageView<std::uint32_t> weights);
// `sums` has two images of the size of `lab`. The images of `sums` are empty unless costs are normalised at the end.
void cpu_weights(const Parameters&, ImageView<const std::uint32_t> lab, ImageView<std::uint32_t> weights,
                 ImageView<float> sums, ImageView<float> other_sums, Threads&);
void gpu_weights(const Parameters&, gpu::View<const std::uint32_t> lab, gpu::View<std::uint32_t> weights,
                 gpu::View<float> sums, gpu::View<float> other_sums, gpu::Queue&);

void oracle(const Parameters&, ImageView<const std::uint32_t> weights, VolumeView<const std::uint8_t> costs,
            VolumeView<std::uint16_t> aggregated);
// `other` is a volume of the same size, which holds the result between two sums or steps.
void cpu(const Parameters&, ImageView<const std::uint32_t> weights, VolumeView<const std::uint8_t> costs,
         VolumeView<std::uint16_t> aggregated, VolumeView<std::uint16_t> other, Threads&);
void gpu(const Parameters&, gpu::View<const std::uint32_t> weights, gpu::Volume<const std::uint8_t> costs,
         gpu::Volume<std::uint16_t> aggregated, gpu::Volume<std::uint16_t> other, gpu::Queue&);

}  // namespace stereopsis::esaw
