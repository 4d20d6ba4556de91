#include "diagnosis.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <vector>

namespace stereopsis::command {
namespace {

namespace fs = std::filesystem;

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

void set_bit_depth(AnyImage& image, int depth, const std::filesystem::path& file) {
  if (image.view().type != PixelType::u16)
    refuse(fmt::format("--bit-depth {} applies to 16-bit files, but {} is {}; leave --bit-depth out{}", depth,
                       file.string(), to_string(image.view().type),
                       image.view().type == PixelType::f32 ? ", or give the value of white with --white" : ""));
  const double high = extremes_of(image).high, most = std::exp2(depth) - 1;
  if (high > most)
    refuse(
        fmt::format("--bit-depth {} allows values up to {}, and {} has {}; give the number of bits that the image uses",
                    depth, most, file.string(), high));
  image.bit_depth = depth;
}

// Throws an Error if many values lie outside black and white, because they would all become black or white.
void check_share_between(const AnyImageView& image, Extremes range, const std::filesystem::path& file) {
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
  refuse(fmt::format("{:.0f} % of the values of {} lie outside {} to {} (--black, --white); nearly all are {} to {}",
                     100 * outside, file.string(), range.low, range.high, usual.low, usual.high));
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

void set_range(AnyImage& image, Extremes range, bool has_bit_depth, const std::filesystem::path& file) {
  if (!(range.low < range.high))
    refuse(fmt::format("--black {} is not below white, which is {} for {}; give --black and --white", range.low,
                       range.high, file.string()));
  if (auto* const floats = std::get_if<Image<float>>(&image.pixels)) return stretch(*floats, range);
  auto* const deep = std::get_if<Image<std::uint16_t>>(&image.pixels);
  if (deep == nullptr)
    refuse(fmt::format("--black and --white apply to float and 16-bit files, but {} is {}; leave them out",
                       file.string(), to_string(image.view().type)));
  if (has_bit_depth)
    refuse("--bit-depth and --black or --white both give the range of the pixels; leave one of them out");
  check_share_between(image.view(), range, file);
  stretch(*deep, range);
  image.bit_depth = 16;
}

// Rejects values above white, which would be matched as white, as --bit-depth does for integers.
void check_white(const AnyImageView& image, double white, const std::filesystem::path& file) {
  if (image.type != PixelType::f32) return;
  const double high = extremes_of(image).high;
  if (high > white * (255.5 / 255))
    refuse(fmt::format("{} has values up to {:.6g}, but white is {:.6g}; give the value of white with --white",
                       file.string(), high, white));
}

// Returns what the user can do about a fault.
std::string advice_on(const PairFault& fault, const fs::path& left, const fs::path& right,
                      const std::string& how_to_rectify) {
  using enum PairFaultKind;
  switch (fault.kind) {
    case same_picture: return "give the images of the left and of the right camera";
    case turned: return "turn it back" + orientation_remark(left, right);
    case vertical:
      return fmt::format("give {} first, and --vertical to `match`{}", (fault.swapped ? right : left).string(),
                         orientation_remark(left, right));
    case unrelated:
      return "give two images of the same scene, taken at the same time" + orientation_remark(left, right);
    case rows: return how_to_rectify;
    case negative:
      return fmt::format(
          "{}, or, if the cameras converge, a negative --min-disparity, and --doffs where depth is wanted{}",
          left == right ? "add --right-first, or leave it out if it is given"
                        : fmt::format("give {} as the left one", right.string()),
          orientation_remark(left, right));
    case late: return "find the frame that is missing or repeated, and give images of the same time";
    case shared_pattern:
      return "subtract the pattern from both images, such as the mean of many frames, or mask it with --mask-left and "
             "--mask-right";
    case outside_range:
      return fault.swapped ? "lower --min-disparity, or raise --far" : "raise --disparities, or lower --near";
  }
  return "";
}

// Returns the options that stretch the values, with a margin for the values of the other image.
std::string advice_to_stretch(Extremes e, bool is_float) {
  const double margin = 0.05 * (e.high - e.low), low = e.low - margin, high = e.high + margin;
  return is_float ? fmt::format("; stretch both images with --black {:.6g} --white {:.6g}", low, high)
                  : fmt::format("; stretch both images with --black {} --white {}", std::max(0.0, std::floor(low)),
                                std::ceil(high));
}

}  // namespace

void IntensityOptions::add_to(Command& command) {
  command.integer("--bit-depth", bit_depth, 9, 16, "BITS",
                  "Number of significant low-order bits in 16-bit images [from the file]");
  command.number("--black", black, -1e9, 1e9, "V",
                 "Value of black in float and 16-bit images, such as 29000 in thermal images [0]");
  command.number("--white", white, 1e-6, 1e9, "V",
                 "Value of white in float and 16-bit images, such as 1 [255; of 16-bit images, the largest value]");
}

MaskedImage IntensityOptions::applied(MaskedImage read, const std::filesystem::path& file) const {
  AnyImage& image = read.image;
  if (bit_depth) set_bit_depth(image, *bit_depth, file);
  check_white(image.view(), white.value_or(255), file);
  const double usual = image.view().type == PixelType::u16 ? std::exp2(image.view().bit_depth) - 1 : 255;
  if (black || white) set_range(image, {black.value_or(0), white.value_or(usual)}, bit_depth.has_value(), file);
  return read;
}

std::vector<PairFault> with_advice(std::vector<PairFault> faults, const fs::path& left, const fs::path& right,
                                   const std::string& how_to_rectify) {
  for (PairFault& fault : faults) fault.sentence += fmt::format("; {}", advice_on(fault, left, right, how_to_rectify));
  return faults;
}

std::string orientation_remark(const std::filesystem::path& left, const std::filesystem::path& right) {
  std::string remark;
  for (const std::filesystem::path& file : {left, right})
    if (const int orientation = fs::is_regular_file(image_file(file)) ? image_orientation(file) : 1; orientation != 1)
      remark +=
          fmt::format("{} {} has the Exif orientation {}", remark.empty() ? ";" : " and", file.string(), orientation);
  return remark.empty() ? "" : remark + ", which is not applied";
}

std::optional<std::string> IntensityOptions::low_contrast(const AnyImageView& image, const fs::path& file) const {
  const Extremes all = extremes_of(image), e = image.type == PixelType::u8 ? all : usual_extremes_of(image);
  const bool is_float = image.type == PixelType::f32;
  const double range = is_float ? 255 : std::exp2(image.bit_depth) - 1, used = e.high - e.low;
  const bool next_to_none = used < range / 16,
             low_bits = image.type == PixelType::u16 && image.bit_depth == 16 && all.high < range / 4;
  if (black || white) {  // the values are stretched
    if (!next_to_none) return std::nullopt;
    return fmt::format(
        "{} has low contrast: its values use {:.2g} % of the range from black to white; give another "
        "--black or --white",
        file.string(), 100 * used / range);
  }
  if (!next_to_none && !low_bits) return std::nullopt;
  std::string advice;
  const int bits =
      low_bits ? std::max(10, (static_cast<int>(std::bit_width(static_cast<unsigned>(all.high))) + 1) / 2 * 2) : 16;
  if (is_float && e.low >= 0 && e.high > 0 && e.high <= 1)
    advice = "; if white is 1, give --white 1";
  else if (low_bits && used >= std::exp2(bits) / 16)
    advice = fmt::format("; if its pixels have {} significant bits, give --bit-depth {}", bits, bits);
  else if (image.type != PixelType::u8 && used > 0)
    advice = advice_to_stretch(e, is_float);
  if (!next_to_none && advice.empty()) return std::nullopt;
  return fmt::format("{} has low contrast: its values are {:.6g} to {:.6g}, and white is {:.6g}{}", file.string(),
                     e.low, e.high, range, advice);
}

}  // namespace stereopsis::command
