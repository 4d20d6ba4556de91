#include "diagnosis.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

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

void set_white(AnyImage& image, double white, const std::filesystem::path& file) {
  auto* const pixels = std::get_if<Image<float>>(&image.pixels);
  if (pixels == nullptr)
    refuse(fmt::format(
        "--white {} applies to float files, but {} is {}; leave --white out{}", white, file.string(),
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
          "give {} as the left one, or, if the cameras converge, a negative --min-disparity, and --doffs where depth "
          "is wanted",
          right.string());
    case late: return "find the frame that is missing or repeated, and give images of the same time";
    case shared_pattern:
      return "subtract the pattern from both images, such as the mean of many frames, or mask it with --mask-left and "
             "--mask-right";
    case outside_range:
      return fault.swapped ? "lower --min-disparity, or raise --far" : "raise --disparities, or lower --near";
  }
  return "";
}

}  // namespace

void IntensityOptions::add_to(Command& command) {
  command.integer("--bit-depth", bit_depth, 9, 16, "BITS",
                  "Number of significant low-order bits in 16-bit images [from the file]");
  command.number("--white", white, 1e-6, 1e9, "V", "Value of white in float images, such as 1 [255]");
}

MaskedImage IntensityOptions::applied(MaskedImage read, const std::filesystem::path& file) const {
  AnyImage& image = read.image;
  if (bit_depth) set_bit_depth(image, *bit_depth, file);
  check_white(image.view(), white.value_or(255), file);
  if (white) set_white(image, *white, file);
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
    if (const int orientation = std::filesystem::is_regular_file(file) ? image_orientation(file) : 1; orientation != 1)
      remark +=
          fmt::format("{} {} has the Exif orientation {}", remark.empty() ? ";" : " and", file.string(), orientation);
  return remark.empty() ? "" : remark + ", which is not applied";
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
