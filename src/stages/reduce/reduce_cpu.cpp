// Reduction on the CPU, in plain loops that the compiler vectorises. Reading memory takes most of the time.
#include <algorithm>
#include <cmath>

#include "device/cpu/threads.hpp"
#include "stages/reduce/reduce.hpp"

namespace stereopsis::reduce {
namespace {

// Computes the averages for the pixels of `out` from sums down the columns of their blocks.
template <class T, class Sum>
void average_row(const Sum* columns, int width, int factor, int rows, T* out) {
  const int whole = width / factor, rest = width % factor;
  const auto average = [&](int x, int columns_of_block) {
    Sum sum = 0;
    for (int i = 0; i < columns_of_block; ++i) sum += columns[x * factor + i];
    const int count = columns_of_block * rows;
    if constexpr (std::is_same_v<T, float>)
      out[x] = sum * (1.0f / static_cast<float>(count));
    else
      out[x] = static_cast<T>((sum + count / 2) / count);
  };
  if (factor == 4 && rows == 4) {  // a fast path without division for the common case
    for (int x = 0; x < whole; ++x) {
      const Sum* c = columns + 4 * x;
      const Sum sum = ((c[0] + c[1]) + c[2]) + c[3];
      if constexpr (std::is_same_v<T, float>)
        out[x] = sum * (1.0f / 16.0f);
      else
        out[x] = static_cast<T>((sum + 8) / 16);
    }
  } else {
    for (int x = 0; x < whole; ++x) average(x, factor);
  }
  if (rest > 0) average(whole, rest);
}

template <class T>
void reduce_rows(const Parameters& p, ImageView<const T> grey, ImageView<T> reduced, int first, int last) {
  using Sum = std::conditional_t<std::is_same_v<T, float>, float, std::uint32_t>;
  constexpr int chunk = 1024;  // number of input columns that are processed at a time, on the stack
  const int across = chunk / p.factor;
  Sum columns[chunk];
  for (int y = first; y < last; ++y) {
    const int top = y * p.factor, rows = std::min(p.factor, grey.height - top);
    for (int x = 0; x < reduced.width; x += across) {
      const int left = x * p.factor, width = std::min(across * p.factor, grey.width - left);
      std::fill_n(columns, width, Sum{0});
      for (int i = 0; i < rows; ++i) {
        const T* row = grey.row(top + i) + left;
        for (int j = 0; j < width; ++j) columns[j] += row[j];
      }
      average_row(columns, width, p.factor, rows, reduced.row(y) + x);
    }
  }
}

template <class T>
void pick_rows(const Parameters& p, ImageView<const T> grey, ImageView<T> reduced, int first, int last) {
  for (int y = first; y < last; ++y) {
    const T* from = grey.row(y * p.factor);
    T* to = reduced.row(y);
    for (int x = 0; x < reduced.width; ++x) to[x] = from[x * p.factor];
  }
}

// The minimum of a block's mask is nonzero if the whole block is usable.
void mask_rows(const Parameters& p, ImageView<const std::uint8_t> mask, ImageView<std::uint8_t> usable, int first,
               int last) {
  constexpr int chunk = 1024;
  const int side = p.sampling == Sampling::average ? p.factor : 1, across = chunk / p.factor;
  std::uint8_t columns[chunk];
  for (int y = first; y < last; ++y)
    for (int x = 0; x < usable.width; x += across) {
      const int left = x * p.factor, width = std::min(across * p.factor, mask.width - left);
      const int count = std::min(across, usable.width - x);
      std::fill_n(columns, width, std::uint8_t{255});
      for (int row = y * p.factor; row < std::min(y * p.factor + side, mask.height); ++row) {
        const std::uint8_t* from = mask.row(row) + left;
        for (int j = 0; j < width; ++j) columns[j] = std::min(columns[j], from[j]);
      }
      for (int i = 0; i < count; ++i) {
        const std::uint8_t* block = columns + i * p.factor;
        usable.row(y)[x + i] =
            *std::min_element(block, std::min<const std::uint8_t*>(block + side, columns + width)) == 0 ? 0 : 255;
      }
    }
}

}  // namespace

template <class T>
void cpu(const Parameters& p, ImageView<const T> grey, ImageView<const std::uint8_t> mask, ImageView<T> reduced,
         ImageView<std::uint8_t> usable, Threads& threads) {
  threads.rows(reduced.height, [&](int first, int last) {
    if (p.sampling == Sampling::average)
      reduce_rows(p, grey, reduced, first, last);
    else
      pick_rows(p, grey, reduced, first, last);
    if (!mask.empty()) mask_rows(p, mask, usable, first, last);
    for (int y = first; y < last && mask.empty() && !usable.empty(); ++y)
      std::fill_n(usable.row(y), usable.width, std::uint8_t{255});
  });
}

template void cpu(const Parameters&, ImageView<const std::uint8_t>, ImageView<const std::uint8_t>,
                  ImageView<std::uint8_t>, ImageView<std::uint8_t>, Threads&);
template void cpu(const Parameters&, ImageView<const std::uint16_t>, ImageView<const std::uint8_t>,
                  ImageView<std::uint16_t>, ImageView<std::uint8_t>, Threads&);
template void cpu(const Parameters&, ImageView<const float>, ImageView<const std::uint8_t>, ImageView<float>,
                  ImageView<std::uint8_t>, Threads&);

void scale_cpu(const Parameters& p, ImageView<float> disparity, Threads& threads) {
  threads.rows(disparity.height, [&](int first, int last) {
    for (int y = first; y < last; ++y) {
      float* row = disparity.row(y);
      for (int x = 0; x < disparity.width; ++x)
        row[x] = std::isnan(row[x]) ? row[x] : row[x] * static_cast<float>(p.factor);
    }
  });
}

}  // namespace stereopsis::reduce
