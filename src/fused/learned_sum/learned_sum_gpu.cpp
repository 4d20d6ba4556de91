#include "device/gpu/device.hpp"
#include "fused/learned_sum/learned_sum.hpp"
#include "stages/census_gradient/census_gradient.hpp"

namespace stereopsis::learned_sum {
namespace {

std::size_t bytes_of_words(Size size) { return sizeof(std::uint32_t) * size.width * size.height; }

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
  queue.launch({"learned_sum", "learned_sum", "any"}, learned_features::over_costs(sums), features[0], features[1],
               left_words, right_words, sums.cells,
               groups_of(p.learned.weights.network().components()), sums.disparities, min_disparity,
               cost.offset, cost.scale, cost.shift, cost.limit, p.plus.census_weight, p.plus.gradient_limit,
               p.sum.cost_weight, p.sum.plus_weight);
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
