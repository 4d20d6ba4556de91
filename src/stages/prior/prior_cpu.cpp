#include <algorithm>
#include <array>
#include <cstdlib>
#include <span>
#include <vector>

#include "device/cpu/threads.hpp"
#include "stages/prior/dense.hpp"
#include "stages/prior/known_seeds.hpp"
#include "stages/prior/prior.hpp"
#include "stages/prior/reach.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/prior/prior_cpu.cpp"
#include <hwy/foreach_target.h>

#include "stages/prior/dense_cpu-inl.hpp"
#include "stages/prior/reach_cpu-inl.hpp"

#if HWY_ONCE
namespace stereopsis::prior {

HWY_EXPORT(agree_row);
HWY_EXPORT(reach_row);

namespace {

// The neighbours of a seed: their distances in columns, rows and disparity.
struct Neighbours {
  static constexpr int most = (2 * most_neighbourhood + 1) * (2 * most_neighbourhood + 1);
  std::array<std::int32_t, most> dx, dy, z;
  int count = 0;

  void find(const Seeds& seeds, const Known& seed, int y, int reach, int similar) {
    count = 0;
    for (int v = std::max(0, y - reach); v <= std::min(seeds.size().height - 1, y + reach); ++v)
      for (const Known& other : seeds.in_columns(v, seed.x - reach, seed.x + reach + 1)) {
        if (std::abs(other.grey - seed.grey) > similar || (v == y && other.x == seed.x)) continue;
        dx[count] = other.x - seed.x;
        dy[count] = v - y;
        z[count++] = other.value - seed.value;
      }
  }
};

// Sums over the neighbours that agree with a plane. 32 bits hold all but the products.
struct Sums {
  Sums(const Neighbours& n, int slope_x, int slope_y, int limit) {
    for (int i = 0; i < n.count; ++i) {
      const int dx = n.dx[i], dy = n.dy[i], z = n.z[i];
      const int distance = z - ((slope_x * dx + slope_y * dy + 8) >> 4);
      const int counts = std::abs(distance) <= limit ? 1 : 0, mask = -counts;
      agree += counts;
      e += distance & mask;
      xx += (dx * dx) & mask, yy += (dy * dy) & mask, xy += (dx * dy) & mask;
      xz += (dx * z) & mask, yz += (dy * z) & mask;
    }
  }

  int agree = 0, e = 0, xx = 1, yy = 1, xy = 0, xz = 0, yz = 0;
};

int slope(long long a, long long b) {
  const long long nearest = (2 * std::abs(a) + b) / (2 * b);
  return static_cast<int>(std::min<long long>(nearest, most_slope)) * (a < 0 ? -1 : 1);
}

int floor_of_quotient(int a, int b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

Seed seed_of(const Parameters& p, const Known& known, int spacing, const Agreement& of) {
  Seed seed;
  const auto [neighbours, agree, e] = of;
  seed.value = known.value + floor_of_quotient(2 * e + agree + 4, 2 * (agree + 4));
  seed.weight = known.trust * std::min(spacing, usual_spacing) / usual_spacing * (agree + 1) / (neighbours + 1);
  if (spacing >= least_spacing) seed.reach = reach_of(p, spacing, agree, neighbours);
  return seed;
}

int neighbourhood_of(int spacing) { return std::min((2 * spacing + 8) >> 4, most_neighbourhood); }

Seed make_sparse(const Parameters& p, const Seeds& seeds, const Known& known, int y, int spacing,
                 Neighbours& neighbours) {
  const int reach = neighbourhood_of(spacing);
  neighbours.find(seeds, known, y, reach, p.similar);
  int slope_x = 0, slope_y = 0;
  const int tolerance = 16 * p.tolerance;
  for (const int limit : {tolerance + 4 * reach, tolerance}) {
    const Sums s(neighbours, slope_x, slope_y, limit);
    const auto product = [](int a, int b) { return static_cast<long long>(a) * b; };
    const long long determinant = product(s.xx, s.yy) - product(s.xy, s.xy);
    const bool fits = s.agree >= 2;
    slope_x = fits ? slope(16 * (product(s.xz, s.yy) - product(s.yz, s.xy)), determinant) : 0;
    slope_y = fits ? slope(16 * (product(s.yz, s.xx) - product(s.xz, s.xy)), determinant) : 0;
  }
  const Sums s(neighbours, slope_x, slope_y, tolerance);
  Seed seed = seed_of(p, known, spacing, {neighbours.count, s.agree, s.e});
  seed.slope_x = slope_x, seed.slope_y = slope_y;
  return seed;
}

// Makes the seeds of rows.
class Maker {
 public:
  Maker(const Parameters& p, Seeds& seeds, ImageView<const std::uint8_t> grey8)
      : p_(p), seeds_(seeds), grey8_(grey8), dense_(grey8.width) {}

  void make_row(int y) {
    Seed* made = seeds_.made(y);
    std::int32_t& reach_of_row = seeds_.reach(y) = 0;
    int dense_reach = 0;  // the reach for which dense_ was found
    for (const Known& known : seeds_.in_row(y)) {
      const int spacing = seeds_.spacing(known.x, y), reach = neighbourhood_of(spacing);
      if (spacing >= least_spacing) {
        *made = make_sparse(p_, seeds_, known, y, spacing, neighbours_);
        reach_of_row = std::max(reach_of_row, made++->reach);
        continue;
      }
      if (reach != dense_reach) agree_with_rows(y, dense_reach = reach);
      *made++ = seed_of(p_, known, spacing, dense_[known.x]);
    }
  }

 private:
  void agree_with_rows(int y, int reach) {
    rows_.clear();
    for (int v = std::max(0, y - reach); v <= std::min(grey8_.height - 1, y + reach); ++v)
      rows_.push_back({seeds_.values(v), grey8_.row(v)});
    HWY_DYNAMIC_DISPATCH(agree_row)
    (p_, {seeds_.values(y), grey8_.row(y)}, rows_, reach, grey8_.width, dense_.data());
  }

  const Parameters& p_;
  Seeds& seeds_;
  const ImageView<const std::uint8_t> grey8_;
  std::vector<DenseRow> rows_;
  std::vector<Agreement> dense_;  // the pixels of a row
  Neighbours neighbours_;
};

// Gives the pixels of row y the values of the seeds that reach them with the lowest keys.
void spread_to_row(const Parameters& p, const Seeds& seeds, int most, ImageView<const std::uint8_t> grey8, int y,
                   ReachedRow& row, std::uint32_t* prior) {
  const auto [width, height] = seeds.size();
  row.begin(grey8.row(y));
  for (int v = std::max(0, y - p.reach); v <= std::min(height - 1, y + p.reach); ++v) {
    const int dy = y - v;
    if (std::abs(dy) > seeds.reach(v)) continue;
    HWY_DYNAMIC_DISPATCH(reach_row)(seeds.in_row(v), seeds.made(v), dy, p.contrast, row);
  }
  for (int x = 0; x < width; ++x) {
    prior[x] = 0;
    const Reach reach = row.reach(x);
    if (!reach.is_there()) continue;
    const int dx = reach.dx(), dy = reach.dy();
    const Seed& seed = seeds.made(x - dx, y - dy);
    const int far = 48 * std::max(seed.reach, 1);
    const int value = std::clamp(seed.value + ((seed.slope_x * dx + seed.slope_y * dy + 8) >> 4), 0, most);
    const int weight = std::max(0, seed.weight * (far - 2 * reach.key())) / far;
    if (weight > 0) prior[x] = static_cast<std::uint32_t>(value) << 8 | static_cast<std::uint32_t>(weight);
  }
}

}  // namespace

std::size_t scratch_bytes(Size size) { return Seeds::bytes(size); }

void cpu(const Parameters& p, const Input& in, DisparityRange range, ImageView<std::uint32_t> prior,
         std::span<std::byte> scratch, Threads& threads) {
  Seeds seeds(prior.size(), scratch);
  const auto rows = [&](auto&& f) {
    threads.rows(prior.height, [&](int first, int last) {
      for (int y = first; y < last; ++y) f(y);
    });
  };
  rows([&](int y) { seeds.find_row(in, range, y); });
  seeds.count_above();
  threads.rows(prior.height, [&](int first, int last) {
    Maker maker(p, seeds, in.grey8);
    for (int y = first; y < last; ++y) maker.make_row(y);
  });
  threads.rows(prior.height, [&](int first, int last) {
    ReachedRow row(prior.width);
    for (int y = first; y < last; ++y) spread_to_row(p, seeds, 16 * (range.count - 1), in.grey8, y, row, prior.row(y));
  });
}

}  // namespace stereopsis::prior
#endif
