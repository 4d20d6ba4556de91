// Pixels without contrast on the CPU. A byte of a pixel states whether the pixel differs from its left neighbour and
// from the one above. The windows are disjunctions of these bytes along rows, then along columns, in tiles whose bytes
// stay in the L1 cache. The loops vectorise.
#include <algorithm>
#include <array>

#include "device/cpu/threads.hpp"
#include "stages/contrast/contrast.hpp"

namespace stereopsis::contrast {
namespace {

constexpr int tile = 512;                                 // columns of a tile
constexpr std::uint8_t from_left = 1, from_above = 2;     // bits of a pixel that differs from a neighbour
constexpr int window = 2 * reach + 1, kept = window + 1;  // rows of the window, and of the ring
using Row = std::array<std::uint8_t, tile + window>;

template <int channels, class T>
bool differs(const T* a, const T* b) {
  bool different = a[0] != b[0];
  for (int c = 1; c < channels; ++c) different |= a[c] != b[c];
  return different;
}

// Writes the bytes of the pixels [first, first + count) of a row. Pixels outside the image differ from nothing.
template <int channels, class T>
void compare_row(const ImageView<const T>& image, int y, int first, int count, std::uint8_t* out) {
  std::fill_n(out, count, std::uint8_t{0});
  const int begin = std::max(first, 0), end = std::min(first + count, image.width);
  const T* const row = image.row(y);
  for (int x = std::max(begin, 1); x < end; ++x)
    out[x - first] = differs<channels>(row + x * channels, row + (x - 1) * channels) ? from_left : 0;
  if (y == 0) return;
  const T* const above = image.row(y - 1);
  for (int x = begin; x < end; ++x)
    out[x - first] |= differs<channels>(row + x * channels, above + x * channels) ? from_above : 0;
}

// Computes the disjunctions of a row over the columns of the windows around [first, first + count).
template <int channels, class T>
void combine_columns(const ImageView<const T>& image, int y, int first, int count, std::uint8_t* out) {
  Row bytes;
  if (y < 0 || y >= image.height) return std::fill_n(out, count, std::uint8_t{0}), void();
  compare_row<channels>(image, y, first - reach, count + 2 * reach, bytes.data());
  for (int x = 0; x < count; ++x) {
    const std::uint8_t* const b = bytes.data() + x;
    out[x] = static_cast<std::uint8_t>((b[0] & from_above) | b[1] | b[2] | b[3] | b[4] | b[5] | b[6]);
  }
}

// The rows of a tile, of which the last ones are kept.
template <int channels, class T>
class Tile {
 public:
  Tile(const ImageView<const T>& image, int first, int count, int y) : image_(image), first_(first), count_(count) {
    for (int row = y - reach; row < y + reach; ++row) add(row);
  }

  // Adds to `contrast` the contrast of row y, the row after that of the previous call.
  void next(int y, std::uint8_t* contrast) {
    add(y + reach);
    std::array<const std::uint8_t*, window> r;
    for (int i = 0; i < window; ++i) r[i] = at(y - reach + i);
    for (int x = 0; x < count_; ++x)
      contrast[x] |=
          static_cast<std::uint8_t>((r[0][x] & from_left) | r[1][x] | r[2][x] | r[3][x] | r[4][x] | r[5][x] | r[6][x]);
  }

 private:
  std::uint8_t* at(int y) { return rows_[static_cast<std::size_t>(y + reach) % kept].data(); }
  void add(int y) { combine_columns<channels>(image_, y, first_, count_, at(y)); }

  const ImageView<const T>& image_;
  const int first_, count_;
  std::array<Row, kept> rows_;
};

// Marks the pixels of a tile whose blocks have no contrast.
template <int channels, class T>
void mark_tile(const Parameters& p, const ImageView<const T>& image, const ImageView<std::uint8_t>& validity, int x0,
               int columns, int first, int last) {
  const int f = p.factor, count = std::min(f * columns, image.width - f * x0);
  Tile<channels, T> rows(image, f * x0, count, f * (first + p.first_row));
  Row contrast;
  for (int y = first; y < last; ++y) {
    std::fill_n(contrast.data(), count, std::uint8_t{0});
    const int v = f * (y + p.first_row);
    for (int row = v; row < std::min(v + f, image.height); ++row) rows.next(row, contrast.data());
    std::uint8_t* const out = validity.row(y) + x0;
    if (f == 1) {
      for (int x = 0; x < columns; ++x) out[x] = (contrast[x] | out[x]) == 0 ? validity::filled : out[x];
      continue;
    }
    for (int x = 0; x < columns; ++x) {
      std::uint8_t any = 0;
      for (int u = f * x; u < std::min(f * (x + 1), count); ++u) any |= contrast[static_cast<std::size_t>(u)];
      out[x] = any == 0 && out[x] == 0 ? validity::filled : out[x];
    }
  }
}

}  // namespace

template <class T>
void cpu(const Parameters& p, ImageView<const T> image, ImageView<std::uint8_t> validity, Threads& threads) {
  const int columns = tile / p.factor;
  threads.rows(
      validity.height,
      [&](int first, int last) {
        for (int x = 0; x < validity.width; x += columns) {
          const auto mark = image.channels == 1 ? mark_tile<1, T> : mark_tile<3, T>;
          mark(p, image, validity, x, std::min(columns, validity.width - x), first, last);
        }
      },
      32);
}

template void cpu(const Parameters&, ImageView<const std::uint8_t>, ImageView<std::uint8_t>, Threads&);
template void cpu(const Parameters&, ImageView<const std::uint16_t>, ImageView<std::uint8_t>, Threads&);
template void cpu(const Parameters&, ImageView<const float>, ImageView<std::uint8_t>, Threads&);

}  // namespace stereopsis::contrast
