// Correlation without a volume. A thread has one disparity and 16 rows: it walks along them and keeps the window sum of each in
// a register. From one column to the next a sum changes by the products of the column that enters less those of the one that
// leaves; from one row to the next that change differs by four products, which two dp2a instructions add. The best disparity of a
// left pixel is a reduction over the warp; that of a right pixel moves on to the next lane with each column.
#include "fused/zncc_wta/zncc_wta_cuda_problem.hpp"

using namespace stereopsis::zncc_wta;

namespace {

constexpr int kRows = strip_rows;

__device__ int sample(const std::int16_t* samples, std::int64_t pitch, int x, int y, int width, int height) {
  return samples[min(max(y, 0), height - 1) * pitch + min(max(x, 0), width - 1)];
}

__device__ unsigned pair_of(int low, int high) { return (low & 0xFFFF) | static_cast<unsigned>(high) << 16; }

// Adds two products of 16-bit samples of the left pair and bytes: the low or the high two.
__device__ int dot_low(unsigned pair, unsigned bytes, int sum) { return __dp2a_lo(static_cast<int>(pair), static_cast<int>(bytes), sum); }
__device__ int dot_high(unsigned pair, unsigned bytes, int sum) { return __dp2a_hi(static_cast<int>(pair), static_cast<int>(bytes), sum); }

}  // namespace

extern "C" {

__global__ void pack_left_all(const __grid_constant__ Problem p) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;
  const int window = 2 * p.radius + 1, x = column - window;
  if (row >= p.rows || column >= p.width + window) return;
  const auto at = [&](int dx, int y) { return sample(p.left_samples, p.left_pitch, x + dx, y, p.width, p.height); };
  const int first = row - p.radius, next = first + window;
  static_cast<uint2*>(p.left_pairs)[static_cast<std::int64_t>(column) * p.rows + row] =
      make_uint2(pair_of(at(p.radius, next), -at(-p.radius - 1, next)), pair_of(-at(p.radius, first), at(-p.radius - 1, first)));
  if (x < 0) return;
  float4 w = make_float4(0, 0, 0, 0);
  if (row < p.height && (p.mask_left == nullptr || p.mask_left[row * p.mask_left_pitch + x] != 0)) {
    const std::int64_t i = static_cast<std::int64_t>(row) * (p.width + 2 * p.radius) + p.radius + x;
    const int sum = p.sums[0][i], mean = __float2int_rn(static_cast<float>(sum) * p.one_over_n);
    w = make_float4(static_cast<float>(-mean), static_cast<float>(sum - window * window * mean) * p.one_over_n, p.roots[0][i], 0);
  }
  static_cast<float4*>(p.left_windows)[static_cast<std::int64_t>(x) * p.rows + row] = w;
}

__global__ void pack_right_all(const __grid_constant__ Problem p) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  const int window = 2 * p.radius + 1, x = column - window;
  if (row >= p.rows || column >= p.pitch) return;
  const auto at = [&](int dx, int y) {
    return static_cast<unsigned>(sample(p.right_samples, p.right_pitch, x + dx, y, p.width, p.height)) & 0xFF;
  };
  const int first = row - p.radius, next = first + window;
  const std::int64_t i = static_cast<std::int64_t>(row) * p.pitch + column;
  p.right_bytes[i] = at(p.radius, next) | at(-p.radius - 1, next) << 8 | at(p.radius, first) << 16 | at(-p.radius - 1, first) << 24;
  float2 w = make_float2(0, 0);
  if (x >= 0 && x < p.width && row < p.height && (p.mask_right == nullptr || p.mask_right[row * p.mask_right_pitch + x] != 0)) {
    const std::int64_t k = static_cast<std::int64_t>(row) * (p.width + 2 * p.radius) + p.radius + x;
    w = make_float2(static_cast<float>(p.sums[1][k]), p.roots[1][k]);
  }
  static_cast<float2*>(p.right_windows)[i] = w;
}

__global__ void __launch_bounds__(32 * most_warps, 3) correlate_all(const __grid_constant__ Problem p) {
  __shared__ unsigned left_best[most_columns * kRows];
  __shared__ unsigned right_best[(most_columns + 32 * most_warps) * kRows];
  const int thread = threadIdx.x, lane = thread % 32, window = 2 * p.radius + 1;
  // Groups of disparities lie side by side in x.
  const int groups = (p.disparities + 32 * most_warps - 1) / (32 * most_warps), group = blockIdx.x % groups;
  const int first_k = group * 32 * most_warps, k = first_k + thread, span = p.columns + blockDim.x;
  const int x0 = blockIdx.x / groups * p.columns, x1 = min(x0 + p.columns, p.width), y0 = blockIdx.y * kRows;
  const int leftmost = x0 - p.min_disparity - first_k - static_cast<int>(blockDim.x) + 1;  // right pixel of the block
  for (int i = thread; i < p.columns * kRows; i += blockDim.x) left_best[i] = 0;
  for (int i = thread; i < span * kRows; i += blockDim.x) right_best[i] = 0;
  __syncthreads();

  const unsigned code = 65535 - k;
  int sums[kRows];
  unsigned best[kRows];  // of right pixels
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    sums[i] = 0;
    best[i] = 0;
  }
  for (int x = x0 - window; x < x1; ++x) {
    const int x_right = x - p.min_disparity - k;
    // A lane without a disparity stays where nothing matches.
    const int place = k < p.disparities ? min(max(x_right, -window), p.width - 1 + window) + window : 0;
    const std::int64_t start = static_cast<std::int64_t>(y0) * p.pitch + place;
    const unsigned* bytes = p.right_bytes + start;
    const uint2* pairs = static_cast<const uint2*>(p.left_pairs) + static_cast<std::int64_t>(x + window) * p.rows + y0;
    const bool warm = x < x0;  // columns enter, none leaves
    const unsigned used = warm ? 0x0000FFFF : 0xFFFFFFFF;
    int change = 0;
    for (int i = 0; i < window; ++i) change = dot_high(pairs[i].y & used, bytes[i * p.pitch], change);
    change = -change;
    const float2* windows = static_cast<const float2*>(p.right_windows) + start;
    const float4* left_windows = static_cast<const float4*>(p.left_windows) + static_cast<std::int64_t>(x) * p.rows + y0;
    if (warm) {
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        sums[i] += change;
        const unsigned b = bytes[i * p.pitch];
        change = dot_high(pairs[i].y & used, b, dot_low(pairs[i].x & used, b, change));
      }
      continue;
    }
    unsigned mine = 0;
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      sums[i] += change;
      const unsigned b = bytes[i * p.pitch];
      const uint2 pair = pairs[i];
      change = dot_high(pair.y, b, dot_low(pair.x, b, change));
      const float2 right = windows[i * p.pitch];
      const float4 left = left_windows[i];
      // Exact up to here: all of it is an integer below 2²⁴.
      const float centred = __fmaf_rn(left.x, right.x, static_cast<float>(sums[i]));
      const float correlation = __saturatef((centred - left.y * right.x) * left.z * right.y);
      const unsigned key = __byte_perm(__float_as_uint(correlation + 256.0f), code, 0x1054);
      const unsigned winner = __reduce_max_sync(0xFFFFFFFF, key);
      if (lane == i) mine = winner;
      const unsigned before = __shfl_up_sync(0xFFFFFFFF, best[i], 1);
      best[i] = max(lane == 0 ? 0 : before, key);
    }
    if (lane < kRows) atomicMax(&left_best[(x - x0) * kRows + lane], mine);
    if (lane == 31) {
      unsigned* out = right_best + (x_right - leftmost) * kRows;
#pragma unroll
      for (int i = 0; i < kRows; ++i) atomicMax(out + i, best[i]);
    }
  }
  if (lane != 31) {  // which is done
    unsigned* out = right_best + (x1 - 1 - p.min_disparity - k - leftmost) * kRows;
#pragma unroll
    for (int i = 0; i < kRows; ++i) atomicMax(out + i, best[i]);
  }
  __syncthreads();
  const int rows = min(kRows, p.height - y0);
  for (int i = thread; i < (x1 - x0) * rows; i += blockDim.x) {
    const int x = i % (x1 - x0), row = i / (x1 - x0);
    atomicMax(p.left_best + static_cast<std::int64_t>(y0 + row) * p.width + x0 + x, left_best[x * kRows + row]);
  }
  if (p.right_disparity == nullptr) return;
  for (int i = thread; i < span * rows; i += blockDim.x) {
    const int column = i % span, row = i / span, x = leftmost + column;
    const unsigned key = x >= 0 && x < p.width ? right_best[column * kRows + row] : 0;
    if (key >= 65536) atomicMax(p.right_best + static_cast<std::int64_t>(y0 + row) * p.width + x, key);
  }
}

__global__ void select_all(const __grid_constant__ Problem p) {
  constexpr std::uint8_t no_candidate = 1, ambiguous = 4, masked = 16;
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= p.width || y >= p.height) return;
  const float invalid = __uint_as_float(0x7FC00000);
  const auto disparity_of = [&](unsigned key) {
    return key < 65536 ? invalid : static_cast<float>(p.min_disparity + static_cast<int>(65535 - (key & 65535)));
  };
  const std::int64_t i = static_cast<std::int64_t>(y) * p.width + x;
  const unsigned key = p.left_best[i];
  const bool usable = p.mask_left == nullptr || p.mask_left[y * p.mask_left_pitch + x] != 0;
  const bool flat = p.roots[0][static_cast<std::int64_t>(y) * (p.width + 2 * p.radius) + p.radius + x] == 0;
  p.disparity[y * p.disparity_pitch + x] = disparity_of(key);
  p.validity[y * p.validity_pitch + x] = !usable ? masked : key >= 65536 ? 0 : flat ? ambiguous : no_candidate;
  if (p.right_disparity != nullptr) p.right_disparity[y * p.right_disparity_pitch + x] = disparity_of(p.right_best[i]);
}

}  // extern "C"
