#include "diagnosis.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

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

MaskedImage IntensityOptions::applied(MaskedImage read, const std::filesystem::path& file) const {
  AnyImage& image = read.image;
  if (bit_depth) set_bit_depth(image, *bit_depth, file);
  check_white(image.view(), white.value_or(255), file);
  if (white) set_white(image, *white, file);
  return read;
}

std::vector<Complaint> complaints_of(const PairReport& report, const std::filesystem::path& left,
                                     const std::filesystem::path& right, const std::string& how_to_rectify) {
  using enum ComplaintKind;
  if (report.same_image)
    return {{same_picture, "both images have the same pixels; give the left and the right image of a pair"}};
  if (report.same_view)
    return {{same_picture,
             "both images seem to show the same picture, because nearly all disparities are 0; give the images of "
             "the left and of the right camera"}};
  if (report.turn != Turn::none)
    return {{turned, fmt::format("one of the images {}; turn it back{}",
                                 report.turn == Turn::half       ? "is turned by 180°"
                                 : report.turn == Turn::mirrored ? "is mirrored"
                                                                 : "has its rows in reverse order",
                                 orientation_remark(left, right))}};
  if (report.vertical)
    return {
        {vertical, fmt::format("one camera seems to be above the other, because points differ in their rows and not "
                               "in their columns; give {} first, and --vertical to `match`{}",
                               (report.swapped ? right : left).string(), orientation_remark(left, right))}};
  if (report.unrelated)
    return {{unrelated, fmt::format("no point of one image was found in the other; give two images of the same scene, "
                                    "taken at the same time{}",
                                    orientation_remark(left, right))}};
  std::vector<Complaint> complaints;
  if (report.matches > 0 && !report.rectified())
    complaints.push_back(
        {rows, fmt::format("rows do not correspond (the median of |dy| is {:.1f} px; at most 1 px is allowed); {}",
                           report.median_dy, how_to_rectify)});
  if (report.swapped)
    complaints.push_back(
        {negative,
         fmt::format("the images seem to be swapped, or the cameras converge, because nearly all disparities "
                     "are negative (median {:.1f} px); give {} as the left one, or, if the cameras converge, a "
                     "negative --min-disparity, and --doffs where depth is wanted",
                     report.median_disparity, right.string())});
  return complaints;
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
