#include "synth/sensor.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "synth/rows.hpp"

namespace stereopsis::synth {
namespace {

std::uint8_t level(double v) { return static_cast<std::uint8_t>(std::clamp(std::floor(v + .5), 0.0, 255.0)); }

// Replaces each value of `image` by f(x, y, channel) of the unchanged image.
template <class F>
void replace(ImageView<std::uint8_t> image, F&& f) {
  Image<std::uint8_t> result(image.size(), 3);
  for_rows(image.height, [&](int first, int last) {
    for (int y = first; y < last; ++y)
      for (int x = 0; x < image.width; ++x)
        for (int c = 0; c < 3; ++c) result(x, y, c) = level(f(x, y, c));
  });
  for (int y = 0; y < image.height; ++y) std::copy_n(result.row(y), 3 * image.width, image.row(y));
}

int channel_of(int x, int y) { return x % 2 != y % 2 ? 1 : x % 2 == 0 ? 0 : 2; }

// ---- JPEG ----

using Block = std::array<std::array<double, 8>, 8>;
using Steps = std::array<std::array<int, 8>, 8>;

// Tables K.1 and K.2 of the standard (ITU-T T.81).
constexpr Steps brightness_steps{{{16, 11, 10, 16, 24, 40, 51, 61},
                                  {12, 12, 14, 19, 26, 58, 60, 55},
                                  {14, 13, 16, 24, 40, 57, 69, 56},
                                  {14, 17, 22, 29, 51, 87, 80, 62},
                                  {18, 22, 37, 56, 68, 109, 103, 77},
                                  {24, 35, 55, 64, 81, 104, 113, 92},
                                  {49, 64, 78, 87, 103, 121, 120, 101},
                                  {72, 92, 95, 98, 112, 100, 103, 99}}};
constexpr Steps colour_steps{{{17, 18, 24, 47, 99, 99, 99, 99},
                              {18, 21, 26, 66, 99, 99, 99, 99},
                              {24, 26, 56, 99, 99, 99, 99, 99},
                              {47, 66, 99, 99, 99, 99, 99, 99},
                              {99, 99, 99, 99, 99, 99, 99, 99},
                              {99, 99, 99, 99, 99, 99, 99, 99},
                              {99, 99, 99, 99, 99, 99, 99, 99},
                              {99, 99, 99, 99, 99, 99, 99, 99}}};

// Returns the basis of the cosine transform: row u has cos((2x + 1) u π / 16), scaled to unit length.
const Block& cosines() {
  static const Block basis = [] {
    constexpr double quarter[] = {1,
                                  .98078528040323044913,
                                  .92387953251128675613,
                                  .83146961230254523708,
                                  .70710678118654752440,
                                  .55557023301960222474,
                                  .38268343236508977173,
                                  .19509032201612826785,
                                  0};
    const auto cosine = [&](int k) {  // returns the cosine of k π / 16
      k %= 32;
      if (k > 16) k = 32 - k;
      return k <= 8 ? quarter[k] : -quarter[16 - k];
    };
    Block b;
    for (int u = 0; u < 8; ++u)
      for (int x = 0; x < 8; ++x) b[u][x] = (u == 0 ? quarter[4] : 1) * .5 * cosine((2 * x + 1) * u);
    return b;
  }();
  return basis;
}

// Returns A·block·Aᵀ for the basis A, or Aᵀ·block·A if `back`.
Block transformed(const Block& block, bool back) {
  const Block& a = cosines();
  const auto weight = [&](int i, int k) { return back ? a[k][i] : a[i][k]; };
  Block half{}, whole{};
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j)
      for (int k = 0; k < 8; ++k) half[i][j] += weight(i, k) * block[k][j];
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j)
      for (int k = 0; k < 8; ++k) whole[i][j] += weight(j, k) * half[i][k];
  return whole;
}

// Rounds the coefficients of all blocks of a plane.
void round_blocks(int quality, const Steps& steps, Image<float>& plane) {
  const int scale = quality < 50 ? 5000 / quality : 200 - 2 * quality;
  const auto step = [&](int u, int v) { return std::clamp((steps[u][v] * scale + 50) / 100, 1, 255); };
  const int blocks = (plane.height() + 7) / 8;
  for_rows(blocks, [&](int first, int last) {
    for (int y = 8 * first; y < std::min(8 * last, plane.height()); y += 8)
      for (int x = 0; x < plane.width(); x += 8) {
        Block block;
        for (int j = 0; j < 8; ++j)
          for (int i = 0; i < 8; ++i) block[j][i] = plane.view().clamped(x + i, y + j);
        block = transformed(block, false);
        for (int u = 0; u < 8; ++u)
          for (int v = 0; v < 8; ++v) block[u][v] = step(u, v) * std::floor(block[u][v] / step(u, v) + .5);
        block = transformed(block, true);
        for (int j = 0; j < std::min(8, plane.height() - y); ++j)
          for (int i = 0; i < std::min(8, plane.width() - x); ++i)
            plane(x + i, y + j) = static_cast<float>(block[j][i]);
      }
  });
}

}  // namespace

Point Shift::origin_of(const Point& p) const {
  const double a = 1 + xx, d = 1 + yy, determinant = a * d - xy * yx;
  const double px = p.x - x, py = p.y - y;
  return {(d * px - xy * py) / determinant, (a * py - yx * px) / determinant};
}

void demosaic(double share, int x0, int y0, ImageView<std::uint8_t> image) {
  replace(image, [&](int x, int y, int c) -> double {
    const auto kept = [&](int px, int py) { return channel_of(x0 + px, y0 + py) == c; };
    const double own = image(x, y, c);
    if (kept(x, y)) return own;
    double sum = 0;
    int weight = 0;
    for (int j = -1; j <= 1; ++j)
      for (int i = -1; i <= 1; ++i) {
        const int px = std::clamp(x + i, 0, image.width - 1), py = std::clamp(y + j, 0, image.height - 1);
        if (!kept(px, py)) continue;
        const int w = (2 - std::abs(i)) * (2 - std::abs(j));
        sum += w * image(px, py, c), weight += w;
      }
    return weight == 0 ? own : own + share * (sum / weight - own);
  });
}

void compress(int quality, ImageView<std::uint8_t> image) {
  const Size size = image.size(), half{(size.width + 1) / 2, (size.height + 1) / 2};
  Image<float> brightness(size), blueness(half, 1, 0.f), redness(half, 1, 0.f);
  const auto at = [&](int x, int y, int c) -> double {
    return image(std::min(x, size.width - 1), std::min(y, size.height - 1), c);
  };
  const auto luma = [&](int x, int y) { return .299 * at(x, y, 0) + .587 * at(x, y, 1) + .114 * at(x, y, 2); };
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) brightness(x, y) = static_cast<float>(luma(x, y) - 128);
  for (int y = 0; y < half.height; ++y)
    for (int x = 0; x < half.width; ++x) {
      double r = 0, b = 0;
      for (const auto& [i, j] : {std::pair{0, 0}, {1, 0}, {0, 1}, {1, 1}}) {
        r += .25 * (at(2 * x + i, 2 * y + j, 0) - luma(2 * x + i, 2 * y + j)) / 1.402;
        b += .25 * (at(2 * x + i, 2 * y + j, 2) - luma(2 * x + i, 2 * y + j)) / 1.772;
      }
      redness(x, y) = static_cast<float>(r), blueness(x, y) = static_cast<float>(b);
    }
  round_blocks(quality, brightness_steps, brightness);
  round_blocks(quality, colour_steps, blueness);
  round_blocks(quality, colour_steps, redness);
  replace(image, [&](int x, int y, int c) {
    const double l = brightness(x, y) + 128, r = redness(x / 2, y / 2), b = blueness(x / 2, y / 2);
    return c == 0 ? l + 1.402 * r : c == 2 ? l + 1.772 * b : l - .714136 * r - .344136 * b;
  });
}

void resample(const Shift& shift, ImageView<std::uint8_t> image) {
  replace(image, [&](int x, int y, int c) {
    const Point p = shift.origin_of({static_cast<double>(x), static_cast<double>(y)});
    const int left = static_cast<int>(std::floor(p.x)), top = static_cast<int>(std::floor(p.y));
    const double fx = p.x - left, fy = p.y - top;
    const auto at = [&](int i, int j) -> double {
      return image(std::clamp(left + i, 0, image.width - 1), std::clamp(top + j, 0, image.height - 1), c);
    };
    const double upper = at(0, 0) + fx * (at(1, 0) - at(0, 0)), lower = at(0, 1) + fx * (at(1, 1) - at(0, 1));
    return upper + fy * (lower - upper);
  });
}

}  // namespace stereopsis::synth
