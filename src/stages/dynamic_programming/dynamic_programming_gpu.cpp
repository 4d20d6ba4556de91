#include <algorithm>

#include "device/gpu/device.hpp"
#include "stages/dynamic_programming/dynamic_programming.hpp"
#include "stages/dynamic_programming/dynamic_programming_cuda_problem.hpp"

namespace stereopsis::dynamic_programming {
namespace {

// Limits up to which dynamic_programming.cl stores path costs in local memory.
constexpr int narrow_disparities = 1024;
constexpr int most_items = 256;

// Returns the number of work-items, in whole warps, for two disparities each.
int items_for(int disparities) { return std::clamp((disparities / 2 + 31) / 32 * 32, 32, most_items); }

template <class T>
bool starts_at_multiple(gpu::Array<T> array, int elements) {
  const auto bytes = elements * sizeof(T);
  return (array.memory + array.offset * sizeof(T)) % bytes == 0;
}

// Returns the tuned kernel, which is launched with one warp per row. `whole` means that the disparities of a lane are
// one word of memory.
gpu::Kernel tuned(const char* kernel, int disparities, bool whole) {
  const bool two = cuda_words(disparities) == 2;
  return {"dynamic_programming_cuda", kernel, whole ? two ? "2" : "4" : two ? "2_odd" : "4_odd"};
}
gpu::Grid warp_for_each(int rows) { return {rows, 1, 32, 1}; }
CudaRows rows_of(const Parameters& p, gpu::Volume<const std::uint8_t> costs, int min_disparity) {
  const auto in_both_halves = [](int penalty) { return static_cast<std::uint32_t>(penalty) * 0x10001; };
  return {costs.width, costs.height, costs.disparities, min_disparity, in_both_halves(p.p1), in_both_halves(p.p2)};
}
bool is_whole(gpu::Volume<const std::uint8_t> costs) {
  const int of_a_lane = 2 * cuda_words(costs.disparities);
  return costs.disparities % of_a_lane == 0 && starts_at_multiple(costs.cells, of_a_lane);
}

}  // namespace

std::size_t gpu_scratch_bytes(Size size, int disparities) {
  if (disparities <= narrow_disparities) return 0;
  return 2 * sizeof(std::uint16_t) * static_cast<std::size_t>(size.height) * (disparities + 2);
}

void gpu(const Parameters& p, gpu::Volume<const std::uint8_t> costs, gpu::Volume<std::uint16_t> sums, gpu::Span scratch,
         gpu::Queue& queue) {
  check(p);
  if (gpu::runs(tunings, queue.properties()) && cuda_words(costs.disparities) != 0) {
    const bool whole = is_whole(costs) && starts_at_multiple(sums.cells, 2 * cuda_words(costs.disparities));
    queue.launch(tuned("sum", costs.disparities, whole), warp_for_each(costs.height), costs.cells, sums.cells,
                 rows_of(p, costs, 0));
    return;
  }
  queue.launch({"dynamic_programming", "optimise", costs.disparities > narrow_disparities ? "wide" : "narrow"},
               {costs.height, 1, items_for(costs.disparities), 1}, costs.cells, sums.cells, scratch.as<std::uint16_t>(),
               costs.width, costs.disparities, p.p1, p.p2);
}

bool cuda_selects(const Parameters& p, int disparities) { return p.p2 <= 255 && cuda_words(disparities) != 0; }

std::size_t cuda_kept_bytes(Size size, int disparities) {
  return static_cast<std::size_t>(size.width) * size.height * 64 * cuda_words(disparities);
}

void cuda_select(const Parameters& p, gpu::Volume<const std::uint8_t> costs, int min_disparity,
                 gpu::View<float> disparity, gpu::View<std::uint8_t> validity, gpu::Span kept, gpu::Queue& queue) {
  check(p);
  queue.launch(tuned("select", costs.disparities, is_whole(costs)), warp_for_each(costs.height), costs.cells,
               kept.as<std::uint8_t>(), disparity, validity, rows_of(p, costs, min_disparity));
}

}  // namespace stereopsis::dynamic_programming
