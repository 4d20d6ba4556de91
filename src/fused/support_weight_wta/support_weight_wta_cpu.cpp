#include <algorithm>
#include <array>
#include <atomic>
#include <vector>

#include "device/cpu/threads.hpp"
#include "fused/support_weight_wta/support_weight_wta.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fused/support_weight_wta/support_weight_wta_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "device/cpu/lanes-inl.hpp"
#include "stages/wta/wta_cpu-inl.hpp"

#ifndef STEREOPSIS_SUPPORT_WEIGHT_WTA_ONCE
#define STEREOPSIS_SUPPORT_WEIGHT_WTA_ONCE
namespace stereopsis::support_weight_wta {

constexpr int slack = 64;  // elements behind a row that vectors may touch
inline int round_up(int n, int multiple) { return (n + multiple - 1) / multiple * multiple; }

// A row for each of a few disparities.
struct Rows {
  std::uint16_t* data = nullptr;
  std::ptrdiff_t pitch = 0;
  std::uint16_t* operator[](int k) const { return data + k * pitch; }
};

// Hands out memory, or only counts it.
class Memory {
 public:
  explicit Memory(std::byte* start) : start_(start) {}
  template <class T>
  T* take(std::size_t count) {
    std::byte* piece = start_ == nullptr ? nullptr : start_ + used_;
    used_ += (count * sizeof(T) + 63) / 64 * 64;
    return reinterpret_cast<T*>(piece);
  }
  // `width` pixels and `pad` more on both sides.
  Rows rows(int count, int width, int pad) {
    const int before = round_up(pad, 32);
    const std::ptrdiff_t pitch = round_up(before + width + pad + slack, 32);
    std::uint16_t* memory = take<std::uint16_t>(pitch * count);
    return {memory == nullptr ? nullptr : memory + before, pitch};
  }
  std::size_t used() const { return used_; }

 private:
  std::byte* start_;
  std::size_t used_ = 0;
};

// Rows of a window that slides down the image.
struct Ring {
  Rows slot(int y) const { return {rows.data + (y % size) * count * rows.pitch, rows.pitch}; }

  Rows rows;
  int size = 0;
  int count = 0;
};
inline Ring make_ring(Memory& memory, int size, int count, int width) {
  return {memory.rows(size * count, width, 0), size, count};
}

// What all threads share.
struct Job {
  Job(const Parameters& p_, Size size, int disparities_, Memory& memory)
      : parameters(p_),
        width(size.width),
        height(size.height),
        disparities(disparities_),
        slab(slab_of(p_, disparities_)) {
    if (const auto* e = std::get_if<esaw::Parameters>(&p_.aggregation)) {
      const Size all = esaw::weights_size(*e, size);
      weights = {memory.take<std::uint32_t>(static_cast<std::size_t>(all.width) * all.height), all.width, all.height};
      if (e->normalise == esaw::Normalise::end)
        for (ImageView<float>& image : sums)
          image = {memory.take<float>(static_cast<std::size_t>(size.width) * size.height), size.width, size.height};
    }
    if (const auto* s = std::get_if<asw_separable::Parameters>(&p_.aggregation))
      for (std::uint8_t*& plane : taps)
        plane = memory.take<std::uint8_t>(static_cast<std::size_t>(s->window) * size.width * size.height);
    // Row by row, and in it disparity by disparity.
    pitch = round_up(size.width + slack, 32);
    volume = memory.take<std::uint16_t>(static_cast<std::size_t>(pitch) * disparities_ * size.height);
  }

  // Disparities at a time: as many as keep the rows of a slab in a second-level cache, and a vector's loads worth while.
  static int slab_of(const Parameters& p, int disparities) {
    return std::min(disparities, std::holds_alternative<asw_separable::Parameters>(p.aggregation) ? 16 : 8);
  }
  Rows volume_row(int y, int k) const {
    return {volume + (static_cast<std::ptrdiff_t>(y) * disparities + k) * pitch, pitch};
  }

  const Parameters& parameters;
  int width, height, disparities, slab;
  Input in{};
  wta::Output out{};
  ImageView<std::uint32_t> weights;  // of esaw
  ImageView<float> sums[2];          // of esaw, normalised at the end
  std::uint8_t* taps[2] = {};        // of asw_separable, across and down: (y, tap, x)
  std::uint16_t* volume = nullptr;
  std::ptrdiff_t pitch = 0;
};

// What a thread has for esaw.
struct EsawScratch {
  EsawScratch(const esaw::Parameters& p, const Job& job, Memory& memory) {
    for (const esaw::Step& step : esaw::steps(p)) {
      const int across = std::min(step.offset, job.width), down = std::min(step.offset, job.height);
      levels.push_back({across, down, memory.rows(job.slab, job.width, across),
                        make_ring(memory, std::min(2 * down + 1, job.height), job.slab, job.width)});
    }
    shares = memory.rows(3, job.width, 0);
  }
  struct Level {
    int across, down;
    Rows input;
    Ring horizontal;
  };
  std::vector<Level> levels;
  Rows shares;
};

// And for asw_separable: weights in pairs of taps, those of even and of odd pixels apart.
struct SeparableScratch {
  SeparableScratch(const asw_separable::Parameters& p, const Job& job, Memory& memory)
      : radius(p.window / 2),
        input(memory.rows(job.slab, job.width, radius + 1)),
        horizontal(make_ring(memory, std::min(p.window, job.height), job.slab, job.width)),
        pairs(memory.rows(p.window + 1, job.width, 0)),
        totals(memory.rows(2, job.width, 0)),
        inverses(memory.rows(4, job.width, 0)) {}
  int radius;
  Rows input;
  Ring horizontal;
  Rows pairs;     // 2 i: even pixels, 2 i + 1: odd ones
  Rows totals;    // in 32 bits: even pixels, odd ones
  Rows inverses;  // floats: even pixels, odd ones
};

// And for asw: the weights of a row of the window, and the sums of all disparities.
struct FullScratch {
  FullScratch(const asw::Parameters& p, const Job& job, Memory& memory)
      : radius(p.window / 2),
        left(memory.rows(p.window, job.width, 0)),
        right(memory.rows(p.window, job.width + job.disparities, 0)),
        cost(memory.rows(1, job.width, radius)) {
    sum_pitch = round_up(job.width, 16);
    sums = memory.take<std::uint64_t>(static_cast<std::size_t>(sum_pitch) * job.disparities);
    totals = memory.take<std::uint32_t>(static_cast<std::size_t>(sum_pitch) * job.disparities);
  }
  int radius;
  Rows left, right, cost;
  int sum_pitch;
  std::uint64_t* sums;
  std::uint32_t* totals;
};

// A padded row of words.
struct Candidates {
  Candidates(const Job& job, Memory& memory) : words(memory.take<std::uint32_t>(job.width + job.disparities + slack)) {}
  std::uint32_t* words;
};

struct SelectScratch {
  SelectScratch(const Job& job, Memory& memory) : padded(round_up(job.disparities, 32)) {
    costs = memory.take<std::uint16_t>(static_cast<std::size_t>(padded) * job.width);
    right_cost = memory.take<std::uint16_t>(job.width + 2 * padded);
    right_index = memory.take<std::uint16_t>(job.width + 2 * padded);
  }
  int padded;
  std::uint16_t* costs;  // of a row, disparity fastest
  std::uint16_t *right_cost, *right_index;
};

// The bytes of a thread, whichever of its two tasks needs more.
inline std::size_t thread_bytes(const Job& job) {
  Memory aggregation(nullptr), selection(nullptr);
  Candidates candidates(job, aggregation);
  if (const auto* e = std::get_if<esaw::Parameters>(&job.parameters.aggregation)) EsawScratch(*e, job, aggregation);
  if (const auto* s = std::get_if<asw_separable::Parameters>(&job.parameters.aggregation))
    SeparableScratch(*s, job, aggregation);
  if (const auto* a = std::get_if<asw::Parameters>(&job.parameters.aggregation)) FullScratch(*a, job, aggregation);
  SelectScratch select(job, selection);
  return std::max(aggregation.used(), selection.used());
}

}  // namespace stereopsis::support_weight_wta
#endif

HWY_BEFORE_NAMESPACE();
namespace stereopsis::support_weight_wta::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace wta_cpu = stereopsis::wta::HWY_NAMESPACE;
using namespace stereopsis::HWY_NAMESPACE;

using D16 = hn::ScalableTag<std::uint16_t>;
using D32 = hn::RepartitionToWide<D16>;
using I32 = hn::RebindToSigned<D32>;
using I16 = hn::RebindToSigned<D16>;
using F32 = hn::Rebind<float, D32>;
using V16 = hn::Vec<D16>;
using V32 = hn::Vec<D32>;

HWY_INLINE int lanes16() { return static_cast<int>(hn::Lanes(D16())); }

// 32-bit lanes that fit 16 bits, side by side in one vector.
HWY_INLINE V16 narrowed(V32 lower, V32 upper) {
  const D16 d;
  const hn::Half<D16> half;
  const I32 i32;
  return hn::Combine(d, hn::DemoteTo(half, hn::BitCast(i32, upper)), hn::DemoteTo(half, hn::BitCast(i32, lower)));
}
HWY_INLINE V16 narrowed_load(const std::uint32_t* words, int shift) {
  const D32 d;
  const auto field = [&](const std::uint32_t* p)
                         HWY_ATTR { return hn::And(hn::ShiftRightSame(hn::LoadU(d, p), shift), hn::Set(d, 255)); };
  return narrowed(field(words), field(words + hn::Lanes(d)));
}

HWY_INLINE V32 difference(V32 left, V32 right) {
  const D32 d;
  const hn::Repartition<std::uint8_t, D32> d8;
  const auto a = hn::BitCast(d8, left), b = hn::BitCast(d8, right);
  const auto bytes = hn::BitCast(d, hn::Or(hn::SaturatedSub(a, b), hn::SaturatedSub(b, a)));
  const auto byte = hn::Set(d, 255);
  return hn::Add(hn::Add(hn::And(bytes, byte), hn::And(hn::ShiftRight<8>(bytes), byte)), hn::ShiftRight<16>(bytes));
}

// The costs of row y at disparity k of the range, shifted by `shift`; `right` is the padded row that load_right made
// for the disparities from `first` on, `count` of them.
void make_costs(const Job& job, const std::uint32_t* right, int y, int first, int count, int k, int shift,
                std::uint16_t* out) {
  const D32 d;
  const D16 d16;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const auto limit = hn::Set(d16, static_cast<std::uint16_t>(job.parameters.cost.truncation));
  const std::uint32_t* left = job.in.rgb_left.row(y);
  const std::uint32_t* candidates = right + (first + count - 1 - k);
  const auto block = [&](int x) HWY_ATTR { return difference(hn::LoadU(d, left + x), hn::LoadU(d, candidates + x)); };
  int x = 0;
  for (; x + 2 * lanes <= job.width; x += 2 * lanes)
    hn::StoreU(hn::ShiftLeftSame(hn::Min(narrowed(block(x), block(x + lanes)), limit), shift), d16, out + x);
  for (; x < job.width; ++x)
    out[x] = static_cast<std::uint16_t>(colour_difference::cost(job.parameters.cost, left[x], candidates[x]) << shift);
}

// The right pixels of row y from that of (0, largest disparity) on.
void load_right(const Job& job, int y, int first, int count, std::uint32_t* right) {
  const int most = job.in.select.min_disparity + first + count - 1;
  copy_replicated(job.in.rgb_right.row(y), job.width, -most, job.width + count - 1, right);
}

void pad(std::uint16_t* row, int width, int before, int behind) {
  std::fill_n(row - before, before, row[0]);
  std::fill_n(row + width, behind, row[width - 1]);
}

// ---- esaw

// ⌊(n_before C_before + n C + n_behind C_behind + 128) / 256⌋: the upper and the lower bytes of the costs apart, so that
// 16 bits hold all sums.
HWY_INLINE V16 average(const V16* n, V16 before, V16 here, V16 behind) {
  const D16 d;
  const auto byte = hn::Set(d, 255);
  const auto sum = [&](V16 a, V16 b, V16 c)
                       HWY_ATTR { return hn::Add(hn::Add(hn::Mul(n[0], a), hn::Mul(n[1], b)), hn::Mul(n[2], c)); };
  const auto upper = sum(hn::ShiftRight<8>(before), hn::ShiftRight<8>(here), hn::ShiftRight<8>(behind));
  const auto lower = sum(hn::And(before, byte), hn::And(here, byte), hn::And(behind, byte));
  return hn::Add(upper, hn::ShiftRight<8>(hn::Add(lower, hn::Set(d, 128))));
}

class EsawSlab {
 public:
  EsawSlab(const Job& job, const EsawScratch& scratch, const Candidates& candidates)
      : job_(job), scratch_(scratch), candidates_(candidates) {}

  void run(int first) {
    first_ = first;
    count_ = std::min(job_.slab, job_.disparities - first);
    for (int y = 0; y < job_.height; ++y) {
      load_right(job_, y, first_, count_, candidates_.words);
      for (int k = 0; k < count_; ++k)
        make_costs(job_, candidates_.words, y, first_, count_, first_ + k, 7, scratch_.levels[0].input[k]);
      push(0, y);
    }
  }

 private:
  // Row y of the input of step t is there: makes its horizontal sums, and the vertical ones that have been waiting for it.
  void push(int t, int y) {
    const EsawScratch::Level& level = scratch_.levels[t];
    load_shares(t, y, 0);
    const Rows sums = level.horizontal.slot(y);
    for (int k = 0; k < count_; ++k) {
      std::uint16_t* row = level.input[k];
      pad(row, job_.width, level.across, level.across);
      average_row(row - level.across, row, row + level.across, sums[k]);
    }
    const int last = job_.height - 1;
    const int from = y < last ? y - level.down : std::max(0, last - level.down), to = y < last ? y - level.down : last;
    for (int done = std::max(0, from); done <= to; ++done) {
      load_shares(t, done, 16);
      const bool is_last = t + 1 == static_cast<int>(scratch_.levels.size());
      const Rows out = is_last ? job_.volume_row(done, first_) : scratch_.levels[t + 1].input;
      const Rows above = level.horizontal.slot(std::max(0, done - level.down)), here = level.horizontal.slot(done),
                 below = level.horizontal.slot(std::min(last, done + level.down));
      for (int k = 0; k < count_; ++k) average_row(above[k], here[k], below[k], out[k]);
      if (!is_last) push(t + 1, done);
    }
  }

  void load_shares(int t, int y, int shift) const {
    const D16 d;
    const std::uint32_t* words = job_.weights.row(t * job_.height + y);
    int x = 0;
    for (; x + lanes16() <= job_.width; x += lanes16()) {
      const auto before = narrowed_load(words + x, shift), behind = narrowed_load(words + x, shift + 8);
      hn::StoreU(before, d, scratch_.shares[0] + x);
      hn::StoreU(hn::Sub(hn::Sub(hn::Set(d, 256), before), behind), d, scratch_.shares[1] + x);
      hn::StoreU(behind, d, scratch_.shares[2] + x);
    }
    for (; x < job_.width; ++x) {
      scratch_.shares[0][x] = static_cast<std::uint16_t>(words[x] >> shift & 255);
      scratch_.shares[1][x] = static_cast<std::uint16_t>(esaw::rest(words[x], shift));
      scratch_.shares[2][x] = static_cast<std::uint16_t>(words[x] >> (shift + 8) & 255);
    }
  }

  // Whole vectors: rows have room behind.
  void average_row(const std::uint16_t* before, const std::uint16_t* here, const std::uint16_t* behind,
                   std::uint16_t* out) const {
    const D16 d;
    for (int x = 0; x < job_.width; x += lanes16()) {
      const V16 n[] = {hn::LoadU(d, scratch_.shares[0] + x), hn::LoadU(d, scratch_.shares[1] + x),
                       hn::LoadU(d, scratch_.shares[2] + x)};
      hn::StoreU(average(n, hn::LoadU(d, before + x), hn::LoadU(d, here + x), hn::LoadU(d, behind + x)), d, out + x);
    }
  }

  const Job& job_;
  const EsawScratch& scratch_;
  const Candidates& candidates_;
  int first_ = 0, count_ = 0;
};

// ---- weights of windows

// 8-bit weights of the pixels p + (dx, dy) for the pixels p of a row, from x = `first` on; `table` in 32 bits.
class WindowWeigher {
 public:
  WindowWeigher(double gamma_colour, double gamma_distance)
      : scales_(support_weight::scales(gamma_colour, gamma_distance)) {
    const auto table = support_weight::make_table();
    for (int i = 0; i < 256; ++i) table_[i] = support_weight::in_8_bits(table.of[i]);
  }

  // `other` is the row of q.
  template <class T>
  void run(const std::uint32_t* row, const std::uint32_t* other, int width, int dx, int quarters, T* out) const {
    const I32 d;
    const int lanes = static_cast<int>(hn::Lanes(d));
    const int part = support_weight::distance_part(scales_, quarters);
    const auto scalar = [&](int x) {
      const int distance = support_weight::colour_distance(row[x], other[std::clamp(x + dx, 0, width - 1)]);
      out[x] = static_cast<T>(table_[support_weight::exponent(scales_, distance, part)]);
    };
    const int first = std::min(std::max(0, -dx), width), last = std::max(first, std::min(width, width - dx));
    int x = 0;
    for (; x < first; ++x) scalar(x);
    for (; x + lanes <= last; x += lanes) {
      const hn::Rebind<T, I32> narrow;
      const auto load = [&](const std::uint32_t* p)
                            HWY_ATTR { return hn::LoadU(d, reinterpret_cast<const std::int32_t*>(p)); };
      hn::StoreU(hn::DemoteTo(narrow, weights(load(row + x), load(other + x + dx), part)), narrow, out + x);
    }
    for (; x < width; ++x) scalar(x);
  }

 private:
  HWY_INLINE hn::Vec<I32> weights(hn::Vec<I32> p, hn::Vec<I32> q, int part) const {
    const I32 d;
    const F32 f;
    auto squares = hn::Zero(d);
    for (int i = 0; i < 3; ++i) {
      const auto apart = hn::Sub(hn::And(p, hn::Set(d, 1023)), hn::And(q, hn::Set(d, 1023)));
      squares = hn::Add(squares, hn::Mul(apart, apart));
      p = hn::ShiftRight<10>(p);
      q = hn::ShiftRight<10>(q);
    }
    const auto distance = hn::ConvertTo(d, hn::Sqrt(hn::ConvertTo(f, squares)));
    const auto sum = hn::Add(hn::Mul(distance, hn::Set(d, scales_.colour)), hn::Set(d, part + 32768));
    return hn::GatherIndex(d, table_.data(), hn::Min(hn::ShiftRight<16>(sum), hn::Set(d, 255)));
  }

  const support_weight::Scales scales_;
  std::array<std::int32_t, 256> table_;
};

// ---- asw_separable

void weigh_taps(const asw_separable::Parameters& p, const Job& job, int y) {
  const WindowWeigher weigher(p.gamma_colour, p.gamma_distance);
  const auto& lab = job.in.lab_left;
  const int radius = p.window / 2;
  for (int tap = 0; tap < p.window; ++tap) {
    const int i = tap - radius;
    const std::size_t row = (static_cast<std::size_t>(y) * p.window + tap) * job.width;
    weigher.run(lab.row(y), lab.row(y), job.width, i, 4 * std::abs(i), job.taps[0] + row);
    weigher.run(lab.row(y), lab.row(std::clamp(y + i, 0, job.height - 1)), job.width, 0, 4 * std::abs(i),
                job.taps[1] + row);
  }
}

class SeparableSlab {
 public:
  SeparableSlab(const Job& job, const SeparableScratch& scratch, const Candidates& candidates)
      : job_(job), scratch_(scratch), candidates_(candidates), taps_(2 * scratch.radius + 1) {}

  void run(int first) {
    first_ = first;
    count_ = std::min(job_.slab, job_.disparities - first);
    const int last = job_.height - 1, radius = scratch_.radius;
    for (int y = 0; y <= last; ++y) {
      add_horizontally(y);
      const int to = y < last ? y - radius : last;
      for (int done = std::max(0, y < last ? to : last - radius); done <= to; ++done) add_vertically(done);
    }
  }

 private:
  void add_horizontally(int y) {
    load_right(job_, y, first_, count_, candidates_.words);
    load_weights(job_.taps[0], y);
    const Rows sums = scratch_.horizontal.slot(y);
    for (int k = 0; k < count_; ++k) {
      std::uint16_t* row = scratch_.input[k];
      make_costs(job_, candidates_.words, y, first_, count_, first_ + k, 7, row);
      pad(row, job_.width, scratch_.radius, scratch_.radius + 1);
      const std::uint16_t* window = row - scratch_.radius;
      average_row(
          [&](int pair, int x, V16& even, V16& odd) HWY_ATTR {
            const D16 d;
            even = hn::LoadU(d, window + x + 2 * pair);
            odd = hn::LoadU(d, window + x + 2 * pair + 1);
          },
          sums[k]);
    }
  }

  void add_vertically(int y) {
    load_weights(job_.taps[1], y);
    const Rows out = job_.volume_row(y, first_);
    const std::uint16_t* rows[64];
    for (int k = 0; k < count_; ++k) {
      for (int tap = 0; tap < taps_; ++tap)
        rows[tap] = scratch_.horizontal.slot(std::clamp(y + tap - scratch_.radius, 0, job_.height - 1))[k];
      rows[taps_] = rows[taps_ - 1];  // the one too many, which has no weight
      average_row(
          [&](int pair, int x, V16& even, V16& odd) HWY_ATTR {
            const D16 d;
            const D32 d32;
            const auto a = hn::LoadU(d, rows[2 * pair] + x), b = hn::LoadU(d, rows[2 * pair + 1] + x);
            even = hn::OddEven(hn::BitCast(d, hn::ShiftLeft<16>(hn::BitCast(d32, b))), a);
            odd = hn::OddEven(b, hn::BitCast(d, hn::ShiftRight<16>(hn::BitCast(d32, a))));
          },
          out[k]);
    }
  }

  // In pairs of taps, and their sums.
  void load_weights(const std::uint8_t* plane, int y) const {
    const D16 d;
    const D32 d32;
    const hn::Rebind<std::uint8_t, D16> d8;
    const std::uint8_t* rows = plane + static_cast<std::size_t>(y) * taps_ * job_.width;
    std::uint8_t tail[hn::MaxLanes(D16())];
    for (int x = 0; x < job_.width; x += lanes16()) {
      auto even_total = hn::Zero(d32), odd_total = hn::Zero(d32);
      const auto load = [&](int tap) HWY_ATTR {
        if (tap == taps_) return hn::Zero(d);
        const std::uint8_t* row = rows + static_cast<std::size_t>(tap) * job_.width + x;
        if (x + lanes16() <= job_.width) return hn::PromoteTo(d, hn::LoadU(d8, row));
        std::fill_n(std::copy_n(row, job_.width - x, tail), lanes16() - (job_.width - x), std::uint8_t{1});
        return hn::PromoteTo(d, hn::LoadU(d8, tail));
      };
      for (int tap = 0; tap < taps_; tap += 2) {
        const auto a = load(tap), b = load(tap + 1);
        const auto even = hn::OddEven(hn::BitCast(d, hn::ShiftLeft<16>(hn::BitCast(d32, b))), a);
        const auto odd = hn::OddEven(b, hn::BitCast(d, hn::ShiftRight<16>(hn::BitCast(d32, a))));
        hn::StoreU(even, d, scratch_.pairs[tap] + x);
        hn::StoreU(odd, d, scratch_.pairs[tap + 1] + x);
        even_total = hn::Add(even_total, both(even));
        odd_total = hn::Add(odd_total, both(odd));
      }
      store_total(0, x, even_total);
      store_total(1, x, odd_total);
    }
  }
  static HWY_INLINE V32 both(V16 pair) {
    const D32 d32;
    const auto wide = hn::BitCast(d32, pair);
    return hn::Add(hn::And(wide, hn::Set(d32, 65535)), hn::ShiftRight<16>(wide));
  }
  void store_total(int parity, int x, V32 total) const {
    const I32 d;
    const F32 f;
    hn::StoreU(hn::BitCast(d, total), d, this->total(parity) + x / 2);
    hn::StoreU(hn::Div(hn::Set(f, 1.0f), hn::ConvertTo(f, hn::BitCast(d, total))), f, inverse(parity) + x / 2);
  }
  std::int32_t* total(int parity) const { return reinterpret_cast<std::int32_t*>(scratch_.totals[parity]); }
  float* inverse(int parity) const { return reinterpret_cast<float*>(scratch_.inverses[2 * parity]); }

  // ⌊(sum + ⌊total / 2⌋) / total⌋: in float it is off by one at most.
  HWY_INLINE V32 quotient(hn::Vec<I32> sum, int parity, int x) const {
    const I32 d;
    const F32 f;
    const auto divisor = hn::LoadU(d, total(parity) + x / 2);
    const auto dividend = hn::Add(sum, hn::ShiftRight<1>(divisor));
    const auto q = hn::ConvertTo(d, hn::Mul(hn::ConvertTo(f, dividend), hn::LoadU(f, inverse(parity) + x / 2)));
    const auto left_over = hn::Sub(dividend, hn::Mul(q, divisor));
    const auto too_large = hn::VecFromMask(d, hn::Lt(left_over, hn::Zero(d)));
    const auto too_small = hn::IfThenZeroElse(hn::Lt(left_over, divisor), hn::Set(d, 1));
    return hn::BitCast(D32(), hn::Add(hn::Add(q, too_large), too_small));
  }

  // load(pair, x, even, odd) gives the costs of two taps for the even and for the odd pixels.
  template <class Load>
  HWY_INLINE void average_row(Load&& load, std::uint16_t* out) const {
    const D16 d;
    const I16 i16;
    const I32 i32;
    for (int x = 0; x < job_.width; x += lanes16()) {
      auto even0 = hn::Zero(i32), even1 = hn::Zero(i32), odd0 = hn::Zero(i32), odd1 = hn::Zero(i32);
      for (int pair = 0; 2 * pair < taps_; ++pair) {
        V16 even, odd;
        load(pair, x, even, odd);
        const auto add = [&](V16 costs, int row, auto& sum0, auto& sum1) HWY_ATTR {
          const auto weights = hn::LoadU(i16, reinterpret_cast<const std::int16_t*>(scratch_.pairs[row] + x));
          sum0 = hn::ReorderWidenMulAccumulate(i32, hn::BitCast(i16, costs), weights, sum0, sum1);
        };
        add(even, 2 * pair, even0, even1);
        add(odd, 2 * pair + 1, odd0, odd1);
      }
      const auto even = quotient(hn::RearrangeToOddPlusEven(even0, even1), 0, x);
      const auto odd = quotient(hn::RearrangeToOddPlusEven(odd0, odd1), 1, x);
      hn::StoreU(hn::BitCast(d, hn::Or(even, hn::ShiftLeft<16>(odd))), d, out + x);
    }
  }

  const Job& job_;
  const SeparableScratch& scratch_;
  const Candidates& candidates_;
  const int taps_;
  int first_ = 0, count_ = 0;
};

// ---- asw: a row of the image at a time

class FullRow {
 public:
  FullRow(const asw::Parameters& p, const Job& job, const FullScratch& scratch, const Candidates& candidates)
      : job_(job), scratch_(scratch), candidates_(candidates), weigher_(p.gamma_colour, p.gamma_distance) {}

  void run(int y) const {
    std::fill_n(scratch_.sums, static_cast<std::size_t>(scratch_.sum_pitch) * job_.disparities, 0);
    std::fill_n(scratch_.totals, static_cast<std::size_t>(scratch_.sum_pitch) * job_.disparities, 0);
    const int radius = scratch_.radius;
    for (int dy = -radius; dy <= radius; ++dy) {
      const int row = std::clamp(y + dy, 0, job_.height - 1);
      load_weights(y, row, dy);
      load_right(job_, row, 0, job_.disparities, candidates_.words);
      for (int k = 0; k < job_.disparities; ++k) {
        make_costs(job_, candidates_.words, row, 0, job_.disparities, k, 0, scratch_.cost[0]);
        pad(scratch_.cost[0], job_.width, radius, radius);
        add_row(k);
      }
    }
    for (int k = 0; k < job_.disparities; ++k) finish(k, job_.volume_row(y, k)[0]);
  }

 private:
  // Of the right view for the pixels from that of (0, largest disparity) on, as load_right has them.
  void load_weights(int y, int row, int dy) const {
    const int radius = scratch_.radius, width = job_.width;
    for (int dx = -radius; dx <= radius; ++dx) {
      const int quarters = asw::quarters(dx, dy);
      weigher_.run(job_.in.lab_left.row(y), job_.in.lab_left.row(row), width, dx, quarters, scratch_.left[dx + radius]);
      std::uint16_t* right = scratch_.right[dx + radius];
      std::uint16_t* unclamped = scratch_.cost[0];
      weigher_.run(job_.in.lab_right.row(y), job_.in.lab_right.row(row), width, dx, quarters, unclamped);
      copy_replicated(unclamped, width, -(job_.in.select.min_disparity + job_.disparities - 1),
                      width + job_.disparities - 1, right);
    }
  }

  void add_row(int k) const {
    const I32 d;
    const hn::Rebind<std::uint16_t, I32> d16;
    const int lanes = static_cast<int>(hn::Lanes(d)), taps = 2 * scratch_.radius + 1;
    const std::uint16_t* cost = scratch_.cost[0] - scratch_.radius;
    std::int32_t row[hn::MaxLanes(I32())];
    for (int x = 0; x < job_.width; x += lanes) {
      auto sum = hn::Zero(d), total = hn::Zero(d);
      for (int tap = 0; tap < taps; ++tap) {
        const auto left = hn::PromoteTo(d, hn::LoadU(d16, scratch_.left[tap] + x));
        const auto right = hn::PromoteTo(d, hn::LoadU(d16, scratch_.right[tap] + x + job_.disparities - 1 - k));
        const auto weight = hn::Mul(left, right);
        sum = hn::Add(sum, hn::Mul(weight, hn::PromoteTo(d, hn::LoadU(d16, cost + x + tap))));
        total = hn::Add(total, weight);
      }
      // Sums of a row of the window fit 31 bits, those of the window do not.
      hn::StoreU(sum, d, row);
      const int whole = std::min(lanes, job_.width - x);
      std::uint64_t* sums = scratch_.sums + static_cast<std::ptrdiff_t>(k) * scratch_.sum_pitch + x;
      for (int i = 0; i < whole; ++i) sums[i] += static_cast<std::uint64_t>(row[i]);
      hn::StoreU(total, d, row);
      std::uint32_t* totals = scratch_.totals + static_cast<std::ptrdiff_t>(k) * scratch_.sum_pitch + x;
      for (int i = 0; i < whole; ++i) totals[i] += static_cast<std::uint32_t>(row[i]);
    }
  }

  void finish(int k, std::uint16_t* out) const {
    const std::uint64_t* sums = scratch_.sums + static_cast<std::ptrdiff_t>(k) * scratch_.sum_pitch;
    const std::uint32_t* totals = scratch_.totals + static_cast<std::ptrdiff_t>(k) * scratch_.sum_pitch;
    for (int x = 0; x < job_.width; ++x)
      out[x] = static_cast<std::uint16_t>((128 * sums[x] + totals[x] / 2) / totals[x]);
  }

  const Job& job_;
  const FullScratch& scratch_;
  const Candidates& candidates_;
  const WindowWeigher weigher_;
};

// ---- selection

class Selector {
 public:
  Selector(const Job& job, const SelectScratch& scratch) : job_(job), scratch_(scratch) {}

  void run(int y) const {
    if (is_plain(job_.parameters.select, job_.in.select, job_.out)) return select_plainly(y);
    transpose(y);
    const wta_cpu::RightRow right{scratch_.right_cost, scratch_.right_index};
    if (!job_.out.right.empty()) wta_cpu::clear(right, job_.width + scratch_.padded);
    for (int x = job_.width - 1; x >= 0; --x) select(x, y, right);
    if (job_.out.right.empty()) return;
    const auto& mask = job_.in.select.mask_right;
    wta_cpu::finish(right, job_.width, job_.disparities, job_.in.select.min_disparity,
                    mask.empty() ? nullptr : mask.row(y), job_.out.right.row(y));
  }

 private:
  void select_plainly(int y) const {
    const D16 d;
    const Rows costs = job_.volume_row(y, 0);
    std::uint16_t indices[hn::MaxLanes(D16())];
    for (int x = 0; x < job_.width; x += lanes16()) {
      auto lowest = hn::LoadU(d, costs[0] + x), best = hn::Zero(d);
      for (int k = 1; k < job_.disparities; ++k) {
        const auto cost = hn::LoadU(d, costs[k] + x);
        best = hn::IfThenElse(hn::Lt(cost, lowest), hn::Set(d, static_cast<std::uint16_t>(k)), best);
        lowest = hn::Min(lowest, cost);
      }
      hn::StoreU(best, d, indices);
      const int whole = std::min(lanes16(), job_.width - x);
      for (int i = 0; i < whole; ++i)
        job_.out.disparity(x + i, y) = static_cast<float>(job_.in.select.min_disparity + indices[i]);
    }
    std::fill_n(job_.out.validity.row(y), job_.width, std::uint8_t{0});
  }

  void transpose(int y) const {
    const Rows costs = job_.volume_row(y, 0);
    constexpr int block = 32;
    for (int first = 0; first < job_.width; first += block)
      for (int k = 0; k < job_.disparities; ++k)
        for (int x = first; x < std::min(job_.width, first + block); ++x)
          scratch_.costs[static_cast<std::size_t>(x) * scratch_.padded + k] = costs[k][x];
  }

  void select(int x, int y, const wta_cpu::RightRow& right) const {
    const wta::Input& in = job_.in.select;
    std::uint16_t* costs = scratch_.costs + static_cast<std::size_t>(x) * scratch_.padded;
    std::fill(costs + job_.disparities, costs + scratch_.padded, wta_cpu::no_cost);
    const bool masked = !in.mask_left.empty() && in.mask_left(x, y) == 0;
    if (!job_.out.right.empty() && !masked) wta_cpu::update(right, job_.width - 1 - x, costs, scratch_.padded);

    wta_cpu::Selected selected{.validity = validity::masked};
    if (!masked) {
      const auto range = wta::candidates(job_.parameters.select, x, job_.width, in.min_disparity, job_.disparities);
      std::fill(costs, costs + std::clamp(range.first, 0, job_.disparities), wta_cpu::no_cost);
      std::fill(costs + std::clamp(range.last + 1, 0, job_.disparities), costs + job_.disparities, wta_cpu::no_cost);
      if (!in.mask_right.empty())
        for (int k = 0; k < job_.disparities; ++k)
          if (in.mask_right.clamped(x - in.min_disparity - k, y) == 0) costs[k] = wta_cpu::no_cost;
      selected = wta_cpu::select(job_.parameters.select, costs, scratch_.padded, job_.disparities, in.min_disparity,
                                 !job_.out.confidence.empty());
    }
    job_.out.disparity(x, y) = selected.disparity;
    job_.out.validity(x, y) = selected.validity;
    if (!job_.out.confidence.empty()) job_.out.confidence(x, y) = selected.confidence;
  }

  const Job& job_;
  const SelectScratch& scratch_;
};

void aggregate_slabs(const Job& job, std::byte* scratch, std::atomic<int>& next) {
  Memory memory(scratch);
  const Candidates candidates(job, memory);
  const auto run = [&](auto&& slab) {
    for (int first; (first = job.slab * next++) < job.disparities;) slab.run(first);
  };
  if (const auto* e = std::get_if<esaw::Parameters>(&job.parameters.aggregation)) {
    const EsawScratch esaw_scratch(*e, job, memory);
    run(EsawSlab(job, esaw_scratch, candidates));
  } else if (const auto* s = std::get_if<asw_separable::Parameters>(&job.parameters.aggregation)) {
    const SeparableScratch separable_scratch(*s, job, memory);
    run(SeparableSlab(job, separable_scratch, candidates));
  } else {
    const auto& a = std::get<asw::Parameters>(job.parameters.aggregation);
    const FullScratch full_scratch(a, job, memory);
    const FullRow row(a, job, full_scratch, candidates);
    for (int y; (y = next++) < job.height;) row.run(y);
  }
}

void select_rows(const Job& job, std::byte* scratch, std::atomic<int>& next) {
  Memory memory(scratch);
  const SelectScratch select_scratch(job, memory);
  const Selector selector(job, select_scratch);
  for (int y; (y = next++) < job.height;) selector.run(y);
}

void weigh_tap_rows(const asw_separable::Parameters& p, const Job& job, int first, int last) {
  for (int y = first; y < last; ++y) weigh_taps(p, job, y);
}

}  // namespace stereopsis::support_weight_wta::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::support_weight_wta {

HWY_EXPORT(aggregate_slabs);
HWY_EXPORT(select_rows);
HWY_EXPORT(weigh_tap_rows);

std::size_t workspace_bytes(const Parameters& p, Size size, int disparities, int threads) {
  Memory memory(nullptr);
  const Job job(p, size, disparities, memory);
  return memory.used() + threads * with_gap(thread_bytes(job));
}

void cpu(const Parameters& p, const Input& in, const wta::Output& out, std::span<std::byte> workspace,
         Threads& threads) {
  Memory memory(workspace.data());
  Job job(p, in.rgb_left.size(), in.disparities, memory);
  job.in = in;
  job.out = out;
  if (const auto* e = std::get_if<esaw::Parameters>(&p.aggregation))
    esaw::cpu_weights(*e, in.lab_left, job.weights, job.sums[0], job.sums[1], threads);
  if (const auto* s = std::get_if<asw_separable::Parameters>(&p.aggregation))
    threads.rows(job.height, [&](int first, int last) { HWY_DYNAMIC_DISPATCH(weigh_tap_rows)(*s, job, first, last); });

  std::byte* const scratch = workspace.data() + memory.used();
  const std::size_t bytes = with_gap(thread_bytes(job));
  std::atomic<int> next_slab = 0, next_row = 0;
  threads.each([&](int i) { HWY_DYNAMIC_DISPATCH(aggregate_slabs)(job, scratch + i * bytes, next_slab); });
  threads.each([&](int i) { HWY_DYNAMIC_DISPATCH(select_rows)(job, scratch + i * bytes, next_row); });
}

}  // namespace stereopsis::support_weight_wta
#endif
