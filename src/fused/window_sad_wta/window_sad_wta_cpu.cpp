#include "fused/window_sad_wta/window_sad_wta.hpp"

#include "device/cpu/threads.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fused/window_sad_wta/window_sad_wta_cpu.cpp"
#include <hwy/foreach_target.h>

#include "device/cpu/highway-inl.hpp"
#include "stages/cost/cost_cpu-inl.hpp"
#include "stages/wta/wta_cpu-inl.hpp"

#ifndef STEREOPSIS_WINDOW_SAD_WTA_SCRATCH
#define STEREOPSIS_WINDOW_SAD_WTA_SCRATCH
namespace stereopsis::window_sad_wta {

constexpr int disparity_block = 32;  // number of disparities that the selection processes at a time

// The words of one row of the right view in the order of the candidates (cost_cpu-inl.hpp), in two planes of two bytes
// each.
struct CandidateRow {
  std::uint16_t *low, *high;
};

// The memory of one thread.
struct Scratch {
  Scratch(Size size, int disparities, std::byte* memory = nullptr)
      : padded((disparities + disparity_block - 1) / disparity_block * disparity_block),
        entries(size.width + padded),
        next(memory) {
    columns = take<std::uint16_t>(static_cast<std::size_t>(size.width) * padded);
    for (CandidateRow* row : {&entering, &leaving}) *row = {take<std::uint16_t>(entries), take<std::uint16_t>(entries)};
    running = take<std::uint32_t>(padded);
    total = take<std::uint16_t>(padded);
    right_cost = take<std::uint16_t>(entries);
    right_index = take<std::uint16_t>(entries);
  }

  int padded, entries;
  std::uint16_t* columns;
  CandidateRow entering, leaving;
  std::uint32_t* running;  // narrow sums use only half of this memory
  std::uint16_t *total, *right_cost, *right_index;
  std::size_t bytes = 0;

 private:
  // Takes memory with padding, because vectors are read beyond the end.
  template <class T>
  T* take(std::size_t count) {
    const std::size_t size = (count * sizeof(T) + 127) / 64 * 64;
    T* piece = reinterpret_cast<T*>(next);
    if (next != nullptr) next += size;
    bytes += size;
    return piece;
  }

  std::byte* next;
};

}  // namespace stereopsis::window_sad_wta
#endif

HWY_BEFORE_NAMESPACE();
namespace stereopsis::window_sad_wta::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace cost_cpu = stereopsis::cost::HWY_NAMESPACE;
namespace wta_cpu = stereopsis::wta::HWY_NAMESPACE;

using D16 = hn::CappedTag<std::uint16_t, disparity_block>;
using V16 = hn::Vec<D16>;

// Returns |a − b| for the four bytes of each pixel, summed. Each of low and high holds two of the bytes.
HWY_INLINE V16 differences(V16 left_low, V16 left_high, const CandidateRow& row, int i) {
  const D16 d;
  const hn::Repartition<std::uint8_t, D16> d8;
  const auto difference = [&](V16 left, const std::uint16_t* right) HWY_ATTR {
    const auto a = hn::BitCast(d8, left), b = hn::BitCast(d8, hn::LoadU(d, right));
    return hn::BitCast(d, hn::Or(hn::SaturatedSub(a, b), hn::SaturatedSub(b, a)));
  };
  const V16 low = difference(left_low, row.low + i), high = difference(left_high, row.high + i), byte = hn::Set(d, 255);
  return hn::Add(hn::Add(hn::And(low, byte), hn::ShiftRight<8>(low)),
                 hn::Add(hn::And(high, byte), hn::ShiftRight<8>(high)));
}

struct LeftWord {
  explicit LeftWord(std::uint32_t word)
      : low(hn::Set(D16(), static_cast<std::uint16_t>(word))),
        high(hn::Set(D16(), static_cast<std::uint16_t>(word >> 16))) {}
  V16 low, high;
};

// A band of rows. `kWide` means that sums over the window need 32 bits, and are shifted.
template <bool kWide>
class Band {
  using Lane = std::conditional_t<kWide, std::uint32_t, std::uint16_t>;
  using D = hn::CappedTag<Lane, disparity_block / (sizeof(Lane) / 2)>;

 public:
  Band(const Parameters& p, const Input<ImageView>& in, const wta::Output& out, const Scratch& scratch)
      : p_(p),
        in_(in),
        out_(out),
        s_(scratch),
        width_(in.source.left.width),
        height_(in.source.left.height),
        shift_(window_sad::shift_of(p.window, in.source.kind.max_cost())) {}

  void run(int first, int last) {
    const int radius = p_.window.radius_y();
    std::fill_n(s_.columns, static_cast<std::size_t>(width_) * s_.padded, std::uint16_t{0});
    for (int dy = -radius; dy <= radius; ++dy) add_row(first + dy);
    for (int y = first; y < last; ++y) {
      moves_ = y > first;
      if (moves_) {
        entering_ = load(y + radius, s_.entering);
        leaving_ = load(y - radius - 1, s_.leaving);
      }
      select_row(y);
    }
  }

 private:
  // Lays out the candidates of the row, or of the nearest row inside the image. Returns the left words of that row.
  const std::uint32_t* load(int y, const CandidateRow& row) const {
    const int inside = std::clamp(y, 0, height_ - 1);
    cost_cpu::for_each_candidate(in_.source.right.row(inside), width_, in_.select.min_disparity, s_.padded,
                                 [&](int i, std::uint32_t word) {
                                   row.low[i] = static_cast<std::uint16_t>(word);
                                   row.high[i] = static_cast<std::uint16_t>(word >> 16);
                                 });
    return in_.source.left.row(inside);
  }

  std::uint16_t* column(int x) const {
    return s_.columns + static_cast<std::ptrdiff_t>(std::clamp(x, 0, width_ - 1)) * s_.padded;
  }

  void add_row(int y) const {
    const D16 d;
    const std::uint32_t* left = load(y, s_.entering);
    for (int x = 0; x < width_; ++x) {
      const LeftWord word(left[x]);
      std::uint16_t* sums = column(x);
      for (int k = 0; k < s_.padded; k += static_cast<int>(hn::Lanes(d)))
        hn::Store(hn::Add(hn::Load(d, sums + k), differences(word.low, word.high, s_.entering, width_ - 1 - x + k)), d,
                  sums + k);
    }
  }

  // Moves the sums of a column down by one row.
  void move_column(int x) const {
    const D16 d;
    const LeftWord entering(entering_[x]), leaving(leaving_[x]);
    std::uint16_t* sums = column(x);
    const int from = width_ - 1 - x;
    for (int k = 0; k < s_.padded; k += static_cast<int>(hn::Lanes(d))) {
      const V16 more = differences(entering.low, entering.high, s_.entering, from + k);
      const V16 less = differences(leaving.low, leaving.high, s_.leaving, from + k);
      hn::Store(hn::Sub(hn::Add(hn::Load(d, sums + k), more), less), d, sums + k);
    }
  }

  // Selects from right to left, as required by the selection in the right view.
  void select_row(int y) {
    const int radius = p_.window.radius_x();
    const wta_cpu::RightRow right{s_.right_cost, s_.right_index};
    if (!out_.right.empty()) wta_cpu::clear(right, s_.entries);
    std::fill_n(running(), s_.padded, Lane{0});
    if (moves_)
      for (int x = std::max(0, width_ - 1 - radius); x < width_; ++x) move_column(x);
    for (int dx = -radius; dx <= radius; ++dx) slide(width_ - 1 + dx, 0, false);
    select(width_ - 1, y, right);
    for (int x = width_ - 2; x >= 0; --x) {
      if (moves_ && x - radius >= 0) move_column(x - radius);
      slide(x - radius, x + radius + 1, true);
      select(x, y, right);
    }
    if (!out_.right.empty()) {
      const auto& mask = in_.select.mask_right;
      wta_cpu::finish(right, width_, in_.disparities, in_.select.min_disparity, mask.empty() ? nullptr : mask.row(y),
                      out_.right.row(y));
    }
  }

  Lane* running() const { return reinterpret_cast<Lane*>(s_.running); }

  // Adds column `enters` to the running sums and, if `moves`, subtracts column `leaves`.
  void slide(int enters, int leaves, bool moves) const {
    const D d;
    const hn::Rebind<std::uint16_t, D> narrow;
    const auto wide = [&](const std::uint16_t* sums) HWY_ATTR {
      if constexpr (kWide)
        return hn::PromoteTo(d, hn::Load(narrow, sums));
      else
        return hn::Load(narrow, sums);
    };
    const std::uint16_t *more = column(enters), *less = column(leaves);
    for (int k = 0; k < s_.padded; k += static_cast<int>(hn::Lanes(d))) {
      auto sum = hn::Add(hn::Load(d, running() + k), wide(more + k));
      if (moves) sum = hn::Sub(sum, wide(less + k));
      hn::Store(sum, d, running() + k);
    }
  }

  void select(int x, int y, const wta_cpu::RightRow& right) {
    if constexpr (kWide) {
      for (int k = 0; k < s_.padded; ++k) s_.total[k] = static_cast<std::uint16_t>(running()[k] >> shift_);
    } else {
      std::copy_n(running(), s_.padded, s_.total);
    }
    std::uint16_t* total = s_.total;
    std::fill(total + in_.disparities, total + s_.padded, wta_cpu::no_cost);

    const auto& in = in_.select;
    const bool masked = !in.mask_left.empty() && in.mask_left(x, y) == 0;
    if (!out_.right.empty() && !masked) wta_cpu::update(right, width_ - 1 - x, total, s_.padded);
    wta_cpu::Selected selected{.validity = validity::masked};
    if (!masked) {
      wta_cpu::leave_candidates(p_.select, in, x, y, width_, in_.disparities, total);
      selected =
          wta_cpu::select(p_.select, total, s_.padded, in_.disparities, in.min_disparity, !out_.confidence.empty());
    }
    out_.disparity(x, y) = selected.disparity;
    out_.validity(x, y) = selected.validity;
    if (!out_.confidence.empty()) out_.confidence(x, y) = selected.confidence;
  }

  const Parameters& p_;
  const Input<ImageView>& in_;
  const wta::Output& out_;
  const Scratch& s_;
  const int width_, height_, shift_;
  bool moves_ = false;  // true if the columns must move to the row that is selected
  const std::uint32_t *entering_ = nullptr, *leaving_ = nullptr;
};

void match_band(const Parameters& p, const Input<ImageView>& in, const wta::Output& out, const Scratch& scratch,
                int first, int last) {
  if (window_sad::shift_of(p.window, in.source.kind.max_cost()) > 0)
    Band<true>(p, in, out, scratch).run(first, last);
  else
    Band<false>(p, in, out, scratch).run(first, last);
}

}  // namespace stereopsis::window_sad_wta::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::window_sad_wta {

HWY_EXPORT(match_band);

std::size_t workspace_bytes(Size size, int disparities, int threads) {
  return Scratch(size, disparities).bytes * threads;
}

void cpu(const Parameters& p, const Input<ImageView>& in, const wta::Output& out, std::span<std::byte> workspace,
         Threads& threads) {
  const Size size = in.source.left.size();
  const std::size_t bytes = Scratch(size, in.disparities).bytes;
  const auto row = [&](int i) { return static_cast<int>(static_cast<long long>(size.height) * i / threads.count()); };
  threads.each([&](int i) {
    if (row(i) == row(i + 1)) return;
    const Scratch scratch(size, in.disparities, workspace.data() + i * bytes);
    HWY_DYNAMIC_DISPATCH(match_band)(p, in, out, scratch, row(i), row(i + 1));
  });
}

}  // namespace stereopsis::window_sad_wta
#endif
