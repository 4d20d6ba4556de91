// The memory of the two sweeps, and the synchronisation of the threads.
//
// The sweeps start at the same time at the top and at the bottom of the image, and pass each other. The first sweep
// that reaches a row stores the sums of its paths. The other sweep adds the sums of its own paths and selects. Threads
// therefore rarely need data from each other's caches. (If the image is processed in stripes, the two sweeps through a
// stripe are made one after the other.)) A sweep visits the image in bands of rows, and a band in tiles of columns. A
// thread takes a band, and follows the previous band of the sweep at a distance of two tiles. The data of a tile stays
// in the L1 cache. A path stores the costs of its last pixel at a fixed position, and updates them in place. The
// position is the column u for a vertical path, u − v for a diagonal path, and u + v for an antidiagonal path.
#pragma once

#include <hwy/cache_control.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <optional>
#include <span>

#include "core/rounding.hpp"
#include "fused/sgm_wta/sgm_wta.hpp"
#include "stages/sgm/sgm_sweep.hpp"

namespace stereopsis::sgm_wta {

inline constexpr int band_rows = 8;
inline constexpr int tile_columns = 32;
inline constexpr int row_lag = 2;  // number of columns by which a row of a band lags behind the previous row
static_assert(row_lag * band_rows < tile_columns, "the band before must be ahead by less than two tiles");

template <class Lane>
inline constexpr int guard = sgm::Paths<Lane>::guard;

// Returns the number of disparities in memory, a multiple of every vector width in use. The numbers 33 to 64 become 64,
// and 65 to 96 become 128, because two vectors of 512 bits take less time than three of 256.
constexpr int padded_disparities(int disparities) { return round_up(disparities, disparities <= 32 ? 32 : 64); }
constexpr std::size_t align64(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

// Path costs remain below 256 if the sum of the largest cost and the largest penalty is below 256. Path costs then take
// 8 bits, otherwise 16. Given costs may be larger, because their path costs may saturate (sgm_cpu-inl.hpp).
template <class Kind>
std::size_t path_bytes_per_cell(const sgm::Parameters& p, const Kind& kind) {
  const int largest = std::is_same_v<Kind, cost::Given> ? std::min(kind.max_cost(), p.p2) : kind.max_cost();
  return largest + p.p2 <= 255 ? 1 : 2;
}
// Returns the size, in bytes, of the stored sums: those of two paths, without costs, may fit in 8 bits.
inline std::size_t sum_bytes_per_cell(const sgm::Parameters& p, std::size_t path_bytes) {
  return path_bytes == 1 && p.paths == 4 && 2 * p.p2 <= 255 ? 1 : 2;
}

// Sizes in lanes and bytes, without pointers, from which the size of the workspace is computed.
struct Extent {
  template <class Kind>
  Extent(const Parameters& p, const Kind& kind, Size size, int disparities_, int stripe_rows)
      : width(size.width),
        height(size.height),
        disparities(disparities_),
        padded(padded_disparities(disparities_)),
        directions(p.sgm.paths / 2),
        lane_bytes(path_bytes_per_cell(p.sgm, kind)),
        sum_bytes(sum_bytes_per_cell(p.sgm, lane_bytes)),
        stripes(size.height, stripe_rows) {}

  int bands(int stripe = 0) const { return (stripes.rows_of(stripe) + band_rows - 1) / band_rows; }
  int tiles() const { return (width + row_lag * (band_rows - 1) + tile_columns - 1) / tile_columns; }
  // Returns the number of vertical paths plus, if they exist, the numbers of diagonal and antidiagonal paths.
  std::size_t places() const {
    return width + (directions == 4 ? 2 * (static_cast<std::size_t>(width) + height - 1) : 0);
  }
  int candidates() const { return width + padded + 64; }
  int right_entries() const { return width + 2 * padded; }
  int total_entries() const { return padded + 64; }

  std::ptrdiff_t row_bytes() const { return static_cast<std::ptrdiff_t>(sum_bytes) * width * padded; }
  std::size_t sums_bytes() const { return align64(static_cast<std::size_t>(row_bytes()) * stripes.rows); }
  std::size_t path_bytes(std::size_t lane) const { return lane * padded + 64; }
  // Returns the size, in bytes, of the data of a sweep: its paths, and the progress of its bands.
  std::size_t sweep_bytes(std::size_t lane) const {
    return align64(places() * path_bytes(lane) + 64) + align64(bands() * sizeof(std::atomic<int>));
  }
  // Returns the size, in bytes, of the path costs where the paths of a sweep enter a stripe.
  std::size_t ends_bytes(std::size_t lane) const { return align64((directions - 1) * width * path_bytes(lane)); }
  std::size_t kept_bytes(std::size_t lane) const { return (stripes.count() - 1) * ends_bytes(lane); }
  // Returns the size, in bytes, of the scratch memory of one thread. Processors detect the distance between rows of
  // candidates, and prefetch a further row after the last one. The memory therefore has padding. Without it, these
  // prefetches would move path costs of another thread from core to core at every step.
  std::size_t scratch_bytes(std::size_t lane, std::size_t candidate) const {
    return align64(band_rows * path_bytes(lane) + 64) + align64(lane * padded) +
           align64(sizeof(std::uint16_t) * padded) + align64(lane * band_rows * directions * width) +
           align64(sizeof(std::uint16_t) * band_rows * total_entries()) +
           2 * align64(band_rows * sizeof(std::uint16_t) * right_entries()) +
           (band_rows + 1) * align64(candidate * candidates());
  }

  int width, height, disparities, padded;
  int directions;  // number of directions of one sweep, half of all directions
  std::size_t lane_bytes, sum_bytes;
  Stripes stripes;
};

// The description of the work, which all threads share.
template <class Kind>
struct Job : Extent {
  Job(const Parameters& p, const Input<Kind>& in, const wta::Output& out_, std::span<std::byte> workspace)
      : Extent(p, in.source.kind, in.source.left.size(), in.disparities, in.stripe_rows),
        source(in.source),
        select(in.select),
        select_parameters(p.select),
        penalties(sgm::penalties(p.sgm)),
        p1(static_cast<std::uint16_t>(p.sgm.p1)),
        most_lowest(in.source.kind.max_cost() + p.sgm.p2 <= 255 ? 255 : 255 - p.sgm.p2),
        edges(in.edges),
        out(out_),
        sums(workspace.data()) {
    if (p.sgm.adaptive()) guide = in.guide;
  }

  cost::Source<Kind> source;
  ImageView<const std::uint8_t> guide;  // guide image; empty if P2 is constant
  wta::Input select;
  wta::Parameters select_parameters;
  sgm::Penalties penalties;
  std::uint16_t p1;
  int most_lowest;  // for paths of 8 bits: their largest minimum that allows a saturated path cost
  sgm::Edges edges;
  wta::Output out;
  std::byte* sums;
};

// Divides a block of memory into parts that begin at multiples of 64 bytes.
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

// The ends of those paths of a sweep that cross rows, and the progress of each band.
template <class Lane>
class Sweep {
 public:
  Sweep(const Extent& extent, Pieces pieces)
      : extent_(extent),
        paths_({extent.width, extent.height}, extent.disparities, extent.directions,
               pieces.take<Lane>(extent.places() * stride_of(extent) + guard<Lane>) + guard<Lane>, stride_of(extent)),
        progress_(pieces.take<std::atomic<int>>(extent.bands())) {}

  // Resets the progress, so that no band of the next stripe has started.
  void begin_stripe() {
    for (int band = 0; band < extent_.bands(); ++band) new (&progress_[band]) std::atomic<int>(0);
  }
  // Stores the costs of the paths that enter row v from previous rows.
  void keep(int v, std::byte* kept) const {
    for_each_end(v, [&](const Lane* paths, std::size_t bytes) {
      kept = std::copy_n(reinterpret_cast<const std::byte*>(paths), bytes, kept);
    });
  }
  void go_on_from(int v, const std::byte* kept) {
    for_each_end(v, [&](Lane* paths, std::size_t bytes) { std::memcpy(paths, kept, bytes), kept += bytes; });
  }

  const sgm::Paths<Lane>& paths() const { return paths_; }

  // The operation is sequentially consistent with the wait below: either this thread sees that another thread sleeps,
  // or that thread sees the new progress.
  void finish_tile(int band, int tile) {
    progress_[band].store(tile + 1, std::memory_order_seq_cst);
    progress_[band].notify_all();
  }
  // Most waits are shorter than the work on a few tiles, which takes less time than to sleep and to wake up. A thread
  // therefore first spins, for 20 to 50 µs. A thread that waits longer sleeps, because its core may be needed by others.
  void wait_for(int band, int tiles) const {
    const std::atomic<int>& progress = progress_[band];
    for (int spins = 0; spins < 1000; ++spins) {
      if (progress.load(std::memory_order_acquire) >= tiles) return;
      hwy::Pause();
    }
    for (int seen; (seen = progress.load(std::memory_order_acquire)) < tiles;)
      progress.wait(seen, std::memory_order_acquire);
  }

 private:
  static std::ptrdiff_t stride_of(const Extent& extent) { return extent.padded + guard<Lane>; }

  // Paths of one kind that cross a row are contiguous in memory.
  template <class F>
  void for_each_end(int v, F&& f) const {
    const auto of_kind = [&](Lane* paths) { f(paths, sizeof(Lane) * extent_.width * paths_.stride()); };
    of_kind(paths_.vertical());
    if (extent_.directions == 4) of_kind(paths_.diagonal(v)), of_kind(paths_.antidiagonal(v));
  }

  Extent extent_;
  // Only the paths change during a sweep, so that no thread writes to a cache line with data of another thread.
  sgm::Paths<Lane> paths_;
  std::atomic<int>* progress_;
};

enum class Turn { both, down, up };

// Assigns the bands of a stripe to threads. The bands of a sweep are taken in the order of the sweep, so that the
// previous band is always running or done.
class Bands {
 public:
  // Runs both sweeps at once, or one sweep: the upward sweep runs after the downward sweep.
  Bands(int count, Turn turn)
      : count_(count), end_{count, turn == Turn::down ? 0 : count}, taken_{turn == Turn::up ? count : 0, 0} {}

  struct Band {
    bool up;       // true if the band belongs to the upward sweep
    int order;     // position of the band in its sweep
    bool selects;  // true if the other sweep has taken these rows, or stored their sums
  };
  // Takes a band of the preferred sweep, or of the other sweep if no such band remains.
  std::optional<Band> take(bool prefer_up) {
    const std::lock_guard lock(mutex_);
    const bool up = taken_[prefer_up] < end_[prefer_up] ? prefer_up : !prefer_up;
    if (taken_[up] == end_[up]) return std::nullopt;
    const int order = taken_[up]++;
    return Band{up, order, count_ - 1 - order < taken_[!up]};
  }

 private:
  std::mutex mutex_;
  int count_;
  int end_[2];  // ends of the downward and of the upward sweep
  int taken_[2];
};

// The memory that a thread needs for the rows of its band.
template <class Lane>
class Scratch {
 public:
  Scratch(const Extent& extent, std::size_t candidate_bytes, Pieces pieces) : extent_(extent) {
    paths_ = pieces.take<Lane>(static_cast<std::size_t>(band_rows) * path_stride() + guard<Lane>);
    const auto take_padding = [&]<class T>(T*& padding) {
      padding = pieces.take<T>(extent.padded);
      std::memset(padding, 0, sizeof(T) * extent.disparities);
      std::memset(padding + extent.disparities, 0xFF, sizeof(T) * (extent.padded - extent.disparities));
    };
    take_padding(padding_);
    take_padding(sums_padding_);
    penalties_ = pieces.take<Lane>(static_cast<std::size_t>(band_rows) * extent.directions * extent.width);
    totals_ = pieces.take<std::uint16_t>(band_rows * extent.total_entries());
    std::memset(totals_, 0xFF, sizeof(std::uint16_t) * band_rows * extent.total_entries());
    right_costs_ = pieces.take<std::uint16_t>(static_cast<std::size_t>(band_rows) * extent.right_entries());
    right_indices_ = pieces.take<std::uint16_t>(static_cast<std::size_t>(band_rows) * extent.right_entries());
    for (std::byte*& row : candidates_) row = pieces.take<std::byte>(candidate_bytes * extent.candidates());
  }

  // The horizontal path of row r, its candidates, and its P2. P2 is indexed by the column of the image, with one path's
  // row after the other.
  Lane* path(int r) const { return paths_ + r * path_stride() + guard<Lane>; }
  std::byte* candidates(int r) const { return candidates_[r]; }
  Lane* penalties(int r) const { return penalties_ + static_cast<std::size_t>(r) * extent_.directions * extent_.width; }
  // Values that are the largest possible after the last disparity, and 0 elsewhere, in lanes of the costs and in lanes
  // of the sums.
  const Lane* padding() const { return padding_; }
  const std::uint16_t* sums_padding() const { return sums_padding_; }
  // Returns the sums over all paths of a pixel of row r. There are 32 entries of no_cost before and after the sums.
  std::uint16_t* total(int r) const { return totals_ + r * extent_.total_entries() + 32; }
  std::uint16_t* right_cost(int r) const {
    return right_costs_ + static_cast<std::size_t>(r) * extent_.right_entries();
  }
  std::uint16_t* right_index(int r) const {
    return right_indices_ + static_cast<std::size_t>(r) * extent_.right_entries();
  }

 private:
  std::ptrdiff_t path_stride() const { return extent_.padded + guard<Lane>; }

  Extent extent_;
  Lane* paths_;
  Lane* padding_;
  std::uint16_t* sums_padding_;
  Lane* penalties_;
  std::uint16_t* totals_;
  std::uint16_t* right_costs_;
  std::uint16_t* right_indices_;
  std::byte* candidates_[band_rows];
};

}  // namespace stereopsis::sgm_wta
