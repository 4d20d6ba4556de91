#include "jobs/intensities.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <vector>

#include "sources/frames.hpp"

namespace stereopsis::jobs {
namespace {

namespace fs = std::filesystem;
using sources::refuse;

struct Extremes {
  double low = std::numeric_limits<double>::infinity(), high = -low;
};

// Returns the extremes of the finite values.
Extremes extremes_of(const AnyImageView& image) {
  return with_pixels(image, [](auto pixels) {
    Extremes e;
    for (int y = 0; y < pixels.height; ++y)
      for (int i = 0; i < pixels.width * pixels.channels; ++i) {
        const double value = pixels.row(y)[i];
        if (!std::isfinite(value)) continue;
        e.low = std::min(e.low, value);
        e.high = std::max(e.high, value);
      }
    return e;
  });
}

// Returns the extremes without the thousandth of the values at each end, where defective pixels lie.
Extremes usual_extremes_of(const AnyImageView& image) {
  return with_pixels(image, [](auto pixels) {
    std::vector<double> values;
    values.reserve(static_cast<std::size_t>(pixels.width) * pixels.height * pixels.channels);
    for (int y = 0; y < pixels.height; ++y)
      std::copy_if(pixels.row(y), pixels.row(y) + pixels.width * pixels.channels, std::back_inserter(values),
                   [](double value) { return std::isfinite(value); });
    if (values.empty()) return Extremes();
    const auto out = static_cast<std::ptrdiff_t>(values.size() / 1000);
    std::nth_element(values.begin(), values.begin() + out, values.end());
    const double low = values[static_cast<std::size_t>(out)];
    std::nth_element(values.begin(), values.end() - 1 - out, values.end());
    return Extremes{low, *(values.end() - 1 - out)};
  });
}

void set_bit_depth(AnyImage& image, int depth, const fs::path& file, const SettingNames& names) {
  if (image.view().type != PixelType::u16)
    refuse(fmt::format(
        "{0} {1} applies to 16-bit files, but {2} is {3}; leave {0} out{4}", names.spelled("bit_depth"), depth,
        file.string(), to_string(image.view().type),
        image.view().type == PixelType::f32 ? ", or give the value of white with " + names.spelled("white") : ""));
  const double high = extremes_of(image).high, most = std::exp2(depth) - 1;
  if (high > most)
    refuse(fmt::format("{} {} allows values up to {}, and {} has {}; give the number of bits that the image uses",
                       names.spelled("bit_depth"), depth, most, file.string(), high));
  image.bit_depth = depth;
}

// Throws an Error if many values lie outside black and white, because they would all become black or white.
void check_share_between(const AnyImageView& image, Extremes range, const fs::path& file, const SettingNames& names) {
  constexpr double most = 0.05;
  const auto outside = with_pixels(image, [&](auto pixels) {
    std::ptrdiff_t count = 0;
    for (int y = 0; y < pixels.height; ++y)
      count += std::count_if(pixels.row(y), pixels.row(y) + pixels.width * pixels.channels,
                             [&](double value) { return value < range.low || value > range.high; });
    return static_cast<double>(count) / (static_cast<double>(pixels.width) * pixels.height * pixels.channels);
  });
  if (outside <= most) return;
  const Extremes usual = usual_extremes_of(image);
  refuse(fmt::format("{:.0f} % of the values of {} lie outside {} to {} ({}, {}); nearly all are {} to {}",
                     100 * outside, file.string(), range.low, range.high, names.spelled("black"),
                     names.spelled("white"), usual.low, usual.high));
}

// Maps black and white to the ends of the range of the pixel type. Integers beyond them become black or white.
template <class T>
void stretch(Image<T>& image, Extremes range) {
  constexpr bool is_float = std::is_same_v<T, float>;
  const auto factor = static_cast<float>((is_float ? 255 : 65535) / (range.high - range.low));
  const auto black = static_cast<float>(range.low);
  for (int y = 0; y < image.height(); ++y)
    for (int i = 0; i < image.width() * image.channels(); ++i) {
      T& value = image.row(y)[i];
      const float mapped = (static_cast<float>(value) - black) * factor;
      value = is_float ? static_cast<T>(mapped) : static_cast<T>(std::clamp(mapped, 0.0F, 65535.0F) + 0.5F);
    }
}

void set_range(AnyImage& image, Extremes range, bool has_bit_depth, const fs::path& file, const SettingNames& names) {
  const std::string black = names.spelled("black"), white = names.spelled("white");
  if (!(range.low < range.high))
    refuse(fmt::format("{0} {1} is not below white, which is {2} for {3}; give {0} and {4}", black, range.low,
                       range.high, file.string(), white));
  if (auto* const floats = std::get_if<Image<float>>(&image.pixels)) return stretch(*floats, range);
  auto* const deep = std::get_if<Image<std::uint16_t>>(&image.pixels);
  if (deep == nullptr)
    refuse(fmt::format("{} and {} apply to float and 16-bit files, but {} is {}; leave them out", black, white,
                       file.string(), to_string(image.view().type)));
  if (has_bit_depth)
    refuse(fmt::format("{} and {} or {} both give the range of the pixels; leave one of them out",
                       names.spelled("bit_depth"), black, white));
  check_share_between(image.view(), range, file, names);
  stretch(*deep, range);
  image.bit_depth = 16;
}

// Rejects values above white, which would be matched as white, as a bit depth does for integers.
void check_white(const AnyImageView& image, double white, const fs::path& file, const SettingNames& names) {
  if (image.type != PixelType::f32) return;
  const double high = extremes_of(image).high;
  if (high > white * (255.5 / 255))
    refuse(fmt::format("{} has values up to {:.6g}, but white is {:.6g}; give the value of white with {}",
                       file.string(), high, white, names.spelled("white")));
}

// Returns the settings that stretch the values, with a margin for the values of the other image.
std::string advice_to_stretch(Extremes e, bool is_float, const SettingNames& names) {
  const double margin = 0.05 * (e.high - e.low), low = e.low - margin, high = e.high + margin;
  const auto advice = [&](double black, double white) {
    return fmt::format("; stretch both images with {} {:.6g} {} {:.6g}", names.spelled("black"), black,
                       names.spelled("white"), white);
  };
  return is_float ? advice(low, high) : advice(std::max(0.0, std::floor(low)), std::ceil(high));
}

}  // namespace

MaskedImage Intensities::applied(MaskedImage read, const fs::path& file, const SettingNames& names) const {
  AnyImage& image = read.image;
  if (bit_depth) set_bit_depth(image, *bit_depth, file, names);
  check_white(image.view(), white.value_or(255), file, names);
  const double usual = image.view().type == PixelType::u16 ? std::exp2(image.view().bit_depth) - 1 : 255;
  if (black || white) set_range(image, {black.value_or(0), white.value_or(usual)}, bit_depth.has_value(), file, names);
  return read;
}

std::optional<std::string> Intensities::low_contrast(const AnyImageView& image, const fs::path& file,
                                                     const SettingNames& names) const {
  const Extremes all = extremes_of(image), e = image.type == PixelType::u8 ? all : usual_extremes_of(image);
  const bool is_float = image.type == PixelType::f32;
  const double range = is_float ? 255 : std::exp2(image.bit_depth) - 1, used = e.high - e.low;
  const bool next_to_none = used < range / 16,
             low_bits = image.type == PixelType::u16 && image.bit_depth == 16 && all.high < range / 4;
  if (black || white) {  // the values are stretched
    if (!next_to_none) return std::nullopt;
    return fmt::format(
        "{} has low contrast: its values use {:.2g} % of the range from black to white; give another {} or {}",
        file.string(), 100 * used / range, names.spelled("black"), names.spelled("white"));
  }
  if (!next_to_none && !low_bits) return std::nullopt;
  std::string advice;
  const int bits =
      low_bits ? std::max(10, (static_cast<int>(std::bit_width(static_cast<unsigned>(all.high))) + 1) / 2 * 2) : 16;
  if (is_float && e.low >= 0 && e.high > 0 && e.high <= 1)
    advice = fmt::format("; if white is 1, give {} 1", names.spelled("white"));
  else if (low_bits && used >= std::exp2(bits) / 16)
    advice = fmt::format("; if its pixels have {0} significant bits, give {1} {0}", bits, names.spelled("bit_depth"));
  else if (image.type != PixelType::u8 && used > 0)
    advice = advice_to_stretch(e, is_float, names);
  if (!next_to_none && advice.empty()) return std::nullopt;
  return fmt::format("{} has low contrast: its values are {:.6g} to {:.6g}, and white is {:.6g}{}", file.string(),
                     e.low, e.high, range, advice);
}

}  // namespace stereopsis::jobs
