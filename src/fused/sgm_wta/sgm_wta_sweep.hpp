// The memory of the two sweeps and how their threads keep in step.
//
// A sweep visits the image in bands of rows, a band in tiles of columns; a thread takes a band, and follows the band
// above at a distance of two tiles. Inside a tile everything stays in the first-level cache. A path keeps its
// last pixel's costs in one place, updated in place: a vertical path by its column u, a diagonal one by u − v, an
// antidiagonal one by u + v, both modulo the number of places.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <span>
#include <thread>

#include "fused/sgm_wta/sgm_wta.hpp"

namespace stereopsis::sgm_wta {

inline constexpr int band_rows = 8;
inline constexpr int tile_columns = 32;
inline constexpr int row_lag = 2;         // columns that a row of a band is behind the row above
static_assert(row_lag * band_rows < tile_columns, "the band above must be ahead by less than two tiles");
inline constexpr int guard = 64;  // lanes of the largest value around the costs of a path

constexpr int round_up(int n, int multiple) { return (n + multiple - 1) / multiple * multiple; }
constexpr std::size_t align64(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

// Sizes in lanes and bytes, without pointers: what the workspace is made of.
struct Extent {
  Extent(Size size, int disparities_, int stripe_rows)
      : width(size.width), height(size.height), disparities(disparities_), padded(round_up(disparities_, 32)),
        stripes(size.height, stripe_rows) {}

  int bands() const { return (stripes.rows + band_rows - 1) / band_rows; }  // of a stripe
  int tiles() const { return (width + row_lag * (band_rows - 1) + tile_columns - 1) / tile_columns; }
  // As many diagonals as can be in work at a time: with every thread in another band, some have ended at the right
  // border only many rows below the start of others.
  int places(int threads) const { return width + threads * band_rows; }
  int candidates() const { return width + padded + guard; }
  int right_entries() const { return width + 2 * padded; }

  std::size_t sums_bytes() const { return align64(sizeof(std::uint16_t) * width * static_cast<std::size_t>(stripes.rows) * padded); }
  std::size_t path_bytes(std::size_t lane) const { return lane * (padded + guard); }
  // Of the vertical, diagonal and antidiagonal paths.
  std::size_t ends_bytes(std::size_t lane, int threads) const {
    return align64(3 * places(threads) * path_bytes(lane) + lane * guard);
  }
  std::size_t shared_bytes(std::size_t lane, int threads) const {
    return ends_bytes(lane, threads) + align64(bands() * sizeof(std::atomic<int>));
  }
  // Where the paths down enter a stripe other than the first, and how far those up are.
  std::size_t kept_bytes(std::size_t lane, int threads) const {
    return stripes.count() == 1 ? 0 : stripes.count() * ends_bytes(lane, threads);
  }
  std::size_t scratch_bytes(std::size_t lane, std::size_t candidate) const {
    return align64(band_rows * path_bytes(lane) + lane * guard) + align64(lane * padded) +
           align64(sizeof(std::uint16_t) * padded) + 2 * align64(band_rows * sizeof(std::uint16_t) * right_entries()) +
           band_rows * align64(candidate * candidates());
  }

  int width, height, disparities, padded;
  Stripes stripes;
};

// Path costs stay below 256 if the largest cost and the largest penalty together do; they take 8 bits then, else 16.
inline std::size_t path_bytes_per_cell(const sgm::Parameters& p, int max_cost) { return max_cost + p.p2 <= 255 ? 1 : 2; }

// What is to be done, for every thread.
template <class Kind>
struct Job : Extent {
  Job(const Parameters& p, const Input<Kind>& in, const wta::Output& out_, std::span<std::byte> workspace)
      : Extent(in.source.left.size(), in.disparities, in.stripe_rows), source(in.source), select(in.select), select_parameters(p.select),
        penalties(sgm::penalties(p.sgm)), lane_bytes(path_bytes_per_cell(p.sgm, in.source.kind.max_cost())),
        paths(p.sgm.paths), p1(static_cast<std::uint16_t>(p.sgm.p1)), out(out_),
        sums(reinterpret_cast<std::uint16_t*>(workspace.data())) {
    if (p.sgm.adaptive()) guide = in.guide;
  }

  cost::Source<Kind> source;
  ImageView<const std::uint8_t> guide;  // empty: constant P2
  wta::Input select;
  wta::Parameters select_parameters;
  sgm::Penalties penalties;
  std::size_t lane_bytes;
  int paths;
  std::uint16_t p1;
  wta::Output out;
  std::uint16_t* sums;
};

// Hands out pieces of a block of memory, each at a multiple of 64 bytes.
class Pieces {
 public:
  explicit Pieces(std::span<std::byte> memory) : next_(memory.data()) {}
  template <class T>
  T* take(std::size_t count) {
    T* piece = reinterpret_cast<T*>(next_);
    next_ += align64(count * sizeof(T));
    return piece;
  }

 private:
  std::byte* next_;
};

// The end of a path: the costs L_r and their minimum at its last pixel. The minimum lies in the guard before the costs,
// so that paths which different threads are at never share a cache line.
template <class Lane>
struct PathEnd {
  Lane* costs;

  Lane& minimum() const { return costs[-guard / 2]; }

  // A path begins after an imaginary pixel without costs, so that L_r = C at its first pixel.
  void start(int padded) const {
    std::memset(costs, 0, sizeof(Lane) * padded);
    minimum() = 0;
  }
};

// The ends of the paths that cross rows, and how far each band is.
template <class Lane>
class Shared {
 public:
  Shared(const Extent& extent, Pieces pieces, int threads)
      : extent_(extent), places_(extent.places(threads)), stride_(extent.padded + guard),
        bytes_(extent.ends_bytes(sizeof(Lane), threads)),
        costs_(pieces.take<Lane>(static_cast<std::size_t>(3) * places_ * stride_ + guard)),
        progress_(pieces.take<std::atomic<int>>(extent.bands())) {}

  void begin_sweep() { std::memset(costs_, 0xFF, bytes_); }
  // The sweep goes on through the rows of a stripe.
  void begin_stripe() {
    next_band_ = 0;
    for (int band = 0; band < extent_.bands(); ++band) new (&progress_[band]) std::atomic<int>(0);
  }
  // Between two stripes: the ends of the paths there.
  void keep(std::byte* kept) const { std::memcpy(kept, costs_, bytes_); }
  void go_on_from(const std::byte* kept) { std::memcpy(costs_, kept, bytes_); }

  // Bands are taken in order, so that the band above is always in work or done.
  int take_band() { return next_band_++; }
  void finish_tile(int band, int tile) { progress_[band].store(tile + 1, std::memory_order_release); }
  void wait_for_band_above(int band, int tile) const {
    if (band == 0) return;
    const int needed = std::min(tile + 2, extent_.tiles());
    for (int spins = 0; progress_[band - 1].load(std::memory_order_acquire) < needed; ++spins)
      if (spins > 100) std::this_thread::yield();
  }

  // The end of the path in `place`, of the vertical (0), diagonal (1) or antidiagonal (2) paths.
  PathEnd<Lane> path(int kind, int place) const {
    const std::size_t i = static_cast<std::size_t>(kind) * places_ + place;
    return {costs_ + i * stride_ + guard};
  }
  int diagonal(int u, int v) const {
    const int place = u - v % places_;
    return place < 0 ? place + places_ : place;
  }
  int antidiagonal(int u, int v) const {
    const int place = u + v % places_;
    return place < places_ ? place : place - places_;
  }

 private:
  Extent extent_;
  int places_;
  int stride_;
  std::size_t bytes_;
  Lane* costs_;
  std::atomic<int> next_band_{0};
  std::atomic<int>* progress_;
};

// What a thread needs for the rows of its band.
template <class Lane>
class Scratch {
 public:
  Scratch(const Extent& extent, std::size_t candidate_bytes, Pieces pieces) : extent_(extent) {
    const int stride = extent.padded + guard;
    paths_ = pieces.take<Lane>(static_cast<std::size_t>(band_rows) * stride + guard);
    std::memset(paths_, 0xFF, sizeof(Lane) * (static_cast<std::size_t>(band_rows) * stride + guard));
    padding_ = pieces.take<Lane>(extent.padded);
    std::memset(padding_, 0, sizeof(Lane) * extent.disparities);
    std::memset(padding_ + extent.disparities, 0xFF, sizeof(Lane) * (extent.padded - extent.disparities));
    total_ = pieces.take<std::uint16_t>(extent.padded);
    right_costs_ = pieces.take<std::uint16_t>(static_cast<std::size_t>(band_rows) * extent.right_entries());
    right_indices_ = pieces.take<std::uint16_t>(static_cast<std::size_t>(band_rows) * extent.right_entries());
    for (std::byte*& row : candidates_) row = pieces.take<std::byte>(candidate_bytes * extent.candidates());
  }

  // The horizontal path of row r.
  PathEnd<Lane> path(int r) const { return {paths_ + static_cast<std::size_t>(r) * (extent_.padded + guard) + guard}; }
  std::byte* candidates(int r) const { return candidates_[r]; }
  const Lane* padding() const { return padding_; }  // the largest value behind the last disparity, else 0
  std::uint16_t* total() const { return total_; }
  std::uint16_t* right_cost(int r) const { return right_costs_ + static_cast<std::size_t>(r) * extent_.right_entries(); }
  std::uint16_t* right_index(int r) const { return right_indices_ + static_cast<std::size_t>(r) * extent_.right_entries(); }

 private:
  Extent extent_;
  Lane* paths_;
  Lane* padding_;
  std::uint16_t* total_;
  std::uint16_t* right_costs_;
  std::uint16_t* right_indices_;
  std::byte* candidates_[band_rows];
};

// The scratch of one thread, in what is left of the workspace behind the sums.
template <class Lane>
Scratch<Lane> scratch_of(int thread, const Extent& extent, std::size_t candidate_bytes, std::span<std::byte> memory, int threads) {
  const std::size_t offset =
      extent.shared_bytes(sizeof(Lane), threads) + extent.kept_bytes(sizeof(Lane), threads) + thread * extent.scratch_bytes(sizeof(Lane), candidate_bytes);
  return {extent, candidate_bytes, Pieces(memory.subspan(offset))};
}

}  // namespace stereopsis::sgm_wta
