#include <algorithm>
#include <cstring>

#include "device/cpu/threads.hpp"
#include "stages/learned_features/learned_features.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/learned_features/learned_features_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef STEREOPSIS_LEARNED_FEATURES_PACKED
#define STEREOPSIS_LEARNED_FEATURES_PACKED
namespace stereopsis::learned_features {

constexpr int padding = 16;  // channels: as many as the widest vectors have 32-bit lanes
constexpr int pixels_at_once = 6;

constexpr int padded(int channels) { return (channels + padding - 1) / padding * padding; }

// A layer in the order that vectors read: for each tap and each group of input channels, the weights of all outputs.
// The first layer has an unsigned byte as its input, so that it has one weight per number, and its biases include the
// correction for the missing subtraction of 128. The other layers pack four channels' weights in each number.
struct PackedLayer {
  int in, out, groups, shift, low;
  std::vector<std::int32_t> weights, biases;

  explicit PackedLayer(const Layer& layer)
      : in(layer.in == 1 ? 1 : padded(layer.in)),
        out(padded(layer.out)),
        groups(in == 1 ? 1 : in / 4),
        shift(layer.shift),
        low(layer.low),
        weights(static_cast<std::size_t>(9) * groups * out),
        biases(out) {
    for (int o = 0; o < layer.out; ++o) {
      biases[o] = layer.biases[o];
      for (int i = 0; i < layer.in; ++i)
        for (int tap = 0; tap < 9; ++tap) {
          const int weight = layer.weight(o, i, tap / 3 - 1, tap % 3 - 1);
          if (in == 1) biases[o] -= 128 * weight;
          const std::uint32_t byte =
              in == 1 ? static_cast<std::uint32_t>(weight) : static_cast<std::uint32_t>(weight & 255) << (8 * (i % 4));
          std::int32_t& word = weights[(static_cast<std::size_t>(tap) * groups + i / 4) * out + o];
          word = static_cast<std::int32_t>(static_cast<std::uint32_t>(word) | byte);
        }
    }
  }
};

// The last three rows of a layer's values, with padding for the pixels of a last group.
struct Rows {
  std::ptrdiff_t pitch;
  std::vector<std::uint8_t> bytes;

  Rows(int width, int channels)
      : pitch(static_cast<std::ptrdiff_t>(width + pixels_at_once + 2) * channels),
        bytes(static_cast<std::size_t>(pitch) * 3) {}
  std::uint8_t* row(int y) { return bytes.data() + y % 3 * pitch; }
  const std::uint8_t* row(int y) const { return bytes.data() + y % 3 * pitch; }
};

// A row of both views' features, four components per number, padded with 0. The left view's pixels are contiguous. The
// right view is stored by group and in reverse order, so that the candidates of a pixel are ordered by disparity.
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
  std::int32_t *own, *candidates, *sums;  // sums: the sum of each pixel's components
};

}  // namespace stereopsis::learned_features
#endif

HWY_BEFORE_NAMESPACE();
namespace stereopsis::learned_features::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D32 = hn::ScalableTag<std::int32_t>;
using V32 = hn::VFromD<D32>;

// Returns sum + the dot product of four bytes in 0 to 127 and four signed bytes, in each 32-bit lane. Two products
// together fit in signed 16 bits, so that nothing saturates.
HWY_INLINE V32 add_products(V32 sum, V32 bytes, V32 weights) {
#if HWY_TARGET == HWY_AVX3_DL
  // Highway's feature list of this target has another VNNI than the one by which the target is selected, so that an
  // intrinsic cannot be used.
  asm("vpdpbusd %2, %1, %0" : "+v"(sum.raw) : "v"(bytes.raw), "v"(weights.raw));
  return sum;
#elif HWY_TARGET == HWY_AVX3
  return hn::Add(sum, V32{_mm512_madd_epi16(_mm512_maddubs_epi16(bytes.raw, weights.raw), _mm512_set1_epi16(1))});
#elif HWY_TARGET == HWY_AVX2
  return hn::Add(sum, V32{_mm256_madd_epi16(_mm256_maddubs_epi16(bytes.raw, weights.raw), _mm256_set1_epi16(1))});
#elif HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_SSSE3
  return hn::Add(sum, V32{_mm_madd_epi16(_mm_maddubs_epi16(bytes.raw, weights.raw), _mm_set1_epi16(1))});
#else
  const V32 low = hn::Set(D32(), 255);
  sum = hn::Add(sum, hn::Mul(hn::And(bytes, low), hn::ShiftRight<24>(hn::ShiftLeft<24>(weights))));
  sum = hn::Add(sum, hn::Mul(hn::And(hn::ShiftRight<8>(bytes), low), hn::ShiftRight<24>(hn::ShiftLeft<16>(weights))));
  sum = hn::Add(sum, hn::Mul(hn::And(hn::ShiftRight<16>(bytes), low), hn::ShiftRight<24>(hn::ShiftLeft<8>(weights))));
  return hn::Add(sum, hn::Mul(hn::ShiftRight<24>(bytes), hn::ShiftRight<24>(weights)));
#endif
}

// Computes kVectors vectors of outputs from `first` on, for pixels_at_once pixels.
template <int kVectors, bool kFirstLayer>
HWY_INLINE void pixels(const PackedLayer& layer, const std::uint8_t* const rows[3], int first, std::uint8_t* after) {
  const D32 d;
  const hn::Rebind<std::int8_t, D32> d8;
  const int lanes = static_cast<int>(hn::Lanes(d));
  V32 sums[pixels_at_once][kVectors];
  for (int p = 0; p < pixels_at_once; ++p)
    for (int v = 0; v < kVectors; ++v) sums[p][v] = hn::LoadU(d, layer.biases.data() + first + v * lanes);
  const std::int32_t* weights = layer.weights.data() + first;
  for (int tap = 0; tap < 9; ++tap) {
    const std::uint8_t* from = rows[tap / 3] + static_cast<std::ptrdiff_t>(tap % 3) * layer.in;
    for (int group = 0; group < layer.groups; ++group, weights += layer.out) {
      V32 w[kVectors];
      for (int v = 0; v < kVectors; ++v) w[v] = hn::LoadU(d, weights + v * lanes);
      for (int p = 0; p < pixels_at_once; ++p) {
        std::int32_t input;
        if constexpr (kFirstLayer)
          input = from[p];
        else
          std::memcpy(&input, from + static_cast<std::ptrdiff_t>(p) * layer.in + 4 * group, 4);
        const V32 bytes = hn::Set(d, input);
        for (int v = 0; v < kVectors; ++v)
          sums[p][v] = kFirstLayer ? hn::Add(sums[p][v], hn::Mul(bytes, w[v])) : add_products(sums[p][v], bytes, w[v]);
      }
    }
  }
  const V32 half = hn::Set(d, 1 << (layer.shift - 1)), low = hn::Set(d, layer.low);
  for (int p = 0; p < pixels_at_once; ++p)
    for (int v = 0; v < kVectors; ++v) {
      const V32 value = hn::Max(hn::ShiftRightSame(hn::Add(sums[p][v], half), layer.shift), low);
      hn::StoreU(
          hn::DemoteTo(d8, value), d8,  // saturates at 127
          reinterpret_cast<std::int8_t*>(after) + static_cast<std::ptrdiff_t>(p) * layer.out + first + v * lanes);
    }
}

template <bool kFirstLayer>
HWY_INLINE void layer_row(const PackedLayer& layer, const Rows& before, int y, int width, std::uint8_t* after) {
  const int lanes = static_cast<int>(hn::Lanes(D32()));
  for (int x = 0; x < width; x += pixels_at_once) {
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(x) * layer.in;
    const std::uint8_t* const rows[3] = {before.row(y) + at, before.row(y + 1) + at, before.row(y + 2) + at};
    std::uint8_t* const to = after + static_cast<std::ptrdiff_t>(x) * layer.out;
    int o = 0;
    for (; o + 2 * lanes <= layer.out; o += 2 * lanes) pixels<2, kFirstLayer>(layer, rows, o, to);
    for (; o < layer.out; o += lanes) pixels<1, kFirstLayer>(layer, rows, o, to);
  }
}

// Computes row y of a layer from the three rows of the previous layer that start there.
void row(const PackedLayer& layer, const Rows& before, int y, int width, std::uint8_t* after) {
  if (layer.in == 1)
    layer_row<true>(layer, before, y, width, after);
  else
    layer_row<false>(layer, before, y, width, after);
}

// Four components of a candidate in each lane. Their magnitudes are multiplied by the pixel's components, which take
// over their signs; with VNNI they are larger by 128, for which start() compensates.
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

// Stores the bytes of a block that belong to a pixel's costs; the block may start `before` bytes before them or end
// behind them.
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

// Returns the sum of a pixel's components, if start() needs it.
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

// Computes the costs of kGroups groups, or of any number if it is 0. A block of candidates stays in registers, and is
// combined with all pixels that may match some of them.
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
int entries_of(int width, int disparities) { return (width + disparities + padding + 15) / 16 * 16; }
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
void piece(const std::vector<PackedLayer>& layers, ImageView<const std::uint8_t> grey, ImageView<std::int8_t> features,
           int first, int last) {
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
  const std::vector<PackedLayer> layers(network.layers.begin(), network.layers.end());
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
