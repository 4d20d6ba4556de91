// Resampling on the CPU, with threads but without vectors: loads from scattered positions take most of the time, and
// gathers are not faster.
#include <cmath>

#include "device/cpu/threads.hpp"
#include "stages/remap/remap.hpp"

namespace stereopsis::remap {
namespace {

constexpr int one = 1 << fraction_bits;

// The four neighbours of a position, as offsets from the start of the image, and their weights.
struct Neighbours {
  // Offset of the first neighbour, and distances of the other neighbours from the first one.
  std::ptrdiff_t first, right, below;
  int a, b;
};

template <class T>
T blend(const T* p, const Neighbours& n) {
  const T* q = p + n.below;
  if constexpr (std::is_same_v<T, float>) {
    const float a = static_cast<float>(n.a) / one, b = static_cast<float>(n.b) / one;
    const float upper = (1.0f - a) * p[0] + a * p[n.right];
    const float lower = (1.0f - a) * q[0] + a * q[n.right];
    return (1.0f - b) * upper + b * lower;
  } else {
    const std::uint32_t a = static_cast<std::uint32_t>(n.a), b = static_cast<std::uint32_t>(n.b);
    const std::uint32_t upper = (one - a) * p[0] + a * p[n.right];
    const std::uint32_t lower = (one - a) * q[0] + a * q[n.right];
    return static_cast<T>(((one - b) * upper + b * lower + (1u << 15)) >> 16);
  }
}

template <int channels, class T>
bool blend_all(const T* image, const Neighbours& n, T* out) {
  bool finite = true;
  for (int c = 0; c < channels; ++c) {
    out[c] = blend(image + n.first + c, n);
    if constexpr (std::is_same_v<T, float>) finite &= std::isfinite(out[c]);
  }
  return finite;
}

bool usable_at(const ImageView<const std::uint8_t>& mask, int x, int y, int right, int below) {
  const std::uint8_t *upper = mask.row(y) + x, *lower = mask.row(y + below) + x;
  return upper[0] != 0 && upper[right] != 0 && lower[0] != 0 && lower[right] != 0;
}

template <int channels, class T>
void remap_row(const InputOf<T, ImageView>& in, const std::int32_t* map, T* out, std::uint8_t* usable, int width) {
  const std::ptrdiff_t pitch = in.image.pitch;
  const bool masked = !in.mask.empty();
  for (int i = 0; i < width; ++i, out += channels) {
    const int x = map[2 * i] >> fraction_bits, y = map[2 * i + 1] >> fraction_bits;
    const int a = map[2 * i] & (one - 1), b = map[2 * i + 1] & (one - 1);
    const int right = a > 0, below = b > 0;
    bool has_source = x >= 0 && y >= 0 && x + right < in.image.width && y + below < in.image.height;
    if (has_source && masked) has_source = usable_at(in.mask, x, y, right, below);
    if (has_source)
      has_source =
          blend_all<channels>(in.image.data, {y * pitch + x * channels, right * channels, below * pitch, a, b}, out);
    if (!has_source) std::fill_n(out, channels, T{0});
    if (usable) usable[i] = has_source ? 255 : 0;
  }
}

}  // namespace

template <class T>
void cpu(const InputOf<T, ImageView>& in, const OutputOf<T, ImageView>& out, Threads& threads) {
  check(in, out);
  threads.rows(out.image.height, [&](int first, int last) {
    for (int y = first; y < last; ++y) {
      const auto row = in.image.channels == 1 ? remap_row<1, T> : remap_row<3, T>;
      row(in, in.map.row(y), out.image.row(y), out.usable.empty() ? nullptr : out.usable.row(y), out.image.width);
    }
  });
}

template void cpu(const InputOf<std::uint8_t, ImageView>&, const OutputOf<std::uint8_t, ImageView>&, Threads&);
template void cpu(const InputOf<std::uint16_t, ImageView>&, const OutputOf<std::uint16_t, ImageView>&, Threads&);
template void cpu(const InputOf<float, ImageView>&, const OutputOf<float, ImageView>&, Threads&);

}  // namespace stereopsis::remap
