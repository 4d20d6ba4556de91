// Convolutions of a row by vectors of the CPU: convolution.hpp.
#if defined(STEREOPSIS_CONVOLUTION_CPU_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STEREOPSIS_CONVOLUTION_CPU_INL
#undef STEREOPSIS_CONVOLUTION_CPU_INL
#else
#define STEREOPSIS_CONVOLUTION_CPU_INL
#endif

#include <cstring>
#include <type_traits>

#include "device/cpu/highway-inl.hpp"
#include "device/system/system.hpp"
#include "stages/shared/convolution.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::convolution::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D32 = hn::ScalableTag<std::int32_t>;
using D16 = hn::Repartition<std::int16_t, D32>;
using V32 = hn::VFromD<D32>;
using V16 = hn::VFromD<D16>;

// Partial sums of the products of a run. Where an instruction adds the products of four bytes (VNNI, NEON's dot product),
// they are the sums in 32 bits. Elsewhere they are sums of the products of two adjacent channels, in 16 bits.
#if HWY_TARGET == HWY_AVX3_DL
using Partial = V32;
#else
using Partial = V16;
#endif
template <class P>
HWY_INLINE P begin_run(V32 sum) {
  if constexpr (std::is_same_v<P, V32>)
    return sum;
  else
    return hn::Zero(D16());
}
HWY_INLINE V32 end_run(V32, V32 partial) { return partial; }
HWY_INLINE V32 end_run(V32 sum, V16 partial) {
#if HWY_TARGET == HWY_AVX3
  return hn::Add(sum, V32{_mm512_madd_epi16(partial.raw, _mm512_set1_epi16(1))});
#elif HWY_TARGET == HWY_AVX2
  return hn::Add(sum, V32{_mm256_madd_epi16(partial.raw, _mm256_set1_epi16(1))});
#elif HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_SSSE3
  return hn::Add(sum, V32{_mm_madd_epi16(partial.raw, _mm_set1_epi16(1))});
#else
  const V32 pairs = hn::BitCast(D32(), partial);
  return hn::Add(sum, hn::Add(hn::ShiftRight<16>(hn::ShiftLeft<16>(pairs)), hn::ShiftRight<16>(pairs)));
#endif
}

// Adds the products of four bytes in 0 to 127 and four signed bytes, in each 32-bit lane.
#if HWY_TARGET == HWY_AVX3_DL
HWY_INLINE V32 add_to_run(V32 partial, V32 bytes, V32 weights) {
  // Highway's feature list of this target has another VNNI than the one by which the target is selected, so that an
  // intrinsic cannot be used.
  asm("vpdpbusd %2, %1, %0" : "+v"(partial.raw) : "v"(bytes.raw), "v"(weights.raw));
  return partial;
}
#else
HWY_INLINE V16 add_to_run(V16 partial, V32 bytes, V32 weights) {
#if HWY_TARGET == HWY_AVX3
  return hn::Add(partial, V16{_mm512_maddubs_epi16(bytes.raw, weights.raw)});
#elif HWY_TARGET == HWY_AVX2
  // The compiler would load all inputs first, and move sums from registers to memory.
  V16 products;
  asm("vpmaddubsw %3, %2, %1\n\tvpaddw %1, %0, %0"
      : "+x"(partial.raw), "=&x"(products.raw)
      : "x"(bytes.raw), "x"(weights.raw));
  return partial;
#elif HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_SSSE3
  return hn::Add(partial, V16{_mm_maddubs_epi16(bytes.raw, weights.raw)});
#else
  const V16 b = hn::BitCast(D16(), bytes), w = hn::BitCast(D16(), weights);
  const V16 even = hn::Mul(hn::And(b, hn::Set(D16(), 255)), hn::ShiftRight<8>(hn::ShiftLeft<8>(w)));
  const V16 odd = hn::Mul(hn::ShiftRight<8>(b), hn::ShiftRight<8>(w));
  return hn::Add(hn::Add(partial, even), odd);
#endif
}
#endif

#if HWY_ARCH_ARM_A64
// Adds the products of signed bytes in each 32-bit lane. The four bytes of lane kLane are those of all lanes of the sum.
// Highway selects NEON with and without these instructions; the caller asks system::has_dot_product().
template <int kLane>
HWY_INLINE V32 add_dot(V32 sum, V32 bytes, V32 weights) {
  asm(".arch armv8.2-a+crypto+dotprod\n\tsdot %0.4s, %1.16b, %2.4b[%3]"
      : "+w"(sum.raw)
      : "w"(weights.raw), "w"(bytes.raw), "i"(kLane));
  return sum;
}
#endif

// Returns sum + the dot product of four bytes in 0 to 127 and four signed bytes, in each 32-bit lane.
HWY_INLINE V32 add_products(V32 sum, V32 bytes, V32 weights) {
  return end_run(sum, add_to_run(begin_run<Partial>(sum), bytes, weights));
}

// Sums of kVectors vectors of outputs for each pixel.
template <class V, int kVectors>
using Block = V[convolved_pixels][kVectors];

// Adds the products of a run of numbers. Returns the weights of the next number.
template <int kVectors>
HWY_INLINE const std::int32_t* add_run(const PackedConvolution& layer, int numbers, const std::uint8_t* from,
                                       const std::int32_t* weights, Block<Partial, kVectors>& partial) {
  const D32 d;
  for (int n = 0; n < numbers; ++n, from += layer.step, weights += layer.out) {
    V32 w[kVectors];
    for (int v = 0; v < kVectors; ++v) w[v] = hn::LoadU(d, weights + v * hn::Lanes(d));
    for (int p = 0; p < convolved_pixels; ++p) {
      std::int32_t four;
      std::memcpy(&four, from + static_cast<std::ptrdiff_t>(p) * layer.in, 4);
      for (int v = 0; v < kVectors; ++v) partial[p][v] = add_to_run(partial[p][v], hn::Set(d, four), w[v]);
    }
  }
  return weights;
}

// Sets the sums of all pixels to the biases of kVectors vectors of outputs, from output `first` on.
template <int kVectors>
HWY_INLINE void set_biases(const PackedConvolution& layer, int first, Block<V32, kVectors>& sums) {
  const D32 d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int p = 0; p < convolved_pixels; ++p)
    for (int v = 0; v < kVectors; ++v) sums[p][v] = hn::LoadU(d, layer.biases.data() + first + v * lanes);
}

// Writes the values of kVectors vectors of outputs from `first` on.
template <int kVectors>
HWY_INLINE void put_values(const PackedConvolution& layer, const Block<V32, kVectors>& sums, int first,
                           std::uint8_t* after) {
  const D32 d;
  const hn::Rebind<std::int8_t, D32> d8;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const V32 low = hn::Set(d, layer.low);
  std::int8_t* const to = reinterpret_cast<std::int8_t*>(after) + first;
  for (int p = 0; p < convolved_pixels; ++p)
    for (int v = 0; v < kVectors; ++v) {
      const V32 value = hn::Max(hn::ShiftRightSame(sums[p][v], layer.shift), low);
      // Saturates at 127.
      hn::StoreU(hn::DemoteTo(d8, value), d8, to + static_cast<std::ptrdiff_t>(p) * layer.out + v * lanes);
    }
}

#if HWY_TARGET == HWY_AVX3_DL
// Does what pixels() does, for layers of kIn inputs. The bytes of a pixel are loaded once for its three taps in a row.
template <int kVectors, int kIn>
HWY_INLINE void pixels_of(const PackedConvolution& layer, const std::uint8_t* const rows[3], int first,
                          std::uint8_t* after) {
  constexpr int loaded = convolved_pixels + 2, groups = kIn / 4;
  const D32 d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const std::ptrdiff_t out = layer.out;
  Block<V32, kVectors> sums;
  set_biases<kVectors>(layer, first, sums);
  const std::int32_t* weights = layer.weights.data() + first;
  for (int row = 0; row < 3; ++row, weights += 2 * groups * out) {
    const std::uint8_t* from = rows[row];
    for (int group = 0; group < groups; ++group, from += 4, weights += out) {
      V32 bytes[loaded];
      for (int p = 0; p < loaded; ++p) {
        std::int32_t four;
        std::memcpy(&four, from + p * kIn, 4);
        bytes[p] = hn::Set(d, four);
      }
      for (int tap = 0; tap < 3; ++tap)
        for (int v = 0; v < kVectors; ++v) {
          const V32 w = hn::LoadU(d, weights + tap * groups * out + v * lanes);
          for (int p = 0; p < convolved_pixels; ++p) sums[p][v] = add_to_run(sums[p][v], bytes[p + tap], w);
        }
    }
  }
  put_values<kVectors>(layer, sums, first, after);
}
#endif

#if HWY_ARCH_ARM_A64
// Does what pixels() does, by dot products. The number of inputs must be a multiple of 16, the bytes of a vector.
template <int kVectors>
HWY_INLINE void pixels_by_dots(const PackedConvolution& layer, const std::uint8_t* const rows[3], int first,
                               std::uint8_t* after) {
  constexpr int loaded = convolved_pixels + 2;
  const D32 d;
  const int lanes = static_cast<int>(hn::Lanes(d)), in = layer.in, groups = in / 4;
  const std::ptrdiff_t out = layer.out;
  Block<V32, kVectors> sums;
  set_biases<kVectors>(layer, first, sums);
  const std::int32_t* weights = layer.weights.data() + first;
  for (int row = 0; row < 3; ++row, weights += 2 * groups * out) {
    for (int channel = 0; channel < in; channel += 16) {
      V32 bytes[loaded];
      for (int p = 0; p < loaded; ++p)
        bytes[p] = hn::BitCast(d, hn::LoadU(hn::Repartition<std::uint8_t, D32>(), rows[row] + p * in + channel));
      const auto add_group = [&]<int kLane>() HWY_ATTR {
        for (int tap = 0; tap < 3; ++tap)
          for (int v = 0; v < kVectors; ++v) {
            const V32 w = hn::LoadU(d, weights + tap * groups * out + v * lanes);
            for (int p = 0; p < convolved_pixels; ++p) sums[p][v] = add_dot<kLane>(sums[p][v], bytes[p + tap], w);
          }
        weights += out;
      };
      add_group.template operator()<0>();
      add_group.template operator()<1>();
      add_group.template operator()<2>();
      add_group.template operator()<3>();
    }
  }
  put_values<kVectors>(layer, sums, first, after);
}
#endif

// Computes kVectors vectors of outputs from `first` on, for convolved_pixels pixels.
template <int kVectors>
HWY_INLINE void pixels(const PackedConvolution& layer, const std::uint8_t* const rows[3], int first,
                       std::uint8_t* after) {
#if HWY_TARGET == HWY_AVX3_DL
  if (layer.in == 32) return pixels_of<kVectors, 32>(layer, rows, first, after);
  if (layer.in == 16) return pixels_of<kVectors, 16>(layer, rows, first, after);
#elif HWY_ARCH_ARM_A64
  if (layer.in % 16 == 0 && system::has_dot_product()) return pixels_by_dots<kVectors>(layer, rows, first, after);
#endif
  Block<V32, kVectors> sums;
  const auto each = [&](auto f) HWY_ATTR {
    for (int p = 0; p < convolved_pixels; ++p)
      for (int v = 0; v < kVectors; ++v) f(p, v);
  };
  set_biases<kVectors>(layer, first, sums);
  const std::int32_t* weights = layer.weights.data() + first;
  const int* run = layer.runs.data();
  for (int row = 0; row < 3; ++row)
    for (int n = 0; n < layer.row_numbers; n += *run++) {
      Block<Partial, kVectors> partial;
      each([&](int p, int v) HWY_ATTR { partial[p][v] = begin_run<Partial>(sums[p][v]); });
      weights = add_run<kVectors>(layer, *run, rows[row] + n * layer.step, weights, partial);
      each([&](int p, int v) HWY_ATTR { sums[p][v] = end_run(sums[p][v], partial[p][v]); });
    }
  put_values<kVectors>(layer, sums, first, after);
}

// Computes a row of a layer from the rows above, at and below it, each of which begins one pixel to the left. Outputs
// that are padding may be left as they are.
HWY_INLINE void row(const PackedConvolution& layer, const std::uint8_t* const before[3], int width,
                    std::uint8_t* after) {
  const int lanes = static_cast<int>(hn::Lanes(D32()));
  for (int x = 0; x < width; x += convolved_pixels) {
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(x) * layer.in;
    const std::uint8_t* const rows[3] = {before[0] + at, before[1] + at, before[2] + at};
    std::uint8_t* const to = after + static_cast<std::ptrdiff_t>(x) * layer.out;
    int o = 0;
    for (; o + lanes < layer.used; o += 2 * lanes) pixels<2>(layer, rows, o, to);
    if (o < layer.used) pixels<1>(layer, rows, o, to);
  }
}

}  // namespace stereopsis::convolution::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
