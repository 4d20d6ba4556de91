// A sweep over the image, from its first row or from its last row: where its paths store their costs, and how its
// threads synchronise. The sweep visits the image in bands of rows, and a band in tiles of columns. A thread takes a
// band, and follows the previous band at a distance of two tiles. A path stores the costs of its last pixel, minus
// their minimum, at a fixed position. The position is the column u for a vertical path, u − v for a diagonal path, and
// u + v for an antidiagonal path. The paths of a tile therefore stay in the L1 cache.
//
// Columns u and rows v are counted in the direction of the sweep: the upward sweep is the downward sweep of the image
// rotated by 180°.
#pragma once

#include <algorithm>
#include <atomic>

#include "device/cpu/threads.hpp"
#include "stages/sgm/sgm.hpp"

namespace stereopsis::sgm {

inline constexpr int band_rows = 8;
inline constexpr int tile_columns = 32;
inline constexpr int row_lag = 2;  // number of columns by which a row of a band lags behind the previous row
static_assert(row_lag * band_rows < tile_columns, "the band before must be ahead by less than two tiles");

constexpr std::size_t align64(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

// The layout of the scratch memory. Path costs remain below 256 if the sum of the largest cost and the largest penalty
// is below 256. Path costs then take 8 bits, otherwise 16.
struct Extent {
  Extent(const Parameters& p, int cost_bytes, int max_cost, Size size, int disparities_)
      : width(size.width),
        height(size.height),
        disparities(disparities_),
        directions(p.paths / 2),
        lane_bytes(cost_bytes == 1 && max_cost + p.p2 <= 255 ? 1 : 2),
        path_bytes(align64(static_cast<std::size_t>(disparities) * lane_bytes) + 64) {}

  int bands() const { return (height + band_rows - 1) / band_rows; }
  int tiles() const { return (width + row_lag * (band_rows - 1) + tile_columns - 1) / tile_columns; }
  // Returns the number of vertical paths plus, if they exist, the numbers of diagonal and antidiagonal paths.
  std::size_t places() const {
    return width + (directions == 4 ? 2 * (static_cast<std::size_t>(width) + height - 1) : 0);
  }
  // The padding precedes the first path. There are 64 bytes before and after the costs of each path.
  std::size_t paths_bytes() const { return (places() + 1) * path_bytes + 64; }
  std::size_t progress_bytes() const { return align64(sizeof(std::atomic<int>) * (bands() + 1)); }
  std::size_t thread_bytes() const { return with_gap((band_rows + 1) * path_bytes); }
  std::size_t bytes(int threads) const { return paths_bytes() + progress_bytes() + threads * thread_bytes(); }

  int width, height, disparities;
  int directions;  // number of directions of one sweep, half of all directions
  int lane_bytes;
  std::size_t path_bytes;  // size of a path, including the guards around its costs
};

// The progress of the bands of a sweep, and the next band that no thread has taken. A band is taken only when the
// previous band has been taken.
class Progress {
 public:
  Progress(std::byte* memory, int bands) : next_(reinterpret_cast<std::atomic<int>*>(memory)), bands_(bands) {
    for (int i = 0; i <= bands; ++i) new (next_ + i) std::atomic<int>(0);
  }

  int bands() const { return bands_; }
  int take() { return next_->fetch_add(1, std::memory_order_relaxed); }
  void finish_tile(int band, int tile) {
    tiles(band).store(tile + 1, std::memory_order_seq_cst);
    tiles(band).notify_all();
  }
  // Most waits are shorter than the work on a tile, so a thread first spins. A thread that waits longer sleeps, because
  // its core may be needed by others.
  void wait_for(int band, int count) const {
    for (int spins = 0; spins < 1000; ++spins)
      if (tiles(band).load(std::memory_order_acquire) >= count) return;
    for (int seen; (seen = tiles(band).load(std::memory_order_acquire)) < count;)
      tiles(band).wait(seen, std::memory_order_acquire);
  }

 private:
  std::atomic<int>& tiles(int band) const { return next_[band + 1]; }

  std::atomic<int>* next_;
  int bands_;
};

// The costs of the paths of a sweep that cross its rows.
template <class Lane>
class Paths {
 public:
  // Number of lanes with the largest value on each side of a path's costs.
  static constexpr int guard = 64 / sizeof(Lane);

  // The paths of a sweep over an image, in `sweep_directions` directions. There is one path every `stride` lanes, from
  // `first` on.
  Paths(Size image, int disparities, int sweep_directions, Lane* first, std::ptrdiff_t stride)
      : width_(image.width),
        height_(image.height),
        disparities_(disparities),
        has_diagonals_(sweep_directions == 4),
        first_(first),
        stride_(stride) {}

  std::ptrdiff_t stride() const { return stride_; }
  // Return the paths that cross row v at column 0. The path at column u is u strides later.
  Lane* vertical() const { return first_; }
  Lane* diagonal(int v) const { return path(width_ + height_ - 1 - v); }
  Lane* antidiagonal(int v) const { return path(2 * static_cast<std::ptrdiff_t>(width_) + height_ - 1 + v); }

  // A path begins after an imaginary pixel without costs, so that L_r = C at its first pixel. `visited` is the number
  // of disparities that vectors access.
  static Lane* start(Lane* costs, int visited) {
    std::fill_n(surround(costs, visited), visited, Lane{0});
    return costs;
  }
  // Starts the paths that cross row v: at the borders and, in the first row, from the row `edge` before it, if given.
  void enter(int v, bool up, ImageView<const std::uint16_t> edge, int visited) const {
    const int last = width_ - 1;
    const auto enter_from = [&](int from, int kind, Lane* costs) {
      if (v > 0 || edge.empty() || from < 0 || from > last)
        start(costs, visited);
      else
        go_on(&edge(up ? last - from : from, kind), costs, visited);
    };
    for (int u = 0; v == 0 && u <= last; ++u) enter_from(u, 0, vertical() + u * stride_);
    if (!has_diagonals_) return;
    for (int u = 0; u <= (v == 0 ? last : 0); ++u) enter_from(u - 1, kind_of_diagonal(up), diagonal(v) + u * stride_);
    for (int u = v == 0 ? 0 : last; u <= last; ++u)
      enter_from(u + 1, kind_of_diagonal(!up), antidiagonal(v) + u * stride_);
  }
  // Writes the path costs of the last row as the boundary state for the next stripe.
  void leave(bool up, ImageView<std::uint16_t> edge) const {
    const auto put = [&](const Lane* costs, int kind) {
      for (int u = 0; u < width_; ++u)
        std::copy_n(costs + u * stride_, disparities_, &edge(up ? width_ - 1 - u : u, kind));
    };
    put(vertical(), 0);
    if (!has_diagonals_) return;
    put(diagonal(height_ - 1), kind_of_diagonal(up));
    put(antidiagonal(height_ - 1), kind_of_diagonal(!up));
  }

 private:
  // Diagonal paths lead to the left in an upward sweep.
  static int kind_of_diagonal(bool up) { return kind_of({up ? -1 : 1, 1}); }

  Lane* path(std::ptrdiff_t place) const { return first_ + place * stride_; }
  static Lane* surround(Lane* costs, int visited) {
    costs[-1] = costs[visited] = static_cast<Lane>(~0);
    return costs;
  }
  void go_on(const std::uint16_t* before, Lane* costs, int visited) const {
    constexpr int most = static_cast<Lane>(~0);
    std::fill_n(surround(costs, visited), visited, static_cast<Lane>(most));
    for (int k = 0; k < disparities_; ++k) costs[k] = static_cast<Lane>(std::min<int>(before[k], most));
  }

  int width_, height_, disparities_;
  bool has_diagonals_;
  Lane* first_;
  std::ptrdiff_t stride_;
};

}  // namespace stereopsis::sgm
