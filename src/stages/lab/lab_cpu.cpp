// L*a*b* on the CPU, with a table of the cube roots of all 65537 values.
#include <cmath>
#include <vector>

#include "device/cpu/threads.hpp"
#include "stages/lab/lab.hpp"

namespace stereopsis::lab {
namespace {

// Returns the largest r whose cube does not exceed t · 2²⁰.
int cube_root(std::int64_t t) {
  auto r = static_cast<std::int64_t>(std::cbrt(static_cast<double>(t << 20)));
  while (r * r * r > t << 20) --r;
  while ((r + 1) * (r + 1) * (r + 1) <= t << 20) ++r;
  return static_cast<int>(r);
}

const std::vector<std::int16_t>& roots() {
  static const std::vector<std::int16_t> table = [] {
    std::vector<std::int16_t> f(65537);
    for (int t = 0; t <= 65536; ++t)
      f[t] = static_cast<std::int16_t>(t <= 580 ? static_cast<int>((31896ll * t + 37025900) >> 16) : cube_root(t));
    return f;
  }();
  return table;
}

}  // namespace

void cpu(ImageView<const std::uint32_t> rgb, ImageView<std::uint32_t> lab, Threads& threads) {
  const auto& linear = transfer().of;
  const std::int16_t* root = roots().data();
  threads.rows(rgb.height, [&](int first, int last) {
    for (int y = first; y < last; ++y)
      for (int x = 0; x < rgb.width; ++x) {
        const std::uint32_t word = rgb(x, y);
        const std::uint32_t red = linear[word & 255], green = linear[word >> 8 & 255], blue = linear[word >> 16 & 255];
        const auto f = [&](std::uint32_t sum) { return int{root[(sum >> 16) + (sum >> 31)]}; };
        const int fx = f(28440 * red + 24655 * green + 12441 * blue + 32768);
        const int fy = f(13938 * red + 46868 * green + 4730 * blue + 32768);
        const int fz = f(1164 * red + 7174 * green + 57198 * blue + 32768);
        const int l = (464 * fy - 64 * 4096 + 2048) >> 12;
        const int a = 512 + ((2000 * (fx - fy) + 2048) >> 12);
        const int b = 512 + ((800 * (fy - fz) + 2048) >> 12);
        lab(x, y) = static_cast<std::uint32_t>(l | a << 10 | b << 20);
      }
  });
}

}  // namespace stereopsis::lab
