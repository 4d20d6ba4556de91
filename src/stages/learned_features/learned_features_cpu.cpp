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

constexpr int padding = 16;  // channels: as many 32-bit lanes as the widest vectors have
constexpr int pixels_at_once = 6;

constexpr int padded(int channels) { return (channels + padding - 1) / padding * padding; }

// A layer as vectors read it: for each tap and each group of input channels, those of all outputs. The first layer, whose
// input is one byte without sign, has whole numbers, and what the 128 that is missing adds to its biases; the others have four
// channels' weights in each number.
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

// Rows of a layer's values, with room for the pixels of a last group.
struct Rows {
  int channels;
  std::ptrdiff_t pitch;
  std::vector<std::uint8_t> bytes;

  Rows(int width, int height, int channels_)
      : channels(channels_),
        pitch(static_cast<std::ptrdiff_t>(width + pixels_at_once + 2) * channels_),
        bytes(static_cast<std::size_t>(pitch) * height) {}
  std::uint8_t* row(int y) { return bytes.data() + y * pitch; }
  const std::uint8_t* row(int y) const { return bytes.data() + y * pitch; }
};

}  // namespace stereopsis::learned_features
#endif

HWY_BEFORE_NAMESPACE();
namespace stereopsis::learned_features::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D32 = hn::ScalableTag<std::int32_t>;
using V32 = hn::VFromD<D32>;

// sum + the dot product of four bytes 0 to 127 and four bytes with sign, in each 32-bit lane. Two products together fit 16 bits
// with sign, so that nothing saturates.
HWY_INLINE V32 add_products(V32 sum, V32 bytes, V32 weights) {
#if HWY_TARGET == HWY_AVX3_DL
  // Highway's list of this target's features has another VNNI than what the target is chosen by: no intrinsic may be used.
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

// kVectors vectors of outputs from `first` on, of pixels_at_once pixels.
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

// Row y of a layer, from the three rows of the one before that begin there.
void row(const PackedLayer& layer, const Rows& before, int y, int width, std::uint8_t* after) {
  if (layer.in == 1)
    layer_row<true>(layer, before, y, width, after);
  else
    layer_row<false>(layer, before, y, width, after);
}

}  // namespace stereopsis::learned_features::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::learned_features {
namespace {

HWY_EXPORT(row);

// The rows [first, last) of the result. What the layers before need beyond is computed again by the next piece.
void piece(const std::vector<PackedLayer>& layers, ImageView<const std::uint8_t> grey, ImageView<std::int8_t> features,
           int first, int last) {
  int border = static_cast<int>(layers.size());
  Rows before(grey.width + 2 * border, last - first + 2 * border, 1);
  for (int y = first - border; y < last + border; ++y) {
    const std::uint8_t* from = grey.row(std::clamp(y, 0, grey.height - 1));
    std::uint8_t* const to = before.row(y - first + border);
    std::fill_n(to, border, from[0]);
    std::copy_n(from, grey.width, to + border);
    std::fill_n(to + border + grey.width, border, from[grey.width - 1]);
  }
  for (const PackedLayer& layer : layers) {
    --border;
    const int width = grey.width + 2 * border, height = last - first + 2 * border;
    Rows after(width, height, layer.out);
    for (int y = 0; y < height; ++y) HWY_DYNAMIC_DISPATCH(row)(layer, before, y, width, after.row(y));
    before = std::move(after);
  }
  for (int y = first; y < last; ++y)
    for (int x = 0; x < grey.width; ++x)
      std::memcpy(&features(x, y), before.row(y - first) + static_cast<std::ptrdiff_t>(x) * before.channels,
                  features.channels);
}

}  // namespace

void cpu(const Network& network, ImageView<const std::uint8_t> grey, ImageView<std::int8_t> features,
         Threads& threads) {
  const std::vector<PackedLayer> layers(network.layers.begin(), network.layers.end());
  constexpr int grain = 24;  // rows: of the first layer six more are computed
  threads.rows(
      grey.height, [&](int first, int last) { piece(layers, grey, features, first, last); }, grain);
}

}  // namespace stereopsis::learned_features
#endif
