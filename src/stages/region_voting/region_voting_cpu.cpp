#include <algorithm>

#include "device/cpu/threads.hpp"
#include "stages/region_voting/region_voting.hpp"

namespace stereopsis::region_voting {
namespace {

class Region {
 public:
  Region(ImageView<const std::uint32_t> arms, ImageView<const float> disparity, int x, int y)
      : arms_(arms), disparity_(disparity), x_(x), y_(y), own_(cross::arms_of(arms(x, y))) {}

  // Calls f(bin) for each pixel that votes.
  template <class F>
  void for_each(F&& f) const {
    for (int v = y_ - own_.up; v <= y_ + own_.down; ++v) {
      const cross::Arms other = cross::arms_of(arms_(x_, v));
      const float* const row = disparity_.row(v);
      for (int u = x_ - other.left; u <= x_ + other.right; ++u)
        if (const int bin = bin_of(row[u]); bin != nothing) f(bin);
    }
  }

 private:
  ImageView<const std::uint32_t> arms_;
  ImageView<const float> disparity_;
  int x_, y_;
  cross::Arms own_;
};

// Returns the winner of the vote. A wide range of disparities is counted in several parts.
float vote(const Parameters& p, const Region& region) {
  constexpr int bins = 1024;
  int low = std::numeric_limits<int>::max(), high = nothing, all = 0;
  region.for_each([&](int bin) {
    low = std::min(low, bin);
    high = std::max(high, bin);
    ++all;
  });
  if (all <= p.votes) return invalid_disparity;
  int most = 0, best = 0;
  int votes[bins];
  for (int first = low; first <= high; first += bins) {
    const int used = std::min(bins, high - first + 1);
    std::fill_n(votes, used, 0);
    region.for_each([&](int bin) {
      if (bin >= first && bin - first < used) ++votes[bin - first];
    });
    const int* const winner = std::max_element(votes, votes + used);
    if (*winner <= most) continue;
    most = *winner;
    best = first + static_cast<int>(winner - votes);
  }
  return wins(p, most, all) ? static_cast<float>(best) : invalid_disparity;
}

bool to_be_filled(const Map& map, int x, int y) {
  return std::isnan(map.disparity(x, y)) && (map.validity(x, y) & (validity::masked | validity::outside)) == 0;
}

}  // namespace

std::size_t scratch_bytes(Size size) { return sizeof(float) * size.width * size.height; }

void cpu(const Parameters& p, ImageView<const std::uint32_t> arms, const Map& map, std::span<std::byte> scratch,
         Threads& threads) {
  const Size size = map.disparity.size();
  const ImageView<float> voted(reinterpret_cast<float*>(scratch.data()), size.width, size.height);
  const auto for_each_gap = [&](auto&& f) {
    threads.rows(size.height, [&](int first, int last) {
      for (int y = first; y < last; ++y)
        for (int x = 0; x < size.width; ++x)
          if (to_be_filled(map, x, y)) f(x, y);
    });
  };
  for (int iteration = 0; iteration < p.iterations; ++iteration) {
    for_each_gap([&](int x, int y) { voted(x, y) = vote(p, Region(arms, map.disparity, x, y)); });
    for_each_gap([&](int x, int y) {
      if (std::isnan(voted(x, y))) return;
      map.disparity(x, y) = voted(x, y);
      map.validity(x, y) = static_cast<std::uint8_t>((map.validity(x, y) & ~validity::reasons) | validity::filled);
    });
  }
}

}  // namespace stereopsis::region_voting
