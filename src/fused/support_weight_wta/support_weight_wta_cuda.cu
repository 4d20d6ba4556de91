// Exponential step adaptive weights as tuned CUDA kernels: support_weight_wta_cuda.hpp.
#include "fused/support_weight_wta/support_weight_wta_cuda_problem.hpp"

using namespace stereopsis;
using namespace stereopsis::support_weight_wta;

namespace {

constexpr CudaTuning tuning = gpu::pick(cuda_tunings, gpu::compiled_capability);
constexpr int cuda_groups = tuning.groups, cuda_columns = tuning.columns, cuda_chain = tuning.chain;

struct Layout {  // layout of an image in memory
  std::int64_t offset, pitch;
  std::int32_t width, height;
};

// Returns ⌊(n_a a + rest c + n_b b + 128) / 256⌋ of two 16-bit costs; `sides` holds n_a and n_b.
__device__ __forceinline__ std::uint32_t average(std::uint32_t a, std::uint32_t c, std::uint32_t b, std::uint32_t sides, std::uint32_t rest) {
  const std::uint32_t low = __dp2a_lo(__byte_perm(a, b, 0x5410), sides, (c & 0xFFFF) * rest + 128);
  const std::uint32_t high = __dp2a_lo(__byte_perm(a, b, 0x7632), sides, (c >> 16) * rest + 128);
  return __byte_perm(low, high, 0x6521);
}
__device__ __forceinline__ uint4 average(uint4 a, uint4 c, uint4 b, std::uint32_t sides) {
  const std::uint32_t rest = 256 - (sides & 255) - (sides >> 8 & 255);
  return {average(a.x, c.x, b.x, sides, rest), average(a.y, c.y, b.y, sides, rest), average(a.z, c.z, b.z, sides, rest),
          average(a.w, c.w, b.w, sides, rest)};
}

// Load eight costs: 16-bit costs unchanged, 8-bit costs multiplied by 128.
__device__ __forceinline__ uint4 load(const uint4* cells) { return __ldg(cells); }
__device__ __forceinline__ uint4 load(const uint2* cells) {
  const uint2 v = __ldg(cells);
  return {__byte_perm(v.x, 0, 0x4140) << 7, __byte_perm(v.x, 0, 0x4342) << 7, __byte_perm(v.y, 0, 0x4140) << 7, __byte_perm(v.y, 0, 0x4342) << 7};
}

// Returns the lowest word, which has the cost and the index of the best candidate.
__device__ __forceinline__ std::uint32_t best_of(uint4 costs, int first, int disparities) {
  const std::uint32_t pairs[] = {costs.x, costs.y, costs.z, costs.w};
  std::uint32_t best = 0xFFFFFFFF;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int k = first + 2 * i;
    if (k < disparities) best = min(best, pairs[i] << 16 | k);
    if (k + 1 < disparities) best = min(best, (pairs[i] & 0xFFFF0000) | (k + 1));
  }
  return best;
}

template <bool is_last, class Cells>
__device__ __forceinline__ void iterate(const std::uint32_t* __restrict__ weights, const Cells* __restrict__ costs, uint4* __restrict__ aggregated,
                                        std::uint32_t* winners, const CudaStep& s) {
  const int tiles = (s.width + cuda_columns - 1) / cuda_columns, lane = threadIdx.x % cuda_groups;
  const int x = blockIdx.x % tiles * cuda_columns + threadIdx.x / cuda_groups;
  const int wanted_group = blockIdx.x / tiles * cuda_groups + lane, group = min(wanted_group, s.groups - 1);
  if (x >= s.width) return;
  const std::int64_t pitch = static_cast<std::int64_t>(s.width) * s.groups, cell = static_cast<std::int64_t>(x) * s.groups + group;
  const int before = min(x, s.offset) * s.groups, behind = min(s.width - 1 - x, s.offset) * s.groups;
  const auto weights_of = [&](int y) { return __ldg(weights + static_cast<std::int64_t>(s.first_row + y) * s.width + x); };
  const auto row_average = [&](int row) {
    const int y = min(max(row, 0), s.height - 1);
    const Cells* p = costs + y * pitch + cell;
    return average(load(p - before), load(p), load(p + behind), weights_of(y) & 0xFFFF);
  };
  int y = blockIdx.y % s.starts + blockIdx.y / s.starts * cuda_chain * s.starts;
  if (y >= s.height) return;
  uint4 above = row_average(y - s.offset), here = row_average(y);
  for (int n = 0; n < cuda_chain && y < s.height; ++n, y += s.starts) {
    const uint4 below = row_average(y + s.offset);
    const uint4 result = average(above, here, below, weights_of(y) >> 16);
    if constexpr (is_last) {
      std::uint32_t best = wanted_group < s.groups ? best_of(result, group * cuda_cells, s.disparities) : 0xFFFFFFFF;
      // Mask of the lanes that process the pixel.
      const std::uint32_t lanes = 0xFu << (threadIdx.x & 31 & ~(cuda_groups - 1));
      best = min(best, __shfl_xor_sync(lanes, best, 1));
      best = min(best, __shfl_xor_sync(lanes, best, 2));
      if (lane == 0) atomicMin(winners + static_cast<std::int64_t>(y) * s.width + x, best);
    } else if (wanted_group < s.groups) {
      aggregated[y * pitch + cell] = result;
    }
    above = here;
    here = below;
  }
}

}  // namespace

extern "C" {

__global__ void costs_all(const std::uint32_t* __restrict__ left, Layout left_layout, const std::uint32_t* __restrict__ right, Layout right_layout,
                          uint2* costs, std::int64_t costs_offset, int groups, int min_disparity, int truncation) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, width = left_layout.width;
  if (i >= width * groups) return;
  const int x = i / groups, first = x - min_disparity - i % groups * cuda_cells;
  const std::uint32_t p = __ldg(left + left_layout.offset + y * left_layout.pitch + x);
  const std::uint32_t* row = right + right_layout.offset + y * right_layout.pitch;
  std::uint32_t c[cuda_cells];
#pragma unroll
  for (int k = 0; k < cuda_cells; ++k)
    c[k] = min(static_cast<int>(__vsadu4(p, __ldg(row + min(max(first - k, 0), width - 1)))), truncation);
  costs[costs_offset + static_cast<std::int64_t>(y) * width * groups + i] = {c[0] | c[1] << 8 | c[2] << 16 | c[3] << 24,
                                                                             c[4] | c[5] << 8 | c[6] << 16 | c[7] << 24};
}

#define STEREOPSIS_ITERATE(name, is_last, Cells)                                                                                           \
  __global__ void __launch_bounds__(cuda_columns * cuda_groups) iterate_##name(const std::uint32_t* weights, std::int64_t weights_offset, const Cells* costs,     \
                                                        std::int64_t costs_offset, uint4* aggregated, std::int64_t aggregated_offset,      \
                                                        std::uint32_t* winners, std::int64_t winners_offset, const CudaStep s) {           \
    iterate<is_last>(weights + weights_offset, costs + costs_offset, aggregated + aggregated_offset, winners + winners_offset, s);         \
  }
STEREOPSIS_ITERATE(first, false, uint2)
STEREOPSIS_ITERATE(middle, false, uint4)
STEREOPSIS_ITERATE(last, true, uint4)
STEREOPSIS_ITERATE(only, true, uint2)

__global__ void select_all(const std::uint32_t* winners, std::int64_t winners_offset, float* disparity, Layout layout, std::uint8_t* validity,
                           Layout validity_layout, int min_disparity) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= layout.width || y >= layout.height) return;
  const int best = static_cast<int>(winners[winners_offset + static_cast<std::int64_t>(y) * layout.width + x] & 0xFFFF);
  disparity[layout.offset + y * layout.pitch + x] = static_cast<float>(min_disparity + best);
  validity[validity_layout.offset + y * validity_layout.pitch + x] = 0;
}
}
