#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "stages/prior/prior.hpp"

namespace stereopsis::prior {
namespace {

// The seeds of an image.
class Seeds {
 public:
  Seeds(const Input& in, DisparityRange range) : in_(in), range_(range) {}

  // Returns s, or −1 if the pixel is no seed.
  int value(int x, int y) const {
    const float s = in_.seeds(x, y);
    if (!(std::abs(s) < 32768.0f) || trust(x, y) == 0) return -1;
    const float v = std::floor(16.0f * (s - static_cast<float>(range_.min)) + 0.5f);
    return v >= 0 && v <= 16.0f * static_cast<float>(range_.count - 1) ? static_cast<int>(v) : -1;
  }
  int trust(int x, int y) const {
    if (in_.trust.empty()) return 255;
    const float t = in_.trust(x, y);
    return t >= 0 ? static_cast<int>(std::floor(255.0f * std::min(t, 1.0f) + 0.5f)) : 0;
  }
  int spacing(int x, int y) const {
    int pixels = 0, seeds = 0;
    around(x, y, window, [&](int u, int v) {
      ++pixels;
      if (value(u, v) >= 0) ++seeds;
    });
    return root(256 * pixels / seeds);
  }

  // Calls f for the pixels of the image at most `reach` columns and rows away.
  template <class F>
  void around(int x, int y, int reach, F&& f) const {
    for (int v = std::max(0, y - reach); v <= std::min(in_.seeds.height - 1, y + reach); ++v)
      for (int u = std::max(0, x - reach); u <= std::min(in_.seeds.width - 1, x + reach); ++u) f(u, v);
  }
  int contrast(int x, int y, int u, int v) const { return std::abs(in_.grey8(x, y) - in_.grey8(u, v)); }

 private:
  const Input& in_;
  const DisparityRange range_;
};

int floor_of_quotient(long long a, long long b) { return static_cast<int>(a >= 0 ? a / b : -((-a + b - 1) / b)); }

// Returns the nearest integer to a / b, for b > 0, limited to the slopes. Halves are rounded away from 0.
int slope(long long a, long long b) {
  const long long nearest = (2 * std::abs(a) + b) / (2 * b);
  return static_cast<int>(std::min<long long>(nearest, most_slope)) * (a < 0 ? -1 : 1);
}

// Sums over the neighbours that agree with a plane.
struct Sums {
  long long xx = 1, yy = 1, xy = 0, xz = 0, yz = 0, e = 0;
  int agree = 0, neighbours = 0;
};

Seed made(const Parameters& p, const Seeds& seeds, int x, int y) {
  const int spacing = seeds.spacing(x, y), here = seeds.value(x, y);
  const int reach = std::min((2 * spacing + 8) >> 4, most_neighbourhood);
  Seed seed;
  Sums sums;
  for (int round = spacing < least_spacing ? 2 : 0; round < 3; ++round) {
    const int limit = 16 * p.tolerance + (round == 0 ? 4 * reach : 0);
    sums = {};
    seeds.around(x, y, reach, [&](int u, int v) {
      if ((u == x && v == y) || seeds.value(u, v) < 0 || seeds.contrast(x, y, u, v) > p.similar) return;
      ++sums.neighbours;
      const int dx = u - x, dy = v - y, z = seeds.value(u, v) - here;
      const int e = z - floor_of_quotient(seed.slope_x * dx + seed.slope_y * dy + 8, 16);
      if (std::abs(e) > limit) return;
      ++sums.agree;
      sums.e += e;
      sums.xx += dx * dx, sums.yy += dy * dy, sums.xy += dx * dy, sums.xz += dx * z, sums.yz += dy * z;
    });
    if (round == 2) break;
    const long long determinant = sums.xx * sums.yy - sums.xy * sums.xy;
    const bool fits = sums.agree >= 2;
    seed.slope_x = fits ? slope(16 * (sums.xz * sums.yy - sums.yz * sums.xy), determinant) : 0;
    seed.slope_y = fits ? slope(16 * (sums.yz * sums.xx - sums.xz * sums.xy), determinant) : 0;
  }
  seed.value = here + floor_of_quotient(2 * sums.e + sums.agree + 4, 2 * (sums.agree + 4));
  seed.weight = seeds.trust(x, y) * std::min(spacing, usual_spacing) / usual_spacing;
  seed.weight = seed.weight * (sums.agree + 1) / (sums.neighbours + 1);
  if (spacing >= least_spacing) seed.reach = reach_of(p, spacing, sums.agree, sums.neighbours);
  return seed;
}

}  // namespace

void oracle(const Parameters& p, const Input& in, DisparityRange range, ImageView<std::uint32_t> prior) {
  const Seeds seeds(in, range);
  Image<int> keys(prior.size());
  for (int y = 0; y < prior.height; ++y)
    for (int x = 0; x < prior.width; ++x) prior(x, y) = 0, keys(x, y) = 1 << 30;
  for (int y = 0; y < prior.height; ++y)
    for (int x = 0; x < prior.width; ++x) {
      if (seeds.value(x, y) < 0) continue;
      const Seed seed = made(p, seeds, x, y);
      seeds.around(x, y, seed.reach, [&](int u, int v) {
        const int dx = u - x, dy = v - y, contrast = seeds.contrast(x, y, u, v);
        const int key = root(256 * (dx * dx + dy * dy)) + contrast, far = 48 * std::max(seed.reach, 1);
        if (contrast > p.contrast || key >= keys(u, v)) return;
        keys(u, v) = key;
        const int value = seed.value + floor_of_quotient(seed.slope_x * dx + seed.slope_y * dy + 8, 16);
        const int weight = std::max(0, seed.weight * (far - 2 * key)) / far;
        const int limited = std::clamp(value, 0, 16 * (range.count - 1));
        prior(u, v) = weight == 0 ? 0 : static_cast<std::uint32_t>(256 * limited + weight);
      });
    }
}

}  // namespace stereopsis::prior
