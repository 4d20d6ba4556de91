// Correlation without a volume, on the tensor cores. A warp has 32 left pixels of a row and 48 disparities. The warp
// keeps the window sums Σ l r of all its cells as the accumulators of integer matrix products. From one row to the
// next, the products of the row that enters the window are added to a sum, and the products of the row that leaves the
// window are subtracted. Each change is an outer product of left and right pixels over the columns of the window, which
// is exact in 32 bits. The value −l does not fit in 8 bits if l = −128, but −1 − l does. Therefore, −Σ l r is computed
// as Σ (−1 − l) r + Σ r. Wide windows use −1 − r instead. The missing term, Σ l, is one more product for all
// disparities.
//
// If a window is wider than two tiles, the sums of the second 16 left pixels of a warp are computed from the sums of
// the first 16. Only the columns that windows gain and lose when they move by 16 are added. This method takes products
// over 32 columns, independently of the window size.
//
// Pixels along a diagonal of a tile have the same disparity. The second 16 left pixels are combined with right pixels
// 16 further to the right. The cells of a warp therefore form a parallelogram, and few of them lie outside the search
// range. Cells outside the range start from such a small sum that they never correlate.
#include "fused/zncc_wta/zncc_wta_cuda_problem.hpp"

using namespace stereopsis;
using namespace stereopsis::zncc_wta;

constexpr Tuning tuning = gpu::pick(tunings, gpu::compiled_capability);
constexpr int correlate_warps = tuning.correlate_warps;
constexpr int narrow_blocks = tuning.narrow_blocks, wide_blocks = tuning.wide_blocks;
constexpr int prepare_threads = tuning.prepare_threads, prepare_blocks = tuning.prepare_blocks;

namespace {

constexpr unsigned everyone = 0xFFFFFFFF;

// For windows up to 21×21, sums are stored as the bits of a float, 2²³ + margin + sum. The float is exact above
// −margin. A sum below −margin is lower than c Σ r can be, so that its cell has no positive covariance.
constexpr int float_margin = 1 << 19, float_bias = 0x4B000000 + float_margin;

// Returns a row of an array, in which element 0 belongs to pixel 0.
template <class T>
__device__ T* row_of(void* array, const Side& side, int y) {
  return static_cast<T*>(array) + static_cast<std::int64_t>(y) * side.pitch + side.margin;
}

struct Fragment {
  unsigned words[4];
};

// Computes sums += a · b for 16 left pixels and 8 right pixels, over 32 columns of a row of the window.
__device__ void multiply(int (&sums)[4], const Fragment& a, uint2 b) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
      : "r"(a.words[0]), "r"(a.words[1]), "r"(a.words[2]), "r"(a.words[3]), "r"(b.x), "r"(b.y));
}

constexpr unsigned each_one = 0x01010101;

// True if the sums of the second 16 left pixels are stored as differences from the sums of the first 16. For windows of
// at least two steps, this takes fewer products.
template <int steps>
constexpr bool slides = steps >= 2;

// Returns a mask of the first `count` of four bytes.
__device__ unsigned first_bytes(int count) {
  unsigned mask;
  asm("bmsk.clamp.b32 %0, 0, %1;" : "=r"(mask) : "r"(max(8 * count, 0)));
  return mask;
}

// Computes the maximum of each value over the lanes that differ in `Bit` and in lower bits down to `Last`. In each
// step, a lane keeps half of its values: the first half if its bit is not set, and the second half otherwise.
template <int Count, int Bit, int Last>
__device__ void reduce_max(unsigned* values) {
  const bool upper = threadIdx.x & Bit;
#pragma unroll
  for (int i = 0; i < Count / 2; ++i) {
    const unsigned sent = upper ? values[i] : values[i + Count / 2], kept = upper ? values[i + Count / 2] : values[i];
    values[i] = max(kept, __shfl_xor_sync(everyone, sent, Bit));
  }
  if constexpr (Bit > Last) reduce_max<Count / 2, Bit / 2, Last>(values);
}

// The cells of a warp: 16 · tile_rows left pixels from x0 on, and 8 · tile_columns right pixels for each 16 left
// pixels. Left pixel x0 + a and right pixel leftmost + b have the disparity number first_k + a − b. In a fragment of a
// matrix, lane (g, q) has left pixels g and g + 8, right pixel g, and 8 columns of the windows of these pixels. In
// sums, it has left pixels g and g + 8, and right pixels 2 q and 2 q + 1.
struct Cells {
  int g, q, x0, first_k, leftmost;
  const uint2 *left, *right;  // octets of the first pixels of this lane in row 0
  int first, count;           // columns of the window that the lane has
  int sums[tile_rows][tile_columns][4];
  int rest[tile_rows][4];  // for wide windows, the term that is missing in all sums of a left pixel

  // Cells outside the search range start so far below 0 that they never correlate.
  template <int steps>
  __device__ void begin(int disparities) {
    constexpr int bias = steps == 0 ? float_bias : 0;
#pragma unroll
    for (int i = 0; i < tile_rows; ++i)
#pragma unroll
      for (int c = 0; c < 4; ++c) rest[i][c] = 0;
#pragma unroll
    for (int j = 0; j < tile_columns; ++j)
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        const int k = first_k + g + c / 2 * 8 - (8 * j + 2 * q + c % 2);
#pragma unroll
        for (int i = 0; i < tile_rows; ++i)
          sums[i][j][c] = slides<steps> && i == 1 ? 0 : k >= 0 && k < disparities ? bias : bias - (1 << 30);
      }
  }
};

__device__ int clamped(int row, const Problem& p) { return min(max(row, 0), p.height - 1); }

__device__ const uint2* octets_of(const uint2* first, const Side& side, int y) {
  return first + static_cast<std::int64_t>(y) * side.pitch;
}

// Adds the products of a row that enters all windows, or subtracts the products of a row that leaves them.
template <bool leaves>
__device__ void accumulate(Cells& cells, const Problem& p, int row) {
  const int y = clamped(row, p);
  const uint2* left = octets_of(cells.left, p.left, y) + cells.first;
  const uint2* right = octets_of(cells.right, p.right, y) + cells.first;
  const unsigned low = first_bytes(cells.count), high = first_bytes(cells.count - 4), flip = leaves ? everyone : 0;
  const Fragment ones{low & each_one, low & each_one, high & each_one, high & each_one};
  Fragment a[tile_rows];
#pragma unroll
  for (int i = 0; i < tile_rows; ++i) {
    const uint2 upper = left[16 * i], lower = left[16 * i + 8];
    a[i] = {(upper.x ^ flip) & low, (lower.x ^ flip) & low, (upper.y ^ flip) & high, (lower.y ^ flip) & high};
  }
#pragma unroll
  for (int at = 0; at < warp_span / 8; ++at) {
    const uint2 b = right[8 * at];
#pragma unroll
    for (int i = 0; i < tile_rows; ++i) {
      const int j = at - 2 * i;
      if (j < 0 || j >= tile_columns) continue;
      multiply(cells.sums[i][j], a[i], b);
      if (leaves) multiply(cells.sums[i][j], ones, b);
    }
  }
}

// The data of a lane for a row, for windows of `steps` times 32 columns. The columns of a lane are contiguous. The data
// of 8 pixels in one step is therefore the data of the previous 8 pixels in the next step.
template <int steps>
struct Share {
  static constexpr int full_rows = slides<steps> ? 1 : tile_rows;
  uint2 left[2 * full_rows + steps - 1], right[tile_columns + 2 * full_rows + steps - 3];

  template <bool leaves>
  __device__ void load(const Cells& cells, const Problem& p, int row) {
    const int y = clamped(row, p);
    const uint2* from = octets_of(cells.left, p.left, y) + cells.first;
#pragma unroll
    for (int i = 0; i < 2 * full_rows + steps - 1; ++i) left[i] = from[8 * i];
    from = octets_of(cells.right, p.right, y) + cells.first + (leaves ? p.complement : 0);
#pragma unroll
    for (int i = 0; i < tile_columns + 2 * full_rows + steps - 3; ++i) right[i] = from[8 * i];
  }

  template <bool leaves>
  __device__ void add_to(Cells& cells) const {
#pragma unroll
    for (int step = 0; step < steps; ++step) {
      const unsigned low = first_bytes(cells.count - 8 * step), high = first_bytes(cells.count - 8 * step - 4);
#pragma unroll
      for (int i = 0; i < full_rows; ++i) {
        const uint2 upper = left[2 * i + step], lower = left[2 * i + 1 + step];
        const Fragment a{upper.x & low, lower.x & low, upper.y & high, lower.y & high};
#pragma unroll
        for (int j = 0; j < tile_columns; ++j) multiply(cells.sums[i][j], a, right[j + 2 * i + step]);
        if (leaves) multiply(cells.rest[i], a, make_uint2(each_one, each_one));
      }
    }
  }
};

// Adds the difference between the windows of the second 16 left pixels and those of the first 16. Of four lanes, lanes
// 0 and 1 subtract the 16 columns on the left, and the others add the 16 columns on the right.
template <bool leaves>
__device__ void slide(Cells& cells, const Problem& p, int row) {
  const int y = clamped(row, p), window = 2 * p.radius + 1;
  const int column = 8 * cells.q + (cells.q < 2 ? 0 : window - 16);
  const bool is_taken = (cells.q < 2) != leaves;
  const uint2* left = octets_of(cells.left, p.left, y) + column;
  const uint2* right = octets_of(cells.right, p.right, y) + column + (is_taken ? p.complement : 0);
  const uint2 upper = left[0], lower = left[8];
  // All bits are set, but the compiler does not know the value. The compiler therefore builds the fragment once instead
  // of for each product.
  const unsigned all = first_bytes(window);
  const Fragment a{upper.x & all, lower.x & all, upper.y & all, lower.y & all};
#pragma unroll
  for (int j = 0; j < tile_columns; ++j) multiply(cells.sums[1][j], a, right[8 * j]);
  const unsigned ones = is_taken ? each_one : 0;
  multiply(cells.rest[1], a, make_uint2(ones, ones));
}

template <int steps, bool leaves>
__device__ void add(Cells& cells, const Share<steps>& share, const Problem& p, int row) {
  share.template add_to<leaves>(cells);
  if constexpr (slides<steps>) slide<leaves>(cells, p, row);
}

// Returns the sum over the window of cell c of tile (i, j).
template <int steps>
__device__ int sum_of(const Cells& cells, int i, int j, int c) {
  if constexpr (steps == 0) return cells.sums[i][j][c];
  const int sum = cells.sums[i][j][c] + cells.rest[i][c];
  return slides<steps> && i == 1 ? sum + cells.sums[0][j][c] + cells.rest[0][c] : sum;
}

// The data of the left pixels that a lane has, and their best candidates so far.
struct LeftPixels {
  int minus_mean[2 * tile_rows];
  float fraction[2 * tile_rows], root[2 * tile_rows];
  unsigned best[2 * tile_rows];

  __device__ void load(const int4* windows) {
#pragma unroll
    for (int i = 0; i < 2 * tile_rows; ++i) {
      const int4 window = windows[8 * i];
      minus_mean[i] = window.x;
      fraction[i] = __int_as_float(window.y);
      root[i] = __int_as_float(window.z);
      best[i] = 0;
    }
  }
};

// Returns the score of a cell in the upper half of a key.
template <int steps>
__device__ unsigned score_of(const LeftPixels& left, int i, int sum, int right_sum, float right_float,
                             float right_root) {
  const int exact = sum + left.minus_mean[i] * right_sum;
  const float centred = steps > 0 ? static_cast<float>(exact) : __int_as_float(exact) - (8388608.0f + float_margin);
  const float covariance = centred - left.fraction[i] * right_float;
  const float correlation = __saturatef(covariance * left.root[i] * right_root);
  return __float_as_uint(correlation + 256.0f) << 16;  // the last bit of 256 + ρ, as a float, has the value 2⁻¹⁵
}

// Correlates the left pixels with the two right pixels from 8 · at + 2 q on, and keeps the better one. The low half of
// a key identifies the disparity, except for a part that all cells of the lane have in common.
template <int steps>
__device__ void correlate_pair(const Cells& cells, LeftPixels& left, int at, int4 windows, unsigned (&right_best)[2]) {
  const int right_sum[2] = {windows.x, windows.z};
  const float right_float[2] = {static_cast<float>(windows.x), static_cast<float>(windows.z)};
  const float right_root[2] = {__int_as_float(windows.y), __int_as_float(windows.w)};
  right_best[0] = right_best[1] = 0;
#pragma unroll
  for (int i = 0; i < tile_rows; ++i) {
    const int j = at - 2 * i;
    if (j < 0 || j >= tile_columns) continue;
    unsigned keys[2][2];
#pragma unroll
    for (int h = 0; h < 2; ++h)
#pragma unroll
      for (int c = 0; c < 2; ++c)
        keys[h][c] = score_of<steps>(left, 2 * i + h, sum_of<steps>(cells, i, j, 2 * h + c), right_sum[c],
                                     right_float[c], right_root[c]) +
                     (8 * (j - h) + c + 8);
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      left.best[2 * i + n] = __vimax3_u32(left.best[2 * i + n], keys[n][0], keys[n][1]);
      right_best[n] = __vimax3_u32(right_best[n], keys[0][n], keys[1][n]);
    }
  }
}

__device__ void offer(std::uint32_t* best, int width, int x, unsigned key) {
  if (x >= 0 && x < width && key >= 65536) atomicMax(best + x, key);
}

// Correlates all cells in row y.
template <int steps>
__device__ void correlate_row(const Cells& cells, const Problem& p, int y) {
  const int g = cells.g, q = cells.q;
  const unsigned code = last_code - cells.first_k - g + 2 * q - 8;
  const std::int64_t row = static_cast<std::int64_t>(y) * p.width;
  const int2* right_windows = row_of<int2>(p.right.windows, p.right, y) + cells.leftmost + 2 * q;
  LeftPixels left;
  left.load(row_of<int4>(p.left.windows, p.left, y) + cells.x0 + g);
#pragma unroll
  for (int first = 0; first < warp_span / 8; first += 4) {
    unsigned best[4][2];
#pragma unroll
    for (int at = 0; at < 4; ++at)
      correlate_pair<steps>(cells, left, first + at, *reinterpret_cast<const int4*>(right_windows + 8 * (first + at)),
                            best[at]);
    if (p.right_disparity == nullptr) continue;
    unsigned* all = &best[0][0];
#pragma unroll
    for (int i = 0; i < 8; ++i) all[i] += code;
    reduce_max<8, 16, 4>(all);
    offer(p.right.best + row, p.width, cells.leftmost + 8 * first + 8 * (g / 2) + 2 * q + g % 2, all[0]);
  }
#pragma unroll
  for (int i = 0; i < 2 * tile_rows; ++i) left.best[i] += code;
  reduce_max<2 * tile_rows, 2, 1>(left.best);
#pragma unroll
  for (int i = 0; i < tile_rows / 2; ++i)
    offer(p.left.best + row, p.width, cells.x0 + 8 * (q * tile_rows / 2 + i) + g, left.best[i]);
}

// Follows the cells of a warp down rows y0 to y1.
__device__ void follow_narrow(Cells& cells, const Problem& p, int y0, int y1) {
#pragma unroll 2
  for (int y = y0 - p.radius - 1; y < y0 + p.radius; ++y) accumulate<false>(cells, p, y);
  for (int y = y0; y < y1; ++y) {
    accumulate<false>(cells, p, y + p.radius);
    accumulate<true>(cells, p, y - p.radius - 1);
    correlate_row<0>(cells, p, y);
  }
}

// The data that enters in the next row is loaded before the current row is correlated.
template <int steps>
__device__ void follow_wide(Cells& cells, const Problem& p, int y0, int y1) {
  Share<steps> entering, leaving;
#pragma unroll 2
  for (int y = y0 - p.radius - 1; y < y0 + p.radius; ++y) {
    entering.template load<false>(cells, p, y);
    add<steps, false>(cells, entering, p, y);
  }
  entering.template load<false>(cells, p, y0 + p.radius);
  for (int y = y0; y < y1; ++y) {
    const int first = y - p.radius - 1, last = y + p.radius;
    leaving.template load<true>(cells, p, first);
    add<steps, false>(cells, entering, p, last);
    add<steps, true>(cells, leaving, p, first);
    entering.template load<false>(cells, p, last + 1);
    correlate_row<steps>(cells, p, y);
  }
}

template <int steps>
__device__ void correlate(const Problem& p) {
  const int lane = threadIdx.x % 32, task = blockIdx.x * correlate_warps + threadIdx.x / 32, chunk = task % p.chunks;
  const int y0 = blockIdx.y * p.strip_rows, y1 = min(y0 + p.strip_rows, p.height);
  Cells cells;
  cells.g = lane / 4;
  cells.q = lane % 4;
  cells.x0 = task / p.chunks * warp_pixels;
  cells.first_k = p.first_k - chunk * warp_disparities;
  cells.leftmost = cells.x0 - p.min_disparity - cells.first_k;
  if (cells.x0 >= p.width || cells.leftmost >= p.width || cells.leftmost + warp_span <= 0) return;
  cells.left = row_of<uint2>(p.left.octets, p.left, 0) + cells.x0 + cells.g;
  cells.right = row_of<uint2>(p.right.octets, p.right, 0) + cells.leftmost + cells.g;
  cells.first = p.first_columns[cells.q];
  cells.count = p.first_columns[cells.q + 1] - cells.first;
  cells.begin<steps>(p.disparities);
  if constexpr (steps == 0)
    follow_narrow(cells, p, y0, y1);
  else
    follow_wide<steps>(cells, p, y0, y1);
}

// Returns Σ v and Σ v² over the columns first to last of a block's row. The sums are computed from running sums, which
// restart in each warp.
__device__ int2 sums_over(int first, int last, const int2* running, const int2* totals) {
  int2 sums = running[last];
  const auto add = [&](int2 v, int sign) { sums = make_int2(sums.x + sign * v.x, sums.y + sign * v.y); };
  if (first > 0) add(running[first - 1], -1);
  constexpr int most_warps = (101 + 31) / 32;
  const int first_warp = max(first - 1, 0) / 32, end = last / 32;
#pragma unroll
  for (int i = 0; i < most_warps; ++i)
    if (first_warp + i < end) add(totals[first_warp + i], 1);
  return sums;
}

// The statistics of a window, as in stages/zncc/zncc.hpp.
struct Window {
  int mean;
  float fraction, root;
};

__device__ Window window_of(int2 sums, int n, float one_over_n) {
  const int mean = __float2int_rn(static_cast<float>(sums.x) * one_over_n), rest = sums.x - n * mean;
  const float fraction = static_cast<float>(rest) * one_over_n;
  if (static_cast<std::int64_t>(n) * sums.y == static_cast<std::int64_t>(sums.x) * sums.x) return {mean, fraction, 0};
  const float variance = static_cast<float>(sums.y - mean * sums.x - mean * rest) - fraction * static_cast<float>(rest);
  return {mean, fraction, 1.0f / sqrtf(variance)};
}

}  // namespace

extern "C" {

// Computes octets and windows of both views. A thread walks down a column. Sums along a row are differences of running
// sums.
__global__ void __launch_bounds__(prepare_threads, prepare_blocks) prepare_all(const __grid_constant__ Problem p) {
  constexpr int warps = prepare_threads / 32;
  __shared__ __align__(16) std::uint8_t bytes[2][prepare_threads + 16];
  __shared__ int2 running[2][prepare_threads], totals[2][warps];
  const bool is_left = blockIdx.y % 2 == 0;
  const Side& side = is_left ? p.left : p.right;
  const int n = (2 * p.radius + 1) * (2 * p.radius + 1), behind = max(p.radius, 8);
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  const int i = blockIdx.x * (prepare_threads - p.radius - behind) + thread - p.radius, x = i - side.margin;
  const bool mine = thread >= p.radius && thread < prepare_threads - behind && i < side.pitch,
             inside = x >= 0 && x < p.width;
  const std::int16_t* column = side.samples + min(max(x, 0), p.width - 1);
  const auto sample = [&](int y) {
    return static_cast<int>(column[min(max(y, 0), p.height - 1) * side.samples_pitch]);
  };
  const int y0 = blockIdx.y / 2 * p.prepare_rows, y1 = min(y0 + p.prepare_rows, p.height);
  int sum = 0, squares = 0;
#pragma unroll 8
  for (int y = y0 - p.radius - 1; y < y0 + p.radius; ++y) {
    const int v = sample(y);
    sum += v;
    squares += v * v;
  }
  int entering = sample(y0 + p.radius), leaving = sample(y0 - p.radius - 1), centre = sample(y0);
  for (int y = y0; y < y1; ++y) {
    const int now = y % 2;
    sum += entering - leaving;
    squares += entering * entering - leaving * leaving;
    bytes[now][thread] = static_cast<std::uint8_t>(centre);
    // Loads the data of the next row long before it is needed.
    entering = sample(y + 1 + p.radius);
    leaving = sample(y - p.radius);
    centre = sample(y + 1);
    int2 scan = make_int2(sum, squares);
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const int a = __shfl_up_sync(everyone, scan.x, step), b = __shfl_up_sync(everyone, scan.y, step);
      if (lane >= step) scan = make_int2(scan.x + a, scan.y + b);
    }
    running[now][thread] = scan;
    if (lane == 31) totals[now][warp] = scan;
    __syncthreads();
    if (!mine) continue;
    const int first = thread - p.radius;
    const unsigned* words = reinterpret_cast<const unsigned*>(bytes[now]) + first / 4;
    const unsigned shift = first % 4 * 8;
    const std::int64_t at = static_cast<std::int64_t>(y) * side.pitch + i;
    const uint2 octet =
        make_uint2(__funnelshift_r(words[0], words[1], shift), __funnelshift_r(words[1], words[2], shift));
    static_cast<uint2*>(side.octets)[at] = octet;
    if (!is_left && p.complement != 0)
      static_cast<uint2*>(side.octets)[at + p.complement] = make_uint2(~octet.x, ~octet.y);

    const int2 sums = sums_over(first, thread + p.radius, running[now], totals[now]);
    Window window = window_of(sums, n, p.one_over_n);
    if (!inside || (side.mask != nullptr && side.mask[y * side.mask_pitch + x] == 0)) window.root = 0;
    if (is_left)
      static_cast<int4*>(side.windows)[at] =
          make_int4(-window.mean, __float_as_int(window.fraction), __float_as_int(window.root), 0);
    else
      static_cast<int2*>(side.windows)[at] = make_int2(sums.x, __float_as_int(window.root));
    if (inside) side.best[static_cast<std::int64_t>(y) * p.width + x] = 0;
  }
}

__global__ void __launch_bounds__(32 * correlate_warps, narrow_blocks)
    correlate_narrow(const __grid_constant__ Problem p) {
  correlate<0>(p);
}
__global__ void __launch_bounds__(32 * correlate_warps, wide_blocks)
    correlate_wide1(const __grid_constant__ Problem p) {
  correlate<1>(p);
}
__global__ void __launch_bounds__(32 * correlate_warps, wide_blocks)
    correlate_wide2(const __grid_constant__ Problem p) {
  correlate<2>(p);
}
__global__ void __launch_bounds__(32 * correlate_warps, wide_blocks)
    correlate_wide3(const __grid_constant__ Problem p) {
  correlate<3>(p);
}
__global__ void __launch_bounds__(32 * correlate_warps, wide_blocks)
    correlate_wide4(const __grid_constant__ Problem p) {
  correlate<4>(p);
}

__global__ void select_all(const __grid_constant__ Problem p) {
  constexpr std::uint8_t no_candidate = 1, ambiguous = 4, masked = 16;
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= p.width || y >= p.height) return;
  const auto disparity_of = [&](unsigned key) {
    if (key < 65536) return __uint_as_float(0x7FC00000);
    return static_cast<float>(p.min_disparity + static_cast<int>(last_code - (key & 65535)));
  };
  const std::int64_t i = static_cast<std::int64_t>(y) * p.width + x;
  const unsigned key = p.left.best[i];
  const bool usable = p.left.mask == nullptr || p.left.mask[y * p.left.mask_pitch + x] != 0;
  const bool flat = static_cast<const int4*>(p.left.windows)[static_cast<std::int64_t>(y) * p.left.pitch + x].z == 0;
  p.disparity[y * p.disparity_pitch + x] = disparity_of(key);
  p.validity[y * p.validity_pitch + x] = !usable ? masked : key >= 65536 ? 0 : flat ? ambiguous : no_candidate;
  if (p.right_disparity != nullptr) p.right_disparity[y * p.right_disparity_pitch + x] = disparity_of(p.right.best[i]);
}

}  // extern "C"
