// Window matching without a volume. A warp computes the sums of 32 columns for a band of rows. Each lane has `kPerLane`
// adjacent disparities. Column sums stay in registers. For each row, the costs of the row that enters the window are
// added. The costs of the row that leaves it are computed again and subtracted. The sum over the window then moves
// along the columns, and the warp reduces keys that consist of sum and disparity. Strips at the sides repeat their
// outermost column.
#include "fused/window_sad_wta/window_sad_wta_cuda_problem.hpp"
#include "fused/window_sad_wta/window_sad_wta_difference.cuh"

namespace stereopsis::window_sad_wta {

constexpr Tuning tuning = gpu::pick(tunings, gpu::compiled_capability);
constexpr int light_warps = tuning.light_warps, heavy_warps = tuning.heavy_warps;
constexpr unsigned no_key = 1u << 30;  // key of an absent candidate, larger than all other keys

// The words of a row that a warp needs. Each lane has adjacent disparities, so that the right words are stored in
// `kPerLane` planes. The lanes then read from 32 different banks at a time.
template <int kPerLane>
struct RowWords {
  static constexpr int right_words = strip_columns + 32 * kPerLane;
  static constexpr int plane = right_words / kPerLane;

  unsigned left[strip_columns];
  unsigned right[right_words];
};

template <int kPerLane, int kRanges, bool kBorder, int kRadius>
class Strip {
  static constexpr int kColumns = strip_columns, kOutputs = kColumns - 2 * kRadius;
  using Words = RowWords<kPerLane>;
  static constexpr int kLoads = Words::right_words / 32;

 public:
  __device__ Strip(const Problem& p, Words (*words)[2])
      : p_(p), words_(words), lane_(threadIdx.x), first_k_(static_cast<int>(threadIdx.y) * 32 * kPerLane) {
    // The last strip ends at the border, and the apron of no other strip crosses it.
    const int x = static_cast<int>(blockIdx.x) * kOutputs, last_x = p.width - kOutputs;
    first_x_ = x >= last_x ? last_x : x > last_x - kRadius ? last_x - kRadius : x;
  }

  __device__ void run(unsigned (*shared_keys)[most_ranges][32]) {
    const int first_y = static_cast<int>(blockIdx.y) * p_.band, last_y = min(first_y + p_.band, p_.height);
#pragma unroll
    for (int c = 0; c < kColumns; ++c)
#pragma unroll
      for (int j = 0; j < kPerLane; ++j) sums_[c][j] = 0;
    Row next = load(first_y - p_.radius_y);
    for (int dy = -p_.radius_y; dy <= p_.radius_y; ++dy) {
      __syncwarp();
      store(next, words_[0][0]);
      __syncwarp();
      next = load(first_y + dy + 1);
      update<false>(words_[0][0], words_[0][0]);
    }
    __syncwarp();
    // The row `next` enters with the second row.
    Row leaving = load(first_y - p_.radius_y);
    for (int y = first_y; y < last_y; ++y) {
      if (y > first_y) update<true>(words_[y & 1][0], words_[y & 1][1]);
      repeat_borders();
      unsigned key = select();
      if (kRanges > 1) key = lowest_of_ranges(key, shared_keys[y & 1]);
      if (threadIdx.y == 0) write(y, key);
      store(next, words_[(y + 1) & 1][0]);
      store(leaving, words_[(y + 1) & 1][1]);
      next = load(y + 2 + p_.radius_y);
      leaving = load(y + 1 - p_.radius_y);
      __syncwarp();
    }
  }

 private:
  struct Row {
    unsigned left, right[kLoads];
  };

  __device__ static int within(int v, int last) { return min(max(v, 0), last); }

  __device__ Row load(int y) const {
    const int row = within(y, p_.height - 1), x = first_x_ - kRadius;
    const unsigned* left = p_.left + row * p_.left_pitch;
    const unsigned* right = p_.right + row * p_.right_pitch;
    Row words;
    words.left = __ldg(left + within(x + lane_, p_.width - 1));
    const int first = x - (p_.min_disparity + first_k_ + 32 * kPerLane - 1);
#pragma unroll
    for (int i = 0; i < kLoads; ++i) words.right[i] = __ldg(right + within(first + 32 * i + lane_, p_.width - 1));
    return words;
  }

  __device__ void store(const Row& row, Words& words) const {
    words.left[lane_] = row.left;
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int t = 32 * i + lane_;
      words.right[t % kPerLane * Words::plane + t / kPerLane] = row.right[i];
    }
  }

  // The right word for column c and disparity j of the lane is entry kPerLane − 1 + c − j of the lane.
  __device__ unsigned right_word(const Words& words, int entry) const {
    return words.right[entry % kPerLane * Words::plane + entry / kPerLane + 31 - lane_];
  }

  template <bool kLeaves>
  __device__ void update(const Words& entering, const Words& leaving) {
    unsigned more[kPerLane], less[kPerLane];
#pragma unroll
    for (int j = 1; j < kPerLane; ++j) {
      more[j] = right_word(entering, kPerLane - 1 - j);
      if (kLeaves) less[j] = right_word(leaving, kPerLane - 1 - j);
    }
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      const unsigned left_more = entering.left[c], left_less = kLeaves ? leaving.left[c] : 0;
      more[0] = right_word(entering, kPerLane - 1 + c);
      if (kLeaves) less[0] = right_word(leaving, kPerLane - 1 + c);
#pragma unroll
      for (int j = 0; j < kPerLane; ++j) {
        sums_[c][j] = add_difference(left_more, more[j], sums_[c][j]);
        if (kLeaves) sums_[c][j] -= __vsadu4(left_less, less[j]);
      }
#pragma unroll
      for (int j = kPerLane - 1; j > 0; --j) {
        more[j] = more[j - 1];
        if (kLeaves) less[j] = less[j - 1];
      }
    }
  }

  __device__ void repeat_borders() {
    if (first_x_ == 0)
#pragma unroll
      for (int c = 0; c < kRadius; ++c)
#pragma unroll
        for (int j = 0; j < kPerLane; ++j) sums_[c][j] = sums_[kRadius][j];
    if (first_x_ == p_.width - kOutputs)
#pragma unroll
      for (int c = kRadius + kOutputs; c < kColumns; ++c)
#pragma unroll
        for (int j = 0; j < kPerLane; ++j) sums_[c][j] = sums_[kRadius + kOutputs - 1][j];
  }

  // Returns the lowest key in output column `lane`.
  __device__ unsigned select() const {
    unsigned running[kPerLane], index[kPerLane], result = no_key;
#pragma unroll
    for (int j = 0; j < kPerLane; ++j) {
      const int k = first_k_ + kPerLane * lane_ + j;
      index[j] = k < p_.disparities ? k : no_key;
      running[j] = 0;
#pragma unroll
      for (int c = 0; c < 2 * kRadius; ++c) running[j] += sums_[c][j];
    }
#pragma unroll
    for (int i = 0; i < kOutputs; ++i) {
      unsigned lowest = no_key;
#pragma unroll
      for (int j = 0; j < kPerLane; ++j) {
        running[j] += sums_[i + 2 * kRadius][j];
        unsigned key = (running[j] << index_bits) + index[j];
        if (!kBorder) {
          const int there = first_x_ + i - p_.min_disparity - first_k_ - kPerLane * lane_ - j;
          if (there < 0 || there >= p_.width) key = no_key;
        }
        lowest = min(lowest, key);
        running[j] -= sums_[i][j];
      }
      lowest = __reduce_min_sync(0xFFFFFFFFu, lowest);
      if (lane_ == i) result = lowest;
    }
    return result;
  }

  __device__ unsigned lowest_of_ranges(unsigned key, unsigned (*keys)[32]) const {
    keys[threadIdx.y][lane_] = key;
    __syncthreads();
    for (int i = 0; i < static_cast<int>(blockDim.y); ++i) key = min(key, keys[i][lane_]);
    return key;
  }

  __device__ void write(int y, unsigned key) const {
    if (lane_ >= kOutputs) return;
    const int x = first_x_ + lane_;
    const bool found = key < no_key;
    const int k = static_cast<int>(key & ((1u << index_bits) - 1));
    p_.disparity[y * p_.disparity_pitch + x] =
        found ? static_cast<float>(p_.min_disparity + k) : __uint_as_float(0x7FC00000u);
    p_.validity[y * p_.validity_pitch + x] = found ? 0 : 1;
  }

  const Problem& p_;
  Words (*words_)[2];  // words of two rows, used in turn for the entering and the leaving row
  const int lane_, first_k_;
  int first_x_;  // first output column
  unsigned sums_[kColumns][kPerLane];
};

template <int kPerLane, int kRanges, bool kBorder, int kRadius>
__device__ void match(const Problem& p) {
  __shared__ RowWords<kPerLane> words[kRanges][2][2];
  __shared__ unsigned keys[2][most_ranges][32];
  Strip<kPerLane, kRanges, kBorder, kRadius>(p, words[threadIdx.y]).run(keys);
}

}  // namespace stereopsis::window_sad_wta

using namespace stereopsis::window_sad_wta;

// Instantiates the kernel under the name by which the host finds it. The arguments are the disparities per lane, the
// largest number of warps per strip, the candidates outside, and the radius.
#define STEREOPSIS_MATCH(per_lane, ranges, border, flag, radius)                                \
  extern "C" __global__ void __launch_bounds__(32 * ranges, (per_lane == 2 ? light_warps : heavy_warps) / ranges) \
      match_##per_lane##_##ranges##_##border##_##radius(const __grid_constant__ Problem p) {    \
    match<per_lane, ranges, flag, radius>(p);                                                   \
  }
#define STEREOPSIS_RADII(per_lane, ranges, border, flag) \
  STEREOPSIS_MATCH(per_lane, ranges, border, flag, 1)    \
  STEREOPSIS_MATCH(per_lane, ranges, border, flag, 2)    \
  STEREOPSIS_MATCH(per_lane, ranges, border, flag, 3)    \
  STEREOPSIS_MATCH(per_lane, ranges, border, flag, 4)    \
  STEREOPSIS_MATCH(per_lane, ranges, border, flag, 5)
STEREOPSIS_RADII(2, 1, inside, false)
STEREOPSIS_RADII(2, 1, border, true)
STEREOPSIS_RADII(4, 1, inside, false)
STEREOPSIS_RADII(4, 1, border, true)
STEREOPSIS_RADII(4, 4, inside, false)
STEREOPSIS_RADII(4, 4, border, true)
