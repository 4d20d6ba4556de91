#include "fused/zncc_wta/zncc_wta_cuda.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

#include "core/rounding.hpp"
#include "device/cuda/address.hpp"
#include "fused/zncc_wta/zncc_wta_cuda_problem.hpp"

namespace stereopsis::zncc_wta {
namespace {

// The first columns of four lanes, which share the columns of windows up to `widest`. Each lane has at most `steps` × 8
// columns. 16 lanes load from different banks if the first columns are 0, 4, 8 and 12 modulo 16, in any order.
struct Columns {
  int widest;
  const char* kernel;
  int steps, first[4];
};
constexpr Columns all_columns[] = {{21, "narrow", 1, {0, 8, 12, 20}}, {27, "wide1", 1, {0, 8, 12, 20}},
                                   {31, "wide1", 1, {0, 8, 16, 24}},  {51, "wide2", 2, {0, 12, 24, 36}},
                                   {83, "wide3", 3, {0, 20, 40, 60}}, {101, "wide4", 4, {0, 28, 56, 84}}};

const Columns& columns_of(int window) {
  return *std::find_if(std::begin(all_columns), std::end(all_columns) - 1,
                       [&](const Columns& c) { return window <= c.widest; });
}

bool is_narrow(const Columns& columns) { return &columns == all_columns; }

// The layout of the workspace.
struct Memory {
  Memory(const Problem& p, gpu::Span span) {
    const std::size_t before = span.bytes, height = p.height;
    const Side* sides[2] = {&p.left, &p.right};
    for (int view = 0; view < 2; ++view) {
      const int copies = view == 1 && p.complement != 0 ? 2 : 1;
      octets[view] = span.take(8 * copies * sides[view]->pitch * height);
      windows[view] = span.take((view == 0 ? 16 : 8) * sides[view]->pitch * height);
      bests[view] = span.take(sizeof(std::uint32_t) * p.width * height);
    }
    bytes = before - span.bytes;
  }

  gpu::Span octets[2], windows[2], bests[2];
  std::size_t bytes;
};

Problem shape_of(const Parameters& p, Size size) {
  Problem problem{};
  problem.width = size.width;
  problem.height = size.height;
  problem.radius = p.zncc.radius();
  problem.one_over_n = 1.0f / static_cast<float>(p.zncc.pixels());
  const Columns& columns = columns_of(p.zncc.window);
  std::copy(std::begin(columns.first), std::end(columns.first), problem.first_columns);
  for (int& column : problem.first_columns) column = std::min(column, p.zncc.window);
  problem.first_columns[4] = p.zncc.window;
  // Octets are read for complete steps of the matrix products, which cover 32 columns of the window.
  const int reach = 32 * columns.steps;
  problem.left.pitch = ceil_div(size.width, warp_pixels) * warp_pixels + reach;
  problem.right.margin = warp_span;
  problem.right.pitch = ceil_div(size.width + 2 * warp_span + reach, 2) * 2;
  if (!is_narrow(columns)) problem.complement = static_cast<std::int64_t>(problem.right.pitch) * size.height;
  return problem;
}

void attach(Side& side, const gpu::View<const std::int16_t>& samples, const gpu::View<const std::uint8_t>& mask,
            const Memory& memory, int view) {
  side.samples = address(samples);
  side.samples_pitch = samples.pitch;
  side.mask = address(mask);
  side.mask_pitch = mask.pitch;
  side.octets = address(memory.octets[view].as<std::uint8_t>());
  side.windows = address(memory.windows[view].as<std::uint8_t>());
  side.best = address(memory.bests[view].as<std::uint32_t>());
}

void attach(Problem& p, const Input<gpu::View>& in, const wta::OutputOf<gpu::View>& out, const Memory& memory) {
  attach(p.left, in.left, in.select.mask_left, memory, 0);
  attach(p.right, in.right, in.select.mask_right, memory, 1);
  p.disparities = in.disparities;
  p.min_disparity = in.select.min_disparity;
  // Right pixels are read in pairs whose first pixel has an even index.
  p.first_k = in.disparities - 1 + ((in.select.min_disparity + in.disparities - 1) & 1);
  p.chunks = ceil_div(p.first_k + 16, warp_disparities);
  p.disparity = address(out.disparity);
  p.validity = address(out.validity);
  p.right_disparity = address(out.right);
  p.disparity_pitch = out.disparity.pitch;
  p.validity_pitch = out.validity.pitch;
  p.right_disparity_pitch = out.right.pitch;
}

// Returns the number of rows of a strip with which all blocks finish soonest; `blocks` is the number of blocks per
// strip. Before a strip, a block reads as many rows as the window has. Eight of these rows take the time of one row of
// the strip. A multiprocessor runs `resident` blocks at a time. With fewer blocks, the time falls by less than their
// share.
int strip_rows_for(Size size, int window, int blocks, int resident, const gpu::Properties& device) {
  constexpr int most_strips = 1024;
  const int least_rows = gpu::pick(tunings, device).least_rows;
  int best_rows = size.height;
  std::int64_t best = std::numeric_limits<std::int64_t>::max();
  for (int strips = 1; strips <= std::min(ceil_div(size.height, least_rows), most_strips); ++strips) {
    const int rows = ceil_div(size.height, strips);
    const std::int64_t turns = ceil_div(blocks * strips, device.multiprocessors), left_over = turns % resident;
    const std::int64_t rounds = turns / resident * 2 * resident + (left_over == 0 ? 0 : left_over + resident);
    const std::int64_t time = (8 * rows + window) * rounds;
    if (time >= best) continue;
    best = time;
    best_rows = rows;
  }
  return best_rows;
}

}  // namespace

bool cuda_serves(const Parameters& p, int bits, int disparities, bool wants_confidence) {
  return bits == 8 && disparities <= most_disparities && !wants_confidence &&
         p.select.subpixel == wta::Subpixel::none && p.select.uniqueness == 0 && !p.select.border_candidates;
}

std::size_t cuda_workspace_bytes(const Parameters& p, Size size) {
  return Memory(shape_of(p, size), {0, 0, std::numeric_limits<std::size_t>::max()}).bytes;
}

void cuda(const Parameters& p, const Input<gpu::View>& in, const wta::OutputOf<gpu::View>& out, gpu::Span workspace,
          gpu::Queue& queue) {
  const Size size = in.left.size();
  Problem problem = shape_of(p, size);
  attach(problem, in, out, Memory(problem, workspace));
  const Columns& columns = columns_of(p.zncc.window);
  const gpu::Properties& device = queue.properties();
  const Tuning& tuning = gpu::pick(tunings, device);
  const int blocks = ceil_div(ceil_div(size.width, warp_pixels) * problem.chunks, tuning.correlate_warps);
  problem.strip_rows = strip_rows_for(size, p.zncc.window, blocks,
                                      is_narrow(columns) ? tuning.narrow_blocks : tuning.wide_blocks, device);
  problem.prepare_rows = tuning.prepare_rows(size.height, p.zncc.window);
  const auto kernel = [](const char* name, const char* instance) {
    return gpu::Kernel{"zncc_wta_cuda", name, instance};
  };
  const int prepare_threads = tuning.prepare_threads;
  const int block_columns = prepare_threads - problem.radius - std::max(problem.radius, 8);
  queue.launch(kernel("prepare", "all"),
               {ceil_div(std::max(problem.left.pitch, problem.right.pitch), block_columns),
                2 * ceil_div(size.height, problem.prepare_rows), prepare_threads, 1},
               problem);
  queue.launch(kernel("correlate", columns.kernel),
               {blocks, ceil_div(size.height, problem.strip_rows), 32 * tuning.correlate_warps, 1}, problem);
  queue.launch(kernel("select", "all"), gpu::over(size), problem);
}

}  // namespace stereopsis::zncc_wta
