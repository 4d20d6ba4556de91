// Aligns the rows of an image on the CPU.
#include "core/refuse.hpp"
#include "stages/align_rows/align_rows.hpp"
#include "stereopsis/rows.hpp"
#ifdef STEREOPSIS_SIMD
#include "device/cpu/has_simd.hpp"
#include "device/cpu/threads.hpp"
#endif

namespace stereopsis {

RectifiedView with_aligned_rows(const AnyImageView& image, const RowAlignment& alignment,
                                ImageView<const std::uint8_t> mask, [[maybe_unused]] int threads) {
  check_alignment(alignment);
  check_bit_depth(image.type, image.bit_depth);
  check_pixels("the right image", image.data, image.size(), image.channels, image.pitch);
  const int white = image.type == PixelType::u16 ? (1 << image.bit_depth) - 1 : 255;
  const align_rows::Parameters parameters =
      align_rows::of_rows(alignment, image.size(), {0, 0, image.width, image.height}, 0, white);
  RectifiedView out;
  out.usable = Image<std::uint8_t>(image.size());
#ifdef STEREOPSIS_SIMD
  Threads pool(threads);
#endif
  with_pixels(image, [&]<class T>(const ImageView<const T>& pixels) {
    Image<T> result(pixels.size(), pixels.channels);
    const align_rows::InputOf<T, ImageView> from{pixels, mask};
    const align_rows::OutputOf<T, ImageView> to{result, out.usable};
#ifdef STEREOPSIS_SIMD
    if (has_simd())
      align_rows::cpu(parameters, from, to, pool);
    else
#endif
      align_rows::oracle(parameters, from, to);
    out.image.pixels = std::move(result);
  });
  out.image.bit_depth = image.bit_depth;
  return out;
}

}  // namespace stereopsis
