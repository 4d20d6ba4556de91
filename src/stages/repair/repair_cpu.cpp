#include "device/cpu/threads.hpp"
#include "stages/repair/repair.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/repair/repair_cpu.cpp"
#include <hwy/foreach_target.h>

#include <bit>
#include <cmath>

#include "device/cpu/highway-inl.hpp"

#ifndef STEREOPSIS_REPAIR_PASS
#define STEREOPSIS_REPAIR_PASS
namespace stereopsis::repair {

struct Pass {
  ImageView<float> disparity, confidence, disparity_out, confidence_out;
  ImageView<std::uint8_t> validity;
  bool along_rows;
};

}  // namespace stereopsis::repair
#endif

HWY_BEFORE_NAMESPACE();
namespace stereopsis::repair::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Whether two pixels agree does not depend on the pixel between them. The agreement is therefore computed once and
// stored as bits, and a pair is a bit that is set in two words. A tile of columns is processed row by row, and the
// words of the previous rows (or pixels) are kept.
class Tile {
 public:
  static constexpr int columns = 256, most_reach = 16;

  Tile(const Parameters& p, const Pass& pass, int first_x, int last_x)
      : p_(p), pass_(pass), first_x_(first_x), last_x_(last_x) {}

  void run(int first_y, int last_y) {
    if (p_.reach > most_reach || last_x_ - first_x_ < lanes()) return run_by_pixel(first_y, last_y);
    if (pass_.along_rows)
      for (int y = first_y; y < last_y; ++y) repair_along_row(y);
    else
      repair_along_columns(first_y, last_y);
  }

 private:
  using F32 = hn::CappedTag<float, columns>;
  using U32 = hn::RebindToUnsigned<F32>;
  using Words = hn::Vec<U32>;

  static int lanes() { return static_cast<int>(hn::Lanes(F32())); }

  // The line of a pixel: the extent of the line on both sides, and the distance between neighbouring pixels in memory.
  struct Line {
    int before, behind;
    std::ptrdiff_t step_disparity, step_confidence;
  };
  Line line(int x, int y) const {
    const int at = pass_.along_rows ? x : y, size = pass_.along_rows ? pass_.disparity.width : pass_.disparity.height;
    return {std::min(p_.reach, at), std::min(p_.reach, size - 1 - at), pass_.along_rows ? 1 : pass_.disparity.pitch,
            pass_.along_rows ? 1 : pass_.confidence.pitch};
  }

  // Calls f(x) for whole vectors in [first, last). The last vector overlaps the previous one. The range must contain at
  // least one vector.
  template <class F>
  static HWY_INLINE void for_each_block(int first, int last, F&& f) {
    int x = first;
    for (; x + lanes() <= last; x += lanes()) f(x);
    if (x < last) f(last - lanes());
  }

  // Sets bit t − 1 if the t-th pixel after this pixel agrees with it, for t up to `count`.
  Words agreeing(const float* disparity, std::ptrdiff_t step, int count) const {
    const F32 f32;
    const U32 u32;
    const auto here = hn::LoadU(f32, disparity), tolerance = hn::Set(f32, static_cast<float>(p_.tolerance));
    auto words = hn::Zero(u32);
    for (int t = 1; t <= count; ++t) {
      const auto agrees = hn::Le(hn::Abs(hn::Sub(here, hn::LoadU(f32, disparity + t * step))), tolerance);
      words = hn::Or(words, hn::IfThenElseZero(hn::RebindMask(u32, agrees), hn::Set(u32, 1u << (t - 1))));
    }
    return words;
  }

  // Sets bit k − 1 if the k-th pixel in a direction is confident enough.
  static Words confident(const float* confidence, std::ptrdiff_t step, int count, hn::Vec<F32> need) {
    const F32 f32;
    const U32 u32;
    auto words = hn::Zero(u32);
    for (int k = 1; k <= count; ++k) {
      const auto more = hn::Gt(hn::LoadU(f32, confidence + k * step), need);
      words = hn::Or(words, hn::IfThenElseZero(hn::RebindMask(u32, more), hn::Set(u32, 1u << (k - 1))));
    }
    return words;
  }

  // `words(k)` points to the agreement bits of the pixels at distance k before these pixels.
  template <class WordsBefore>
  HWY_INLINE void repair_block(int x, int y, const Line& line, WordsBefore&& words) const {
    const F32 f32;
    const U32 u32;
    const float *disparity = &pass_.disparity(x, y), *confidence = &pass_.confidence(x, y);
    const auto trust = hn::LoadU(f32, confidence), need = hn::Mul(trust, hn::Set(f32, p_.factor()));
    hn::StoreU(hn::LoadU(f32, disparity), f32, &pass_.disparity_out(x, y));
    hn::StoreU(trust, f32, &pass_.confidence_out(x, y));
    const auto left = confident(confidence, -line.step_confidence, line.before, need);
    if (hn::AllTrue(u32, hn::Eq(left, hn::Zero(u32)))) return;
    const auto right = confident(confidence, line.step_confidence, line.behind, need);

    // One bit for each pixel between the pixels of the closest pair. `before` identifies the left pixel of the pair.
    auto between = hn::Set(u32, ~0u), before = hn::Zero(u32), shifted = right;
    for (int k = 1; k <= line.before; ++k) {
      shifted = hn::ShiftLeft<1>(shifted);
      const auto pairs = hn::And(shifted, hn::LoadU(u32, words(k)));
      const auto below = hn::AndNot(pairs, hn::Sub(pairs, hn::Set(u32, 1)));
      const auto is_left = hn::TestBit(left, hn::Set(u32, 1u << (k - 1)));
      const auto closer = hn::And(is_left, hn::Lt(below, between));
      between = hn::IfThenElse(closer, below, between);
      before = hn::IfThenElse(closer, hn::Set(u32, static_cast<std::uint32_t>(k)), before);
    }
    if (hn::AllTrue(u32, hn::Eq(before, hn::Zero(u32)))) return;
    HWY_ALIGN std::uint32_t befores[hn::MaxLanes(U32())], betweens[hn::MaxLanes(U32())];
    hn::Store(before, u32, befores);
    hn::Store(between, u32, betweens);
    for (int i = 0; i < lanes(); ++i) {
      if (befores[i] == 0) continue;
      const int before_it = static_cast<int>(befores[i]), behind_it = 1 + std::popcount(betweens[i]) - before_it;
      set(x + i, y,
          before_it <= behind_it ? disparity[i - before_it * line.step_disparity]
                                 : disparity[i + behind_it * line.step_disparity]);
    }
  }

  void set(int x, int y, float disparity) const {
    constexpr int beyond_repair = validity::masked | validity::outside;
    std::uint8_t& validity = pass_.validity(x, y);
    if ((validity & beyond_repair) != 0) return;
    if (disparity != pass_.disparity(x, y))
      validity = static_cast<std::uint8_t>((validity & ~validity::reasons) | validity::repaired);
    pass_.disparity_out(x, y) = disparity;
    pass_.confidence_out(x, y) = std::min(1.0f, pass_.confidence(x, y) * p_.factor());
  }

  void repair_along_row(int y) {
    const U32 u32;
    const int width = pass_.disparity.width;
    // Range of the blocks whose margin lies inside the image.
    const int first = std::max(first_x_, p_.reach), last = std::min(last_x_, width - p_.reach);
    if (last - first < lanes()) return by_pixel(first_x_, last_x_, y);
    const int base = first - p_.reach, inside = width - 2 * p_.reach;
    const float* row = pass_.disparity.row(y);
    if (inside - base >= lanes())
      for_each_block(base, std::min(last, inside),
                     [&](int x) HWY_ATTR { hn::StoreU(agreeing(row + x, 1, 2 * p_.reach), u32, words_ + (x - base)); });
    for (int x = inside - base >= lanes() ? inside : base; x < last; ++x) words_[x - base] = agreeing_pixel(row, x);
    for_each_block(first, last, [&](int x) HWY_ATTR {
      repair_block(x, y, line(x, y), [&](int k) HWY_ATTR { return words_ + (x - k - base); });
    });
    by_pixel(first_x_, first, y);
    by_pixel(last, last_x_, y);
  }

  std::uint32_t agreeing_pixel(const float* row, int x) const {
    std::uint32_t word = 0;
    for (int t = 1; t <= std::min(2 * p_.reach, pass_.disparity.width - 1 - x); ++t)
      word |= static_cast<std::uint32_t>(std::abs(row[x] - row[x + t]) <= static_cast<float>(p_.tolerance)) << (t - 1);
    return word;
  }

  void repair_along_columns(int first_y, int last_y) {
    const U32 u32;
    const auto words_of = [&](int y) { return words_ + y % most_reach * columns; };
    for (int y = std::max(0, first_y - p_.reach); y < last_y; ++y) {
      // The words of the previous rows are available. The words of this row replace the oldest ones.
      if (y >= first_y)
        for_each_block(first_x_, last_x_, [&](int x) HWY_ATTR {
          repair_block(x, y, line(x, y), [&](int k) HWY_ATTR { return words_of(y - k) + (x - first_x_); });
        });
      const int count = std::min(2 * p_.reach, pass_.disparity.height - 1 - y);
      for_each_block(first_x_, last_x_, [&](int x) HWY_ATTR {
        hn::StoreU(agreeing(&pass_.disparity(x, y), pass_.disparity.pitch, count), u32, words_of(y) + (x - first_x_));
      });
    }
  }

  // Supports any reach and any size.
  void run_by_pixel(int first_y, int last_y) const {
    for (int y = first_y; y < last_y; ++y) by_pixel(first_x_, last_x_, y);
  }
  void by_pixel(int first_x, int last_x, int y) const {
    for (int x = first_x; x < last_x; ++x) {
      pass_.disparity_out(x, y) = pass_.disparity(x, y);
      pass_.confidence_out(x, y) = pass_.confidence(x, y);
      const float d = of_pair(x, y, line(x, y));
      if (d == d) set(x, y, d);
    }
  }

  static std::uint32_t confident_pixels(const float* confidence, std::ptrdiff_t step, int count, float need) {
    std::uint32_t bits = 0;
    for (int i = 1; i <= count; ++i) bits |= static_cast<std::uint32_t>(confidence[i * step] > need) << (i - 1);
    return bits;
  }

  // Returns the disparity from the closest pair, or NaN if there is no pair.
  float of_pair(int x, int y, const Line& line) const {
    const float *disparity = &pass_.disparity(x, y), *confidence = &pass_.confidence(x, y);
    const float need = *confidence * p_.factor(), tolerance = static_cast<float>(p_.tolerance);
    const std::uint32_t left = confident_pixels(confidence, -line.step_confidence, line.before, need);
    if (left == 0) return invalid_disparity;
    const std::uint32_t right = confident_pixels(confidence, line.step_confidence, line.behind, need);
    if (right == 0) return invalid_disparity;
    const int least = std::countr_zero(left) + std::countr_zero(right) + 2;
    const int most = 64 - std::countl_zero(left) - std::countl_zero(right);
    for (int apart = least; apart <= most; ++apart)
      for (int i = std::max(1, apart - p_.reach); i <= std::min(p_.reach, apart - 1); ++i) {
        const int j = apart - i;
        if ((left >> (i - 1) & right >> (j - 1) & 1) == 0) continue;
        const float a = disparity[-i * line.step_disparity], b = disparity[j * line.step_disparity];
        if (std::abs(a - b) <= tolerance) return i <= j ? a : b;
      }
    return invalid_disparity;
  }

  const Parameters& p_;
  const Pass& pass_;
  const int first_x_, last_x_;
  // Words of the rows, in rotation; along rows, words of one row with the pixels before it.
  std::uint32_t words_[most_reach * columns];
};

void repair_rows(const Parameters& p, const Pass& pass, int first_y, int last_y) {
  const int width = pass.disparity.width;
  // Tiles have similar widths, so that no tile is narrower than a vector.
  const int tiles = (width + Tile::columns - 1) / Tile::columns, columns = (width + tiles - 1) / tiles;
  for (int x = 0; x < width; x += columns) Tile(p, pass, x, std::min(x + columns, width)).run(first_y, last_y);
}

}  // namespace stereopsis::repair::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::repair {

HWY_EXPORT(repair_rows);

void cpu(const Parameters& p, const MapsOf<ImageView>& maps, Threads& threads) {
  const Pass forth{maps.disparity, maps.confidence, maps.repaired, maps.scratch, maps.validity, true};
  const Pass back{maps.repaired, maps.scratch, maps.disparity, maps.confidence, maps.validity, false};
  for (const Pass& pass : {forth, back, forth})
    threads.rows(maps.disparity.height, [&](int first, int last) {
      HWY_DYNAMIC_DISPATCH(repair_rows)(p, pass, first, last);
    });
  for (int y = 0; y < maps.confidence.height; ++y)
    std::copy_n(maps.scratch.row(y), maps.scratch.width, maps.confidence.row(y));
}

}  // namespace stereopsis::repair
#endif
