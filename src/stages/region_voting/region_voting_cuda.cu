// Iterative region voting as tuned CUDA kernels: region_voting.hpp. A warp computes the vote for a pixel. If no pixel
// of a region was filled in the last iteration, the result of the vote does not change. Tiles of the image therefore
// record the iteration in which one of their pixels was last filled.
#include "device/gpu/vocabulary.h"
#include "stages/region_voting/region_voting_cuda_problem.hpp"

using namespace stereopsis::region_voting;

namespace gpu = stereopsis::gpu;

constexpr Tuning tuning = gpu::pick(tunings, gpu::compiled_capability);
constexpr int warps = tuning.warps, tile = tuning.tile;
constexpr uint everywhere = ~0u;
constexpr int nothing = (int)0x80000000;
constexpr int bins = 256;            // number of bins that are counted at a time
constexpr int across = 8, down = 4;  // number of lanes that process a row together, and number of rows at a time
// Number of pixels that a warp examines at once, before it votes for them one after the other.
constexpr int at_once = 8;
constexpr uchar reasons = 63, filled = 64;

__device__ __forceinline__ int bin_of(float d) { return fabsf(d) < 32768.0f ? __float2int_rd(d + 0.5f) : nothing; }

// The extent of a region to the left and to the right.
struct Sides {
  int left, right;
};

// Returns whether a pixel in the tiles of the region was filled in the last iteration. `tiles` is the number of tiles
// in a row of the image.
__device__ __forceinline__ bool is_changed(const uchar* changed, int tiles, int x, int y, uint arms, ushort sides,
                                           int iteration) {
  const int last_x = (x + (sides >> 8)) / tile, last_y = (y + (int)(arms >> 24)) / tile;
  bool any = false;
  for (int ty = (y - (int)(arms >> 16 & 255)) / tile; ty <= last_y; ++ty)
    for (int tx = (x - (sides & 255)) / tile; tx <= last_x; ++tx) any |= changed[ty * tiles + tx] == iteration - 1;
  return any;
}

// The vote of a warp for a pixel. All lanes hold the result.
struct Vote {
  int most, best, all;
  Sides sides;
};
__device__ __forceinline__ Vote vote_for(IMAGE(const float, disparity), IMAGE(const uint, arms), uint* votes, int x,
                                         int y, int low, int high) {
  const int lane = threadIdx.x % 32;
  const uint own = PIXEL(arms, x, y);
  const int top = y - (int)(own >> 16 & 255), rows = y + (int)(own >> 24) - top + 1;
  Vote vote{0, 0, 0, {0, 0}};
  for (int first = low; first <= high; first += bins) {
    const int used = min(bins, high - first + 1);
    for (int bin = lane; bin < used; bin += 32) votes[bin] = 0;
    __syncwarp();
    for (int base = 0; base < rows; base += 32) {
      const int batch = min(32, rows - base);
      const uint lane_arms = lane < batch ? PIXEL(arms, x, top + base + lane) : 0;
      vote.sides.left = max(vote.sides.left, lane_arms & 255);
      vote.sides.right = max(vote.sides.right, lane_arms >> 8 & 255);
      for (int row = lane / across; row - lane / across < batch; row += down) {
        const uint row_arms = __shfl_sync(everywhere, lane_arms, row);
        if (row >= batch) continue;
        const float* line = &PIXEL(disparity, 0, top + base + row);
        const int end = x + (int)(row_arms >> 8 & 255);
        for (int u = x - (int)(row_arms & 255) + lane % across; u <= end; u += across) {
          const uint bin = (uint)bin_of(line[u]) - (uint)first;
          if (bin < (uint)used) atomicAdd(votes + bin, 1u);
        }
      }
    }
    __syncwarp();
    uint mine = 0, winner = 0;  // votes, and the bin counted from the last bin, so that the lowest bin wins ties
    for (int bin = lane; bin < used; bin += 32) {
      mine += votes[bin];
      winner = max(winner, votes[bin] * bins + (bins - 1 - bin));
    }
    __syncwarp();
    vote.all += (int)__reduce_add_sync(everywhere, mine);
    winner = __reduce_max_sync(everywhere, winner);
    if ((int)(winner / bins) <= vote.most) continue;
    vote.most = (int)(winner / bins);
    vote.best = first + bins - 1 - (int)(winner % bins);
  }
  vote.sides.left = (int)__reduce_max_sync(everywhere, (uint)vote.sides.left);
  vote.sides.right = (int)__reduce_max_sync(everywhere, (uint)vote.sides.right);
  return vote;
}

extern "C" __global__ void __launch_bounds__(32 * warps)
    vote_any(IMAGE(const float, disparity), IMAGE(const uint, arms), ARRAY(const int, gaps), ARRAY(const int, found),
             ARRAY(const uchar, changed), ARRAY(ushort, sides), ARRAY(float, voted), int tiles, int iteration,
             int least_votes, int share) {
  __shared__ uint votes[warps][bins];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, width = WIDTH(disparity);
  const int* const counts = ELEMENTS(found);
  constexpr int beyond_bins = 65536;  // the same value as in region_voting.cl
  const int last = counts[0], low = counts[1] + beyond_bins, high = -(counts[2] + beyond_bins);
  for (int first = (blockIdx.x * warps + warp) * at_once; first < last; first += gridDim.x * warps * at_once) {
    const int gap = first + lane;
    int at = 0;
    bool asks = lane < at_once && gap < last;
    if (asks) {
      at = ELEMENTS(gaps)[gap];
      const int x = at % width, y = at / width;
      const float here = PIXEL(disparity, x, y);
      asks = here != here && (iteration == 1 || is_changed(ELEMENTS(changed), tiles, x, y, PIXEL(arms, x, y),
                                                           ELEMENTS(sides)[gap], iteration));
      if (!asks) ELEMENTS(voted)[gap] = INVALID;
    }
    for (uint asking = __ballot_sync(everywhere, asks); asking != 0; asking &= asking - 1) {
      const int i = __ffs((int)asking) - 1, pixel = __shfl_sync(everywhere, at, i);
      const Vote vote = vote_for(disparity, disparity_layout, arms, arms_layout, votes[warp], pixel % width,
                                 pixel / width, low, high);
      if (lane != 0) continue;
      const bool wins = vote.all > least_votes && 100 * (long)vote.most > (long)share * vote.all;
      ELEMENTS(voted)[first + i] = wins ? (float)vote.best : INVALID;
      if (iteration == 1) ELEMENTS(sides)[first + i] = (ushort)(vote.sides.left | vote.sides.right << 8);
    }
  }
}

extern "C" __global__ void __launch_bounds__(32 * warps)
    fill_any(IMAGE(float, disparity), IMAGE(uchar, validity), ARRAY(const int, gaps), ARRAY(const int, found),
             ARRAY(uchar, changed), ARRAY(const float, voted), int tiles, int iteration) {
  const int width = WIDTH(disparity), last = ELEMENTS(found)[0];
  for (int gap = blockIdx.x * blockDim.x + threadIdx.x; gap < last; gap += gridDim.x * blockDim.x) {
    const float value = ELEMENTS(voted)[gap];
    if (value != value) continue;
    const int at = ELEMENTS(gaps)[gap], x = at % width, y = at / width;
    PIXEL(disparity, x, y) = value;
    PIXEL(validity, x, y) = (uchar)((PIXEL(validity, x, y) & ~reasons) | filled);
    ELEMENTS(changed)[y / tile * tiles + x / tile] = (uchar)iteration;
  }
}
