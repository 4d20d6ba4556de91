#include <algorithm>

#include "device/gpu/device.hpp"
#include "stages/esaw/esaw.hpp"

namespace stereopsis::esaw {
namespace {

struct KernelSteps {
  static constexpr bool is_argument = true;
  std::int32_t offset[32], distance_part[32];
};

void carried_weights(const Parameters& p, gpu::View<const std::uint32_t> lab, gpu::View<std::uint32_t> weights,
                     gpu::View<float> sums, gpu::View<float> other_sums, gpu::Queue& queue) {
  const int colour_scale = support_weight::scales(p.gamma_colour, p.gamma_distance).colour;
  int t = 0;
  for (const Step& step : steps(p)) {
    for (const int shift : {0, 16}) {
      queue.launch({"esaw", "carry", "u8"}, gpu::over(lab.size()), lab, weights, gpu::View<const float>(sums),
                   other_sums, support_weight::make_table(), colour_scale, step.distance_part,
                   shift == 0 ? step.offset : 0, shift == 0 ? 0 : step.offset, t * lab.height, shift,
                   t == 0 && shift == 0 ? 1 : 0);
      std::swap(sums, other_sums);
    }
    ++t;
  }
}

}  // namespace

void gpu_weights(const Parameters& p, gpu::View<const std::uint32_t> lab, gpu::View<std::uint32_t> weights,
                 gpu::View<float> sums, gpu::View<float> other_sums, gpu::Queue& queue) {
  if (p.normalise == Normalise::end) return carried_weights(p, lab, weights, sums, other_sums, queue);
  KernelSteps all{};
  int t = 0;
  for (const Step& step : steps(p)) {
    all.offset[t] = step.offset;
    all.distance_part[t++] = step.distance_part;
  }
  queue.launch({"esaw", "weights", "u8"}, gpu::over(weights.size()), lab, weights, support_weight::make_table(), all,
               support_weight::scales(p.gamma_colour, p.gamma_distance).colour);
}

void gpu(const Parameters& p, gpu::View<const std::uint32_t> weights, gpu::Volume<const std::uint8_t> costs,
         gpu::Volume<std::uint16_t> aggregated, gpu::Volume<std::uint16_t> other, gpu::Queue& queue) {
  // The result of the last step must be in `aggregated`.
  if (p.iterations % 2 == 0) std::swap(aggregated, other);
  int t = 0;
  for (const Step& step : steps(p)) {
    constexpr int chain = 16;
    const int starts = std::min(step.offset, costs.height), links = (costs.height + starts - 1) / starts;
    gpu::Grid grid = gpu::over(costs.width * costs.disparities);
    grid.groups_y = starts * ((links + chain - 1) / chain);
    const auto launch = [&](const char* instance, const auto& from) {
      queue.launch({"esaw", "iterate", instance}, grid, weights, from, aggregated.cells, costs.disparities,
                   costs.height, step.offset, t * costs.height, starts, chain);
    };
    if (t == 0)
      launch("u8", costs.cells);
    else
      launch("u16", gpu::Volume<const std::uint16_t>(other).cells);
    std::swap(aggregated, other);
    ++t;
  }
}

}  // namespace stereopsis::esaw
