// Cross-based support regions with arms of up to 33 pixels, as tuned CUDA kernels: cross.hpp. A block keeps the colours
// of its tile, and of the halo of the tile in rows and columns, in shared memory. Bits mark neighbours that differ, so
// that the pixels of an arm need to be compared only with the first pixel.
#include "device/cuda/words.cuh"
#include "stages/cross/cross_cuda_problem.hpp"

namespace stereopsis::cross {
namespace {

constexpr Tuning tuning = gpu::pick(tunings, gpu::compiled_capability);
constexpr int tile_width = tuning.tile_width, high_tile = tuning.high_tile, low_tile = tuning.low_tile;
constexpr int items = tuning.items;
constexpr int row_length = tile_width + 2 * reach;
constexpr int row_words = (row_length + 31) / 32, column_words = items / tile_width;
static_assert(reach > 32);

template <int kTileHeight>
struct Memory {
  static constexpr int tile_height = kTileHeight, column_length = tile_height + 2 * reach;
  static_assert(column_words * 32 >= column_length);

  u32 rows[tile_height][row_length], columns[column_length][tile_width];  // one byte for each channel
  // The bit of a pixel is set if the pixel differs from the previous pixel of the row, or of the column.
  u32 breaks_in_row[tile_height][row_words], breaks_in_column[column_words][tile_width];
};

__device__ __forceinline__ u32 colour_at(const Problem& p, int outside_x, int outside_y) {
  const int x = min(max(outside_x, 0), p.width - 1), y = min(max(outside_y, 0), p.height - 1);
  const std::uint8_t* pixel = p.image + y * p.image_pitch + x * p.channels;
  return p.channels == 1 ? pixel[0] : pixel[0] | (u32)pixel[1] << 8 | (u32)pixel[2] << 16;
}

// Tests whether a channel differs by at least a limit: adding 256 − limit then produces a carry.
struct Limit {
  u32 outer, inner;

  explicit __device__ __forceinline__ Limit(int colour)
      : outer((256 - colour) * 0x00010001u), inner((256 - colour) * 0x100u) {}
  __device__ __forceinline__ bool is_passed(u32 a, u32 b) const {
    const u32 difference = __vabsdiffu4(a, b);
    return ((((difference & 0x00FF00FF) + outer) & 0x01000100) | (((difference & 0xFF00) + inner) & 0x10000)) != 0;
  }
};

// Return the number of pixels before the first pixel that differs from its predecessor, counted from the highest bit
// down, and from the lowest bit up.
__device__ __forceinline__ int unbroken_before(u32 low, u32 high, int bit) {
  return __clzll((long)(((u64)high << 32 | low) << (31 - bit)));
}
__device__ __forceinline__ int unbroken_behind(u32 low, u32 high, int bit) {
  return __clzll((long)__brevll(((u64)high << 32 | low) >> bit));
}

__device__ __forceinline__ int arm(const u32* start, int step, int most, const Problem& p, const Limit& colour,
                                   const Limit& strict) {
  const u32 own = *start;
  const int short_most = min(most, p.short_length);
  int n = 1;
  for (; n <= short_most; ++n)
    if (colour.is_passed(start[n * step], own)) return n - 1;
  for (; n <= most; ++n)
    if (strict.is_passed(start[n * step], own)) return n - 1;
  return most;
}

template <class M>
__device__ __forceinline__ void load(const Problem& p, M& memory, int first_x, int first_y) {
  for (int i = threadIdx.x; i < M::tile_height * row_length; i += items)
    memory.rows[i / row_length][i % row_length] =
        colour_at(p, first_x + i % row_length - reach, first_y + i / row_length);
  for (int i = threadIdx.x; i < M::column_length * tile_width; i += items)
    memory.columns[i / tile_width][i % tile_width] =
        colour_at(p, first_x + i % tile_width, first_y + i / tile_width - reach);
}

template <class M>
__device__ __forceinline__ void find_breaks(M& memory, const Limit& colour) {
  const int lane = threadIdx.x % 32;
  for (int word = threadIdx.x / 32; word < M::tile_height * row_words; word += items / 32) {
    const int row = word / row_words, at = word % row_words * 32 + lane;
    const bool breaks = at > 0 && at < row_length && colour.is_passed(memory.rows[row][at], memory.rows[row][at - 1]);
    const u32 bits = __ballot_sync(~0u, breaks);
    if (lane == 0) memory.breaks_in_row[row][word % row_words] = bits;
  }
  const int column = threadIdx.x % tile_width, word = threadIdx.x / tile_width;
  u32 bits = 0;
  for (int i = 0; i < 32; ++i) {
    const int at = word * 32 + i;
    if (at > 0 && at < M::column_length && colour.is_passed(memory.columns[at][column], memory.columns[at - 1][column]))
      bits |= 1u << i;
  }
  memory.breaks_in_column[word][column] = bits;
}

template <int kTileHeight>
__device__ __forceinline__ void make_arms(const Problem& p) {
  __shared__ Memory<kTileHeight> memory;
  const Limit colour(p.colour), strict(p.strict_colour);
  const int first_x = blockIdx.x * tile_width, first_y = blockIdx.y * kTileHeight;
  load(p, memory, first_x, first_y);
  __syncthreads();
  find_breaks(memory, colour);
  __syncthreads();
  const int column = threadIdx.x % tile_width, x = first_x + column;
  if (x >= p.width) return;
  for (int row = threadIdx.x / tile_width; row < kTileHeight; row += items / tile_width) {
    const int y = first_y + row, at_x = column + reach, at_y = row + reach;
    if (y >= p.height) return;
    const u32* in_row = memory.breaks_in_row[row];
    const auto in_column = [&](int word) { return memory.breaks_in_column[word][column]; };
    const int left = unbroken_before(in_row[at_x / 32 - 1], in_row[at_x / 32], at_x % 32);
    const int right = unbroken_behind(in_row[(at_x + 1) / 32], in_row[(at_x + 1) / 32 + 1], (at_x + 1) % 32);
    const int up = unbroken_before(in_column(at_y / 32 - 1), in_column(at_y / 32), at_y % 32);
    const int down = unbroken_behind(in_column((at_y + 1) / 32), in_column((at_y + 1) / 32 + 1), (at_y + 1) % 32);
    const auto most = [&](int unbroken, int room) { return min(min(unbroken, room), p.longest); };
    const u32 *here = &memory.rows[row][at_x], *here_in_column = &memory.columns[at_y][column];
    p.arms[y * p.arms_pitch + x] = (u32)arm(here, -1, most(left, x), p, colour, strict) |
                                   (u32)arm(here, 1, most(right, p.width - 1 - x), p, colour, strict) << 8 |
                                   (u32)arm(here_in_column, -tile_width, most(up, y), p, colour, strict) << 16 |
                                   (u32)arm(here_in_column, tile_width, most(down, p.height - 1 - y), p, colour, strict)
                                       << 24;
  }
}

}  // namespace
}  // namespace stereopsis::cross

using namespace stereopsis::cross;

extern "C" {

__global__ void __launch_bounds__(items) make_arms_high(const __grid_constant__ Problem p) { make_arms<high_tile>(p); }
__global__ void __launch_bounds__(items) make_arms_low(const __grid_constant__ Problem p) { make_arms<low_tile>(p); }

}  // extern "C"
