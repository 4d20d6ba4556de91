#include "diagnosis.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "stereopsis/io.hpp"

namespace stereopsis::command {
namespace {

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

void set_bit_depth(AnyImage& image, int depth, const std::filesystem::path& file) {
  if (image.view().type != PixelType::u16)
    refuse(fmt::format("--bit-depth {} applies to 16-bit files, and {} is {}; leave it out{}", depth, file.string(),
                       to_string(image.view().type),
                       image.view().type == PixelType::f32 ? ", or give the value of white with --white" : ""));
  const double high = extremes_of(image).high, most = std::exp2(depth) - 1;
  if (high > most)
    refuse(
        fmt::format("--bit-depth {} allows values up to {}, and {} has {}; give the number of bits that the image uses",
                    depth, most, file.string(), high));
  image.bit_depth = depth;
}

void set_white(AnyImage& image, double white, const std::filesystem::path& file) {
  auto* const pixels = std::get_if<Image<float>>(&image.pixels);
  if (pixels == nullptr)
    refuse(fmt::format(
        "--white {} applies to float files, and {} is {}; leave it out{}", white, file.string(),
        to_string(image.view().type),
        image.view().type == PixelType::u16 ? ", or give the number of significant bits with --bit-depth" : ""));
  const auto factor = static_cast<float>(255 / white);
  for (int y = 0; y < pixels->height(); ++y)
    for (int i = 0; i < pixels->width() * pixels->channels(); ++i) pixels->row(y)[i] *= factor;
}

// Rejects values above white, which would be matched as white, as --bit-depth does for integers.
void check_white(const AnyImageView& image, double white, const std::filesystem::path& file) {
  if (image.type != PixelType::f32) return;
  const double high = extremes_of(image).high;
  if (high > white * (255.5 / 255))
    refuse(fmt::format("{} has values up to {:.6g}, but white is {:.6g}; give the value of white with --white",
                       file.string(), high, white));
}

}  // namespace

void IntensityOptions::add_to(Command& command) {
  command.integer("--bit-depth", bit_depth, 9, 16, "BITS",
                  "Number of significant low-order bits in 16-bit images [from the file]");
  command.number("--white", white, 1e-6, 1e9, "V", "Value of white in float images, such as 1 [255]");
}

AnyImage IntensityOptions::read(const std::filesystem::path& file) const {
  AnyImage image = read_image(file);
  if (bit_depth) set_bit_depth(image, *bit_depth, file);
  check_white(image.view(), white.value_or(255), file);
  if (white) set_white(image, *white, file);
  return image;
}

std::vector<std::string> complaints_of(const PairCheck& check, const std::filesystem::path& right,
                                       const std::string& how_to_rectify) {
  if (check.matches == 0) return {"no point of one image was found in the other; give two images of the same scene"};
  std::vector<std::string> complaints;
  if (!check.rectified())
    complaints.push_back(
        fmt::format("rows do not correspond (the median of |dy| is {:.1f} px; at most 1 px is allowed); {}",
                    check.median_dy, how_to_rectify));
  if (check.swapped)
    complaints.push_back(fmt::format("the images seem to be swapped; give {} as the left one", right.string()));
  return complaints;
}

std::string same_picture(const std::filesystem::path& left, const std::filesystem::path& right) {
  return fmt::format("{} and {} have the same pixels; give the left and the right image of a pair", left.string(),
                     right.string());
}

std::optional<std::string> low_contrast(const AnyImageView& image, const std::filesystem::path& file) {
  const Extremes e = extremes_of(image);
  const bool is_float = image.type == PixelType::f32;
  const double white = is_float ? 255 : std::exp2(image.bit_depth) - 1;
  const bool next_to_none = e.high - e.low < white / 16,
             sixteen = image.type == PixelType::u16 && image.bit_depth == 16;
  if (!next_to_none && !(sixteen && e.high < white / 4)) return std::nullopt;
  std::string advice;
  if (is_float && e.high > 0 && e.high <= 1) advice = "; if white is 1, give --white 1";
  if (sixteen && e.high > 0) {
    const int bits = std::max(9, static_cast<int>(std::bit_width(static_cast<unsigned>(e.high))));
    advice = fmt::format("; if its pixels have {} significant bits, give --bit-depth {}", (bits + 1) / 2 * 2,
                         (bits + 1) / 2 * 2);
  }
  if (!next_to_none && advice.empty()) return std::nullopt;
  return fmt::format("{} has low contrast: its values are {:.4g} to {:.4g}, and white is {:.4g}{}", file.string(),
                     e.low, e.high, white, advice);
}

}  // namespace stereopsis::command
