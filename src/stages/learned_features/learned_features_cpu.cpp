#include <algorithm>
#include <atomic>
#include <cstring>

#include "device/cpu/threads.hpp"
#include "stages/learned_features/learned_features.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/learned_features/learned_features_cpu.cpp"
#include <hwy/foreach_target.h>

#include "device/cpu/highway-inl.hpp"
#include "stages/shared/convolution_cpu-inl.hpp"

#ifndef STEREOPSIS_LEARNED_FEATURES_PACKED
#define STEREOPSIS_LEARNED_FEATURES_PACKED
namespace stereopsis::learned_features {

// The last three rows of a layer's values. The rows have padding, because the last group of pixels may be incomplete.
struct Rows {
  std::ptrdiff_t pitch;
  std::vector<std::uint8_t> bytes;

  Rows(int width, int channels)
      : pitch(static_cast<std::ptrdiff_t>(width + 2 + spare_pixels) * channels),
        bytes(static_cast<std::size_t>(pitch) * 3) {}
  std::uint8_t* row(int y) { return bytes.data() + y % 3 * pitch; }
  const std::uint8_t* row(int y) const { return bytes.data() + y % 3 * pitch; }
};

// A row of the features of both views, with four components per number, padded with 0. The pixels of the left view are
// contiguous. The right view is stored by group and in reverse order, so that the candidates of a pixel are ordered by
// disparity.
struct FeatureRow {
  FeatureRow(std::byte* memory, int width, int entries_, int groups_)
      : groups(groups_),
        entries(entries_),
        own(reinterpret_cast<std::int32_t*>(memory)),
        candidates(own + static_cast<std::ptrdiff_t>(width) * groups),
        sums(candidates + static_cast<std::ptrdiff_t>(entries) * groups) {}
  static std::size_t bytes(int width, int entries, int groups) {
    return sizeof(std::int32_t) *
           (static_cast<std::size_t>(width) * (groups + 1) + static_cast<std::size_t>(entries) * groups);
  }

  static std::int32_t word(const std::uint8_t* features, int components, int group) {
    std::int32_t four = 0;
    if (4 * group + 4 <= components)
      std::memcpy(&four, features + 4 * group, 4);
    else
      std::memcpy(&four, features + 4 * group, static_cast<std::size_t>(components - 4 * group));
    return four;
  }

  int groups, entries;
  std::int32_t *own, *candidates, *sums;  // `sums` has the sum of the components of each pixel
};

// The features of a row of both views. A pixel takes `stride` bytes, and its components come first.
struct TwoRows {
  const std::uint8_t *left, *right;
  int width, components, stride;
};

}  // namespace stereopsis::learned_features
#endif

HWY_BEFORE_NAMESPACE();
namespace stereopsis::learned_features::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using convolution::HWY_NAMESPACE::add_products;
using convolution::HWY_NAMESPACE::D32;
using convolution::HWY_NAMESPACE::V32;

// Computes row y of a layer from the three rows of the previous layer that start there.
void row(const PackedConvolution& layer, const Rows& before, int y, int width, std::uint8_t* after) {
  const std::uint8_t* const rows[3] = {before.row(y), before.row(y + 1), before.row(y + 2)};
  convolution::HWY_NAMESPACE::row(layer, rows, width, after);
}

// Stores words of neighbouring pixels with 8 words each, in reverse order and by group, from the entry `first` on.
// Returns the number of pixels that were stored, which are the last ones.
HWY_INLINE int reverse_words(const FeatureRow& row, const std::uint8_t* pixels, int count, int first) {
  const D32 d;
  const hn::Repartition<std::uint64_t, D32> d64;
  const int lanes = static_cast<int>(hn::Lanes(d));
  int done = 0;
  for (; done + lanes <= count; done += lanes) {
    const auto* const from =
        reinterpret_cast<const std::uint64_t*>(pixels + static_cast<std::ptrdiff_t>(count - done - lanes) * 32);
    hn::VFromD<decltype(d64)> low[4], high[4];  // two words of each pixel, of the first and of the second half
    hn::LoadInterleaved4(d64, from, low[0], low[1], low[2], low[3]);
    hn::LoadInterleaved4(d64, from + 2 * lanes, high[0], high[1], high[2], high[3]);
    for (int pair = 0; pair < 4; ++pair) {
      const auto a = hn::BitCast(d, low[pair]), b = hn::BitCast(d, high[pair]);
      std::int32_t* const to = row.candidates + static_cast<std::ptrdiff_t>(2 * pair) * row.entries + first + done;
      hn::StoreU(hn::Reverse(d, hn::ConcatEven(d, b, a)), d, to);
      hn::StoreU(hn::Reverse(d, hn::ConcatOdd(d, b, a)), d, to + row.entries);
    }
  }
  return done;
}

// Loads the features of a row of both views. Borders replicate.
void load_features(FeatureRow& row, const TwoRows& rows, int min_disparity) {
  const int groups = row.groups;
  const bool whole = rows.components == 4 * groups && rows.stride == rows.components;
  if (whole)
    std::memcpy(row.own, rows.left, static_cast<std::size_t>(rows.width) * rows.stride);
  else
    for (int x = 0; x < rows.width; ++x)
      for (int g = 0; g < groups; ++g)
        row.own[static_cast<std::ptrdiff_t>(x) * groups + g] =
            FeatureRow::word(rows.left + static_cast<std::ptrdiff_t>(x) * rows.stride, rows.components, g);
  const auto load = [&](int first, int last) {
    for (int i = first; i < last; ++i) {
      const long long x = static_cast<long long>(rows.width) - 1 - i - min_disparity;
      const std::uint8_t* const features = rows.right + std::clamp<long long>(x, 0, rows.width - 1) * rows.stride;
      for (int g = 0; g < groups; ++g)
        row.candidates[static_cast<std::ptrdiff_t>(g) * row.entries + i] =
            FeatureRow::word(features, rows.components, g);
    }
  };
  if (!whole || groups != 8) return load(0, row.entries);
  // The entries [first, last) belong to pixels of the row, in reverse order.
  const long long column = static_cast<long long>(rows.width) - 1 - min_disparity;  // the column of entry 0
  const int first = static_cast<int>(std::clamp<long long>(column - rows.width + 1, 0, row.entries));
  const int last = static_cast<int>(std::clamp<long long>(column + 1, first, row.entries));
  const int done = reverse_words(row, rows.right + (column - last + 1) * rows.stride, last - first, first);
  load(0, first);
  load(first + done, row.entries);
}

// Four components of a candidate in each lane. The magnitudes of these components are multiplied by the components of
// the pixel, which take over their signs. With VNNI, they are larger by 128, which start() compensates.
class Candidates {
 public:
  Candidates() = default;
  explicit Candidates(V32 components) {
    const D32 d;
    const D8 d8;
    const auto bytes = hn::BitCast(d8, components);
#if HWY_TARGET == HWY_AVX3_DL
    bytes_ = hn::BitCast(d, hn::Xor(bytes, hn::Set(d8, -128)));
#else
    sign_ = hn::BroadcastSignBit(bytes);
    bytes_ = hn::BitCast(d, hn::Abs(bytes));
#endif
  }

  static V32 start([[maybe_unused]] std::int32_t sum_of_pixel) {
#if HWY_TARGET == HWY_AVX3_DL
    return hn::Set(D32(), -128 * sum_of_pixel);
#else
    return hn::Zero(D32());
#endif
  }
  V32 add(V32 sum, std::int32_t four_of_pixel) const {
    V32 pixel = hn::Set(D32(), four_of_pixel);
#if HWY_TARGET != HWY_AVX3_DL
    pixel = hn::BitCast(D32(), hn::Sub(hn::Xor(hn::BitCast(D8(), pixel), sign_), sign_));
#endif
    return add_products(sum, bytes_, pixel);
  }

 private:
  using D8 = hn::Repartition<std::int8_t, D32>;

  V32 bytes_;
#if HWY_TARGET != HWY_AVX3_DL
  hn::VFromD<D8> sign_;
#endif
};

#if HWY_ARCH_ARM_A64
// Four components of a candidate in each lane, for processors with dot products of signed bytes.
class DotCandidates {
 public:
  DotCandidates() = default;
  explicit DotCandidates(V32 components) : components_(components) {}

  static V32 start(std::int32_t) { return hn::Zero(D32()); }
  V32 add(V32 sum, std::int32_t four_of_pixel) const {
    return convolution::HWY_NAMESPACE::add_dot<0>(sum, hn::Set(D32(), four_of_pixel), components_);
  }

 private:
  V32 components_;
};
#endif

// Stores those bytes of a block that belong to the costs of a pixel. The block may start `before` bytes before the
// costs, or end after them.
template <class V>
HWY_INLINE void store_part(V bytes, std::uint8_t* costs, int before, int disparities) {
  const hn::Rebind<std::uint8_t, D32> d;
  const int lanes = static_cast<int>(hn::Lanes(d)), end = std::min(lanes, before + disparities);
#if HWY_TARGET <= HWY_AVX3 && HWY_MAJOR > 0  // Highway 0.16 stores no part of a vector
  hn::BlendedStore(bytes, hn::AndNot(hn::FirstN(d, before), hn::FirstN(d, end)), d, costs - before);
#else
  HWY_ALIGN std::uint8_t apart[hn::MaxLanes(d)];
  hn::Store(bytes, d, apart);
  std::copy(apart + before, apart + end, costs);
#endif
}

#if HWY_TARGET <= HWY_AVX3
// Stores the costs of four adjacent pixels, which lie `next` bytes apart.
HWY_INLINE void store_four(const V32 (&values)[4], V32 limit, std::uint8_t* costs, std::ptrdiff_t next) {
  const D32 d;
  const hn::Repartition<std::uint8_t, D32> d8;
  const hn::Half<D32> half;
  const hn::Half<decltype(half)> quarter;
  // Packing saturates to 0 … 255. It takes four values of each pixel in turn.
  const V32 packed{_mm512_packus_epi16(_mm512_packs_epi32(values[0].raw, values[1].raw),
                                       _mm512_packs_epi32(values[2].raw, values[3].raw))};
  const V32 limited = hn::BitCast(d, hn::Min(hn::BitCast(d8, packed), hn::BitCast(d8, limit)));
  alignas(64) static constexpr std::int32_t by_pixel[16] = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
  const V32 ordered = hn::TableLookupLanes(limited, hn::SetTableIndices(d, by_pixel));
  const auto store_two = [&](int pixel, auto two) HWY_ATTR {
    const auto store = [&](int p, auto one)
                           HWY_ATTR { hn::StoreU(one, quarter, reinterpret_cast<std::int32_t*>(costs + p * next)); };
    store(pixel, hn::LowerHalf(quarter, two));
    store(pixel + 1, hn::UpperHalf(quarter, two));
  };
  store_two(0, hn::LowerHalf(half, ordered));
  store_two(2, hn::UpperHalf(half, ordered));
}
#endif

// Returns the sum of the components of a pixel, if start() needs the sum.
HWY_INLINE std::int32_t sum_of_components([[maybe_unused]] const std::int32_t* words, [[maybe_unused]] int groups) {
#if HWY_TARGET == HWY_AVX3_DL
  const hn::CappedTag<std::int32_t, 8> d;
  auto sums = hn::Zero(d);
  int g = 0;
  for (; g + 8 <= groups; g += 8) {
    const auto ones = hn::Set(d, 0x01010101), four = hn::LoadU(d, words + g);
    asm("vpdpbusd %2, %1, %0" : "+v"(sums.raw) : "v"(ones.raw), "v"(four.raw));
  }
  std::int32_t sum = hn::GetLane(hn::SumOfLanes(d, sums));
  for (; g < groups; ++g)
    for (int shift = 0; shift < 32; shift += 8) sum += static_cast<std::int8_t>(words[g] >> shift);
  return sum;
#else
  return 0;
#endif
}

// Computes the costs for kGroups groups, or for any number of groups if kGroups is 0. C is Candidates or DotCandidates. A
// block of candidates stays in
// registers, and is combined with all pixels for which some of them are candidates.
template <class C, int kGroups>
void costs_of_groups(const CostOfDot& cost, const FeatureRow& row, int width, int disparities, std::uint8_t* costs) {
  const D32 d;
  const hn::Rebind<std::uint8_t, D32> narrow;
  const int lanes = static_cast<int>(hn::Lanes(d)), groups = kGroups > 0 ? kGroups : row.groups;
  const V32 first = hn::Set(d, cost.offset * cost.scale + (1 << (cost.shift - 1))), scale = hn::Set(d, cost.scale),
            limit = hn::Set(d, cost.limit);
  [[maybe_unused]] const V32 byte_limit = hn::Set(d, static_cast<std::int32_t>(cost.limit * 0x01010101u));
  for (int x = 0; x < width; ++x)
    row.sums[x] = sum_of_components(row.own + static_cast<std::ptrdiff_t>(x) * groups, groups);
  for (int block = 0; block < width + disparities - 1; block += lanes) {
    const auto load = [&](int g) HWY_ATTR {
      return C(hn::LoadU(d, row.candidates + static_cast<std::ptrdiff_t>(g) * row.entries + block));
    };
    C candidates[std::max(kGroups, 1)];
    for (int g = 0; g < kGroups; ++g) candidates[g] = load(g);
    // Candidate i belongs to disparity i − (width − 1 − x).
    const int last = std::min(width - 1, width - 1 - block + disparities - 1);
    int x = std::max(0, width - block - lanes);
#if HWY_TARGET <= HWY_AVX3
    // The sums of one pixel wait for each other; those of four pixels keep the processor busy.
    const auto is_inside = [&](int k) { return k >= 0 && k + lanes <= disparities; };
    const auto four = [&] HWY_ATTR {
      V32 values[4];
      for (int p = 0; p < 4; ++p) values[p] = C::start(row.sums[x + p]);
      for (int g = 0; g < kGroups; ++g)
        for (int p = 0; p < 4; ++p)
          values[p] = candidates[g].add(values[p], row.own[static_cast<std::ptrdiff_t>(x + p) * kGroups + g]);
      for (V32& value : values) value = hn::ShiftRightSame(hn::Sub(first, hn::Mul(value, scale)), cost.shift);
      const int k = block - (width - 1 - x);
      store_four(values, byte_limit, costs + static_cast<std::ptrdiff_t>(x) * disparities + k, disparities + 1);
    };
#endif
    while (x <= last) {
#if HWY_TARGET <= HWY_AVX3
      if constexpr (kGroups > 0)
        if (const int k = block - (width - 1 - x); x + 3 <= last && is_inside(k) && is_inside(k + 3)) {
          four();
          x += 4;
          continue;
        }
#endif
      const std::int32_t* const words = row.own + static_cast<std::ptrdiff_t>(x) * groups;
      V32 dot = C::start(row.sums[x]);
      for (int g = 0; g < groups; ++g)
        dot = kGroups > 0 ? candidates[kGroups > 0 ? g : 0].add(dot, words[g]) : load(g).add(dot, words[g]);
      const V32 value = hn::ShiftRightSame(hn::Sub(first, hn::Mul(dot, scale)), cost.shift);
      const auto bytes = hn::DemoteTo(narrow, hn::Min(hn::Max(value, hn::Zero(d)), limit));
      const int k = block - (width - 1 - x);
      std::uint8_t* const out = costs + static_cast<std::ptrdiff_t>(x) * disparities;
      if (k >= 0 && k + lanes <= disparities)
        hn::StoreU(bytes, narrow, out + k);
      else
        store_part(bytes, out + std::max(k, 0), std::max(-k, 0), disparities - std::max(k, 0));
      ++x;
    }
  }
}

// Computes the costs of a row from the features of both views.
void costs_of_row(const CostOfDot& cost, FeatureRow& row, const TwoRows& rows, int min_disparity, int disparities,
                  std::uint8_t* costs) {
  load_features(row, rows, min_disparity);
  const auto compute = [&]<class C>(const C*) HWY_ATTR {
    if (row.groups == 8)
      costs_of_groups<C, 8>(cost, row, rows.width, disparities, costs);
    else
      costs_of_groups<C, 0>(cost, row, rows.width, disparities, costs);
  };
#if HWY_ARCH_ARM_A64
  if (system::has_dot_product()) return compute(static_cast<const DotCandidates*>(nullptr));
#endif
  compute(static_cast<const Candidates*>(nullptr));
}

}  // namespace stereopsis::learned_features::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::learned_features {
namespace {

HWY_EXPORT(row);
HWY_EXPORT(costs_of_row);

// Returns the entries of a row of candidates, with the widest vector behind the last one.
int entries_of(int width, int disparities) { return (width + disparities + PackedConvolution::padding + 15) / 16 * 16; }
std::size_t bytes_of_thread(const Network& network, int width, int disparities) {
  return with_gap(FeatureRow::bytes(width, entries_of(width, disparities), groups_of(network.components())));
}
void load_row(ImageView<const std::uint8_t> grey, int y, int border, std::uint8_t* to) {
  const std::uint8_t* from = grey.row(std::clamp(y, 0, grey.height - 1));
  std::fill_n(to, border, from[0]);
  std::copy_n(from, grey.width, to + border);
  std::fill_n(to + border + grey.width, border, from[grey.width - 1]);
}

// Computes the features of a view, row by row. Each layer lags two rows behind the previous one, so that all rows in use
// stay in the cache. The margin rows of the earlier layers are computed again after each start().
class FeatureRows {
 public:
  FeatureRows(const std::vector<PackedConvolution>& layers, ImageView<const std::uint8_t> grey)
      : layers_(layers), grey_(grey), count_(static_cast<int>(layers.size())) {
    planes_.emplace_back(grey.width + 2 * count_, 1);
    for (int l = 0; l < count_; ++l) planes_.emplace_back(grey.width + 2 * (count_ - 1 - l), layers[l].out);
  }

  void start(int first) { first_ = first, next_ = 0; }
  // Returns the features of the first row, and then of the next ones. A pixel takes stride() bytes.
  const std::uint8_t* next() {
    for (;;) {
      const int r = next_++;
      load_row(grey_, first_ - count_ + r, count_, planes_[0].row(r));
      for (int l = 0, y = r - 2; l < count_ && y >= 0; ++l, y -= 2) HWY_DYNAMIC_DISPATCH(row)
      (layers_[l], planes_[l], y, grey_.width + 2 * (count_ - 1 - l), planes_[l + 1].row(y));
      if (r >= 2 * count_) return planes_[count_].row(r - 2 * count_);
    }
  }
  int stride() const { return layers_[count_ - 1].out; }

 private:
  const std::vector<PackedConvolution>& layers_;
  ImageView<const std::uint8_t> grey_;
  int count_, first_ = 0, next_ = 0;
  std::vector<Rows> planes_;
};

// Returns the height of the parts that threads take in turn. Each part computes six extra rows of the first layer.
int rows_of_part(int height, int threads) { return std::max(16, height / (4 * threads)); }

}  // namespace

void cpu(const Network& network, ImageView<const std::uint8_t> grey, ImageView<std::int8_t> features,
         Threads& threads) {
  const std::vector<PackedConvolution> layers(network.layers.begin(), network.layers.end());
  threads.rows(
      grey.height,
      [&](int first, int last) {
        FeatureRows rows(layers, grey);
        rows.start(first);
        for (int y = first; y < last; ++y) {
          const std::uint8_t* const row = rows.next();
          for (int x = 0; x < grey.width; ++x)
            std::memcpy(&features(x, y), row + static_cast<std::ptrdiff_t>(x) * rows.stride(), features.channels);
        }
      },
      rows_of_part(grey.height, threads.count()));
}

std::size_t cost_scratch_bytes(const Network& network, Size size, int disparities, int threads) {
  return threads * bytes_of_thread(network, size.width, disparities);
}

void cost_rows_cpu(const Parameters& p, ImageView<const std::uint8_t> left, ImageView<const std::uint8_t> right,
                   int min_disparity, int disparities, const CostRows& out, std::span<std::byte> scratch,
                   Threads& threads) {
  const Network& network = p.weights.network();
  const int components = network.components(), entries = entries_of(left.width, disparities);
  const std::vector<PackedConvolution> layers(network.layers.begin(), network.layers.end());
  const CostOfDot cost(p);
  const int part = rows_of_part(left.height, threads.count());
  std::atomic<int> next{0};
  threads.each([&](int thread) {
    FeatureRow row(scratch.data() + thread * bytes_of_thread(network, left.width, disparities), left.width, entries,
                   groups_of(components));
    FeatureRows of_left(layers, left), of_right(layers, right);
    for (int first; (first = part * next.fetch_add(1, std::memory_order_relaxed)) < left.height;) {
      of_left.start(first);
      of_right.start(first);
      for (int y = first; y < std::min(left.height, first + part); ++y) {
        const std::uint8_t* const left_row = of_left.next();
        const TwoRows rows{left_row, of_right.next(), left.width, components, of_left.stride()};
        std::uint8_t* const costs = out.memory(thread, y);
        HWY_DYNAMIC_DISPATCH(costs_of_row)(cost, row, rows, min_disparity, disparities, costs);
        if (out.take) out.take(thread, y);
      }
    }
  });
}

void cost_cpu(const Parameters& p, ImageView<const std::uint8_t> left, ImageView<const std::uint8_t> right,
              int min_disparity, VolumeView<std::uint8_t> costs, std::span<std::byte> scratch, Threads& threads) {
  cost_rows_cpu(p, left, right, min_disparity, costs.disparities, {[&](int, int y) { return costs.row(y); }, {}},
                scratch, threads);
}

}  // namespace stereopsis::learned_features
#endif
