#include "fused/column_costs/column_costs_cuda.hpp"

#include <algorithm>

#include "core/rounding.hpp"
#include "fused/column_costs/column_costs_cuda_problem.hpp"

namespace stereopsis::column_costs {
namespace {

struct Uint4 {
  std::uint32_t v[4];
};

int groups_of(int rows) { return ceil_div(rows, cuda_group); }

// The layout of the scratch memory.
struct Memory {
  Memory(Size size, gpu::Span span)
      : bytes(span.bytes),
        weights(span.take(2 * pixels(size, 0) * 2 * cuda_reach)),
        colours(span.take(2 * pixels(size, 2 * cuda_reach) * sizeof(std::uint32_t))),
        used(bytes - span.bytes) {}
  static std::size_t pixels(Size size, int more_rows) {
    return static_cast<std::size_t>(size.width) * (cuda_group * groups_of(size.height) + more_rows);
  }

  std::size_t bytes;
  gpu::Span weights, colours;  // each array holds both views
  std::size_t used;
};

CudaWeights weights_of(const asw::Parameters& p) {
  const auto scales = support_weight::scales(p.gamma_colour, p.gamma_distance);
  const auto table = support_weight::make_table();
  CudaWeights weights{.table = {}, .colour_scale = static_cast<std::uint32_t>(scales.colour), .distances = {}};
  for (int i = 0; i < 256; ++i) weights.table[i] = static_cast<std::uint8_t>(support_weight::in_8_bits(table.of[i]));
  // The last entry, 0, is the weight of pixels beyond the window.
  for (int i = 0; i <= cuda_reach; ++i) {
    const int part = i <= p.radius_y() ? support_weight::distance_part(scales, asw::quarters(0, i)) : 255 << 16;
    weights.distances[i] = cuda_distance(weights.colour_scale, static_cast<std::uint32_t>(part));
  }
  return weights;
}

bool is_narrow(int disparities) { return disparities <= 64; }

CudaColumns columns_of(const Parameters& p, const Input& in, int disparities, const gpu::Properties& device) {
  const CudaTuning& tuning = gpu::pick(cuda_tunings, device);
  const Size size = in.rgb_left.size();
  const int octets = ceil_div(disparities, cuda_tile), tiles = ceil_div(size.width, cuda_tile) + octets - 1;
  const int units = is_narrow(disparities) ? ceil_div(tiles, 2) : tiles * ceil_div(disparities, 128);
  // A block needs many rows, because it also computes the costs of rows around them. The number must be small enough
  // that all multiprocessors have blocks.
  const int resident = device.multiprocessors * tuning.blocks * tuning.warps;  // warps
  const std::int64_t warps = std::int64_t{ceil_div(units, tuning.warps)} * tuning.warps * cuda_tile;
  const std::int64_t groups = std::clamp<std::int64_t>(groups_of(size.height) * warps / (resident * tuning.turns),
                                                       tuning.least_groups, tuning.most_groups);
  return {size.width,        size.height, disparities, in.min_disparity,
          p.cost.truncation, 1 - octets,  units,       static_cast<int>(groups)};
}

const char* instance_of(gpu::Volume<std::uint8_t> costs) {
  const bool in_pairs = costs.disparities % 2 == 0 && (costs.cells.memory + costs.cells.offset) % 2 == 0;
  if (is_narrow(costs.disparities)) return in_pairs ? "narrow_even" : "narrow_odd";
  return in_pairs ? "wide_even" : "wide_odd";
}

}  // namespace

bool cuda_serves(const Parameters& p, double scale, Size size) {
  return p.aggregation.area == asw::Area::column && p.aggregation.radius_y() <= cuda_reach &&
         static_cast<float>(scale) == 1.0f / 128 && size.height <= gpu::most_cuda_groups_y;
}

std::size_t cuda_workspace_bytes(Size size) {
  constexpr auto unlimited = static_cast<std::size_t>(1) << 62;
  return Memory(size, {0, 0, unlimited}).used;
}

void cuda(const Parameters& p, const Input& in, gpu::Volume<std::uint8_t> costs, gpu::Span workspace,
          gpu::Queue& queue) {
  constexpr const char* file = "column_costs_cuda";
  const CudaTuning& tuning = gpu::pick(cuda_tunings, queue.properties());
  const Size size = in.rgb_left.size();
  const Memory memory(size, workspace);
  const auto weights = memory.weights.as<Uint4>(), colours = memory.colours.as<Uint4>();
  queue.launch({file, "weights", "any"},
               {2 * ceil_div(size.width, tuning.weight_columns),
                ceil_div(cuda_group * groups_of(size.height), tuning.weight_rows), tuning.weight_threads, 1},
               in.lab_left, in.lab_right, in.rgb_left, in.rgb_right, weights, colours, weights_of(p.aggregation));
  const CudaColumns columns = columns_of(p, in, costs.disparities, queue.properties());
  queue.launch({file, "costs", instance_of(costs)},
               {ceil_div(columns.units, tuning.warps) * cuda_tile, ceil_div(groups_of(size.height), columns.groups),
                32 * tuning.warps, 1},
               weights, colours, costs.cells, columns);
}

}  // namespace stereopsis::column_costs
