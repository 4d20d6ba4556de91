#include "device/cpu/threads.hpp"
#include "stages/downsample/downsample.hpp"

// The compiler vectorises these loops. The loops take only a small part of the time of any method.
namespace stereopsis::downsample {
namespace {

template <class T>
using Sum = std::conditional_t<std::is_same_v<T, float>, float, std::uint32_t>;

template <class T>
void reduce_row(int factor, ImageView<const T> image, int y, ImageView<T> out) {
  const Sum<T> count = static_cast<Sum<T>>(factor * factor);
  const int channels = out.channels;
  T* result = out.row(y);
  for (int x = 0; x < out.width; ++x)
    for (int c = 0; c < channels; ++c) {
      Sum<T> sum = 0;
      for (int dy = 0; dy < factor; ++dy) {
        const T* row = image.row(std::min(factor * y + dy, image.height - 1)) + c;
        for (int dx = 0; dx < factor; ++dx) sum += row[std::min(factor * x + dx, image.width - 1) * channels];
      }
      if constexpr (std::is_same_v<T, float>)
        result[x * channels + c] = sum * (1.0f / count);
      else
        result[x * channels + c] = static_cast<T>((sum + count / 2) / count);
    }
}

// Averages 2×2 pixels of four bytes, for the levels of a pyramid of prepared colours.
void halve_words(ImageView<const std::uint8_t> image, int y, ImageView<std::uint8_t> out) {
  const std::uint8_t* upper = image.row(2 * y);
  const std::uint8_t* lower = image.row(std::min(2 * y + 1, image.height - 1));
  std::uint8_t* result = out.row(y);
  const int whole = image.width / 2;
  for (int x = 0; x < whole; ++x)
    for (int c = 0; c < 4; ++c) {
      const int i = 8 * x + c;
      result[4 * x + c] = static_cast<std::uint8_t>((upper[i] + upper[i + 4] + lower[i] + lower[i + 4] + 2) >> 2);
    }
  if (whole == out.width) return;
  for (int c = 0; c < 4; ++c) {
    const int i = 8 * whole + c;
    result[4 * whole + c] = static_cast<std::uint8_t>((2 * upper[i] + 2 * lower[i] + 2) >> 2);
  }
}

}  // namespace

template <class T>
void cpu(int factor, ImageView<const T> image, ImageView<T> out, Threads& threads) {
  threads.rows(out.height, [&](int first, int last) {
    for (int y = first; y < last; ++y) {
      if constexpr (sizeof(T) == 1)
        if (factor == 2 && out.channels == 4) {
          halve_words(image, y, out);
          continue;
        }
      reduce_row(factor, image, y, out);
    }
  });
}

template void cpu(int, ImageView<const std::uint8_t>, ImageView<std::uint8_t>, Threads&);
template void cpu(int, ImageView<const std::uint16_t>, ImageView<std::uint16_t>, Threads&);
template void cpu(int, ImageView<const float>, ImageView<float>, Threads&);

}  // namespace stereopsis::downsample
