#include "fused/guided_wta/guided_wta_cuda.hpp"

#include <algorithm>
#include <limits>

#include "core/rounding.hpp"
#include "device/cuda/address.hpp"
#include "fused/guided_wta/guided_wta_cuda_problem.hpp"

namespace stereopsis::guided_wta {
namespace {

// Assigns parts of the scratch memory to the arrays of `problem`, whose sizes are known.
std::size_t lay_out(FilterProblem& problem, int channels, gpu::Span memory) {
  const std::size_t before = memory.bytes;
  const auto take = [&]<class T>(T*& pointer, std::size_t count) {
    pointer = address(memory.take(sizeof(T) * count).template as<T>());
  };
  const auto plane = static_cast<std::size_t>(problem.height) * problem.pitch,
             plane_of_coefficients = static_cast<std::size_t>(problem.end - problem.begin) * problem.pitch;
  take(problem.costs, plane * problem.disparities);
  take(problem.guide_bytes, plane * (channels == 3 ? 4 : 1));
  take(problem.guide_columns, plane * guide_sums_of(channels));
  take(problem.statistics, plane_of_coefficients * statistics_numbers(channels));
  take(problem.coefficients, plane_of_coefficients * problem.disparities * (channels + 1));
  return before - memory.bytes;
}

// Names of instances are string literals, because devices keep pointers to the names.
template <class Kind>
constexpr const char* instance_of() {
  if constexpr (std::is_same_v<Kind, cost::Census<std::uint32_t>>)
    return "census32";
  else if constexpr (std::is_same_v<Kind, cost::Census<std::uint64_t>>)
    return "census64";
  else if constexpr (std::is_same_v<Kind, cost::Census<Word128>>)
    return "census128";
  else
    return "colour_gradient";
}

// Returns the number of rows in a piece, the part of the image that a warp processes at a time. A warp first sums the
// costs of the window above a piece, and then walks down the rows of the piece. The number minimises the time of all
// blocks on the multiprocessors of the device. `blocks` is the number of blocks that process one piece.
int rows_in_piece(int rows, int blocks, int radius, const gpu::Properties& device) {
  const Tuning& tuning = gpu::pick(tunings, device);
  const int at_a_time = device.multiprocessors * tuning.blocks_of_coefficients;
  // Time for the first sums, in units of the time for a row of coefficients.
  const double start = 2 + 0.08 * 2 * radius;
  int best = 1;
  double least = std::numeric_limits<double>::max();
  for (int times = ceil_div(blocks, at_a_time); times * start < least; ++times) {
    const int height = ceil_div(rows, times * at_a_time / blocks);
    const double time = times * (height + start);
    if (height > tuning.tallest_piece || time >= least) continue;
    least = time;
    best = height;
  }
  return best;
}

FilterProblem problem_of(Size strip, int disparities) {
  FilterProblem problem{};
  problem.width = strip.width;
  problem.height = problem.end = strip.height;
  problem.pitch = pitch_of(strip.width);
  problem.disparities = disparities;
  return problem;
}

constexpr const char* file = "guided_wta_cuda";

}  // namespace

std::size_t cuda_plane_bytes(Size size, int disparities) {
  return sizeof(float) * pitch_of(size.width) * size.height * disparities;
}

std::size_t cuda_filter_bytes(Size strip, int channels, int at_a_time) {
  FilterProblem problem = problem_of(strip, at_a_time);
  return lay_out(problem, channels, {0, 0, std::numeric_limits<std::size_t>::max()});
}

int cuda_disparities_at_a_time(Size strip, int channels, int disparities, std::size_t bytes) {
  int most = disparities;
  while (most > 1 && cuda_filter_bytes(strip, channels, most) > bytes) --most;
  return ceil_div(disparities, ceil_div(disparities, most));
}

template <class Kind>
void cuda_filter(const guided::Parameters& p, const cost::Source<Kind, gpu::View>& source, int min_disparity,
                 int disparities, int at_a_time, gpu::View<const std::uint8_t> guide, guided::Rows rows,
                 gpu::Array<float> filtered, gpu::Span scratch, gpu::Queue& queue) {
  const Tuning& tuning = gpu::pick(tunings, queue.properties());
  const guided::FixedPoint factor = guided::fixed_point(p, guide.channels);
  FilterProblem problem = problem_of(guide.size(), at_a_time);
  problem.radius = p.radius;
  problem.border = border_columns(p.radius);
  problem.segments = segments_of(tuning.spans(guide.channels), guide.width, p.radius);
  problem.filter_segments = segments_of(tuning.filter_spans, guide.width, p.radius);
  problem.first = rows.first;
  problem.last = rows.last;
  problem.begin = std::max(rows.first - p.radius, 0);
  problem.end = std::min(rows.last + p.radius, guide.height);
  problem.left = address(source.left);
  problem.right = address(source.right);
  problem.left_pitch = source.left.pitch;
  problem.right_pitch = source.right.pitch;
  problem.guide = address(guide);
  problem.guide_pitch = guide.pitch;
  lay_out(problem, guide.channels, scratch);
  const int side = 2 * p.radius + 1;
  problem.share = 1.0f / static_cast<float>(side * side);
  problem.epsilon = static_cast<float>(p.epsilon);
  problem.factor_a = factor.a;
  problem.factor_b = factor.b;
  problem.unit_a = 1 / factor.a;
  problem.unit_b = 1 / factor.b;
  if constexpr (std::is_same_v<Kind, cost::ColourGradient>) {
    problem.colour_factor = source.kind.colour_factor;
    problem.gradient_factor = source.kind.gradient_factor;
    problem.colour_limit = source.kind.colour_limit;
    problem.gradient_limit = source.kind.gradient_limit;
    problem.replicates = source.kind.replicates;
    problem.outside = source.kind.outside;
  }

  const char* const channels = guide.channels == 3 ? "colour" : "grey";
  const int block = tuning.threads, warps_in_block = tuning.warps_in_block;
  const int rows_of_coefficients = problem.end - problem.begin;
  queue.launch({file, "guide", channels}, {ceil_div(guide.width, block), ceil_div(guide.height, 4), block, 1}, problem);
  queue.launch({file, "statistics", channels}, {ceil_div(problem.pitch, block), rows_of_coefficients, block, 1},
               problem);
  const auto warps = [&](const char* kernel, int count) {
    queue.launch({file, kernel, channels}, {count, 1, 32 * warps_in_block, 1}, problem);
  };
  for (int first = 0; first < disparities; first += at_a_time) {
    problem.disparities = std::min(at_a_time, disparities - first);
    problem.min_disparity = min_disparity + first;
    problem.filtered = address(filtered) + static_cast<std::int64_t>(first) * rows.count() * problem.pitch;
    queue.launch({file, "costs", instance_of<Kind>()},
                 {ceil_div(guide.width, 4 * block) * ceil_div(problem.disparities, tuning.disparities_of_costs),
                  guide.height, block, 1},
                 problem);
    const int blocks = problem.segments * ceil_div(problem.disparities, warps_in_block);
    problem.rows_in_piece = rows_in_piece(rows_of_coefficients, blocks, p.radius, queue.properties());
    warps("coefficients", blocks * ceil_div(rows_of_coefficients, problem.rows_in_piece));
    warps("filter",
          problem.filter_segments * problem.disparities * ceil_div(rows.count(), tuning.rows_in_filter_block));
  }
}

void cuda_select(const wta::Parameters& p, const wta::InputOf<gpu::View>& in, std::span<const Plane> levels,
                 int disparities, const wta::OutputOf<gpu::View>& out, wta::Reference reference, gpu::Queue& queue) {
  SelectProblem problem{};
  problem.count = static_cast<int>(levels.size());
  for (int s = 0; s < problem.count; ++s) {
    const Plane& level = levels[s];
    problem.levels[s] = {address(level.costs), pitch_of(level.width), level.rows,
                         level.first_row,      level.min_disparity,   level.weight};
  }
  problem.width = out.disparity.width;
  problem.rows = out.disparity.height;
  problem.disparities = disparities;
  problem.min_disparity = in.min_disparity;
  problem.first_row = levels[0].first_row;
  problem.from_right = reference == wta::Reference::right ? 1 : 0;
  problem.subpixel = static_cast<int>(p.subpixel);
  problem.uniqueness = p.uniqueness;
  problem.border_candidates = p.border_candidates ? 1 : 0;
  problem.mask_left = address(in.mask_left);
  problem.mask_right = address(in.mask_right);
  problem.mask_left_pitch = in.mask_left.pitch;
  problem.mask_right_pitch = in.mask_right.pitch;
  problem.disparity = address(out.disparity);
  problem.validity = address(out.validity);
  problem.confidence = address(out.confidence);
  problem.disparity_pitch = out.disparity.pitch;
  problem.validity_pitch = out.validity.pitch;
  problem.confidence_pitch = out.confidence.pitch;
  queue.launch({file, "select", problem.count > 1 ? "levels" : "one"},
               {ceil_div(problem.width, 64), problem.rows, 64, 1}, problem);
}

#define STEREOPSIS_INSTANCE(Kind)                                                                           \
  template void cuda_filter(const guided::Parameters&, const cost::Source<Kind, gpu::View>&, int, int, int, \
                            gpu::View<const std::uint8_t>, guided::Rows, gpu::Array<float>, gpu::Span, gpu::Queue&);
STEREOPSIS_INSTANCE(cost::Census<std::uint32_t>)
STEREOPSIS_INSTANCE(cost::Census<std::uint64_t>)
STEREOPSIS_INSTANCE(cost::Census<Word128>)
STEREOPSIS_INSTANCE(cost::ColourGradient)
#undef STEREOPSIS_INSTANCE

}  // namespace stereopsis::guided_wta
