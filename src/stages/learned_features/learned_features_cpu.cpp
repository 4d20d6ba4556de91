#include <algorithm>
#include <cstring>

#include "device/cpu/threads.hpp"
#include "stages/learned_features/learned_features.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/learned_features/learned_features_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

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

  static std::int32_t word(const std::int8_t* features, int components, int group) {
    std::int32_t four = 0;
    if (4 * group + 4 <= components)
      std::memcpy(&four, features + 4 * group, 4);
    else
      std::memcpy(&four, features + 4 * group, static_cast<std::size_t>(components - 4 * group));
    return four;
  }
  void load(ImageView<const std::int8_t> left, ImageView<const std::int8_t> right, int y, int min_disparity) {
    if (left.channels == 4 * groups)
      std::memcpy(own, left.row(y), static_cast<std::size_t>(left.width) * left.channels);
    else
      for (int x = 0; x < left.width; ++x)
        for (int g = 0; g < groups; ++g)
          own[static_cast<std::ptrdiff_t>(x) * groups + g] = word(&left(x, y), left.channels, g);
    for (int i = 0; i < entries; ++i) {
      const std::int8_t* features = &right(std::clamp(right.width - 1 - i - min_disparity, 0, right.width - 1), y);
      for (int g = 0; g < groups; ++g)
        candidates[static_cast<std::ptrdiff_t>(g) * entries + i] = word(features, right.channels, g);
    }
  }

  int groups, entries;
  std::int32_t *own, *candidates, *sums;  // `sums` has the sum of the components of each pixel
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

// Stores those bytes of a block that belong to the costs of a pixel. The block may start `before` bytes before the
// costs, or end after them.
template <class V>
HWY_INLINE void store_part(V bytes, std::uint8_t* costs, int before, int disparities) {
  const hn::Rebind<std::uint8_t, D32> d;
  const int lanes = static_cast<int>(hn::Lanes(d)), end = std::min(lanes, before + disparities);
#if HWY_TARGET <= HWY_AVX3
  hn::BlendedStore(bytes, hn::AndNot(hn::FirstN(d, before), hn::FirstN(d, end)), d, costs - before);
#else
  HWY_ALIGN std::uint8_t apart[hn::MaxLanes(d)];
  hn::Store(bytes, d, apart);
  std::copy(apart + before, apart + end, costs);
#endif
}

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

// Computes the costs for kGroups groups, or for any number of groups if kGroups is 0. A block of candidates stays in
// registers, and is combined with all pixels for which some of them are candidates.
template <int kGroups>
void costs_of_groups(const CostOfDot& cost, const FeatureRow& row, VolumeView<std::uint8_t> costs, int y) {
  const D32 d;
  const hn::Rebind<std::uint8_t, D32> narrow;
  const int lanes = static_cast<int>(hn::Lanes(d)), groups = kGroups > 0 ? kGroups : row.groups;
  const int width = costs.width, disparities = costs.disparities;
  const V32 first = hn::Set(d, cost.offset * cost.scale + (1 << (cost.shift - 1))), scale = hn::Set(d, cost.scale),
            limit = hn::Set(d, cost.limit);
  for (int x = 0; x < width; ++x)
    row.sums[x] = sum_of_components(row.own + static_cast<std::ptrdiff_t>(x) * groups, groups);
  for (int block = 0; block < width + disparities - 1; block += lanes) {
    const auto load = [&](int g) HWY_ATTR {
      return Candidates(hn::LoadU(d, row.candidates + static_cast<std::ptrdiff_t>(g) * row.entries + block));
    };
    Candidates candidates[std::max(kGroups, 1)];
    for (int g = 0; g < kGroups; ++g) candidates[g] = load(g);
    // Candidate i belongs to disparity i − (width − 1 − x).
    const int last = std::min(width - 1, width - 1 - block + disparities - 1);
    for (int x = std::max(0, width - block - lanes); x <= last; ++x) {
      const std::int32_t* const words = row.own + static_cast<std::ptrdiff_t>(x) * groups;
      V32 dot = Candidates::start(row.sums[x]);
      for (int g = 0; g < groups; ++g)
        dot = kGroups > 0 ? candidates[kGroups > 0 ? g : 0].add(dot, words[g]) : load(g).add(dot, words[g]);
      const V32 value = hn::ShiftRightSame(hn::Sub(first, hn::Mul(dot, scale)), cost.shift);
      const auto bytes = hn::DemoteTo(narrow, hn::Min(hn::Max(value, hn::Zero(d)), limit));
      const int k = block - (width - 1 - x);
      std::uint8_t* const out = costs.pixel(x, y);
      if (k >= 0 && k + lanes <= disparities)
        hn::StoreU(bytes, narrow, out + k);
      else
        store_part(bytes, out + std::max(k, 0), std::max(-k, 0), disparities - std::max(k, 0));
    }
  }
}

void costs_of_row(const CostOfDot& cost, const FeatureRow& row, VolumeView<std::uint8_t> costs, int y) {
  if (row.groups == 8)
    costs_of_groups<8>(cost, row, costs, y);
  else
    costs_of_groups<0>(cost, row, costs, y);
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
std::size_t bytes_of_features(const Network& network, Size size) {
  return with_gap(static_cast<std::size_t>(size.width) * size.height * network.components());
}

void load_row(ImageView<const std::uint8_t> grey, int y, int border, std::uint8_t* to) {
  const std::uint8_t* from = grey.row(std::clamp(y, 0, grey.height - 1));
  std::fill_n(to, border, from[0]);
  std::copy_n(from, grey.width, to + border);
  std::fill_n(to + border + grey.width, border, from[grey.width - 1]);
}

// Computes the rows [first, last) of the result. Each layer lags two rows behind the previous one, so that all rows in
// use stay in the cache. The margin rows of the earlier layers are computed again by the next piece.
void piece(const std::vector<PackedConvolution>& layers, ImageView<const std::uint8_t> grey,
           ImageView<std::int8_t> features, int first, int last) {
  const int count = static_cast<int>(layers.size());
  std::vector<Rows> planes{{grey.width + 2 * count, 1}};
  for (int l = 0; l < count; ++l) planes.emplace_back(grey.width + 2 * (count - 1 - l), layers[l].out);
  for (int r = 0; r < last - first + 2 * count; ++r) {
    load_row(grey, first - count + r, count, planes[0].row(r));
    for (int l = 0, y = r - 2; l < count && y >= 0; ++l, y -= 2)
      HWY_DYNAMIC_DISPATCH(row)(layers[l], planes[l], y, grey.width + 2 * (count - 1 - l), planes[l + 1].row(y));
    const int y = r - 2 * count;
    if (y < 0) continue;
    for (int x = 0; x < grey.width; ++x)
      std::memcpy(&features(x, first + y),
                  planes[count].row(y) + static_cast<std::ptrdiff_t>(x) * layers[count - 1].out, features.channels);
  }
}

}  // namespace

void cpu(const Network& network, ImageView<const std::uint8_t> grey, ImageView<std::int8_t> features,
         Threads& threads) {
  const std::vector<PackedConvolution> layers(network.layers.begin(), network.layers.end());
  // Each piece computes six extra rows of the first layer.
  const int grain = std::max(16, grey.height / (4 * threads.count()));
  threads.rows(
      grey.height, [&](int first, int last) { piece(layers, grey, features, first, last); }, grain);
}

std::size_t cost_scratch_bytes(const Network& network, Size size, int disparities, int threads) {
  return 2 * bytes_of_features(network, size) + threads * bytes_of_thread(network, size.width, disparities);
}

void cost_cpu(const Parameters& p, ImageView<const std::uint8_t> left, ImageView<const std::uint8_t> right,
              int min_disparity, VolumeView<std::uint8_t> costs, std::span<std::byte> scratch, Threads& threads) {
  const Network& network = p.weights.network();
  const int components = network.components(), entries = entries_of(costs.width, costs.disparities);
  const auto features = [&](ImageView<const std::uint8_t> view) {
    const ImageView<std::int8_t> made(reinterpret_cast<std::int8_t*>(scratch.data()), view.width, view.height,
                                      components, static_cast<std::ptrdiff_t>(view.width) * components);
    scratch = scratch.subspan(bytes_of_features(network, view.size()));
    cpu(network, view, made, threads);
    return ImageView<const std::int8_t>(made);
  };
  const ImageView<const std::int8_t> of_left = features(left), of_right = features(right);
  const CostOfDot cost(p);
  const int parts = threads.count();
  threads.each([&](int i) {
    FeatureRow row(scratch.data() + i * bytes_of_thread(network, costs.width, costs.disparities), costs.width, entries,
                   groups_of(components));
    const auto edge = [&](int part) { return static_cast<int>(static_cast<long long>(costs.height) * part / parts); };
    for (int y = edge(i); y < edge(i + 1); ++y) {
      row.load(of_left, of_right, y, min_disparity);
      HWY_DYNAMIC_DISPATCH(costs_of_row)(cost, row, costs, y);
    }
  });
}

}  // namespace stereopsis::learned_features
#endif
