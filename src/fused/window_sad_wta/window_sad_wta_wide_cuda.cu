// Window matching without a volume, for windows of any width and any number of disparities. A block processes a strip
// of columns, including the aprons of its windows, for a band of rows. The block processes 128 disparities at a time,
// and each lane has four adjacent disparities. A warp keeps the sums of 24 columns in registers. For each row, the
// costs of the row that enters the window are added. The costs of the row that leaves it are computed again and
// subtracted. The warp shares its column sums with the other warps in shared memory, and computes the windows that
// start at its own columns. The first of these windows is a sum of totals of warps and of a few columns. For each
// further window, the column that leaves belongs to this warp, and the column that enters belongs to another warp.
#include "fused/window_sad_wta/window_sad_wta_cuda_problem.hpp"
#include "fused/window_sad_wta/window_sad_wta_difference.cuh"

namespace stereopsis::window_sad_wta {

constexpr WideTuning tuning = gpu::pick(wide_tunings, gpu::compiled_capability);
constexpr int wide_warps = tuning.warps, columns_of_warp = tuning.columns_of_warp, wide_columns = tuning.columns();
constexpr unsigned no_key = 1u << 30;  // key of an absent candidate, larger than all other keys
constexpr int per_lane = 4, disparities_of_block = 32 * per_lane;
constexpr int sum_scale = disparities_of_block;  // a key is a sum times this factor, plus a disparity

// The words of a row that the block needs. The right words cover all disparities of the block.
struct RowWords {
  static constexpr int count = 2 * wide_columns + disparities_of_block;

  alignas(16) unsigned left[wide_columns];
  alignas(16) unsigned right[wide_columns + disparities_of_block];
};

// Some data exists twice, because it is written for the next row while other warps still read the data of the current
// row.
struct Shared {
  uint2 sums[2][wide_columns][32];  // column sums: 4 × 16 bits per lane
  uint4 totals[2][wide_warps][32];  // sums over the columns of a warp
  RowWords entering[2], leaving[2];
  uint4 keys[wide_warps][columns_of_warp / 4];
};

// The right words of four columns. Entry 3 + i − j belongs to column i at disparity j of the lane.
struct RightWords {
  uint4 low, high;

  __device__ unsigned entry(int e) const {
    return e == 0   ? low.x
           : e == 1 ? low.y
           : e == 2 ? low.z
           : e == 3 ? low.w
           : e == 4 ? high.x
           : e == 5 ? high.y
                    : high.z;
  }
};

// `kExact` means that sums are compared without a shift.
template <bool kExact>
class WideStrip {
 public:
  __device__ WideStrip(const Problem& p, Shared& shared)
      : p_(p),
        shared_(shared),
        lane_(threadIdx.x),
        warp_(threadIdx.y),
        first_column_(columns_of_warp * warp_),
        first_x_(static_cast<int>(blockIdx.x) * p.outputs) {}

  __device__ void run() {
    for (first_k_ = 0; first_k_ < p_.disparities; first_k_ += disparities_of_block) {
      if (first_k_ > 0) __syncthreads();
      match();
    }
  }

 private:
  struct Words {
    unsigned first, second;
  };

  __device__ static int within(int v, int first, int last) { return min(max(v, first), last); }

  // Return the first and the last column of the strip inside the image.
  __device__ int first_inside() const { return p_.radius_x - first_x_; }
  __device__ int last_inside() const { return first_inside() + p_.width - 1; }

  __device__ void match() {
    const int first_y = static_cast<int>(blockIdx.y) * p_.band, last_y = min(first_y + p_.band, p_.height);
    place_loads();
#pragma unroll
    for (int j = 0; j < per_lane; ++j) {
      edge_[j] = 0;
#pragma unroll
      for (int i = 0; i < columns_of_warp; ++i) sums_[i][j] = 0;
    }
    const bool at_side = first_column_ < first_inside() || first_column_ + columns_of_warp - 1 > last_inside();
    Words entering = load(first_y - p_.radius_y);
    for (int dy = -p_.radius_y; dy <= p_.radius_y; ++dy) {
      RowWords& row = shared_.entering[dy & 1];
      store(entering, row);
      __syncthreads();
      entering = load(first_y + dy + 1);
      update<false>(row, row, at_side);
    }
    Words leaving = load(first_y - p_.radius_y);
    const int x = first_x_ + first_column_;
    const bool has_outputs = first_column_ < p_.outputs && x < p_.width;
    const bool all_inside = p_.border_candidates || (x - p_.min_disparity - p_.disparities + 1 >= 0 &&
                                                     x + columns_of_warp - 1 - p_.min_disparity < p_.width);
    int now = p_.radius_y & 1;  // the last row of the start is still read while the next row is stored
    for (int y = first_y; y < last_y; ++y, now ^= 1) {
      if (y > first_y) update<true>(shared_.entering[now], shared_.leaving[now], at_side);
      show(now);
      store(entering, shared_.entering[now ^ 1]);
      store(leaving, shared_.leaving[now ^ 1]);
      __syncthreads();
      entering = load(y + 2 + p_.radius_y);
      leaving = load(y + 1 - p_.radius_y);
      if (!has_outputs) continue;
      if (all_inside)
        select<true>(y, now);
      else
        select<false>(y, now);
    }
  }

  // Each thread loads two words of a row: one of the left or the right view, and one of the right view.
  __device__ void place_loads() {
    const int x = first_x_ - p_.radius_x, word = 32 * warp_ + lane_, right_word = word - wide_columns,
              right_x = x - (p_.min_disparity + first_k_ + disparities_of_block - 1) + right_word;
    const bool is_left = right_word < 0;
    first_word_ = (is_left ? p_.left : p_.right) + within(is_left ? x + word : right_x, 0, p_.width - 1);
    first_pitch_ = static_cast<int>(is_left ? p_.left_pitch : p_.right_pitch);
    second_x_ = within(right_x + 32 * wide_warps, 0, p_.width - 1);
  }

  __device__ Words load(int y) const {
    const int row = within(y, 0, p_.height - 1);
    return {__ldg(first_word_ + static_cast<std::int64_t>(row) * first_pitch_),
            __ldg(p_.right + row * p_.right_pitch + second_x_)};
  }

  __device__ void store(const Words& words, RowWords& row) const {
    static_assert(wide_columns <= 32 * wide_warps && RowWords::count <= 2 * 32 * wide_warps);
    const int first = 32 * warp_ + lane_, second = first + 32 * wide_warps;
    row.left[first] = words.first;
    if (second < RowWords::count) row.left[second] = words.second;
  }

  __device__ const uint4* lefts(const RowWords& row) const {
    return reinterpret_cast<const uint4*>(row.left + first_column_);
  }
  __device__ const uint4* rights(const RowWords& row) const {
    return reinterpret_cast<const uint4*>(row.right + first_column_) + 31 - lane_;
  }
  __device__ static unsigned part(const uint4& v, int i) { return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w; }

  // Columns outside the image have the sums of the outermost column inside. A warp can extend beyond only one side,
  // because an image is wider than a warp.
  template <bool kLeaves>
  __device__ void update_edge(const RowWords& entering, const RowWords& leaving) {
    const int column = first_column_ < first_inside() ? first_inside() : last_inside();
    const int first = column + disparities_of_block - 1 - per_lane * lane_;
#pragma unroll
    for (int j = 0; j < per_lane; ++j) {
      edge_[j] = add_difference(entering.left[column], entering.right[first - j], edge_[j]);
      if (kLeaves) edge_[j] -= add_difference(leaving.left[column], leaving.right[first - j], 0);
    }
  }

  template <bool kLeaves>
  __device__ void update(const RowWords& entering, const RowWords& leaving, bool at_side) {
    if (at_side)
      update<kLeaves, true>(entering, leaving);
    else
      update<kLeaves, false>(entering, leaving);
  }

  // `kSide` means that some columns of the warp are outside the image.
  template <bool kLeaves, bool kSide>
  __device__ void update(const RowWords& entering, const RowWords& leaving) {
    RightWords more, less;
    more.high = rights(entering)[0];
    if (kLeaves) less.high = rights(leaving)[0];
    if (kSide) update_edge<kLeaves>(entering, leaving);
#pragma unroll
    for (int first = 0; first < columns_of_warp; first += 4) {
      more = {more.high, rights(entering)[first / 4 + 1]};
      const uint4 left_more = lefts(entering)[first / 4];
      uint4 left_less{};
      if (kLeaves) {
        less = {less.high, rights(leaving)[first / 4 + 1]};
        left_less = lefts(leaving)[first / 4];
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int column = first_column_ + first + i;
        const bool outside = kSide && (column < first_inside() || column > last_inside());
#pragma unroll
        for (int j = 0; j < per_lane; ++j) {
          unsigned& sum = sums_[first + i][j];
          unsigned changed = add_difference(part(left_more, i), more.entry(3 + i - j), sum);
          if (kLeaves) changed -= add_difference(part(left_less, i), less.entry(3 + i - j), 0);
          sum = outside ? edge_[j] : changed;
        }
      }
    }
  }

  __device__ void show(int now) {
    unsigned totals[per_lane] = {};
#pragma unroll
    for (int i = 0; i < columns_of_warp; ++i) {
      shared_.sums[now][first_column_ + i][lane_] = {__byte_perm(sums_[i][0], sums_[i][1], 0x5410),
                                                     __byte_perm(sums_[i][2], sums_[i][3], 0x5410)};
#pragma unroll
      for (int j = 0; j < per_lane; ++j) totals[j] += sums_[i][j];
    }
    shared_.totals[now][warp_][lane_] = {totals[0], totals[1], totals[2], totals[3]};
  }

  // Adds a column to the scaled sums of a window.
  __device__ static void add(unsigned (&window)[per_lane], uint2 column) {
    constexpr unsigned lower = sum_scale, upper = sum_scale << 8;
    window[0] = __dp2a_lo(column.x, lower, window[0]);
    window[1] = __dp2a_lo(column.x, upper, window[1]);
    window[2] = __dp2a_lo(column.y, lower, window[2]);
    window[3] = __dp2a_lo(column.y, upper, window[3]);
  }

  // Computes the scaled sums of the window that starts at the warp's first column. The sums are computed from the
  // totals of as many whole warps as best match the width of the window, and from the missing or surplus columns.
  __device__ void begin(unsigned (&window)[per_lane], int now) const {
    const int width = 2 * p_.radius_x + 1, whole = (width + columns_of_warp / 2) / columns_of_warp,
              rest = width - columns_of_warp * whole;
    for (int i = 0; i < whole; ++i) {
      const uint4 totals = shared_.totals[now][warp_ + i][lane_];
      window[0] += totals.x;
      window[1] += totals.y;
      window[2] += totals.z;
      window[3] += totals.w;
    }
    unsigned more[per_lane] = {};
    const uint2(*columns)[32] = shared_.sums[now] + first_column_ + min(width, columns_of_warp * whole);
    for (int i = 0; i < abs(rest); ++i) add(more, columns[i][lane_]);
#pragma unroll
    for (int j = 0; j < per_lane; ++j) window[j] = window[j] * sum_scale + (rest > 0 ? more[j] : -more[j]);
  }

  // Returns bits: bit i is set if, for column i of the warp, the right pixel of the candidate is outside the image.
  __device__ unsigned outside(int k) const {
    const int there = first_x_ + first_column_ - p_.min_disparity - k;
    return ((1u << within(-there, 0, columns_of_warp)) - 1) | ~0u << within(p_.width - there, 0, columns_of_warp);
  }

  template <bool kInside>
  __device__ void select(int y, int now) {
    const unsigned mask = ~((static_cast<unsigned>(sum_scale) << p_.shift) - 1);
    unsigned window[per_lane] = {}, index[per_lane], excluded[per_lane];
#pragma unroll
    for (int j = 0; j < per_lane; ++j) {
      const int k = per_lane * lane_ + j;
      index[j] = first_k_ + k < p_.disparities ? k : no_key;
      if (!kInside) excluded[j] = outside(first_k_ + k);
    }
    begin(window, now);
    if (kExact)
#pragma unroll
      for (int j = 0; j < per_lane; ++j) window[j] += index[j];
    const uint2(*entering)[32] = shared_.sums[now] + first_column_ + 2 * p_.radius_x + 1;
    unsigned lowest[4];
#pragma unroll
    for (int i = 0; i < columns_of_warp; ++i) {
      unsigned keys[per_lane];
#pragma unroll
      for (int j = 0; j < per_lane; ++j) {
        keys[j] = kExact ? window[j] : (window[j] & mask) | index[j];
        // The shift moves the bits of two columns to positions where they exclude candidates.
        if (!kInside) keys[j] |= excluded[j] << (30 - i / 2 * 2) & no_key << i % 2;
      }
      lowest[i % 4] = __reduce_min_sync(0xFFFFFFFFu, min(__vimin3_u32(keys[0], keys[1], keys[2]), keys[3]));
      if (i % 4 == 3 && lane_ == 0) shared_.keys[warp_][i / 4] = {lowest[0], lowest[1], lowest[2], lowest[3]};
      if (i == columns_of_warp - 1) break;
      add(window, entering[i][lane_]);
#pragma unroll
      for (int j = 0; j < per_lane; ++j) window[j] -= sum_scale * sums_[i][j];
    }
    __syncwarp();
    if (lane_ < min(columns_of_warp, p_.outputs - first_column_))
      write(first_x_ + first_column_ + lane_, y, reinterpret_cast<const unsigned*>(shared_.keys[warp_])[lane_]);
  }

  // Writes the results. Before the last round over the disparities, the keys are stored in place of the result, with a
  // disparity of `index_bits`.
  __device__ void write(int x, int y, unsigned key) const {
    if (x >= p_.width) return;
    key = key >= no_key ? no_key : (key / sum_scale >> p_.shift << index_bits) | (first_k_ + key % sum_scale);
    float* disparity = p_.disparity + y * p_.disparity_pitch + x;
    if (first_k_ > 0) key = min(key, __float_as_uint(*disparity));
    if (first_k_ + disparities_of_block < p_.disparities) {
      *disparity = __uint_as_float(key);
      return;
    }
    const bool found = key < no_key;
    const int k = static_cast<int>(key & ((1u << index_bits) - 1));
    *disparity = found ? static_cast<float>(p_.min_disparity + k) : __uint_as_float(0x7FC00000u);
    p_.validity[y * p_.validity_pitch + x] = found ? 0 : 1;
  }

  const Problem& p_;
  Shared& shared_;
  const int lane_, warp_, first_column_, first_x_;
  int first_k_ = 0;
  const unsigned* first_word_;
  int first_pitch_, second_x_;
  unsigned sums_[columns_of_warp][per_lane], edge_[per_lane];
};

static_assert(sizeof(Shared) == tuning.shared_bytes);

template <bool kExact>
__device__ void match(const Problem& p) {
  extern __shared__ __align__(16) unsigned char memory[];
  WideStrip<kExact>(p, *reinterpret_cast<Shared*>(memory)).run();
}

}  // namespace stereopsis::window_sad_wta

using namespace stereopsis::window_sad_wta;

extern "C" {

__global__ void __launch_bounds__(32 * wide_warps) match_exact(const __grid_constant__ Problem p) { match<true>(p); }
__global__ void __launch_bounds__(32 * wide_warps) match_shifted(const __grid_constant__ Problem p) { match<false>(p); }

}  // extern "C"
