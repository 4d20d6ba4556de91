#include "fused/asw_separable_wta/asw_separable_wta_cuda.hpp"

#include <algorithm>
#include <limits>

#include "core/rounding.hpp"
#include "fused/asw_separable_wta/asw_separable_wta_cuda_problem.hpp"

namespace stereopsis::asw_separable_wta {
namespace {

using asw_separable::Parameters;

struct Uint2 {
  std::uint32_t v[2];
};
struct Uint4 {
  std::uint32_t v[4];
};

int blocks_of(const Parameters& p) { return cuda_blocks(p.window / 2); }

// The weights of all tiles of a pass.
struct Bands {
  Bands(const Parameters& p, std::size_t tiles, gpu::Span& span)
      : matrices(span.take(tiles * blocks_of(p) * 32 * sizeof(Uint2))),
        divisors(span.take(tiles * cuda_tile * sizeof(Uint2))) {}
  gpu::Span matrices, divisors;
};

// The layout of the scratch memory.
struct Memory {
  Memory(const Parameters& p, Size size, int disparities, gpu::Span span)
      : bytes(span.bytes),
        slices(ceil_div(disparities, cuda_slice)),
        across(p, static_cast<std::size_t>(ceil_div(size.width, cuda_tile)) * size.height, span),
        down(p, static_cast<std::size_t>(ceil_div(size.height, cuda_tile)) * size.width, span),
        volume(span.take(sizeof(Uint4) * (cuda_slice / 2) * slices * ceil_div(size.height, cuda_rows) * size.width)),
        used(bytes - span.bytes) {}

  std::size_t bytes;
  int slices;
  Bands across, down;
  gpu::Span volume;  // the cost volume between the passes
  std::size_t used;
};

CudaWeights weights_of(const Parameters& p) {
  const auto scales = support_weight::scales(p.gamma_colour, p.gamma_distance);
  const auto table = support_weight::make_table();
  CudaWeights weights{.table = {}, .colour_scale = static_cast<std::uint32_t>(scales.colour), .distances = {}};
  for (int i = 0; i < 256; ++i) weights.table[i] = static_cast<std::uint8_t>(support_weight::in_8_bits(table.of[i]));
  // The last entry, 0, is the weight of pixels beyond the window.
  for (int i = 0; i <= cuda_reach(5); ++i) {
    const int part = i <= p.window / 2 ? support_weight::distance_part(scales, 4 * i) : 255 << 16;
    weights.distances[i] = cuda_distance(weights.colour_scale, static_cast<std::uint32_t>(part));
  }
  return weights;
}

// Returns the number of tiles, one below the other, that a warp processes. A large number saves work, because each run
// of tiles computes the rows around it again. The number must be small enough that the last blocks do not run alone.
// `blocks` is the number of blocks side by side, and `columns` is the number of columns in a block.
int tiles_of(int tiles, int blocks, int columns, int extra, const gpu::Properties& device) {
  const CudaTuning& tuning = gpu::pick(cuda_tunings, device);
  const int resident = device.multiprocessors * tuning.vertical_blocks;
  int best = 1;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (int n = std::min(tiles, tuning.most_tiles / columns); n > 0; --n) {
    const std::int64_t all = static_cast<std::int64_t>(blocks) * ceil_div(tiles, n);
    const std::int64_t time = (all + resident - 1) / resident * (n + extra);
    if (time < least) {
      least = time;
      best = n;
    }
  }
  return best;
}

}  // namespace

bool cuda_serves(const support_weight_wta::Parameters& p, const support_weight_wta::InputOf<gpu::View>& in,
                 const wta::OutputOf<gpu::View>& out) {
  return std::holds_alternative<Parameters>(p.aggregation) &&
         ceil_div(in.rgb_left.height, cuda_rows) <= gpu::most_cuda_groups_y &&
         support_weight_wta::is_plain(p.select, in.select, out);
}

std::size_t cuda_workspace_bytes(const support_weight_wta::Parameters& p, Size size, int disparities) {
  constexpr auto unlimited = static_cast<std::size_t>(1) << 62;
  const auto* s = std::get_if<Parameters>(&p.aggregation);
  return s != nullptr ? Memory(*s, size, disparities, {0, 0, unlimited}).used : 0;
}

void cuda(const support_weight_wta::Parameters& p, const support_weight_wta::InputOf<gpu::View>& in,
          const wta::OutputOf<gpu::View>& out, gpu::Span workspace, gpu::Queue& queue) {
  const auto& s = std::get<Parameters>(p.aggregation);
  const Size size = in.rgb_left.size();
  const Memory memory(s, size, in.disparities, workspace);
  const bool is_small = blocks_of(s) == 3;
  const CudaTuning& tuning = gpu::pick(cuda_tunings, queue.properties());
  const int run = cuda_tile * tuning.run_tiles(blocks_of(s));
  const auto launch = [&](const char* kernel, const gpu::Grid& grid, const auto&... arguments) {
    queue.launch({"asw_separable_wta_cuda", kernel, is_small ? "3" : "5"}, grid, arguments...);
  };
  const auto runs = [&](int lines, int length) { return ceil_div(lines, cuda_rows) * ceil_div(length, run); };
  const int runs_down = runs(size.width, size.height), runs_across = runs(size.height, size.width);
  launch("weights", {runs_down + runs_across, 1, tuning.weight_threads, 1}, in.lab_left,
         memory.down.matrices.as<Uint2>(), memory.down.divisors.as<Uint2>(), memory.across.matrices.as<Uint2>(),
         memory.across.divisors.as<Uint2>(), runs_down, weights_of(s));
  launch("horizontal", {ceil_div(size.width, run), ceil_div(size.height, cuda_rows), 2 * run, 1},
         memory.across.matrices.as<Uint2>(), memory.across.divisors.as<Uint2>(), in.rgb_left, in.rgb_right,
         memory.volume.as<Uint4>(), CudaCosts{in.disparities, in.select.min_disparity, p.cost.truncation});
  const int warps = std::min(memory.slices, tuning.warps), columns = tuning.warps / warps;
  const int side_by_side = ceil_div(size.width, columns), all_tiles = ceil_div(size.height, cuda_tile);
  const int tiles = tiles_of(all_tiles, side_by_side, columns, blocks_of(s) - 1, queue.properties());
  launch("vertical", {side_by_side, ceil_div(all_tiles, tiles), 32 * columns * warps, 1},
         memory.down.matrices.as<Uint2>(), memory.down.divisors.as<Uint2>(), memory.volume.as<Uint4>(), out.disparity,
         out.validity, CudaVertical{size.width, size.height, memory.slices, in.select.min_disparity, columns, tiles});
}

}  // namespace stereopsis::asw_separable_wta
