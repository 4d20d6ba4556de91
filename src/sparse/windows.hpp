// The input of sparse matching (matches.hpp): levels of a pyramid, and windows of 8×8 pixels on them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/grey_scale.hpp"
#include "stereopsis/image.hpp"

namespace stereopsis::sparse {

// A point is described by a window of 8×8 pixels, in which it is pixel (4, 4). The signs of the window are one 64-bit
// word.
inline constexpr int window = 8;
inline constexpr int before = 4;                   // rows and columns of the window before the point
inline constexpr int after = window - before - 1;  // rows and columns of the window after the point
// Units per grey level: pixels then have 12 bits, and the sum of 64 products fits in 32 bits.
inline constexpr int units = 16;

// Largest number of columns of the coarse level, unless it would then have fewer rows than coarse_height.
inline constexpr int coarse_width = 400;
inline constexpr int coarse_height = 48;  // smallest number of rows of the coarse level, if the image has as many
inline constexpr int cell = 6;            // side of a cell in pixels of the coarse level; a cell has at most one match
inline constexpr double least_contrast = 1;  // smallest standard deviation in a window, in grey levels
inline constexpr double least_correlation = 0.8;
inline constexpr double most_ambiguous = 0.8;  // largest ratio (1 − best) / (1 − second best) of scores
inline constexpr double least_corner =
    0.1;  // smallest ratio of the smaller to the larger eigenvalue; below this ratio, a point lies on an edge
inline constexpr int most_signs_apart = 20;  // largest number of differing signs, of 64, of the best window
// Windows with up to this many more differing signs than the best window are compared by ZNCC.
inline constexpr int shortlist = 10;
inline constexpr std::size_t most_candidates = 200;

using Level = Image<std::int16_t>;

// Returns the grey level of each pixel of an 8-bit image, in `units`. The weights are those of grey_of(), and all
// operations are those of integers, which compilers vectorise.
inline Level grey_level_u8(ImageView<const std::uint8_t> image) {
  constexpr int bits = 16, red = 313524, green = 615514, blue = (units << bits) - red - green;
  Level level(image.size());
  for (int y = 0; y < image.height; ++y) {
    const std::uint8_t* in = image.row(y);
    std::int16_t* out = level.row(y);
    if (image.channels == 3)
      for (int x = 0; x < image.width; ++x)
        out[x] = static_cast<std::int16_t>(
            (red * in[3 * x] + green * in[3 * x + 1] + blue * in[3 * x + 2] + (1 << (bits - 1))) >> bits);
    else
      for (int x = 0; x < image.width; ++x) out[x] = static_cast<std::int16_t>(in[x * image.channels] * units);
  }
  return level;
}

// Returns the grey level of each pixel, in `units`. A pixel that is not a number repeats the previous pixel, so that it
// adds no texture.
template <class T>
Level grey_level(ImageView<const T> image, int bit_depth) {
  if constexpr (std::is_same_v<T, std::uint8_t>) return grey_level_u8(image);
  const auto [black, scale] = grey_scale(image, bit_depth);
  Level level(image.size());
  for (int y = 0; y < image.height; ++y) {
    const T* in = image.row(y);
    std::int16_t* out = level.row(y);
    std::int16_t previous = 0;
    for (int x = 0; x < image.width; ++x, in += image.channels) {
      const float grey = grey_of(in, image.channels);
      if (std::is_same_v<T, float> && !std::isfinite(grey)) {
        out[x] = previous;
      } else {
        previous = out[x] = static_cast<std::int16_t>(std::clamp((grey - black) * scale, 0.0F, 255.0F) * units + 0.5F);
      }
    }
  }
  return level;
}

inline Level halved(const Level& fine) {
  Level coarse(fine.width() / 2, fine.height() / 2);
  for (int y = 0; y < coarse.height(); ++y) {
    const std::int16_t *a = fine.row(2 * y), *b = fine.row(2 * y + 1);
    for (int x = 0; x < coarse.width(); ++x)
      coarse(x, y) = static_cast<std::int16_t>((a[2 * x] + a[2 * x + 1] + b[2 * x] + b[2 * x + 1] + 2) / 4);
  }
  return coarse;
}

// Returns the levels, the finest one first.
inline std::vector<Level> pyramid(Level finest) {
  std::vector<Level> levels;
  levels.push_back(std::move(finest));
  while (levels.back().width() > coarse_width && levels.back().height() >= 2 * coarse_height)
    levels.push_back(halved(levels.back()));
  return levels;
}

inline std::vector<Level> pyramid(const AnyImageView& image) {
  return pyramid(with_pixels(image, [&](auto pixels) { return grey_level(pixels, image.bit_depth); }));
}

inline bool holds_window(const Level& level, int x, int y) {
  return x >= before && y >= before && x + after < level.width() && y + after < level.height();
}

struct Moments {
  int sum = 0;
  double norm = 0;  // 1 / √(n Σv² − (Σv)²), or 0 without contrast
};

inline Moments moments(const Level& level, int x, int y) {
  int sum = 0, squares = 0;
  for (int row = y - before; row <= y + after; ++row) {
    const std::int16_t* v = level.row(row) + x - before;
    for (int i = 0; i < window; ++i) {
      sum += v[i];
      squares += v[i] * v[i];
    }
  }
  constexpr double n = window * window, least = n * n * units * units * least_contrast * least_contrast;
  const double variance = n * squares - static_cast<double>(sum) * sum;
  return {sum, variance >= least ? 1 / std::sqrt(variance) : 0};
}

// The eigenvalues of the structure tensor at a point. A corner has two large eigenvalues, so that it is localised in
// both directions.
struct Structure {
  double smaller = 0;
  double larger = 0;
};

inline Structure structure(const Level& level, int x, int y) {
  std::int64_t xx = 0, xy = 0, yy = 0;
  for (int row = std::max(y - 3, 1); row <= std::min(y + 2, level.height() - 2); ++row)
    for (int column = std::max(x - 3, 1); column <= std::min(x + 2, level.width() - 2); ++column) {
      const int gx = level(column + 1, row) - level(column - 1, row),
                gy = level(column, row + 1) - level(column, row - 1);
      xx += gx * gx;
      xy += gx * gy;
      yy += gy * gy;
    }
  const double mean = 0.5 * static_cast<double>(xx + yy), half_difference = 0.5 * static_cast<double>(xx - yy);
  const double root = std::sqrt(half_difference * half_difference + static_cast<double>(xy) * static_cast<double>(xy));
  return {mean - root, mean + root};
}

// The signs of every window of a level, relative to the mean of the 8×8 pixels around each pixel.
class Signs {
 public:
  explicit Signs(const Level& level) : words_(level.size(), 1, 0) {
    const int width = level.width(), height = level.height();
    std::vector<int> sums(static_cast<std::size_t>(width), 0);  // sum over the rows of the window, for each column
    for (int bottom = 0; bottom < height; ++bottom) {
      for (int x = 0; x < width; ++x)
        sums[static_cast<std::size_t>(x)] += level(x, bottom) - (bottom >= window ? level(x, bottom - window) : 0);
      if (bottom >= window - 1) add_row(level, sums, bottom - after);
    }
  }

  // Returns the signs of the window whose point is (x, y).
  std::uint64_t operator()(int x, int y) const { return words_(x + after, y + after); }
  // Returns the signs of the windows whose points are (0, y), (1, y), …; signs of windows that leave the image are
  // undefined.
  const std::uint64_t* row(int y) const { return words_.row(y + after) + after; }

 private:
  // Each word holds the 8×8 signs that end at its pixel: the signs of the rows above, and 8 new signs.
  void add_row(const Level& level, const std::vector<int>& sums, int y) {
    int sum = 0;
    unsigned signs = 0;
    for (int x = 0; x < level.width(); ++x) {
      const int right = x + after;  // the last column of the window over which the mean for x is computed
      if (x == 0)
        for (int column = 0; column < std::min(right, level.width()); ++column)
          sum += sums[static_cast<std::size_t>(column)];
      if (right < level.width()) sum += sums[static_cast<std::size_t>(right)];
      if (x > before) sum -= sums[static_cast<std::size_t>(x - before - 1)];
      signs = (signs << 1 | (level(x, y) * window * window > sum)) & 0xFFU;
      words_(x, y) = (y > 0 ? words_(x, y - 1) << 8 : 0) | signs;
    }
  }

  Image<std::uint64_t> words_;
};

struct View {
  const Level& level;
  Signs signs;

  explicit View(const Level& pixels) : level(pixels), signs(pixels) {}
};

inline int products(const Level& a, int ax, int ay, const Level& b, int bx, int by) {
  int sum = 0;
  for (int row = -before; row <= after; ++row) {
    const std::int16_t *va = a.row(ay + row) + ax - before, *vb = b.row(by + row) + bx - before;
    for (int i = 0; i < window; ++i) sum += va[i] * vb[i];
  }
  return sum;
}

inline double zncc(int product, const Moments& a, const Moments& b) {
  return (static_cast<double>(window * window) * product - static_cast<double>(a.sum) * b.sum) * a.norm * b.norm;
}

// Returns the peak of a parabola through three neighbouring scores, relative to the middle one: −½ to ½.
inline double peak(double before_it, double at, double after_it) {
  const double curvature = before_it - 2 * at + after_it;
  return curvature < 0 ? std::clamp(0.5 * (before_it - after_it) / curvature, -0.5, 0.5) : 0;
}

inline double correlation(const Level& a, int ax, int ay, const Moments& of_a, const Level& b, int bx, int by) {
  if (!holds_window(b, bx, by)) return -1;
  return zncc(products(a, ax, ay, b, bx, by), of_a, moments(b, bx, by));
}

}  // namespace stereopsis::sparse
