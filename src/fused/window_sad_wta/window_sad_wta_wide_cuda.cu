// Window matching without a volume, for windows of any width and any number of disparities. A warp takes `strip_outputs` columns
// through a band of rows, 128 disparities at a time; each lane has four that lie side by side. The column sums of a strip with
// its aprons, four of 16 bits a lane, lie in shared memory: a row adds the costs of the row that enters the window and takes off
// those of the row that leaves it, and then the window's sum runs along the columns.
#include "fused/window_sad_wta/window_sad_wta_cuda_problem.hpp"

namespace stereopsis::window_sad_wta {

constexpr unsigned no_key = 1u << 30;  // of what is no candidate: above all others
constexpr int per_lane = 4, disparities_of_warp = 32 * per_lane;

// Words of a row. Right words lie in four planes: what the lanes read at a time is in 32 banks.
template <int kMostRadius>
struct WideRow {
  static constexpr int columns = (strip_outputs + 2 * kMostRadius + 31) / 32 * 32;
  static constexpr int right_words = columns + disparities_of_warp, plane = right_words / per_lane;

  alignas(16) unsigned left[columns];
  unsigned right[right_words];
};

// Sums of the window at four disparities, from packed column sums: the sum of the words as they are, modulo 2³², and that of
// their upper halves, which tells the lower ones apart.
struct WindowSums {
  uint2 words{0, 0}, upper{0, 0};

  __device__ void add(uint2 column) {
    words.x += column.x;
    words.y += column.y;
    upper.x += column.x >> 16;
    upper.y += column.y >> 16;
  }
  __device__ void subtract(uint2 column) {
    words.x -= column.x;
    words.y -= column.y;
    upper.x -= column.x >> 16;
    upper.y -= column.y >> 16;
  }
  __device__ unsigned of(int j) const {
    const unsigned word = j < 2 ? words.x : words.y, high = j < 2 ? upper.x : upper.y;
    return j % 2 == 0 ? word - (high << 16) : high;
  }
};

template <int kMostRadius, bool kBorder>
class WideStrip {
  using Row = WideRow<kMostRadius>;
  static constexpr int left_loads = Row::columns / 32, right_loads = Row::right_words / 32;

 public:
  struct Shared {
    uint2 sums[strip_outputs + 2 * kMostRadius + 2][32];  // columns go by fours
    Row entering, leaving;
  };

  __device__ WideStrip(const Problem& p, Shared& shared)
      : p_(p),
        shared_(shared),
        lane_(threadIdx.x),
        first_x_(static_cast<int>(blockIdx.x) * strip_outputs),
        columns_(strip_outputs + 2 * p.radius_x) {}

  __device__ void run() {
    for (int k = 0; k < p_.disparities; k += disparities_of_warp) match(k);
  }

 private:
  struct Words {
    unsigned left[left_loads], right[right_loads];
  };

  __device__ static int within(int v, int first, int last) { return min(max(v, first), last); }

  __device__ void match(int first_k) {
    first_k_ = first_k;
    const int first_y = static_cast<int>(blockIdx.y) * p_.band, last_y = min(first_y + p_.band, p_.height);
    for (int c = 0; c < columns_; ++c) shared_.sums[c][lane_] = {0, 0};
    Words entering = load(first_y - p_.radius_y), leaving;
    for (int dy = -p_.radius_y; dy <= p_.radius_y; ++dy) {
      store(entering, shared_.entering);
      __syncwarp();
      entering = load(first_y + dy + 1);
      update<false>();
      __syncwarp();
    }
    leaving = load(first_y - p_.radius_y);
    for (int y = first_y; y < last_y; ++y) {
      if (y > first_y) update<true>();
      __syncwarp();
      store(entering, shared_.entering);
      store(leaving, shared_.leaving);
      entering = load(y + 2 + p_.radius_y);
      leaving = load(y + 1 - p_.radius_y);
      select(y);
      __syncwarp();
    }
  }

  __device__ Words load(int y) const {
    const int row = within(y, 0, p_.height - 1), x = first_x_ - p_.radius_x;
    const unsigned* left = p_.left + row * p_.left_pitch;
    const unsigned* right = p_.right + row * p_.right_pitch;
    const int first = x - (p_.min_disparity + first_k_ + disparities_of_warp - 1);
    Words words;
#pragma unroll
    for (int i = 0; i < left_loads; ++i) words.left[i] = __ldg(left + within(x + 32 * i + lane_, 0, p_.width - 1));
#pragma unroll
    for (int i = 0; i < right_loads; ++i)
      words.right[i] = __ldg(right + within(first + 32 * i + lane_, 0, p_.width - 1));
    return words;
  }

  __device__ void store(const Words& words, Row& row) const {
#pragma unroll
    for (int i = 0; i < left_loads; ++i) row.left[32 * i + lane_] = words.left[i];
#pragma unroll
    for (int i = 0; i < right_loads; ++i) {
      const int t = 32 * i + lane_;
      row.right[t % per_lane * Row::plane + t / per_lane] = words.right[i];
    }
  }

  // The right word of column c at the lane's disparity j is entry 3 + c − j of the lane.
  __device__ unsigned right_word(const Row& row, int entry) const {
    return row.right[entry % per_lane * Row::plane + entry / per_lane + 31 - lane_];
  }

  // The right words of four columns: entry i is that of the first of them, and what the four before them have read stays.
  struct RightWords {
    unsigned of[7];
  };
  __device__ void advance(RightWords& words, const Row& row, int column) const {
#pragma unroll
    for (int i = 0; i < 3; ++i) words.of[i] = words.of[i + 4];
    const unsigned* first = row.right + column / per_lane + 31 - lane_;
    words.of[3] = first[3 * Row::plane];
#pragma unroll
    for (int i = 0; i < 3; ++i) words.of[i + 4] = first[i * Row::plane + 1];
  }

  template <bool kLeaves>
  __device__ void update() {
    RightWords more, less;
#pragma unroll
    for (int i = 0; i < 3; ++i) {
      more.of[i + 4] = right_word(shared_.entering, i);
      if (kLeaves) less.of[i + 4] = right_word(shared_.leaving, i);
    }
    for (int first = 0; first < columns_; first += 4) {
      advance(more, shared_.entering, first);
      if (kLeaves) advance(less, shared_.leaving, first);
      const uint4 left_more = reinterpret_cast<const uint4*>(shared_.entering.left)[first / 4];
      const uint4 left_less = kLeaves ? reinterpret_cast<const uint4*>(shared_.leaving.left)[first / 4] : uint4{};
      const unsigned lefts_more[4] = {left_more.x, left_more.y, left_more.z, left_more.w};
      const unsigned lefts_less[4] = {left_less.x, left_less.y, left_less.z, left_less.w};
      uint2 sums[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) sums[i] = shared_.sums[first + i][lane_];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        unsigned change[per_lane];
#pragma unroll
        for (int j = 0; j < per_lane; ++j) {
          change[j] = __vsadu4(lefts_more[i], more.of[3 + i - j]);
          if (kLeaves) change[j] -= __vsadu4(lefts_less[i], less.of[3 + i - j]);
        }
        sums[i].x += change[0] + (change[1] << 16);
        sums[i].y += change[2] + (change[3] << 16);
        shared_.sums[first + i][lane_] = sums[i];
      }
    }
  }

  // Columns outside repeat the outermost one inside.
  __device__ uint2 column(int c) const {
    const int before = p_.radius_x - first_x_;
    return shared_.sums[within(c, before, p_.width - 1 + before)][lane_];
  }

  __device__ void select(int y) {
    unsigned index[per_lane];
#pragma unroll
    for (int j = 0; j < per_lane; ++j) {
      const int k = first_k_ + per_lane * lane_ + j;
      index[j] = k < p_.disparities ? k : no_key;
    }
    const int up = index_bits - p_.shift;
    WindowSums window;
    for (int c = 0; c < 2 * p_.radius_x; ++c) window.add(column(c));
    for (int first = 0; first < strip_outputs; first += 32) {
      unsigned result = no_key;
#pragma unroll 4
      for (int i = 0; i < 32; ++i) {
        window.add(column(first + i + 2 * p_.radius_x));
        unsigned lowest = no_key;
#pragma unroll
        for (int j = 0; j < per_lane; ++j) {
          unsigned key = (window.of(j) << up & ~((1u << index_bits) - 1)) | index[j];
          if (!kBorder) {
            const int there = first_x_ + first + i - p_.min_disparity - first_k_ - per_lane * lane_ - j;
            if (there < 0 || there >= p_.width) key = no_key;
          }
          lowest = min(lowest, key);
        }
        window.subtract(column(first + i));
        lowest = __reduce_min_sync(0xFFFFFFFFu, lowest);
        if (lane_ == i) result = lowest;
      }
      write(first_x_ + first + lane_, y, result);
    }
  }

  // Between the turns over the disparities the keys lie where the result will.
  __device__ void write(int x, int y, unsigned key) const {
    if (x >= p_.width) return;
    float* disparity = p_.disparity + y * p_.disparity_pitch + x;
    if (first_k_ > 0) key = min(key, __float_as_uint(*disparity));
    if (first_k_ + disparities_of_warp < p_.disparities) {
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
  const int lane_, first_x_, columns_;
  int first_k_ = 0;
};

template <int kMostRadius, bool kBorder>
__device__ void match(const Problem& p) {
  __shared__ typename WideStrip<kMostRadius, kBorder>::Shared shared;
  WideStrip<kMostRadius, kBorder>(p, shared).run();
}

}  // namespace stereopsis::window_sad_wta

using namespace stereopsis::window_sad_wta;

// By the name that the host finds them by: candidates outside, largest radius.
#define STEREOPSIS_MATCH(border, flag, radius)                                                                  \
  extern "C" __global__ void __launch_bounds__(32) match_##border##_##radius(const __grid_constant__ Problem p) { \
    match<radius, flag>(p);                                                                                     \
  }
STEREOPSIS_MATCH(inside, false, 15)
STEREOPSIS_MATCH(border, true, 15)
STEREOPSIS_MATCH(inside, false, 42)
STEREOPSIS_MATCH(border, true, 42)
