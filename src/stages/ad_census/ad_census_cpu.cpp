#include "stages/ad_census/ad_census.hpp"

#include "device/cpu/threads.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/ad_census/ad_census_cpu.cpp"
#include <hwy/foreach_target.h>

#include "device/cpu/highway-inl.hpp"
#include "device/cpu/lanes-inl.hpp"

#ifndef STEREOPSIS_AD_CENSUS_ROW
#define STEREOPSIS_AD_CENSUS_ROW
namespace stereopsis::ad_census {

constexpr int most_lanes = 16;

// The tables with word-sized entries, so that vectors can gather from them.
struct WideTables {
  explicit WideTables(const Tables& t) {
    std::copy(t.colour.begin(), t.colour.end(), colour);
    std::copy(t.census.begin(), t.census.end(), census);
  }
  std::uint32_t colour[766], census[66];
};

constexpr std::uint32_t packed(const std::uint8_t* pixel, int channels) {
  return pixel[0] | pixel[channels / 2] << 8 | static_cast<std::uint32_t>(pixel[channels - 1]) << 16;
}

// The row of the right view in reverse order, so that the candidates of a pixel are ordered by disparity.
struct Candidates {
  Candidates(std::byte* memory, int entries_)
      : census(reinterpret_cast<std::uint64_t*>(memory)),
        colours(reinterpret_cast<std::uint32_t*>(census + entries_)),
        entries(entries_) {}

  void load(const Input& in, int y, int min_disparity) {
    for (int i = 0; i < entries; ++i) {
      const int x = std::clamp(in.right.width - 1 - i - min_disparity, 0, in.right.width - 1);
      census[i] = in.right_census(x, y);
      colours[i] = packed(&in.right(x, y), in.right.channels);
    }
  }

  std::uint64_t* census;
  std::uint32_t* colours;
  int entries;
};

}  // namespace stereopsis::ad_census
#endif

HWY_BEFORE_NAMESPACE();
namespace stereopsis::ad_census::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace targeted = stereopsis::HWY_NAMESPACE;

// A block may write beyond its pixel. The pixel on the right then overwrites the excess. The last pixels of a row are
// computed separately.
void costs_of_row(const Input& in, const WideTables& tables, const Candidates& candidates,
                  VolumeView<std::uint8_t> costs, int y) {
  const hn::CappedTag<std::uint32_t, most_lanes> d;
  const hn::Repartition<std::uint8_t, decltype(d)> d8;
  const hn::Repartition<std::uint64_t, decltype(d)> d64;
  const hn::Rebind<std::uint8_t, decltype(d)> narrow;
  const hn::RebindToSigned<decltype(d)> index;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const std::uint8_t* const end = costs.pixel(costs.width - 1, y) + costs.disparities;
  HWY_ALIGN std::uint8_t apart[most_lanes];
  HWY_ALIGN std::uint64_t distances[most_lanes];
  HWY_ALIGN std::int32_t bits[most_lanes];
  for (int x = 0; x < costs.width; ++x) {
    const auto own = hn::BitCast(d8, hn::Set(d, packed(&in.left(x, y), in.left.channels)));
    const auto own_census = hn::Set(d64, in.left_census(x, y));
    const int first = costs.width - 1 - x;
    std::uint8_t* out = costs.pixel(x, y);
    for (int k = 0; k < costs.disparities; k += lanes) {
      const auto colours = hn::BitCast(d8, hn::LoadU(d, candidates.colours + first + k));
      const auto difference = hn::Or(hn::SaturatedSub(colours, own), hn::SaturatedSub(own, colours));
      const auto pairs = hn::BitCast(d, targeted::sums_of_pairs(d8, difference));
      const auto sum = hn::Add(hn::And(pairs, hn::Set(d, 0xFFFF)), hn::ShiftRight<16>(pairs));
      for (int half = 0; half < 2; ++half) {
        const auto census = hn::LoadU(d64, candidates.census + first + k + half * lanes / 2);
        hn::Store(hn::PopulationCount(hn::Xor(census, own_census)), d64, distances + half * lanes / 2);
      }
      for (int i = 0; i < lanes; ++i) bits[i] = static_cast<std::int32_t>(distances[i]);
      const auto cost = hn::Add(hn::GatherIndex(d, tables.colour, hn::BitCast(index, sum)),
                                hn::GatherIndex(d, tables.census, hn::Load(index, bits)));
      const auto bytes = hn::DemoteTo(narrow, hn::BitCast(index, cost));
      if (out + k + lanes <= end) {
        hn::StoreU(bytes, narrow, out + k);
      } else {
        hn::Store(bytes, narrow, apart);
        std::copy_n(apart, std::min(costs.disparities - k, lanes), out + k);
      }
    }
  }
}

}  // namespace stereopsis::ad_census::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::ad_census {

HWY_EXPORT(costs_of_row);

namespace {

// Returns the number of entries in a row of candidates, including a block after the last candidate.
int entries_of(int width, int disparities) { return (width + disparities + most_lanes + 15) / 16 * 16; }
std::size_t bytes_of_thread(int width, int disparities) {
  return with_gap((sizeof(std::uint64_t) + sizeof(std::uint32_t)) * entries_of(width, disparities));
}

}  // namespace

std::size_t scratch_bytes(int width, int disparities, int threads) {
  return bytes_of_thread(width, disparities) * threads;
}

void cpu(const Parameters& p, const Input& in, int min_disparity, VolumeView<std::uint8_t> costs,
         std::span<std::byte> scratch, Threads& threads) {
  const WideTables tables{ad_census::tables(p)};
  const int parts = threads.count();
  threads.each([&](int i) {
    Candidates candidates(scratch.data() + i * bytes_of_thread(costs.width, costs.disparities),
                          entries_of(costs.width, costs.disparities));
    const auto edge = [&](int part) { return static_cast<int>(static_cast<long long>(costs.height) * part / parts); };
    for (int y = edge(i); y < edge(i + 1); ++y) {
      candidates.load(in, y, min_disparity);
      HWY_DYNAMIC_DISPATCH(costs_of_row)(in, tables, candidates, costs, y);
    }
  });
}

}  // namespace stereopsis::ad_census
#endif
