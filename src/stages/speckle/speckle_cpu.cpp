// Speckle filter on the CPU. Each row is divided into runs of connected pixels. A union-find over the runs joins runs
// of neighbouring rows that touch. Rows are processed as words of 64 pixels, one bit per pixel.
#include "stages/speckle/speckle.hpp"

#include "device/cpu/threads.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/speckle/speckle_cpu.cpp"
#include <hwy/foreach_target.h>

#include "device/cpu/lanes-inl.hpp"

#ifndef STEREOPSIS_SPECKLE_RUNS
#define STEREOPSIS_SPECKLE_RUNS
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace stereopsis::speckle {

// The scratch memory. Run k of row y has the label y · width + k, so that rows are independent of each other.
struct Runs {
  int width, height;
  int words;              // number of words per row
  std::uint64_t* starts;  // bit x is set if a run starts at pixel x
  std::int32_t* before;   // number of runs of the row that start before the word
  std::int32_t* parent;   // by label: the label of the parent or, for a root, the negated number of its pixels
  std::uint8_t* apart;    // by row: whether the row is not yet joined with the row above

  Runs(Size size, std::byte* scratch)
      : width(size.width),
        height(size.height),
        words((width + 63) / 64),
        starts(reinterpret_cast<std::uint64_t*>(scratch)),
        before(reinterpret_cast<std::int32_t*>(starts + words_of(size))),
        parent(before + words_of(size)),
        apart(reinterpret_cast<std::uint8_t*>(parent + pixels_of(size))) {}

  static std::size_t bytes(Size size) { return 12 * words_of(size) + 4 * pixels_of(size) + size.height; }
  static std::size_t words_of(Size size) { return (static_cast<std::size_t>(size.width) + 63) / 64 * size.height; }
  static std::size_t pixels_of(Size size) { return static_cast<std::size_t>(size.width) * size.height; }

  std::uint64_t* starts_of(int y) const { return starts + static_cast<std::size_t>(y) * words; }
  std::int32_t* before_of(int y) const { return before + static_cast<std::size_t>(y) * words; }
  std::int32_t first_label(int y) const { return static_cast<std::int32_t>(static_cast<std::size_t>(y) * width); }
  // Returns the label of the run that contains pixel x.
  std::int32_t label(int x, int y) const {
    const std::uint64_t up_to_x = starts_of(y)[x / 64] & (~std::uint64_t{0} >> (63 - x % 64));
    return first_label(y) + before_of(y)[x / 64] + std::popcount(up_to_x) - 1;
  }

  std::int32_t root(std::int32_t label) const {
    while (parent[label] >= 0) label = parent[label];
    return label;
  }
  // Returns the root, and shortens the path for later calls.
  std::int32_t shortened_root(std::int32_t label) const {
    while (parent[label] >= 0) {
      const std::int32_t next = parent[label];
      if (parent[next] >= 0) parent[label] = parent[next];
      label = next;
    }
    return label;
  }
  void join(std::int32_t a, std::int32_t b) const {
    a = shortened_root(a);
    b = shortened_root(b);
    if (a == b) return;
    if (parent[a] > parent[b]) std::swap(a, b);  // the larger region keeps its root
    parent[a] += parent[b];
    parent[b] = a;
  }
};

template <class F>
void for_each_bit(std::uint64_t bits, int x, F&& f) {
  for (; bits != 0; bits &= bits - 1) f(x + std::countr_zero(bits));
}

}  // namespace stereopsis::speckle
#endif

HWY_BEFORE_NAMESPACE();
namespace stereopsis::speckle::HWY_NAMESPACE {
using namespace stereopsis::HWY_NAMESPACE;

// 65 pixels from x on: those of a word and their right neighbour. Pixels after the end of the row are invalid.
class Word {
 public:
  HWY_INLINE Word(const float* row, int width, int x) : pixels_(row + x) {
    if (x + 65 <= width) return;
    std::fill_n(std::copy_n(row + x, width - x, copy_), 65 - (width - x), invalid_disparity);
    pixels_ = copy_;
  }
  const float* pixels() const { return pixels_; }

 private:
  const float* pixels_;
  float copy_[65];
};

// Returns the lanes of mask(0), mask(Lanes(d)), … as the bits of a word.
template <class D, class F>
HWY_INLINE std::uint64_t word_of(D d, F&& mask) {
  std::uint64_t bits = 0;
  for (int i = 0; i < 64; i += static_cast<int>(hn::Lanes(d))) {
    std::uint8_t bytes[8] = {};
    hn::StoreMaskBits(d, mask(i), bytes);
    std::uint64_t word;
    std::memcpy(&word, bytes, sizeof(word));
    bits |= word << i;
  }
  return bits;
}

// Bit i is set if |a[i] − b[i]| ≤ difference. The bit is 0 if either value is invalid.
HWY_INLINE std::uint64_t belong_together(const float* a, const float* b, float difference) {
  const hn::ScalableTag<float> d;
  return word_of(d, [&](int i) {
    return hn::Le(hn::Abs(hn::Sub(hn::LoadU(d, a + i), hn::LoadU(d, b + i))), hn::Set(d, difference));
  });
}

HWY_INLINE std::uint64_t valid(const float* pixels) {
  const hn::ScalableTag<float> d;
  return word_of(d, [&](int i) {
    const auto value = hn::LoadU(d, pixels + i);
    return hn::Eq(value, value);
  });
}

void find_runs(const Runs& runs, ImageView<const float> disparity, float difference, int y) {
  std::int32_t* started = runs.parent + runs.first_label(y);
  std::int32_t* ended = started;
  std::uint64_t carry = 0;  // 1 if the last pixel of the previous word is connected to the first pixel of this word
  for (int w = 0; w < runs.words; ++w) {
    const Word word(disparity.row(y), runs.width, 64 * w);
    const std::uint64_t pixels = valid(word.pixels());
    const std::uint64_t goes_on = belong_together(word.pixels(), word.pixels() + 1, difference);
    const std::uint64_t starts = pixels & ~(goes_on << 1 | carry);
    carry = goes_on >> 63;
    runs.starts_of(y)[w] = starts;
    runs.before_of(y)[w] = static_cast<std::int32_t>(started - runs.parent) - runs.first_label(y);
    for_each_bit(starts, 64 * w, [&](int x) { *started++ = x; });
    // The entry is the negated length of the run at this point.
    for_each_bit(pixels & ~goes_on, 64 * w, [&](int x) { *ended++ -= x + 1; });
  }
}

// Joins the runs of row y with the runs of the row above.
void join_rows(const Runs& runs, ImageView<const float> disparity, float difference, int y) {
  std::uint64_t carry = 0;
  for (int w = 0; w < runs.words; ++w) {
    const Word word(disparity.row(y), runs.width, 64 * w), above(disparity.row(y - 1), runs.width, 64 * w);
    const std::uint64_t touch = belong_together(word.pixels(), above.pixels(), difference);
    // The runs are already joined if the pixels to the left also touch, and both runs continue.
    const std::uint64_t known = (touch << 1 | carry) & ~runs.starts_of(y)[w] & ~runs.starts_of(y - 1)[w];
    carry = touch >> 63;
    for_each_bit(touch & ~known, 64 * w, [&](int x) { runs.join(runs.label(x, y - 1), runs.label(x, y)); });
  }
}

void find_regions(const Runs& runs, ImageView<const float> disparity, float difference, int first, int last) {
  for (int y = first; y < last; ++y) {
    find_runs(runs, disparity, difference, y);
    runs.apart[y] = y == first;
    if (y > first) join_rows(runs, disparity, difference, y);
  }
}

void join_apart(const Runs& runs, ImageView<const float> disparity, float difference) {
  for (int y = 1; y < runs.height; ++y)
    if (runs.apart[y]) join_rows(runs, disparity, difference, y);
}

void remove_small(const Runs& runs, const Parameters& p, ImageView<float> disparity, ImageView<std::uint8_t> validity,
                  int first, int last) {
  const float difference = static_cast<float>(p.difference);
  for (int y = first; y < last; ++y) {
    float* row = disparity.row(y);
    std::int32_t label = runs.first_label(y);
    for (int w = 0; w < runs.words; ++w)
      for_each_bit(runs.starts_of(y)[w], 64 * w, [&](int x) {
        if (-runs.parent[runs.root(label++)] >= p.size) return;
        for (bool goes_on = true; goes_on; ++x) {
          goes_on = x + 1 < runs.width && std::abs(row[x + 1] - row[x]) <= difference;
          row[x] = invalid_disparity;
          validity(x, y) |= validity::speckle;
        }
      });
  }
}

}  // namespace stereopsis::speckle::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::speckle {

std::size_t scratch_bytes(Size size) {
  if (static_cast<long long>(size.width) * size.height > std::numeric_limits<std::int32_t>::max())
    throw Error(ErrorCategory::unsupported,
                text("the speckle filter does not support an image of ", size.width, "×", size.height,
                     "; the limit is 2147483647 pixels, so switch the filter off or use smaller images"));
  return Runs::bytes(size);
}

HWY_EXPORT(find_regions);
HWY_EXPORT(join_apart);
HWY_EXPORT(remove_small);

void cpu(const Parameters& p, ImageView<float> disparity, ImageView<std::uint8_t> validity,
         std::span<std::byte> scratch, Threads& threads) {
  const std::size_t needed = scratch_bytes(disparity.size());
  if (scratch.size() < needed)
    throw Error(ErrorCategory::call,
                text("the speckle filter has ", scratch.size(), " bytes of scratch memory; it requires ", needed,
                     " for an image of ", disparity.width, "×", disparity.height));
  if (p.size <= 1) return;
  const Runs runs(disparity.size(), scratch.data());
  const float difference = static_cast<float>(p.difference);
  // Each thread processes a part of the image. One thread then joins the parts.
  threads.each([&](int i) {
    const auto start = [&](int piece) {
      return static_cast<int>(static_cast<long long>(disparity.height) * piece / threads.count());
    };
    HWY_DYNAMIC_DISPATCH(find_regions)(runs, disparity, difference, start(i), start(i + 1));
  });
  HWY_DYNAMIC_DISPATCH(join_apart)(runs, disparity, difference);
  threads.rows(disparity.height, [&](int first, int last) {
    HWY_DYNAMIC_DISPATCH(remove_small)(runs, p, disparity, validity, first, last);
  });
}

}  // namespace stereopsis::speckle
#endif
