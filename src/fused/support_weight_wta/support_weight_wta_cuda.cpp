#include "fused/support_weight_wta/support_weight_wta_cuda.hpp"

#include <algorithm>

#include "core/rounding.hpp"
#include "fused/support_weight_wta/support_weight_wta_cuda_problem.hpp"

namespace stereopsis::support_weight_wta {
namespace {

struct Uint2 {
  std::uint32_t v[2];
};
struct Uint4 {
  std::uint32_t v[4];
};

// The layout of the scratch memory.
struct Memory {
  Memory(const esaw::Parameters& p, Size size, int disparities, gpu::Span span) {
    const std::size_t bytes = span.bytes, pixels = static_cast<std::size_t>(size.width) * size.height;
    groups = ceil_div(disparities, cuda_cells);
    costs = span.take(sizeof(Uint2) * pixels * groups);
    for (gpu::Span& volume : volumes) volume = span.take(sizeof(Uint4) * pixels * groups);
    winners = span.take(sizeof(std::uint32_t) * pixels);
    weights = span.take(sizeof(std::uint32_t) * pixels * p.iterations);
    for (gpu::Span& image : sums)
      image = p.normalise == esaw::Normalise::end ? span.take(sizeof(float) * pixels) : gpu::Span{};
    used = bytes - span.bytes;
  }

  int groups;
  gpu::Span costs, volumes[2], winners, weights, sums[2];
  std::size_t used;
};

template <class T>
gpu::View<T> image(gpu::Span span, Size size) {
  const auto pixels = span.as<T>();
  return {pixels.memory, pixels.offset, size.width, size.height, 1, size.width};
}

}  // namespace

bool cuda_serves(const Parameters& p, const InputOf<gpu::View>& in, const wta::OutputOf<gpu::View>& out) {
  return std::holds_alternative<esaw::Parameters>(p.aggregation) && in.rgb_left.height <= gpu::most_cuda_groups_y &&
         is_plain(p.select, in.select, out);
}

std::size_t cuda_workspace_bytes(const Parameters& p, Size size, int disparities) {
  constexpr auto unlimited = static_cast<std::size_t>(1) << 62;
  const auto* e = std::get_if<esaw::Parameters>(&p.aggregation);
  return e != nullptr ? Memory(*e, size, disparities, {0, 0, unlimited}).used : 0;
}

void cuda(const Parameters& p, const InputOf<gpu::View>& in, const wta::OutputOf<gpu::View>& out, gpu::Span workspace,
          gpu::Queue& queue) {
  constexpr const char* file = "support_weight_wta_cuda";
  const auto& e = std::get<esaw::Parameters>(p.aggregation);
  const Size size = in.rgb_left.size();
  const Memory memory(e, size, in.disparities, workspace);
  esaw::gpu_weights(e, in.lab_left, image<std::uint32_t>(memory.weights, esaw::weights_size(e, size)),
                    image<float>(memory.sums[0], size), image<float>(memory.sums[1], size), queue);

  gpu::Grid rows = gpu::over(size.width * memory.groups);
  rows.groups_y = size.height;
  queue.launch({file, "costs", "all"}, rows, in.rgb_left, in.rgb_right, memory.costs.as<Uint2>(), memory.groups,
               in.select.min_disparity, p.cost.truncation);
  queue.fill({memory.winners.memory, memory.winners.offset}, memory.winners.bytes, 0xFF);

  const CudaTuning& tuning = gpu::pick(cuda_tunings, queue.properties());
  const int tiles = ceil_div(size.width, tuning.columns);
  int t = 0;
  for (const esaw::Step& step : esaw::steps(e)) {
    const bool is_last = t + 1 == e.iterations;
    const int starts = std::min(step.offset, size.height), links = ceil_div(size.height, starts);
    const gpu::Grid grid{tiles * ceil_div(memory.groups, tuning.groups), starts * ceil_div(links, tuning.chain),
                         tuning.columns * tuning.groups, 1};
    const CudaStep problem{size.width,  size.height,     memory.groups, in.disparities,
                           step.offset, t * size.height, starts};
    const auto launch = [&](const char* instance, const auto& costs) {
      queue.launch({file, "iterate", instance}, grid, memory.weights.as<std::uint32_t>(), costs,
                   memory.volumes[t % 2].as<Uint4>(), memory.winners.as<std::uint32_t>(), problem);
    };
    if (t == 0)
      launch(is_last ? "only" : "first", memory.costs.as<Uint2>());
    else
      launch(is_last ? "last" : "middle", memory.volumes[(t + 1) % 2].as<Uint4>());
    ++t;
  }
  queue.launch({file, "select", "all"}, gpu::over(size), memory.winners.as<std::uint32_t>(), out.disparity,
               out.validity, in.select.min_disparity);
}

}  // namespace stereopsis::support_weight_wta
