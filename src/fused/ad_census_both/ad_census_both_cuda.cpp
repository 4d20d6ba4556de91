#include "fused/ad_census_both/ad_census_both_cuda.hpp"

#include <cstring>

#include "core/rounding.hpp"
#include "device/cuda/address.hpp"
#include "fused/ad_census_both/ad_census_both_cuda_problem.hpp"

namespace stereopsis::ad_census_both {
namespace {

std::size_t beyond_bytes(Size size, const DisparityRange& range) {
  return static_cast<std::size_t>(columns_beyond(range)) * size.height * range.count;
}

Tables tables_of(const ad_census::Parameters& p) {
  const ad_census::Tables from = ad_census::tables(p);
  Tables tables{};
  std::memcpy(tables.colour, from.colour.data(), sizeof tables.colour);
  std::memcpy(tables.census, from.census.data(), sizeof tables.census);
  return tables;
}

Problem problem_of(const ad_census::InputOf<gpu::View>& in, int min_disparity, gpu::Volume<std::uint8_t> left,
                   gpu::Volume<std::uint8_t> beyond, gpu::Volume<std::uint8_t> right) {
  Problem p{};
  p.left = address(in.left);
  p.right = address(in.right);
  p.left_census = address(in.left_census);
  p.right_census = address(in.right_census);
  p.left_pitch = in.left.pitch;
  p.right_pitch = in.right.pitch;
  p.left_census_pitch = in.left_census.pitch;
  p.right_census_pitch = in.right_census.pitch;
  p.costs = address(left);
  p.costs_beyond = address(beyond);
  p.right_costs = address(right);
  p.width = left.width;
  p.beyond = beyond.width;
  p.height = left.height;
  p.channels = in.left.channels;
  p.disparities = left.disparities;
  p.min_disparity = min_disparity;
  p.in_words = (reinterpret_cast<std::uintptr_t>(p.costs) | reinterpret_cast<std::uintptr_t>(p.right_costs) |
                static_cast<std::uintptr_t>(p.disparities)) %
                   4 ==
               0;
  return p;
}

}  // namespace

bool cuda_serves(const Parameters& p, Size size, const DisparityRange& range, int longest_arm, int cuda_capability) {
  return range.min >= 0 && range.max() < size.width &&
         cross_aggregation::cuda_takes_both(p.aggregation, size, columns_beyond(range), range.count, longest_arm,
                                            cuda_capability);
}

std::size_t cuda_scratch_bytes(Size size, const DisparityRange& range, int cuda_capability) {
  constexpr std::size_t line = 256;
  return (beyond_bytes(size, range) + line - 1) / line * line +
         cross_aggregation::cuda_both_scratch_bytes(size, columns_beyond(range), range.count, cuda_capability);
}

void cuda(const Parameters& p, const ad_census::InputOf<gpu::View>& in,
          const cross_aggregation::ArmsOf<gpu::View>& arms, int min_disparity, gpu::Volume<std::uint8_t> left,
          gpu::Volume<std::uint8_t> right, gpu::Span scratch, gpu::Queue& queue) {
  constexpr const char* file = "ad_census_both_cuda";
  const DisparityRange range{min_disparity, left.disparities};
  const gpu::Span piece = scratch.take(beyond_bytes({left.width, left.height}, range));
  const gpu::Volume<std::uint8_t> beyond{piece.as<std::uint8_t>(), columns_beyond(range), left.height,
                                         left.disparities};
  const Problem problem = problem_of(in, min_disparity, left, beyond, right);
  const Tuning& tuning = gpu::pick(tunings, queue.properties());
  const int passes = ceil_div(ceil_div(left.disparities, group), tuning.groups);
  queue.launch({file, "costs", "any"},
               {ceil_div(left.width + beyond.width, tuning.columns) * passes, left.height, tuning.items, 1}, problem,
               tables_of(p.cost));
  cross_aggregation::cuda_both(p.aggregation, arms, min_disparity, left, beyond, scratch, queue);
  queue.launch(
      {file, "mirror", "any"},
      {ceil_div(left.width, tuning.tile) * ceil_div(left.disparities, tuning.tile), left.height, tuning.items, 1},
      problem);
}

}  // namespace stereopsis::ad_census_both
