#include "jobs/pixels.hpp"

#include <algorithm>
#include <cmath>

#include "stereopsis/arguments.hpp"
#include "stereopsis/disparity.hpp"

namespace stereopsis::jobs {

Densities densities(ImageView<const std::uint8_t> validity) {
  // Most pixels have the same bits. Neighbours are counted apart, because an increment would wait for the one before
  // it.
  constexpr int neighbours = 8;
  long long counts[256] = {}, parts[neighbours][256] = {};
  for (int y = 0; y < validity.height; ++y) {
    const std::uint8_t* row = validity.row(y);
    for (int x = 0; x < validity.width; ++x) ++parts[x % neighbours][row[x]];
  }
  for (const auto& part : parts)
    for (int bits = 0; bits < 256; ++bits) counts[bits] += part[bits];
  Densities share;
  double total = 0;
  for (int bits = 0; bits < 256; ++bits) {
    if (bits & validity::outside) continue;
    const auto n = static_cast<double>(counts[bits]);
    total += n;
    if ((bits & validity::reasons) == 0) share.valid += n;
    if (bits == 0) share.measured += n;
    if ((bits & validity::reasons) == 0 && bits != 0) (bits & validity::filled ? share.filled : share.repaired) += n;
    if (bits & validity::no_candidate) share.no_candidate += n;
    if (bits & validity::left_right) share.left_right += n;
    if (bits & validity::ambiguous) share.ambiguous += n;
    if (bits & validity::speckle) share.speckle += n;
    if (bits & validity::masked) share.masked += n;
  }
  for (double* value : {&share.measured, &share.valid, &share.filled, &share.repaired, &share.no_candidate,
                        &share.left_right, &share.ambiguous, &share.speckle, &share.masked})
    *value = total > 0 ? 100 * *value / total : 0;
  return share;
}

std::pair<double, double> shares_at_ends(const Matched& result, DisparityRange range) {
  const float low = static_cast<float>(range.min) + 0.5F, high = static_cast<float>(range.max()) - 0.5F;
  long long measured = 0, at_low = 0, at_high = 0;
  for (int y = 0; y < result.disparity.height(); ++y) {
    const float* disparity = result.disparity.view().row(y);
    const std::uint8_t* validity = result.validity.view().row(y);
    std::int32_t row_measured = 0, row_low = 0, row_high = 0;
    for (int x = 0; x < result.disparity.width(); ++x) {  // without branches, so that the compiler uses vectors
      const std::int32_t is_measured = validity[x] == 0;
      row_measured += is_measured;
      row_low += is_measured & (disparity[x] < low);
      row_high += is_measured & (disparity[x] > high);
    }
    measured += row_measured, at_low += row_low, at_high += row_high;
  }
  const auto share = [&](long long count, int end) {
    return measured > 0 && end != 0 ? 100.0 * static_cast<double>(count) / static_cast<double>(measured) : 0;
  };
  return {share(at_low, range.min), share(at_high, range.max())};
}

void drop_unwanted(Matched& result, std::uint8_t kinds, std::optional<double> min_confidence) {
  const auto least = static_cast<float>(min_confidence.value_or(0));
  for (int y = 0; y < result.disparity.height(); ++y)
    for (int x = 0; x < result.disparity.width(); ++x) {
      std::uint8_t& bits = result.validity(x, y);
      const bool valid = (bits & validity::reasons) == 0;
      const bool made_up = (bits & kinds) != 0;
      const bool unsure = min_confidence && !(result.confidence(x, y) >= least);
      if (!valid || (!made_up && !unsure)) continue;
      bits |= validity::ambiguous;
      for (Image<float>* image : {&result.disparity, &result.depth, &result.uncertainty})
        if (!image->empty()) (*image)(x, y) = invalid_disparity;
      for (int c = 0; c < 3 && !result.points.empty(); ++c) result.points(x, y, c) = invalid_disparity;
    }
}

AnyImage grey_of(AnyImage image) {
  if (image.channels() == 1) return image;
  return with_pixels(image.view(), [&](auto pixels) -> AnyImage {
    using T = std::remove_const_t<std::remove_pointer_t<decltype(pixels.data)>>;
    Image<T> grey(pixels.size());
    for (int y = 0; y < pixels.height; ++y)
      for (int x = 0; x < pixels.width; ++x) {
        const T r = pixels(x, y, 0), g = pixels(x, y, 1), b = pixels(x, y, 2);
        if constexpr (std::is_same_v<T, float>)
          grey(x, y) = (0.299F * r + 0.587F * g) + 0.114F * b;
        else
          grey(x, y) = static_cast<T>((19595U * r + 38470U * g + 7471U * b + 32768U) >> 16);
      }
    AnyImage made = std::move(grey);
    made.bit_depth = image.bit_depth;
    return made;
  });
}

AnyImage mirrored(const AnyImage& image) {
  AnyImage out;
  std::visit([&](const auto& pixels) { out.pixels = mirrored(pixels.view()); }, image.pixels);
  out.bit_depth = image.bit_depth;
  return out;
}

AnyImage transposed(const AnyImage& image) {
  AnyImage out;
  std::visit([&](const auto& pixels) { out.pixels = transposed(pixels.view()); }, image.pixels);
  out.bit_depth = image.bit_depth;
  return out;
}

Matched transposed(const Matched& result, Frame frame) {
  Matched out;
  out.times = result.times;
  for_each_output([&](std::size_t, auto field) {
    if constexpr (requires { transposed(field(result).view()); }) field(out) = transposed(field(result).view());
  });
  const int first = frame == Frame::optical ? 0 : 1;  // the first of the two axes in the image's plane
  for (int y = 0; y < out.points.height(); ++y)
    for (int x = 0; x < out.points.width(); ++x) std::swap(out.points(x, y, first), out.points(x, y, first + 1));
  return out;
}

Image<std::uint16_t> millimetres(ImageView<const float> depth, const Rig& rig, long long& too_far) {
  const float scale = rig.unit == "m" ? 1000.0F : 1.0F;
  Image<std::uint16_t> image(depth.size());
  for (int y = 0; y < depth.height; ++y)
    for (int x = 0; x < depth.width; ++x) {
      const float value = std::round(depth(x, y) * scale);
      too_far += value > 65535;
      image(x, y) = value >= 1 && value <= 65535 ? static_cast<std::uint16_t>(value) : std::uint16_t{0};
    }
  return image;
}

Image<std::uint8_t> to_8_bits(const AnyImageView& image) {
  return with_pixels(image, [&](auto pixels) {
    const float scale = image.type == PixelType::u16 ? 255.0F / static_cast<float>((1 << image.bit_depth) - 1) : 1.0F;
    Image<std::uint8_t> out(pixels.size(), pixels.channels);
    for (int y = 0; y < pixels.height; ++y)
      for (int i = 0; i < pixels.width * pixels.channels; ++i) {
        const float value = static_cast<float>(pixels.row(y)[i]) * scale;
        out.row(y)[i] = static_cast<std::uint8_t>(value > 0 ? std::min(value, 255.0F) + 0.5F : 0.0F);
      }
    return out;
  });
}

Image<std::uint8_t> confidence_8_bits(ImageView<const float> confidence) {
  Image<std::uint8_t> out(confidence.size());
  for (int y = 0; y < confidence.height; ++y)
    for (int x = 0; x < confidence.width; ++x) {
      const float c = confidence(x, y);
      out(x, y) = static_cast<std::uint8_t>(c > 0 ? std::min(c, 1.0F) * 255 + 0.5F : 0.0F);
    }
  return out;
}

}  // namespace stereopsis::jobs
