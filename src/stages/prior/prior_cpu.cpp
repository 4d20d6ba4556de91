#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <span>

#include "device/cpu/threads.hpp"
#include "stages/prior/prior.hpp"

namespace stereopsis::prior {
namespace {

// A pixel with a seed.
struct Known {
  std::int32_t x, value;
  std::uint8_t grey, trust;
};

// The seeds of all rows, compact: row y has its seeds from `known[y · width]` on, and `before` counts those to the left of
// each column.
class Seeds {
 public:
  Seeds(Size size, std::span<std::byte> scratch) : size_(size) {
    const std::size_t pixels = static_cast<std::size_t>(size.width) * size.height;
    known_ = take<Known>(scratch, pixels);
    made_ = take<Seed>(scratch, pixels);
    before_ = take<std::int32_t>(scratch, pixels + size.height);
    keys_ = take<std::uint16_t>(scratch, pixels);
  }

  static std::size_t bytes(Size size) {
    const std::size_t pixels = static_cast<std::size_t>(size.width) * size.height;
    return pixels * (sizeof(Known) + sizeof(Seed) + sizeof(std::int32_t) + sizeof(std::uint16_t)) +
           size.height * sizeof(std::int32_t) + 256;
  }

  void find_row(const Input& in, DisparityRange range, int y) {
    const auto most = 16.0f * static_cast<float>(range.count - 1);
    std::int32_t* const before = before_ + at(y) + y;
    int count = 0;
    for (int x = 0; x < size_.width; ++x) {
      before[x] = count;
      const float s = in.seeds(x, y);
      if (!(std::abs(s) < 32768.0f)) continue;
      const float v = std::floor(16.0f * (s - static_cast<float>(range.min)) + 0.5f);
      const int trust = in.trust.empty() ? 255 : in_255ths(in.trust(x, y));
      if (v >= 0 && v <= most && trust > 0)
        known_[at(y) + count++] = {x, static_cast<int>(v), in.grey8(x, y), static_cast<std::uint8_t>(trust)};
    }
    before[size_.width] = count;
  }

  // Returns the seeds of a row in the columns [first, end), which are limited to the image.
  std::span<const Known> in_columns(int y, int first, int end) const {
    const auto [from, to] = part(y, first, end);
    return {known_ + at(y) + from, known_ + at(y) + to};
  }
  std::span<const Known> in_row(int y) const { return in_columns(y, 0, size_.width); }
  // Returns what the seeds of a row give to the pixels around them.
  Seed* made(int y) const { return made_ + at(y); }
  std::uint16_t* keys(int y) const { return keys_ + at(y); }
  Size size() const { return size_; }

  int spacing(int x, int y) const {
    const int first_y = std::max(0, y - window), end_y = std::min(size_.height, y + window + 1);
    const int first_x = std::max(0, x - window), end_x = std::min(size_.width, x + window + 1);
    int seeds = 0;
    for (int v = first_y; v < end_y; ++v) {
      const auto [from, to] = part(v, first_x, end_x);
      seeds += to - from;
    }
    return root(256 * (end_y - first_y) * (end_x - first_x) / seeds);
  }

 private:
  template <class T>
  static T* take(std::span<std::byte>& from, std::size_t count) {
    T* const first = reinterpret_cast<T*>(from.data());
    from = from.subspan((count * sizeof(T) + 63) / 64 * 64);
    return first;
  }
  static int in_255ths(float t) { return t >= 0 ? static_cast<int>(std::floor(255.0f * std::min(t, 1.0f) + 0.5f)) : 0; }
  std::size_t at(int y) const { return static_cast<std::size_t>(y) * size_.width; }
  std::pair<int, int> part(int y, int first, int end) const {
    const std::int32_t* const before = before_ + at(y) + y;
    return {before[std::max(first, 0)], before[std::min(end, size_.width)]};
  }

  const Size size_;
  Known* known_;
  Seed* made_;
  std::int32_t* before_;
  std::uint16_t* keys_;
};

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

Seed make(const Parameters& p, const Seeds& seeds, const Known& known, int y, Neighbours& neighbours) {
  const int spacing = seeds.spacing(known.x, y), reach = std::min((2 * spacing + 8) >> 4, most_neighbourhood);
  neighbours.find(seeds, known, y, reach, p.similar);
  Seed seed;
  const int tolerance = 16 * p.tolerance;
  for (const int limit : {tolerance + 4 * reach, tolerance}) {
    const Sums s(neighbours, seed.slope_x, seed.slope_y, limit);
    const auto product = [](int a, int b) { return static_cast<long long>(a) * b; };
    const long long determinant = product(s.xx, s.yy) - product(s.xy, s.xy);
    const bool fits = s.agree >= 2;
    seed.slope_x = fits ? slope(16 * (product(s.xz, s.yy) - product(s.yz, s.xy)), determinant) : 0;
    seed.slope_y = fits ? slope(16 * (product(s.yz, s.xx) - product(s.xz, s.xy)), determinant) : 0;
  }
  const Sums s(neighbours, seed.slope_x, seed.slope_y, tolerance);
  seed.value = known.value + floor_of_quotient(2 * s.e + s.agree + 4, 2 * (s.agree + 4));
  seed.weight = known.trust * std::min(spacing, usual_spacing) / usual_spacing * (s.agree + 1) / (neighbours.count + 1);
  seed.reach = spacing >= least_spacing ? std::min(17 * spacing / 256, p.reach) : 0;
  return seed;
}

// Distances in sixteenths of a pixel.
constexpr auto distances = [] {
  std::array<std::array<std::uint8_t, 2 * most_reach + 1>, most_reach + 1> of{};
  for (int dy = 0; dy <= most_reach; ++dy)
    for (int dx = -most_reach; dx <= most_reach; ++dx)
      of[dy][dx + most_reach] = static_cast<std::uint8_t>(root(256 * (dx * dx + dy * dy)));
  return of;
}();

// Gives a seed to the pixels of row y.
void give(const Parameters& p, const Seeds& seeds, const Known& known, const Seed& seed, int dy, int y, int most,
          ImageView<const std::uint8_t> grey8, std::uint32_t* prior) {
  const int far = 48 * std::max(seed.reach, 1);
  const std::uint8_t* const grey = grey8.row(y);
  std::uint16_t* const keys = seeds.keys(y);
  const int first = std::max(0, known.x - seed.reach), last = std::min(seeds.size().width - 1, known.x + seed.reach);
  for (int x = first; x <= last; ++x) {
    const int contrast = std::abs(grey[x] - known.grey), dx = x - known.x;
    const int key = distances[std::abs(dy)][dx + most_reach] + contrast;
    if (contrast > p.contrast || key >= keys[x]) continue;
    keys[x] = static_cast<std::uint16_t>(key);
    const int value = std::clamp(seed.value + ((seed.slope_x * dx + seed.slope_y * dy + 8) >> 4), 0, most);
    const int weight = std::max(0, seed.weight * (far - 2 * key)) / far;
    prior[x] = weight == 0 ? 0 : static_cast<std::uint32_t>(value) << 8 | static_cast<std::uint32_t>(weight);
  }
}

void spread_to_row(const Parameters& p, const Seeds& seeds, int most, ImageView<const std::uint8_t> grey8, int y,
                   std::uint32_t* prior) {
  const auto [width, height] = seeds.size();
  std::fill_n(prior, width, 0u);
  std::fill_n(seeds.keys(y), width, std::uint16_t{0xFFFF});
  for (int v = std::max(0, y - p.reach); v <= std::min(height - 1, y + p.reach); ++v) {
    const Seed* made = seeds.made(v);
    for (const Known& known : seeds.in_row(v)) {
      const Seed& seed = *made++;
      if (std::abs(y - v) <= seed.reach) give(p, seeds, known, seed, y - v, y, most, grey8, prior);
    }
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
  threads.rows(prior.height, [&](int first, int last) {
    Neighbours neighbours;
    for (int y = first; y < last; ++y) {
      Seed* made = seeds.made(y);
      for (const Known& known : seeds.in_row(y)) *made++ = make(p, seeds, known, y, neighbours);
    }
  });
  rows([&](int y) { spread_to_row(p, seeds, 16 * (range.count - 1), in.grey8, y, prior.row(y)); });
}

}  // namespace stereopsis::prior
