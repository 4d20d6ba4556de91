// The sum of learned costs, census costs and gradients for 32 components, with dot products from the tensor cores:
// learned_sum.hpp. A warp computes the cells of 16 left pixels and 8 right pixels with one matrix product. The left
// pixels are 8 columns apart, so that each has 8 disparities with the right pixels, and the product has each of 128
// disparities once.
#include "device/gpu/vocabulary.h"
#include "fused/learned_sum/learned_sum_cuda_problem.hpp"

using namespace stereopsis::learned_sum;

namespace {

constexpr Tuning tuning = stereopsis::gpu::pick(tunings, stereopsis::gpu::compiled_capability);
constexpr int threads = tuning.threads, columns = threads / 4;  // columns of a block, for each of the left pixels
constexpr int runs = cuda_disparities / cuda_run, span = columns + cuda_run * (runs - 1);
constexpr int rights = columns + cuda_run - 1;
constexpr int bytes = cuda_components;             // per pixel
constexpr int run_pitch = columns * cuda_run + 8;  // the runs of adjacent left pixels use different banks

// Returns the position of a left pixel, such that pixels 8 columns apart use different banks.
__device__ __forceinline__ uint place_of(uint i) { return (i + i / 8) * bytes; }

// A word of census and gradient, whose cost cost.hpp defines.
struct Word {
  uint census, gradient;
};
__device__ __forceinline__ Word word_of(uint v) { return {v & 0xFFFFFF, v >> 24}; }

// Returns the dot products of 16 left pixels and 8 right pixels. A lane has 8 adjacent components of a pixel.
__device__ __forceinline__ void multiply(int (&dots)[4], const uint2& upper, const uint2& lower, const uint2& right) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %10, %10, "
      "%10};"
      : "=r"(dots[0]), "=r"(dots[1]), "=r"(dots[2]), "=r"(dots[3])
      : "r"(upper.x), "r"(lower.x), "r"(upper.y), "r"(lower.y), "r"(right.x), "r"(right.y), "r"(0));
}

}  // namespace

extern "C" __global__ void __launch_bounds__(threads)
    learned_sum_32(ARRAY(const int, left), ARRAY(const int, right), IMAGE(const uint, left_words),
                   IMAGE(const uint, right_words), ARRAY(uchar, sums), int disparities, int min_disparity, int offset,
                   int scale, int shift, int limit, int census_weight, int gradient_limit, int cost_weight,
                   int plus_weight) {
  __shared__ uint4 lefts[(span + span / 8) * bytes / 16];
  __shared__ uint4 other[rights * bytes / 16];
  __shared__ Word own_words[span + span / 8], other_words[rights];
  __shared__ uint2 made[runs * run_pitch / 8];
  const int parts = (disparities + cuda_disparities - 1) / cuda_disparities, width = WIDTH(left_words), y = blockIdx.y;
  const int first_x = (int)blockIdx.x / parts * columns - cuda_run * (runs - 1),
            first_k = (int)blockIdx.x % parts * cuda_disparities;
  const int first_right = first_x - min_disparity - first_k - (cuda_run - 1);
  const uint4* const left_row = reinterpret_cast<const uint4*>(ELEMENTS(left)) + (long)y * width * 2;
  const uint4* const right_row = reinterpret_cast<const uint4*>(ELEMENTS(right)) + (long)y * width * 2;
  for (uint i = threadIdx.x; i < 2 * span; i += threads)
    lefts[place_of(i / 2) / 16 + i % 2] = left_row[2 * clamp(first_x + (int)(i / 2), 0, width - 1) + i % 2];
  for (uint i = threadIdx.x; i < 2 * rights; i += threads)
    other[i] = right_row[2 * clamp(first_right + (int)(i / 2), 0, width - 1) + i % 2];
  for (uint i = threadIdx.x; i < span; i += threads)
    own_words[i + i / 8] = word_of(PIXEL(left_words, clamp(first_x + (int)i, 0, width - 1), y));
  for (uint i = threadIdx.x; i < rights; i += threads)
    other_words[i] = word_of(PIXEL(right_words, clamp(first_right + (int)i, 0, width - 1), y));
  __syncthreads();

  const uint lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const int sum = offset * scale + (1 << (shift - 1)), factor = -scale;
  const auto cell = [&](int dot, const Word& a, const Word& b) {
    const int learned = __vimin_s32_relu((dot * factor + sum) >> shift, limit);
    const uint plus =
        census_weight * __popc(a.census ^ b.census) + min(__usad(a.gradient, b.gradient, 0), gradient_limit);
    return min((cost_weight * learned + plus_weight * plus + 32) >> 6, 255);
  };
#pragma unroll 1
  for (int n = 0; n < 8; ++n) {
    const uint column = threadIdx.x / 32 * 8 + n;
    const uchar* const from = reinterpret_cast<const uchar*>(lefts) + place_of(column + 8 * g) + 8 * t;
    int dots[4];
    multiply(dots, *reinterpret_cast<const uint2*>(from), *reinterpret_cast<const uint2*>(from + 72 * bytes),
             *reinterpret_cast<const uint2*>(reinterpret_cast<const uchar*>(other) + (column + g) * bytes + 8 * t));
    const Word b0 = other_words[column + 2 * t], b1 = other_words[column + 2 * t + 1];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const Word a = own_words[column + 8 * g + threadIdx.x / 32 + g + 72 * half];
      reinterpret_cast<ushort*>(made)[((g + 8 * half) * run_pitch + column * cuda_run) / 2 + 3 - t] =
          (ushort)(cell(dots[2 * half + 1], a, b1) | cell(dots[2 * half], a, b0) << 8);
    }
  }
  __syncthreads();

  // A block has at most 8 adjacent runs of a column. The last run is that in which the column is the first one.
  uchar* const row = ELEMENTS(sums) + (long)y * width * disparities + first_k;
  for (uint i = threadIdx.x; i < 8 * span; i += threads) {
    const int c = i / 8, last = i / 64, run = last - (last - (int)(i % 8) & 7), x = first_x + c;
    if (run < 0 || run >= runs || x < 0 || x >= width || first_k + run * cuda_run >= disparities) continue;
    *reinterpret_cast<uint2*>(row + (long)x * disparities + run * cuda_run) =
        made[(run * run_pitch + (c - 8 * run) * cuda_run) / 8];
  }
}
