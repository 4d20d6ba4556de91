// Aligns the rows of an image, or of the maps of a rectification, on the CPU.
#include "core/refuse.hpp"
#include "stages/align_rows/align_rows.hpp"
#include "stereopsis/rows.hpp"
#ifdef STEREOPSIS_SIMD
#include "device/cpu/has_simd.hpp"
#include "device/cpu/threads.hpp"
#endif

namespace stereopsis {

RectifiedView with_aligned_rows(const AnyImageView& image, const RowAlignment& alignment,
                                ImageView<const std::uint8_t> mask, int threads) {
  const Rect whole{0, 0, image.width, image.height};
  return with_aligned_rows(image, alignment, whole, image.size(), mask, threads);
}

RectifiedView with_aligned_rows(const AnyImageView& image, const RowAlignment& alignment, const Rect& part, Size whole,
                                ImageView<const std::uint8_t> mask, [[maybe_unused]] int threads) {
  check_alignment(alignment);
  check_bit_depth(image.type, image.bit_depth);
  check_pixels("the right image", image.data, image.size(), image.channels, image.pitch);
  const int white = image.type == PixelType::u16 ? (1 << image.bit_depth) - 1 : 255;
  const Rect needed = RowAlignment::rows_for(part, whole);
  if (part.empty() || intersect(part, {0, 0, whole.width, whole.height}) != part || image.size() != needed.size())
    refuse(text("the part ", part.width, "×", part.height, " at (", part.x, ", ", part.y, ") of an image of ",
                whole.width, "×", whole.height, " cannot be aligned from an image of ", image.width, "×", image.height,
                "; the part must lie in the image, and RowAlignment::rows_for() names the pixels that it requires"));
  const align_rows::Planned planned{
      .alignment = alignment, .whole = whole, .origin = {part.x, part.y}, .first_row = needed.y, .white = white};
  const align_rows::Parameters parameters = planned.for_kernels();
  RectifiedView out;
  out.usable = Image<std::uint8_t>(part.size());
#ifdef STEREOPSIS_SIMD
  Threads pool(threads);
#endif
  with_pixels(image, [&]<class T>(const ImageView<const T>& pixels) {
    Image<T> result(part.size(), pixels.channels);
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

RectificationMaps aligned_maps(const RectificationMaps& maps, const RowAlignment& alignment) {
  check_alignment(alignment);
  const auto has_source = [](std::int32_t position, int length) {
    return position >= 0 && position <= (std::int64_t{length - 1} << align_rows::fraction_bits);
  };
  RectificationMaps out = maps;
  const align_rows::Planned planned{.alignment = alignment, .whole = maps.size()};
  align_rows::map_oracle(planned.for_kernels(), maps.right, out.right);
  out.right_complete = true;
  for (int y = 0; y < out.right.height(); ++y)
    for (int x = 0; x < out.right.width(); ++x)
      out.right_complete &=
          has_source(out.right(x, y, 0), maps.input.width) && has_source(out.right(x, y, 1), maps.input.height);
  return out;
}

}  // namespace stereopsis
