// Filling on the CPU. Most of the work is in the gaps, the runs of invalid pixels of a row. The values above a pixel
// are passed down row by row from the top, and stored for pixels in gaps. The values below are passed up from the
// bottom. These two sweeps run in parallel, with the mode second_lowest also for strips of columns. Nearly all other work
// is done row by row.
#include "stages/fill/fill.hpp"

#include "device/cpu/threads.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/fill/fill_cpu.cpp"
#include <hwy/foreach_target.h>

#include "device/cpu/lanes-inl.hpp"

#ifndef STEREOPSIS_FILL_SCRATCH
#define STEREOPSIS_FILL_SCRATCH
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace stereopsis::fill {

inline constexpr std::uint8_t not_filled = 0, mismatched = 1, occluded = 2;  // classes of invalid pixels
inline constexpr std::uint8_t never_filled = validity::masked | validity::outside;

// The scratch memory. Every row has padding, because a vector may extend beyond the end of the row.
struct Scratch {
  static constexpr std::size_t spare = 64;

  std::size_t width;       // width of all rows in the scratch memory
  std::int32_t* source{};  // for each row, the row from which `background` is read; −1 if there is none
  // Rows that carry the nearest valid values into gaps: [0] carries values from above, and [1] values from below.
  std::int32_t* valid_row[2]{};  // mode nearest: the row of the first valid pixel; −1 if there is none
  std::int32_t* carried_row[2]{};
  // mode hirschmueller: the first valid disparities to the left, straight on and to the right; mode second_lowest: only
  // straight on
  float* met[2][3]{};
  float* carried[2][6]{};
  std::uint8_t* classes{};
  std::size_t bytes = 0;

  // If `memory` is null, the constructor only counts the bytes.
  Scratch(Mode mode, Size size, std::byte* memory) : width(size.width + spare) {
    const auto take = [&]<class T>(T*& pointer, std::size_t count) {
      if (memory != nullptr) pointer = reinterpret_cast<T*>(memory + bytes);
      bytes += count * sizeof(T);
    };
    take(source, size.height);
    if (mode == Mode::second_lowest) {
      for (auto& side : met) take(side[0], width * size.height);
      for (auto& side : carried) take(side[0], width);
    }
    if (mode == Mode::nearest) {
      for (auto*& plane : valid_row) take(plane, width * size.height);
      for (auto*& row : carried_row) take(row, width);
    }
    if (mode == Mode::hirschmueller) {
      for (auto& side : met)
        for (float*& plane : side) take(plane, width * size.height);
      for (auto& side : carried)
        for (float*& row : side) take(row, width);
      take(classes, width * size.height);
    }
  }
};

struct Result {
  ImageView<float> filled;
  ImageView<std::uint8_t> validity;

  bool may_fill(int x, int y) const { return (validity(x, y) & never_filled) == 0; }
  void fill(int x, int y, float value) const {
    if (std::isnan(value) || !may_fill(x, y)) return;
    filled(x, y) = value + 0.0f;  // −0 becomes +0
    validity(x, y) = static_cast<std::uint8_t>((validity(x, y) & ~validity::reasons) | validity::filled);
  }
};

}  // namespace stereopsis::fill
#endif

HWY_BEFORE_NAMESPACE();
namespace stereopsis::fill::HWY_NAMESPACE {
using namespace stereopsis::HWY_NAMESPACE;

// Returns the first pixel, from x on, that is invalid (or valid); `width` if there is none.
template <bool invalid>
HWY_INLINE int first_from(const float* row, int x, int width) {
  const hn::ScalableTag<float> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (; x + lanes <= width; x += lanes) {
    const auto value = hn::LoadU(d, row + x);
    const auto found = hn::FindFirstTrue(d, invalid ? hn::IsNaN(value) : hn::Eq(value, value));
    if (found >= 0) return x + static_cast<int>(found);
  }
  while (x < width && std::isnan(row[x]) != invalid) ++x;
  return x;
}

// Calls f(first, last) for the gaps [first, last) of a row.
template <class F>
HWY_INLINE void for_each_gap(const float* row, int width, F&& f) {
  for (int first = first_from<true>(row, 0, width), last; first < width; first = first_from<true>(row, last, width)) {
    last = first_from<false>(row, first, width);
    f(first, last);
  }
}

HWY_INLINE float before(const float* row, int first) { return first > 0 ? row[first - 1] : invalid_disparity; }
HWY_INLINE float behind(const float* row, int last, int width) { return last < width ? row[last] : invalid_disparity; }

void copy_rows(ImageView<const float> disparity, ImageView<float> filled, const Scratch& scratch, int first, int last) {
  for (int y = first; y < last; ++y) {
    std::copy_n(disparity.row(y), disparity.width, filled.row(y));
    scratch.source[y] = first_from<false>(disparity.row(y), 0, disparity.width) < disparity.width ? y : -1;
  }
}

// Fills the remaining invalid pixels of row y in the mode `background`.
void fill_from_source(ImageView<const float> disparity, const Result& out, int source_row, int y) {
  const float* source = disparity.row(source_row);
  const auto fill = [&](int first, int last, auto value) {
    for (int x = first; x < last; ++x)
      if (std::isnan(out.filled(x, y))) out.fill(x, y, value(x));
  };
  int done = 0;
  for_each_gap(source, disparity.width, [&](int first, int last) {
    const float a = before(source, first), b = behind(source, last, disparity.width);
    const float lower = std::isnan(a) || b < a ? b : a;
    if (source_row != y) fill(done, first, [&](int x) { return source[x]; });
    fill(first, last, [&](int) { return lower; });
    done = last;
  });
  if (source_row != y) fill(done, disparity.width, [&](int x) { return source[x]; });
}

void fill_background(ImageView<const float> disparity, const Result& out, const Scratch& scratch, bool empty_rows_only,
                     int first, int last) {
  for (int y = first; y < last; ++y)
    if (scratch.source[y] != y || !empty_rows_only) fill_from_source(disparity, out, scratch.source[y], y);
}

// Calls f(y) for all rows, from the top (side 0) or from the bottom (side 1).
template <class F>
HWY_INLINE void for_each_row(int side, int height, F&& f) {
  for (int i = 0; i < height; ++i) f(side == 0 ? i : height - 1 - i);
}

void sweep_nearest(ImageView<const float> disparity, const Scratch& scratch, int side) {
  std::int32_t* carried = scratch.carried_row[side];
  std::fill_n(carried, disparity.width, -1);
  for_each_row(side, disparity.height, [&](int y) {
    const float* row = disparity.row(y);
    for_each_gap(row, disparity.width, [&](int first, int last) {
      std::copy(carried + first, carried + last, scratch.valid_row[side] + y * scratch.width + first);
    });
    for (int x = 0; x < disparity.width; ++x) {
      const std::int32_t before = carried[x];
      carried[x] = row[x] == row[x] ? y : before;
    }
  });
}

// Sweeps over the columns [first, last). Stores only whole vectors that contain a pixel in a gap.
void sweep_second_lowest(ImageView<const float> disparity, const Scratch& scratch, int side, int first, int last) {
  float* carried = scratch.carried[side][0];
  std::fill(carried + first, carried + last, invalid_disparity);
  for_each_row(side, disparity.height, [&](int y) {
    const float* row = disparity.row(y);
    float* met = scratch.met[side][0] + y * scratch.width;
    const auto block = [&](auto d, int x) HWY_ATTR {
      const auto here = hn::LoadU(d, row + x), before = hn::LoadU(d, carried + x);
      const auto valid = hn::Eq(here, here);
      if (!hn::AllTrue(d, valid)) hn::StoreU(before, d, met + x);
      hn::StoreU(hn::IfThenElse(valid, here, before), d, carried + x);
    };
    const hn::ScalableTag<float> d;
    const hn::CappedTag<float, 1> one;
    const int lanes = static_cast<int>(hn::Lanes(d));
    int x = first;
    for (; x + lanes <= last; x += lanes) block(d, x);
    for (; x < last; ++x) block(one, x);
  });
}

// Selects the value of the nearest of the valid pixels that were found.
class Nearest {
 public:
  void offer(int distance, float value) {
    if (distance < distance_) value_ = value;
    distance_ = std::min(distance_, distance);
  }
  float value() const { return value_; }

 private:
  int distance_ = std::numeric_limits<int>::max();
  float value_ = invalid_disparity;
};

void fill_nearest(ImageView<const float> disparity, const Result& out, const Scratch& scratch, int y) {
  const float* row = disparity.row(y);
  const std::int32_t* above = scratch.valid_row[0] + y * scratch.width;
  const std::int32_t* below = scratch.valid_row[1] + y * scratch.width;
  for_each_gap(row, disparity.width, [&](int first, int last) {
    const float left = before(row, first), right = behind(row, last, disparity.width);
    for (int x = first; x < last; ++x) {
      Nearest nearest;
      if (first > 0) nearest.offer(x - first + 1, left);
      if (last < disparity.width) nearest.offer(last - x, right);
      if (above[x] >= 0) nearest.offer(y - above[x], disparity(x, above[x]));
      if (below[x] >= 0) nearest.offer(below[x] - y, disparity(x, below[x]));
      out.fill(x, y, nearest.value());
    }
  });
}

// Returns the second lowest of the valid values among four. If only one is valid, returns this value.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V second_lowest(D d, V a, V b, V c, V e) {
  const auto one = hn::Set(d, 1.0f);
  auto count = hn::Zero(d);
  for (V* value : {&a, &b, &c, &e}) {
    const auto valid = hn::Eq(*value, *value);
    count = hn::Add(count, hn::IfThenElseZero(valid, one));
    *value = hn::IfThenElse(valid, *value, hn::Set(d, std::numeric_limits<float>::infinity()));
  }
  const V low = hn::Min(a, b), high = hn::Max(a, b), other_low = hn::Min(c, e), other_high = hn::Max(c, e);
  const V second = hn::Min(hn::Max(low, other_low), hn::Min(high, other_high));
  const V chosen = hn::IfThenElse(hn::Gt(count, one), second, hn::Min(low, other_low));
  return hn::IfThenElse(hn::Eq(count, hn::Zero(d)), hn::Set(d, invalid_disparity), chosen);
}

// Assigns the first `count` of these values to the pixels from x on.
template <class D>
HWY_INLINE void fill_block(D d, const Result& out, int x, int y, int count, hn::VFromD<D> values) {
  const hn::RebindToSigned<D> di;
  const hn::Rebind<std::uint8_t, D> d8;
  float* filled = out.filled.row(y) + x;
  std::uint8_t* validity = out.validity.row(y) + x;
  const auto reasons = hn::PromoteTo(di, hn::LoadU(d8, validity));
  const auto may_fill = hn::Eq(hn::And(reasons, hn::Set(di, never_filled)), hn::Zero(di));
  const auto of_gap = hn::Lt(hn::Iota(di, 0), hn::Set(di, count));
  const auto fills = hn::And(hn::And(may_fill, of_gap), hn::RebindMask(di, hn::Eq(values, values)));
  const auto now = hn::Or(hn::AndNot(hn::Set(di, validity::reasons), reasons), hn::Set(di, validity::filled));
  const auto value = hn::Add(values, hn::Zero(d));  // −0 becomes +0
  hn::StoreU(hn::IfThenElse(hn::RebindMask(d, fills), value, hn::LoadU(d, filled)), d, filled);
  hn::StoreU(hn::DemoteTo(d8, hn::IfThenElse(fills, now, reasons)), d8, validity);
}

void fill_second_lowest(ImageView<const float> disparity, const Result& out, const Scratch& scratch, int y) {
  const hn::ScalableTag<float> d;
  const int lanes = static_cast<int>(hn::Lanes(d)), width = disparity.width;
  const float* row = disparity.row(y);
  const float* above = scratch.met[0][0] + y * scratch.width;
  const float* below = scratch.met[1][0] + y * scratch.width;
  for_each_gap(row, width, [&](int first, int last) {
    const auto left = hn::Set(d, before(row, first)), right = hn::Set(d, behind(row, last, width));
    for (int x = first; x < last; x += lanes) {
      const auto values = second_lowest(d, left, right, hn::LoadU(d, above + x), hn::LoadU(d, below + x));
      const int count = std::min(lanes, last - x);
      if (x + lanes <= width) {
        fill_block(d, out, x, y, count, values);
      } else {
        HWY_ALIGN float copy[hn::MaxLanes(d)];
        hn::Store(values, d, copy);
        for (int i = 0; i < count; ++i) out.fill(x + i, y, copy[i]);
      }
    }
  });
}

void fill_four_rows(Mode mode, ImageView<const float> disparity, const Result& out, const Scratch& scratch, int first,
                    int last) {
  for (int y = first; y < last; ++y)
    if (mode == Mode::nearest)
      fill_nearest(disparity, out, scratch, y);
    else
      fill_second_lowest(disparity, out, scratch, y);
}

float nearest_within(int distance, ImageView<const float> disparity, int x, int y) {
  for (int n = 1; n <= distance; ++n) {
    if (x - n >= 0 && !std::isnan(disparity(x - n, y))) return disparity(x - n, y);
    if (x + n < disparity.width && !std::isnan(disparity(x + n, y))) return disparity(x + n, y);
    if (y - n >= 0 && !std::isnan(disparity(x, y - n))) return disparity(x, y - n);
    if (y + n < disparity.height && !std::isnan(disparity(x, y + n))) return disparity(x, y + n);
  }
  return invalid_disparity;
}

void fill_cross_rows(const Parameters& p, ImageView<const float> disparity, const Result& out, int first_row,
                     int last_row) {
  const int distance = std::min(p.distance, std::max(disparity.width, disparity.height));
  for (int y = first_row; y < last_row; ++y)
    for_each_gap(disparity.row(y), disparity.width, [&](int first, int last) {
      for (int x = first; x < last; ++x) out.fill(x, y, nearest_within(distance, disparity, x, y));
    });
}

// Returns the medians of the boxes around the pixels from x on, one pixel per lane. The median is NaN if a box has no
// valid pixel. The search steps up from the lowest disparity, one value after the other, because a box has few distinct
// values.
template <class D>
HWY_INLINE hn::VFromD<D> medians_of_boxes(D d, ImageView<const float> disparity, int radius, int x, int y) {
  const int left = std::max(-radius, -x),
            right = std::min(radius, disparity.width - static_cast<int>(hn::Lanes(d)) - x);
  const int top = std::max(0, y - radius), bottom = std::min(disparity.height - 1, y + radius);
  const auto one = hn::Set(d, 1.0f), highest = hn::Set(d, std::numeric_limits<float>::infinity());
  const auto for_each = [&](auto&& f) HWY_ATTR {
    for (int row = top; row <= bottom; ++row)
      for (int dx = left; dx <= right; ++dx) f(hn::LoadU(d, disparity.row(row) + x + dx));
  };
  auto valid = hn::Zero(d), passed = hn::Zero(d), value = hn::Neg(highest);
  for_each([&](auto v) HWY_ATTR { valid = hn::Add(valid, hn::IfThenElseZero(hn::Eq(v, v), one)); });
  const auto unfinished = [&]() HWY_ATTR {
    return hn::And(hn::Lt(hn::Add(passed, passed), valid), hn::Lt(value, highest));
  };
  while (!hn::AllFalse(d, unfinished())) {
    auto next = highest, equal = hn::Zero(d);
    for_each([&](auto v) HWY_ATTR {
      const auto lower = hn::And(hn::Gt(v, value), hn::Lt(v, next));
      next = hn::IfThenElse(lower, v, next);
      equal = hn::Add(hn::IfThenZeroElse(lower, equal), hn::IfThenElseZero(hn::Eq(v, next), one));
    });
    value = hn::IfThenElse(unfinished(), next, value);
    passed = hn::Add(passed, hn::IfThenElseZero(unfinished(), equal));
  }
  return hn::IfThenElse(hn::Eq(valid, hn::Zero(d)), hn::Set(d, invalid_disparity), value);
}

void fill_box_rows(const Parameters& p, ImageView<const float> disparity, const Result& out, int first_row,
                   int last_row) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> one;
  const int lanes = static_cast<int>(hn::Lanes(d)), radius = p.window / 2;
  HWY_ALIGN float values[hn::MaxLanes(d)];
  for (int y = first_row; y < last_row; ++y)
    for_each_gap(disparity.row(y), disparity.width, [&](int first, int last) {
      for (int x = first, count; x < last; x += count) {
        const bool inside = x >= radius && x + lanes + radius <= disparity.width;
        count = std::min(inside ? lanes : 1, last - x);
        if (inside)
          hn::Store(medians_of_boxes(d, disparity, radius, x, y), d, values);
        else
          hn::Store(medians_of_boxes(one, disparity, radius, x, y), one, values);
        for (int i = 0; i < count; ++i) out.fill(x + i, y, values[i]);
      }
    });
}

// Sets classes[x + 1] = 1 for each left pixel x to which a right pixel of the row corresponds. Right pixels that
// correspond to no left pixel write after the end of the row.
HWY_INLINE void mark_met(const float* right, int width, std::uint8_t* classes) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> di;
  std::memset(classes, 0, width + 2);
  const auto mark = [&](auto tag, auto int_tag, int x) {
    HWY_ALIGN std::int32_t places[hn::MaxLanes(d)];
    const auto column = hn::ConvertTo(tag, counted_from(int_tag, x + 1));
    const auto place = hn::Add(column, hn::Floor(hn::Add(hn::LoadU(tag, right + x), hn::Set(tag, 0.5f))));
    const auto inside =
        hn::And(hn::Ge(place, hn::Zero(tag)), hn::Le(place, hn::Set(tag, static_cast<float>(width + 1))));
    const auto nowhere = hn::Set(tag, static_cast<float>(width + 2));
    hn::StoreU(hn::ConvertTo(int_tag, hn::IfThenElse(inside, place, nowhere)), int_tag, places);
    for (std::size_t i = 0; i < hn::Lanes(tag); ++i) classes[places[i]] = 1;
  };
  const hn::CappedTag<float, 1> one;
  const hn::CappedTag<std::int32_t, 1> one_int;
  for_each_block(
      d, 0, width, [&](int x) { mark(d, di, x); }, [&](int x) { mark(one, one_int, x); });
}

void classify_row(const float* disparity, const float* right, int width, const Result& out, int y,
                  std::uint8_t* classes) {
  mark_met(right, width, classes);
  int done = 0;
  for_each_gap(disparity, width, [&](int first, int last) {
    std::fill(classes + done, classes + first, not_filled);
    for (int x = first; x < last; ++x) {
      const bool met = (classes[x] | classes[x + 1] | classes[x + 2]) != 0;
      classes[x] = !out.may_fill(x, y) ? not_filled : met ? mismatched : occluded;
    }
    done = last;
  });
  std::fill(classes + done, classes + width, not_filled);
}

void classify_rows(const Input& input, const Result& out, const Scratch& scratch, int first, int last) {
  for (int y = first; y < last; ++y)
    classify_row(input.disparity.row(y), input.right.row(y), input.disparity.width, out, y,
                 scratch.classes + y * scratch.width);
}

// Marks a run of pixels as occluded if it contains an occluded pixel, or is adjacent to one in the row `from`.
bool spread_row(std::uint8_t* classes, int width, const std::uint8_t* from) {
  const auto find = [width](const std::uint8_t* row, std::uint8_t value, int x) {
    const void* at = std::memchr(row + x, value, width - x);
    return at == nullptr ? width : static_cast<int>(static_cast<const std::uint8_t*>(at) - row);
  };
  if (find(classes, occluded, 0) == width && find(from, occluded, 0) == width) return false;
  bool changed = false;
  for (int first = find(classes, mismatched, 0), last; first < width; first = find(classes, mismatched, last)) {
    while (first > 0 && classes[first - 1] != not_filled) --first;
    bool spreads = false;
    for (last = first; last < width && classes[last] != not_filled; ++last)
      spreads |= classes[last] == occluded || from[last] == occluded;
    if (spreads) std::fill(classes + first, classes + last, occluded);
    changed |= spreads;
  }
  return changed;
}

void spread_occluded(Size size, const Scratch& scratch) {
  const auto classes = [&](int y) { return scratch.classes + y * scratch.width; };
  for (bool changed = true; changed;) {
    for (int y = 0; y < size.height; ++y) spread_row(classes(y), size.width, classes(std::max(0, y - 1)));
    changed = false;
    for (int y = size.height - 2; y >= 0; --y) changed |= spread_row(classes(y), size.width, classes(y + 1));
  }
}

// Computes the first disparities that the pixels of the next row see in the direction dx, from those of the current
// row.
void pass_row(const float* HWY_RESTRICT row, const float* HWY_RESTRICT met, int width, int dx,
              float* HWY_RESTRICT next) {
  for (int x = std::max(0, -dx); x < width - std::max(0, dx); ++x) {
    const float here = row[x + dx], before = met[x + dx];
    next[x] = here == here ? here : before;
  }
  if (dx < 0) next[0] = invalid_disparity;
  if (dx > 0) next[width - 1] = invalid_disparity;
}

void sweep_hirschmueller(ImageView<const float> disparity, const Scratch& scratch, int side) {
  std::array<float*, 3> met, next;
  for (int k = 0; k < 3; ++k) {
    met[k] = scratch.carried[side][k];
    next[k] = scratch.carried[side][3 + k];
    std::fill_n(met[k], disparity.width, invalid_disparity);
  }
  for_each_row(side, disparity.height, [&](int y) {
    for_each_gap(disparity.row(y), disparity.width, [&](int first, int last) {
      for (int k = 0; k < 3; ++k)
        std::copy(met[k] + first, met[k] + last, scratch.met[side][k] + y * scratch.width + first);
    });
    for (int k = 0; k < 3; ++k) {
      pass_row(disparity.row(y), met[k], disparity.width, k - 1, next[k]);
      std::swap(met[k], next[k]);
    }
  });
}

// Selects one of 8 disparities, of which absent ones are NaN: the second lowest for an occluded pixel, and otherwise
// the median.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V choose(D d, V (&met)[8], hn::Mask<D> is_occluded) {
  const auto zero = hn::Zero(d), one = hn::Set(d, 1.0f);
  auto count = zero;
  for (V& value : met) {
    const auto valid = hn::Eq(value, value);
    count = hn::Add(count, hn::IfThenElseZero(valid, one));
    value = hn::IfThenElse(valid, hn::Add(value, zero), hn::Set(d, std::numeric_limits<float>::infinity()));
  }
  sort_lanes<8>(met);
  const auto last = hn::Sub(count, one);
  const auto rank = hn::IfThenElse(is_occluded, hn::Min(last, one), hn::Floor(hn::Mul(last, hn::Set(d, 0.5f))));
  auto chosen = hn::IfThenElse(hn::Eq(count, zero), hn::Set(d, invalid_disparity), met[0]);
  for (int k = 1; k < 4; ++k) chosen = hn::IfThenElse(hn::Eq(rank, hn::Set(d, static_cast<float>(k))), met[k], chosen);
  return chosen;
}

void fill_hirschmueller(ImageView<const float> disparity, const Result& out, const Scratch& scratch, int first_row,
                        int last_row) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::Rebind<std::uint8_t, decltype(d)> d8;
  const int lanes = static_cast<int>(hn::Lanes(d));
  HWY_ALIGN float values[hn::MaxLanes(d)];
  for (int y = first_row; y < last_row; ++y) {
    const float* row = disparity.row(y);
    for_each_gap(row, disparity.width, [&](int first, int last) {
      for (int x = first; x < last; x += lanes) {
        hn::Vec<decltype(d)> met[8];
        for (int k = 0; k < 6; ++k) met[k] = hn::LoadU(d, scratch.met[k / 3][k % 3] + y * scratch.width + x);
        met[6] = hn::Set(d, before(row, first));
        met[7] = hn::Set(d, behind(row, last, disparity.width));
        const auto classes = hn::PromoteTo(di, hn::LoadU(d8, scratch.classes + y * scratch.width + x));
        const auto is_occluded = hn::RebindMask(d, hn::Eq(classes, hn::Set(di, occluded)));
        hn::Store(choose(d, met, is_occluded), d, values);
        for (int i = 0; i < std::min(lanes, last - x); ++i) out.fill(x + i, y, values[i]);
      }
    });
  }
}

}  // namespace stereopsis::fill::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::fill {
namespace {

// Assigns to each row without a valid pixel the nearest row above with a valid pixel, else the nearest such row below.
bool find_sources(std::int32_t* source, int height) {
  const auto first = std::find_if(source, source + height, [](std::int32_t row) { return row >= 0; });
  if (first == source + height) return false;
  std::fill(source, first, *first);
  for (std::int32_t* row = first + 1; row < source + height; ++row)
    if (*row < 0) *row = row[-1];
  return true;
}

// Calls f(0) and f(1), in parallel if there are enough threads.
template <class F>
void both_sides(Threads& threads, F&& f) {
  const int step = threads.count();
  threads.each([&](int thread) {
    for (int side = thread; side < 2; side += step) f(side);
  });
}

// Calls f(side, first, last) for both sides and for strips of columns [first, last), in parallel.
template <class F>
void for_each_strip(Threads& threads, int width, F&& f) {
  constexpr int columns = 64;  // whole cache lines of every row
  const int strips = (width + columns - 1) / columns;
  const auto sweep = [&](int side, int first, int last) {
    if (first < last) f(side, columns * first, std::min(width, columns * last));
  };
  const auto run = [&](int first, int last) {
    sweep(0, first, std::min(last, strips));
    sweep(1, std::max(first, strips) - strips, last - strips);
  };
  threads.rows(2 * strips, run, std::max(1, 2 * strips / threads.count()));
}

}  // namespace

HWY_EXPORT(copy_rows);
HWY_EXPORT(fill_background);
HWY_EXPORT(sweep_nearest);
HWY_EXPORT(sweep_second_lowest);
HWY_EXPORT(fill_four_rows);
HWY_EXPORT(fill_cross_rows);
HWY_EXPORT(fill_box_rows);
HWY_EXPORT(classify_rows);
HWY_EXPORT(spread_occluded);
HWY_EXPORT(sweep_hirschmueller);
HWY_EXPORT(fill_hirschmueller);

std::size_t scratch_bytes(const Parameters& p, Size size) {
  check(p);
  return Scratch(p.mode, size, nullptr).bytes;
}

void cpu(const Parameters& p, const Input& input, ImageView<float> filled, ImageView<std::uint8_t> validity,
         std::span<std::byte> memory, Threads& threads) {
  check_images(p, input, filled);
  const ImageView<const float> disparity = input.disparity;
  const std::size_t needed = scratch_bytes(p, disparity.size());
  if (memory.size() < needed)
    throw Error(ErrorCategory::call, text("fill has ", memory.size(), " bytes of scratch memory; it requires ", needed,
                                          " for an image of ", disparity.width, "×", disparity.height));
  const Scratch scratch(p.mode, disparity.size(), memory.data());
  const Result out{filled, validity};
  threads.rows(disparity.height, [&](int first, int last) {
    HWY_DYNAMIC_DISPATCH(copy_rows)(disparity, filled, scratch, first, last);
  });
  if (p.mode == Mode::cross || p.mode == Mode::box)
    return threads.rows(disparity.height, [&](int first, int last) {
      if (p.mode == Mode::cross)
        HWY_DYNAMIC_DISPATCH(fill_cross_rows)(p, disparity, out, first, last);
      else
        HWY_DYNAMIC_DISPATCH(fill_box_rows)(p, disparity, out, first, last);
    });
  if (!find_sources(scratch.source, disparity.height)) return;

  if (p.mode == Mode::nearest || p.mode == Mode::second_lowest) {
    if (p.mode == Mode::nearest)
      both_sides(threads, [&](int side) { HWY_DYNAMIC_DISPATCH(sweep_nearest)(disparity, scratch, side); });
    else
      for_each_strip(threads, disparity.width, [&](int side, int first, int last) {
        HWY_DYNAMIC_DISPATCH(sweep_second_lowest)(disparity, scratch, side, first, last);
      });
    threads.rows(disparity.height, [&](int first, int last) {
      HWY_DYNAMIC_DISPATCH(fill_four_rows)(p.mode, disparity, out, scratch, first, last);
    });
  }
  if (p.mode == Mode::hirschmueller) {
    threads.rows(disparity.height, [&](int first, int last) {
      HWY_DYNAMIC_DISPATCH(classify_rows)(input, out, scratch, first, last);
    });
    HWY_DYNAMIC_DISPATCH(spread_occluded)(disparity.size(), scratch);
    both_sides(threads, [&](int side) { HWY_DYNAMIC_DISPATCH(sweep_hirschmueller)(disparity, scratch, side); });
    threads.rows(disparity.height, [&](int first, int last) {
      HWY_DYNAMIC_DISPATCH(fill_hirschmueller)(disparity, out, scratch, first, last);
    });
  }
  const bool empty_rows_only = p.mode != Mode::background;
  threads.rows(disparity.height, [&](int first, int last) {
    HWY_DYNAMIC_DISPATCH(fill_background)(disparity, out, scratch, empty_rows_only, first, last);
  });
}

}  // namespace stereopsis::fill
#endif
