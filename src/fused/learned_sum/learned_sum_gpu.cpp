#include "core/rounding.hpp"
#include "device/gpu/device.hpp"
#include "fused/learned_sum/learned_sum.hpp"
#include "fused/learned_sum/learned_sum_cuda_problem.hpp"
#include "stages/census_gradient/census_gradient.hpp"

namespace stereopsis::learned_sum {
namespace {

std::size_t bytes_of_words(Size size) { return sizeof(std::uint32_t) * size.width * size.height; }

// The portable kernel takes less time if more than half of the tuned kernel's disparities are outside the range.
bool has_tuned_kernel(const learned_features::Network& network, const gpu::Volume<std::uint8_t>& sums,
                      const gpu::Queue& queue) {
  return gpu::runs(tunings, queue.properties()) && network.components() == cuda_components &&
         ceil_div(sums.disparities, cuda_disparities) * cuda_disparities < 2 * sums.disparities &&
         sums.disparities % cuda_run == 0 && (sums.cells.memory + sums.cells.offset) % cuda_run == 0 &&
         sums.height <= gpu::most_cuda_groups_y;
}

gpu::Grid over_tiles(const gpu::Volume<std::uint8_t>& sums, const gpu::Queue& queue) {
  const int threads = gpu::pick(tunings, queue.properties()).threads, columns = threads / 4;
  return {ceil_div(sums.width + cuda_disparities - cuda_run, columns) * ceil_div(sums.disparities, cuda_disparities),
          sums.height, threads, 1};
}

}  // namespace

std::size_t gpu_scratch_bytes(const Parameters& p, Size size) {
  return 2 * (bytes_of_words(size) + 256) + learned_features::features_scratch_bytes(p.learned.weights.network(), size);
}

template <class T>
void gpu(const Parameters& p, gpu::Array<const std::int32_t> weights,
         const std::array<gpu::View<const std::uint8_t>, 2>& grey8, const std::array<gpu::View<const T>, 2>& grey,
         int min_disparity, gpu::Volume<std::uint8_t> sums, gpu::Span scratch, gpu::Queue& queue) {
  const auto words = [&](int view) {
    const Size size = grey[view].size();
    const gpu::Array<std::uint32_t> place = scratch.take(bytes_of_words(size)).as<std::uint32_t>();
    const gpu::View<std::uint32_t> made{place.memory, place.offset, size.width, size.height, 1, size.width};
    census_gradient::gpu<T>(grey[view], grey8[view], made, queue);
    return gpu::View<const std::uint32_t>(made);
  };
  const gpu::View<const std::uint32_t> left_words = words(0), right_words = words(1);
  const auto features = learned_features::features_gpu(p.learned, weights, grey8, scratch, queue);
  const learned_features::CostOfDot cost(p.learned);
  const auto launch = [&](const gpu::Kernel& kernel, const gpu::Grid& grid, auto... groups) {
    queue.launch(kernel, grid, features[0], features[1], left_words, right_words, sums.cells, groups...,
                 sums.disparities, min_disparity, cost.offset, cost.scale, cost.shift, cost.limit, p.plus.census_weight,
                 p.plus.gradient_limit, p.sum.cost_weight, p.sum.plus_weight);
  };
  const learned_features::Network& network = p.learned.weights.network();
  if (has_tuned_kernel(network, sums, queue))
    launch({"learned_sum_cuda", "learned_sum", "32"}, over_tiles(sums, queue));
  else
    launch({"learned_sum", "learned_sum", "any"}, learned_features::over_costs(sums), groups_of(network.components()));
}

#define STEREOPSIS_INSTANCE(T)                                                                                        \
  template void gpu<T>(const Parameters&, gpu::Array<const std::int32_t>,                                             \
                       const std::array<gpu::View<const std::uint8_t>, 2>&, const std::array<gpu::View<const T>, 2>&, \
                       int, gpu::Volume<std::uint8_t>, gpu::Span, gpu::Queue&);
STEREOPSIS_INSTANCE(std::uint8_t)
STEREOPSIS_INSTANCE(std::uint16_t)
STEREOPSIS_INSTANCE(float)
#undef STEREOPSIS_INSTANCE

}  // namespace stereopsis::learned_sum
