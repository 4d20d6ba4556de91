// The samples of a pixel that have a weight, stored contiguously, and their bins. The file is included once for each
// SIMD target, hence the unusual include guard.
#if defined(STEREOPSIS_VOTE_FILL_CPU_SAMPLES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STEREOPSIS_VOTE_FILL_CPU_SAMPLES_INL
#undef STEREOPSIS_VOTE_FILL_CPU_SAMPLES_INL
#else
#define STEREOPSIS_VOTE_FILL_CPU_SAMPLES_INL
#endif

#include "device/cpu/highway-inl.hpp"
#include "device/cpu/lanes-inl.hpp"
#include "stages/vote_fill/vote_fill_cpu_work.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::vote_fill::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace targeted = stereopsis::HWY_NAMESPACE;

// One row of samples, or the part of a row that a vector holds.
using Tag = hn::CappedTag<std::int32_t, lanes_of_row>;
using Unsigned = hn::RebindToUnsigned<Tag>;
using Signed32 = hn::Vec<Tag>;
using Unsigned32 = hn::Vec<Unsigned>;

inline bool has_near_vote(const Rows& rows, const Pattern& pattern, int x, int y, int height) {
  const Tag d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const std::int32_t* const q = rows.q + rows.first_sample(x, y);
  for (int j = 0; j <= pattern.near_rows; ++j)
    for (int side = -1; side <= 1; side += 2) {
      const int down = side * rows.step * j;
      if (y + down < 0 || y + down >= height) continue;
      for (int lane = 0; lane <= 2 * rows.reach; lane += lanes) {
        const auto near = hn::Load(d, pattern.near + (j + rows.reach) * lanes_of_row + lane);
        const auto valid = hn::Ne(hn::LoadU(d, q + down * rows.pitch() + lane), hn::Set(d, nothing));
        if (!hn::AllFalse(d, hn::And(valid, hn::Ne(near, hn::Zero(d))))) return true;
      }
    }
  return false;
}

// Looks up colour weights. A table in registers is faster than gathering from memory.
class ColourWeights {
 public:
#if HWY_TARGET <= HWY_AVX3
  explicit ColourWeights(const Pattern& pattern) : is_short_(pattern.short_colour) {
    alignas(64) std::uint16_t table[256];
    std::copy_n(pattern.colour, 256, table);
    for (int k = 0; k < 8; ++k) table_[k] = _mm512_load_si512(table + 32 * k);
  }
  HWY_INLINE Unsigned32 of(Unsigned32 difference) const {
    const Unsigned d;
    if (is_short_) return lower_half(hn::Min(difference, hn::Set(d, 127)));
    const auto index = hn::Min(difference, hn::Set(d, 255));
    return hn::IfThenElse(hn::Gt(index, hn::Set(d, 127)), half(index, 4), lower_half(index));
  }

 private:
  HWY_INLINE Unsigned32 quarter(Unsigned32 index, int k) const {
    return Unsigned32{_mm512_permutex2var_epi16(table_[k], index.raw, table_[k + 1])};
  }
  HWY_INLINE Unsigned32 half(Unsigned32 index, int k) const {
    const Unsigned d;
    return hn::IfThenElse(hn::TestBit(index, hn::Set(d, 64)), quarter(index, k + 2), quarter(index, k));
  }
  HWY_INLINE Unsigned32 lower_half(Unsigned32 index) const { return half(index, 0); }

  bool is_short_;
  __m512i table_[8];
#else
  explicit ColourWeights(const Pattern& pattern) : table_(pattern.colour) {}
  HWY_INLINE Unsigned32 of(Unsigned32 difference) const {
    const Unsigned d;
    return hn::GatherIndex(d, table_, hn::BitCast(Tag(), hn::Min(difference, hn::Set(d, 255))));
  }

 private:
  const std::uint32_t* table_;
#endif
};

HWY_INLINE Unsigned32 sum_of_bytes(Unsigned32 v) {
  const Unsigned d;
  const hn::Repartition<std::uint8_t, Unsigned> d8;
  const auto pairs = hn::BitCast(d, targeted::sums_of_pairs(d8, hn::BitCast(d8, v)));
  return hn::Add(hn::And(pairs, hn::Set(d, 0xFFFF)), hn::ShiftRight<16>(pairs));
}

// Moves the lanes of a mask to the front of a vector. On AVX-512, Highway's Compress is one instruction. On other
// targets, it uses tables, which compilers copy at each use.
class Compression {
 public:
  using Mask = hn::Mask<Tag>;
#if HWY_TARGET <= HWY_AVX3 || !HWY_ARCH_X86
  HWY_INLINE explicit Compression(Mask mask) : mask_(mask) {}
  HWY_INLINE Signed32 operator()(Signed32 v) const { return hn::Compress(v, mask_); }

 private:
  Mask mask_;
#else
  using Indices = decltype(hn::IndicesFromVec(Tag(), Signed32()));
  HWY_INLINE explicit Compression(Mask mask) : indices_(indices(mask)) {}
  HWY_INLINE Signed32 operator()(Signed32 v) const { return hn::TableLookupLanes(v, indices_); }

 private:
  HWY_INLINE static Indices indices(Mask mask) {
    const Tag d;
    const hn::Rebind<std::uint8_t, Tag> d8;
    std::uint8_t set[8] = {};
    hn::StoreMaskBits(d, mask, set);
    return hn::IndicesFromVec(d, hn::PromoteTo(d, hn::LoadU(d8, lanes_of_sets.bytes[set[0]])));
  }
  Indices indices_;
#endif
};

inline void gather(const Rows& rows, const Pattern& pattern, const ColourWeights& colours, int x, int y, int height,
                   Samples& samples) {
  const Tag d;
  const Unsigned du;
  const hn::Repartition<std::uint8_t, Tag> d8;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const auto own = hn::BitCast(d8, hn::Set(du, rows.colours[rows.at(x, y)] & ~Rows::no_vote));
  const std::ptrdiff_t first_here = rows.first_sample(x, y);
  int count = 0;
  for (int j = -rows.reach; j <= rows.reach; ++j) {
    const int down = rows.step * j;
    if (y + down < 0 || y + down >= height) continue;
    const std::ptrdiff_t first = first_here + down * rows.pitch();
    for (int lane = 0; lane <= 2 * rows.reach; lane += lanes) {
      const int at = (j + rows.reach) * lanes_of_row + lane;
      const auto colour = hn::BitCast(d8, hn::LoadU(du, rows.colours + first + lane));
      const auto difference = hn::Or(hn::SaturatedSub(colour, own), hn::SaturatedSub(own, colour));
      const auto by_colour = colours.of(sum_of_bytes(hn::BitCast(du, difference)));
      const hn::Repartition<std::uint16_t, Tag> d16;
      const auto weight =
          hn::BitCast(du, hn::MulHigh(hn::BitCast(d16, by_colour), hn::BitCast(d16, hn::Load(du, pattern.space + at))));
      const auto counts = hn::Ne(weight, hn::Zero(du));
      const auto vote =
          hn::BitCast(d, hn::Or(hn::ShiftLeft<Samples::place_bits>(weight), hn::Load(du, pattern.place + at)));
      // Compresses in registers, because some processors take a hundred cycles to compress into memory.
      const Compression compress(hn::RebindMask(d, counts));
      hn::StoreU(compress(hn::LoadU(d, rows.q + first + lane)), d, samples.q + count);
      hn::StoreU(compress(vote), d, samples.votes + count);
      count += static_cast<int>(hn::CountTrue(du, counts));
    }
  }
  samples.count = count;
}

// Pads the last vector, and rounds the disparities to whole pixels.
inline void find_bins(Samples& samples) {
  const Tag d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  hn::StoreU(hn::Set(d, samples.q[0]), d, samples.q + samples.count);
  hn::StoreU(hn::Zero(d), d, samples.votes + samples.count);
  auto low = hn::Set(d, std::numeric_limits<std::int32_t>::max()), high = hn::Set(d, nothing);
  for (int n = 0; n < samples.count; n += lanes) {
    const auto bin = hn::ShiftRight<8>(hn::Add(hn::Load(d, samples.q + n), hn::Set(d, 128)));
    hn::Store(bin, d, samples.bin + n);
    hn::Store(hn::ShiftRight<Samples::place_bits>(hn::Load(d, samples.votes + n)), d, samples.weight + n);
    low = hn::Min(low, bin);
    high = hn::Max(high, bin);
  }
  samples.low = hn::GetLane(hn::MinOfLanes(d, low));
  samples.high = hn::GetLane(hn::MaxOfLanes(d, high));
}

}  // namespace stereopsis::vote_fill::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
