// Selection from a volume on the CPU. The file wta_cpu-inl.hpp has the code that is shared with the sweeps, which
// compute sums and select at the same time.
#include <limits>

#include "device/cpu/threads.hpp"
#include "stages/wta/wta.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/wta/wta_cpu.cpp"
#include <hwy/foreach_target.h>

#include "device/cpu/highway-inl.hpp"
#include "stages/wta/wta_cpu-inl.hpp"

#ifndef STEREOPSIS_WTA_MEMORY
#define STEREOPSIS_WTA_MEMORY
namespace stereopsis::wta {

// The memory of a thread that selects from sums: the candidates of a pixel, and the winners of the right view.
struct Memory {
  Memory(int width, int disparities) : padded((disparities + 31) / 32 * 32), entries(width + padded) {}
  std::size_t bytes() const {
    return with_gap(sizeof(std::uint16_t) * (padded + 2 * static_cast<std::size_t>(entries)));
  }

  int padded;   // disparities, padded
  int entries;  // number of right pixels that are candidates in a row
};

}  // namespace stereopsis::wta
#endif

HWY_BEFORE_NAMESPACE();
namespace stereopsis::wta::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::CappedTag<float, 16>;

inline constexpr float no_float_cost = std::numeric_limits<float>::infinity();

// Loads costs. NaN becomes the cost of an absent candidate.
inline hn::VFromD<Floats> load_costs(const float* costs) {
  const Floats d;
  const auto v = hn::LoadU(d, costs);
  return hn::IfThenElse(hn::IsNaN(v), hn::Set(d, no_float_cost), v);
}

// Returns the lowest of costs[first … last], or no_float_cost if there is none.
inline float lowest_cost(const float* costs, int first, int last) {
  const Floats d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  auto lowest = hn::Set(d, no_float_cost);
  int k = first;
  for (; k + lanes <= last + 1; k += lanes) lowest = hn::Min(lowest, load_costs(costs + k));
  if (k <= last)
    lowest =
        hn::Min(lowest, hn::IfThenElse(hn::FirstN(d, last + 1 - k), load_costs(costs + k), hn::Set(d, no_float_cost)));
  return hn::GetLane(hn::MinOfLanes(d, lowest));
}

// Return the first and the last index in [first, last] whose cost equals `cost`, which must occur.
inline int first_index_of(const float* costs, int first, float cost) {
  const Floats d;
  const auto wanted = hn::Set(d, cost);
  for (int k = first;; k += static_cast<int>(hn::Lanes(d))) {
    const auto found = hn::FindFirstTrue(d, hn::Eq(hn::LoadU(d, costs + k), wanted));
    if (found >= 0) return k + static_cast<int>(found);
  }
}
inline int last_index_of(const float* costs, int last, float cost) {
  while (costs[last] != cost) --last;
  return last;
}

class RowSelection {
 public:
  RowSelection(const Parameters& p, const Input& in, VolumeView<const float> costs, const Output& out,
               Reference reference, int y)
      : p_(p), in_(in), costs_(costs), out_(out), reference_(reference), y_(y) {}

  void run() const {
    for (int x = 0; x < costs_.width; ++x) select(x);
    if (out_.right.empty()) return;
    for (int x = 0; x < costs_.width; ++x) out_.right(x, y_) = right(x);
  }

 private:
  void set(int x, float disparity, std::uint8_t validity, float confidence) const {
    out_.disparity(x, y_) = disparity;
    out_.validity(x, y_) = validity;
    if (!out_.confidence.empty()) out_.confidence(x, y_) = confidence;
  }

  void select(int x) const {
    if (!usable(in_.mask_left, x)) return set(x, invalid_disparity, validity::masked, 0);
    const auto range = candidates(p_, x, costs_.width, in_.min_disparity, costs_.disparities);
    const float* costs = costs_.pixel(x, y_);
    const float lowest = lowest_of(x, costs, range.first, range.last);
    if (lowest == no_float_cost) return set(x, invalid_disparity, validity::no_candidate, 0);
    const int best = index_of(x, costs, range, lowest);

    float confidence = 0;
    if (p_.uniqueness > 0 || !out_.confidence.empty()) {
      const float second =
          std::min(lowest_of(x, costs, range.first, best - 2), lowest_of(x, costs, best + 2, range.last));
      if (second != no_float_cost) {
        if (p_.uniqueness > 0 && second * static_cast<float>(100 - p_.uniqueness) < lowest * 100.0f)
          return set(x, invalid_disparity, validity::ambiguous, 0);
        confidence = confidence_of(lowest, second);
      }
    }
    float disparity = static_cast<float>(in_.min_disparity + best);
    if (p_.subpixel != Subpixel::none && is_candidate(x, best - 1, range) && is_candidate(x, best + 1, range))
      disparity += subpixel_offset(p_.subpixel, costs[best - 1], lowest, costs[best + 1]);
    set(x, reference_ == Reference::right ? 0 - disparity : disparity, 0, confidence);
  }

  bool usable(ImageView<const std::uint8_t> mask, int x) const { return mask.empty() || mask.clamped(x, y_) != 0; }
  bool is_candidate(int x, int k, const Candidates& range) const {
    return k >= range.first && k <= range.last && costs_(x, y_, k) < no_float_cost &&
           usable(in_.mask_right, x - in_.min_disparity - k);
  }

  // Candidates that a mask may exclude are examined one by one.
  float lowest_of(int x, const float* costs, int first, int last) const {
    if (in_.mask_right.empty()) return lowest_cost(costs, first, last);
    float lowest = no_float_cost;
    for (int k = first; k <= last; ++k)
      if (usable(in_.mask_right, x - in_.min_disparity - k) && costs[k] < lowest) lowest = costs[k];
    return lowest;
  }
  int index_of(int x, const float* costs, const Candidates& range, float lowest) const {
    const bool backwards = reference_ == Reference::right;
    if (in_.mask_right.empty())
      return backwards ? last_index_of(costs, range.last, lowest) : first_index_of(costs, range.first, lowest);
    int k = backwards ? range.last : range.first;
    while (costs[k] != lowest || !usable(in_.mask_right, x - in_.min_disparity - k)) k += backwards ? -1 : 1;
    return k;
  }

  float right(int x_right) const {
    int best = -1;
    if (usable(in_.mask_right, x_right))
      for (int k = std::max(0, -x_right - in_.min_disparity);
           k <= std::min(costs_.disparities, costs_.width - x_right - in_.min_disparity) - 1; ++k) {
        const int x = x_right + in_.min_disparity + k;
        if (usable(in_.mask_left, x) && costs_(x, y_, k) < no_float_cost &&
            (best < 0 || costs_(x, y_, k) < costs_(x_right + in_.min_disparity + best, y_, best)))
          best = k;
      }
    return best < 0 ? invalid_disparity : static_cast<float>(in_.min_disparity + best);
  }

  const Parameters& p_;
  const Input& in_;
  VolumeView<const float> costs_;
  const Output& out_;
  Reference reference_;
  int y_;
};

void select_float_rows(const Parameters& p, const Input& in, VolumeView<const float> costs, const Output& out,
                       Reference reference, int first, int last) {
  for (int y = first; y < last; ++y) RowSelection(p, in, costs, out, reference, y).run();
}

// Selection from integer costs of type T. The candidates of a pixel are copied, with no_cost for absent candidates. If
// the right view is the reference view, they are copied in reverse order: the range then covers d, and the first of
// equal costs wins.
template <class T>
class SumSelection {
 public:
  SumSelection(const Parameters& p, const Input& in, VolumeView<const T> sums, const Output& out, Reference reference,
               std::byte* memory)
      : p_(p),
        in_(in),
        sums_(sums),
        out_(out),
        backwards_(reference == Reference::right),
        memory_(sums.width, sums.disparities),
        candidates_(reinterpret_cast<std::uint16_t*>(memory)),
        right_{candidates_ + memory_.padded, candidates_ + memory_.padded + memory_.entries} {}

  void row(int y) const {
    const bool wants_right = !out_.right.empty();
    const int min = backwards_ ? -(in_.min_disparity + sums_.disparities - 1) : in_.min_disparity;
    if (wants_right) clear(right_, memory_.entries);
    for (int x = sums_.width - 1; x >= 0; --x) {
      if (!in_.mask_left.empty() && in_.mask_left(x, y) == 0) {
        set(x, y, {.validity = validity::masked});
        continue;
      }
      copy_candidates(x, y);
      if (wants_right) update(right_, sums_.width - 1 - x, candidates_, memory_.padded);
      set(x, y, select(p_, candidates_, memory_.padded, sums_.disparities, min, !out_.confidence.empty()));
    }
    if (wants_right)
      finish(right_, sums_.width, sums_.disparities, in_.min_disparity,
             in_.mask_right.empty() ? nullptr : in_.mask_right.row(y), out_.right.row(y));
  }

 private:
  void copy_candidates(int x, int y) const {
    const Candidates range = candidates(p_, x, sums_.width, in_.min_disparity, sums_.disparities);
    const int first = std::min(range.first, sums_.disparities), end = std::max(range.last + 1, first);
    std::fill(candidates_, candidates_ + first, no_cost);
    std::copy(sums_.pixel(x, y) + first, sums_.pixel(x, y) + end, candidates_ + first);
    std::fill(candidates_ + end, candidates_ + memory_.padded, no_cost);
    remove_masked(in_.mask_right, y, x - in_.min_disparity, sums_.disparities, candidates_);
    if (backwards_) std::reverse(candidates_, candidates_ + sums_.disparities);
  }
  void set(int x, int y, const Selected& selected) const {
    out_.disparity(x, y) = selected.disparity;
    out_.validity(x, y) = selected.validity;
    if (!out_.confidence.empty()) out_.confidence(x, y) = selected.confidence;
  }

  const Parameters& p_;
  const Input& in_;
  const VolumeView<const T> sums_;
  const Output& out_;
  const bool backwards_;
  const Memory memory_;
  std::uint16_t* const candidates_;
  const RightRow right_;
};

template <class T>
void select_rows(const Parameters& p, const Input& in, VolumeView<const T> sums, const Output& out, Reference reference,
                 std::byte* memory, int first, int last) {
  const SumSelection<T> selection(p, in, sums, out, reference, memory);
  for (int y = first; y < last; ++y) selection.row(y);
}
void select_u8_rows(const Parameters& p, const Input& in, VolumeView<const std::uint8_t> sums, const Output& out,
                    Reference reference, std::byte* memory, int first, int last) {
  select_rows(p, in, sums, out, reference, memory, first, last);
}
void select_u16_rows(const Parameters& p, const Input& in, VolumeView<const std::uint16_t> sums, const Output& out,
                     Reference reference, std::byte* memory, int first, int last) {
  select_rows(p, in, sums, out, reference, memory, first, last);
}

}  // namespace stereopsis::wta::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::wta {

HWY_EXPORT(select_float_rows);
HWY_EXPORT(select_u8_rows);
HWY_EXPORT(select_u16_rows);

void cpu(const Parameters& p, const Input& in, VolumeView<const float> costs, const Output& out, Threads& threads,
         Reference reference) {
  threads.rows(costs.height, [&](int first, int last) {
    HWY_DYNAMIC_DISPATCH(select_float_rows)(p, in, costs, out, reference, first, last);
  });
}

std::size_t scratch_bytes(int width, int disparities, int threads) {
  return threads * Memory(width, disparities).bytes();
}

namespace {

template <class T, class Select>
void in_bands(VolumeView<const T> sums, std::span<std::byte> scratch, Threads& threads, Select&& select) {
  const std::size_t bytes = Memory(sums.width, sums.disparities).bytes();
  const int bands = threads.count();
  threads.each([&](int i) {
    const auto edge = [&](int band) { return static_cast<int>(static_cast<long long>(sums.height) * band / bands); };
    select(scratch.data() + i * bytes, edge(i), edge(i + 1));
  });
}

}  // namespace

void cpu(const Parameters& p, const Input& in, VolumeView<const std::uint8_t> costs, const Output& out,
         std::span<std::byte> scratch, Threads& threads, Reference reference) {
  in_bands(costs, scratch, threads, [&](std::byte* memory, int first, int last) {
    HWY_DYNAMIC_DISPATCH(select_u8_rows)(p, in, costs, out, reference, memory, first, last);
  });
}

void cpu(const Parameters& p, const Input& in, VolumeView<const std::uint16_t> costs, const Output& out,
         std::span<std::byte> scratch, Threads& threads, Reference reference) {
  in_bands(costs, scratch, threads, [&](std::byte* memory, int first, int last) {
    HWY_DYNAMIC_DISPATCH(select_u16_rows)(p, in, costs, out, reference, memory, first, last);
  });
}

}  // namespace stereopsis::wta
#endif
