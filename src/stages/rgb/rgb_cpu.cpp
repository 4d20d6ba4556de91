// Colours of both views on the CPU, computed in loops that the compiler vectorises.
#include <limits>

#include "device/cpu/threads.hpp"
#include "stages/rgb/rgb.hpp"

namespace stereopsis::rgb {
namespace {

struct Scale {
  explicit Scale(int bit_depth) : white((1u << bit_depth) - 1) {}
  std::uint32_t operator()(std::uint32_t v) const { return (std::min(v, white) * 255 + white / 2) / white; }
  std::uint32_t operator()(std::uint8_t v) const { return white == 255 ? v : (*this)(std::uint32_t{v}); }
  std::uint32_t operator()(std::uint16_t v) const { return (*this)(std::uint32_t{v}); }
  std::uint32_t operator()(float v) const { return static_cast<std::uint32_t>(std::clamp(v, 0.0f, 255.0f) + 0.5f); }

  std::uint32_t white;
};

template <class T>
bool is_finite(T v) {
  if constexpr (std::is_same_v<T, float>)
    return std::abs(v) <= std::numeric_limits<float>::max();
  else
    return true;
}

template <int channels, class T>
void convert_row(const T* in, int width, const Scale& scale, std::uint32_t* words) {
  for (int x = 0; x < width; ++x) {
    const T red = in[channels * x], green = in[channels * x + channels / 2], blue = in[channels * x + channels - 1];
    const bool finite = is_finite(red) && is_finite(green) && is_finite(blue);
    words[x] = finite ? scale(red) | scale(green) << 8 | scale(blue) << 16 : 0;
  }
}

template <class T>
void find_usable(const T* in, int channels, const std::uint8_t* mask, int width, std::uint8_t* usable) {
  for (int x = 0; x < width; ++x) {
    bool good = mask == nullptr || mask[x] != 0;
    for (int c = 0; c < channels; ++c) good = good && is_finite(in[channels * x + c]);
    usable[x] = good ? 255 : 0;
  }
}

}  // namespace

template <class T>
void cpu(ImageView<const T> image, int bit_depth, ImageView<const std::uint8_t> mask, ImageView<std::uint32_t> words,
         ImageView<std::uint8_t> usable, Threads& threads) {
  const Scale scale(bit_depth);
  threads.rows(image.height, [&](int first, int last) {
    for (int y = first; y < last; ++y) {
      if (image.channels == 3)
        convert_row<3>(image.row(y), image.width, scale, words.row(y));
      else
        convert_row<1>(image.row(y), image.width, scale, words.row(y));
      if (!usable.empty())
        find_usable(image.row(y), image.channels, mask.empty() ? nullptr : mask.row(y), image.width, usable.row(y));
    }
  });
}

using Mask = ImageView<const std::uint8_t>;
using Bytes = ImageView<std::uint8_t>;
template void cpu(ImageView<const std::uint8_t>, int, Mask, ImageView<std::uint32_t>, Bytes, Threads&);
template void cpu(ImageView<const std::uint16_t>, int, Mask, ImageView<std::uint32_t>, Bytes, Threads&);
template void cpu(ImageView<const float>, int, Mask, ImageView<std::uint32_t>, Bytes, Threads&);

}  // namespace stereopsis::rgb
