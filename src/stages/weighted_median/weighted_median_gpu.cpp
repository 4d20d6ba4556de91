#include <algorithm>

#include "core/rounding.hpp"
#include "device/gpu/device.hpp"
#include "stages/weighted_median/weighted_median.hpp"
#ifdef STEREOPSIS_CUDA
#include "device/cuda/address.hpp"
#include "stages/weighted_median/weighted_median_cuda_problem.hpp"
#endif

namespace stereopsis::weighted_median {
namespace {

#ifdef STEREOPSIS_CUDA
static_assert(large_radius == largest_radius);

void tuned(const Parameters& p, const InputOf<gpu::View>& in, gpu::View<float> filtered, gpu::Queue& queue) {
  Problem problem{};
  problem.disparity = address(in.disparity);
  problem.validity = address(in.validity);
  problem.image = address(in.image);
  problem.filtered = address(filtered);
  problem.disparity_pitch = in.disparity.pitch;
  problem.validity_pitch = in.validity.pitch;
  problem.image_pitch = in.image.pitch;
  problem.filtered_pitch = filtered.pitch;
  problem.width = filtered.width;
  problem.height = filtered.height;
  problem.channels = in.image.channels;
  problem.radius = p.radius;
  const Weights table = weights(p);
  std::copy(table.colour.begin(), table.colour.end(), problem.colour);
  std::copy(table.distance.begin(), table.distance.end(), problem.distance);
  const Tuning& tuning = gpu::pick(tunings, queue.properties());
  queue.launch({"weighted_median_cuda", "weighted_median", p.radius <= tuning.small_radius ? "small" : "large"},
               {ceil_div(filtered.width, tuning.block_columns), ceil_div(filtered.height, tuning.block_rows),
                32 * tuning.block_warps, 1},
               problem);
}
#endif

}  // namespace

void gpu(const Parameters& p, const InputOf<gpu::View>& in, gpu::View<float> filtered, gpu::Queue& queue) {
  check_not_in_place(in.disparity, filtered);
#ifdef STEREOPSIS_CUDA
  if (gpu::runs(tunings, queue.properties()) &&
      filtered.height <= gpu::pick(tunings, queue.properties()).block_rows * gpu::most_cuda_groups_y)
    return tuned(p, in, filtered, queue);
#endif
  queue.launch({"weighted_median", "weighted_median", "any"}, gpu::over(filtered.size()), in.disparity, in.validity,
               in.image, filtered, in.image.channels, p.radius, weights(p));
}

}  // namespace stereopsis::weighted_median
