#include <cmath>

#include "stages/lab/lab.hpp"

namespace stereopsis::lab {
namespace {

std::uint16_t linear(int intensity) {
  const double v = intensity / 255.0;
  return static_cast<std::uint16_t>(
      std::floor(65535 * (v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4)) + 0.5));
}

// Returns the cube root in integers: the cube root of 4096³ · t / 65536 = t · 2²⁰, truncated.
int root(int t) {
  if (t <= 580) return static_cast<int>((31896ll * t + 37025900) >> 16);
  long long r = 0;
  while ((r + 1) * (r + 1) * (r + 1) <= static_cast<long long>(t) << 20) ++r;
  return static_cast<int>(r);
}

// 65535 stands for 1, which is 65536 in this function.
int relative(const std::uint32_t (&row)[3], const std::uint32_t (&rgb)[3]) {
  const std::uint32_t t = (row[0] * rgb[0] + row[1] * rgb[1] + row[2] * rgb[2] + 32768) >> 16;
  return static_cast<int>(t + (t >> 15));
}

}  // namespace

const Transfer& transfer() {
  static const Transfer table = [] {
    Transfer t{};
    for (int i = 0; i < 256; ++i) t.of[i] = linear(i);
    return t;
  }();
  return table;
}

void oracle(ImageView<const std::uint32_t> rgb, ImageView<std::uint32_t> lab) {
  static constexpr std::uint32_t to_x[] = {28440, 24655, 12441}, to_y[] = {13938, 46868, 4730},
                                 to_z[] = {1164, 7174, 57198};
  for (int y = 0; y < rgb.height; ++y)
    for (int x = 0; x < rgb.width; ++x) {
      const std::uint32_t word = rgb(x, y);
      const std::uint32_t linear_rgb[] = {transfer().of[word & 255], transfer().of[word >> 8 & 255],
                                          transfer().of[word >> 16 & 255]};
      const int fx = root(relative(to_x, linear_rgb)), fy = root(relative(to_y, linear_rgb)),
                fz = root(relative(to_z, linear_rgb));
      const int l = (464 * fy - 64 * 4096 + 2048) >> 12;
      const int a = 512 + ((2000 * (fx - fy) + 2048) >> 12);
      const int b = 512 + ((800 * (fy - fz) + 2048) >> 12);
      lab(x, y) = static_cast<std::uint32_t>(l | a << 10 | b << 20);
    }
}

}  // namespace stereopsis::lab
