// Reads and writes disparities, confidences, masks and validity maps. An integer file holds round(disparity × scale),
// with 0 for unknown disparities. A valid disparity that would round to 0 is therefore written as 1.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/text.hpp"
#include "io/file.hpp"
#include "io/image_files.hpp"
#include "stereopsis/io.hpp"
#include "stereopsis/mask.hpp"

namespace stereopsis {
namespace {

constexpr double kitti_scale = 256;

// The values as stored in the file, and the value for white. The three channels of an RGB image must be equal.
struct Codes {
  AnyImage image;
  int white;
  Image<std::uint8_t> mask = {};  // mask with 0 for pixels without data; may be empty
  bool is_signed = false;
};

// Reads the values of an integer file. Rejects JPEG, because its compression changes values.
Codes read_codes(const std::filesystem::path& file) {
  const io::Contents contents = io::read_contents(file);
  return io::naming(file, [&]() -> Codes {
    const io::Bytes bytes = io::bytes_of(contents.bytes);
    const io::Format format = io::format_of(bytes);
    if (format == io::Format::jpeg || format == io::Format::jpeg2000 || format == io::Format::webp)
      throw Error(ErrorCategory::format,
                  "JPEG, JPEG 2000 and WebP files do not always store exact values; use PNG, PGM, TIFF, PFM or NPY");
    auto [image, mask, is_signed] = io::decode(format, bytes, io::Values::codes, contents.picture);
    const int white = image.view().type == PixelType::u8 ? 255 : 65535;
    return {std::move(image), format == io::Format::pnm ? io::pnm_maxval(bytes) : white, std::move(mask), is_signed};
  });
}

// Returns the single channel of an image, which may be stored as three equal channels.
template <class T>
Image<T> one_channel(Image<T> image) {
  if (image.channels() == 1) return image;
  Image<T> grey(image.size());
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x) {
      grey(x, y) = image(x, y, 0);
      if (image(x, y, 1) != grey(x, y) || image(x, y, 2) != grey(x, y))
        throw Error(
            ErrorCategory::format,
            text("the file must have one channel, but it is coloured, for instance at x = ", x, ", y = ", y,
                 "; values coded in R, G and B, as the depth of CARLA, are not read: decode them to a float map "
                 "(.npy, .pfm); of a colour picture, use the file without colours"));
    }
  return grey;
}

// Returns the usual scale for a file that does not state a scale, or 0 if there is none.
double usual_scale_of(const Codes& codes) {
  const PixelType type = codes.image.view().type;
  return codes.is_signed || type == PixelType::u8 ? 0 : type == PixelType::f32 ? 1 : kitti_scale;
}

double known_scale(const Codes& codes, double given) {
  const double scale = given == 0 ? usual_scale_of(codes) : given;
  if (scale == 0)
    throw Error(ErrorCategory::call, text("the scale of ", codes.is_signed ? "signed 16-bit" : "8-bit",
                                          " disparities is not known; give the stored value of a disparity of one "
                                          "pixel",
                                          codes.is_signed ? ", which is 16 in OpenCV's maps" : ""));
  return scale;
}

// OpenCV marks invalid pixels with the disparity below the lowest one, a whole number of pixels.
void drop_lowest(Image<float>& codes, double scale) {
  float lowest = 0;
  for (int y = 0; y < codes.height(); ++y)
    lowest = std::min(lowest, *std::min_element(codes.row(y), codes.row(y) + codes.width()));
  if (lowest >= 0 || scale < 0 || std::fmod(lowest, scale) != 0) return;
  for (int y = 0; y < codes.height(); ++y)
    std::replace(codes.row(y), codes.row(y) + codes.width(), lowest, invalid_disparity);
}

template <class T>
Image<float> to_disparity(const Image<T>& codes, double scale) {
  constexpr bool is_float = std::is_same_v<T, float>;
  constexpr float no_data = -9999;
  Image<float> disparity(codes.size());
  for (int y = 0; y < codes.height(); ++y)
    for (int x = 0; x < codes.width(); ++x) {
      const double value = codes(x, y);
      const bool known = is_float ? std::isfinite(value) && value != no_data : value != 0;
      disparity(x, y) = known ? static_cast<float>(value / scale) : invalid_disparity;
    }
  return disparity;
}

Image<float> disparity_of(Codes& codes, double scale) {
  Image<float> disparity = std::visit(
      [&](auto& pixels) {
        auto plane = one_channel(std::move(pixels));
        if constexpr (std::is_same_v<decltype(plane), Image<float>>)
          if (codes.is_signed) drop_lowest(plane, scale);
        return to_disparity(plane, scale);
      },
      codes.image.pixels);
  for (int y = 0; y < codes.mask.height(); ++y)
    for (int x = 0; x < codes.mask.width(); ++x)
      if (codes.mask(x, y) == 0) disparity(x, y) = invalid_disparity;
  return disparity;
}

template <class T>
Image<float> to_confidence(const Image<T>& codes, int white) {
  Image<float> confidence(codes.size());
  for (int y = 0; y < codes.height(); ++y)
    for (int x = 0; x < codes.width(); ++x) {
      const auto value = static_cast<float>(codes(x, y));
      if (std::is_floating_point_v<T> && std::isfinite(value) && (value < 0 || value > 1))
        throw Error(ErrorCategory::format, text("the confidence at ", x, ",", y, " is ", value,
                                                "; confidences in a float file must be 0 to 1, so divide them by their "
                                                "largest value, or use the file that `match --confidence` wrote"));
      if constexpr (std::is_floating_point_v<T>)
        confidence(x, y) = std::isfinite(value) ? value : invalid_disparity;
      else
        confidence(x, y) = value / static_cast<float>(white);
    }
  return confidence;
}

Image<std::uint8_t> to_bytes(AnyImage codes, const char* what) {
  auto* const bytes = std::get_if<Image<std::uint8_t>>(&codes.pixels);
  if (bytes == nullptr)
    throw Error(ErrorCategory::format, text(what, " must have 8-bit pixels; the given file has ",
                                            to_string(codes.view().type), " pixels, so convert the file"));
  return one_channel(std::move(*bytes));
}

void check_scale(double scale) {
  if (!(scale >= 0) || !std::isfinite(scale))
    throw Error(ErrorCategory::call,
                text("the scale ", scale, " is not allowed; it must be a positive number, or 0 for the default"));
}

void check_finite_scale(double scale) {
  if (!std::isfinite(scale))
    throw Error(ErrorCategory::call,
                text("the scale ", scale, " is not allowed; it must be a finite number, or 0 for the default"));
}

// The file format, the scale and the largest stored value for a file name and a scale.
struct Target {
  io::Format format = io::Format::pfm;
  double scale = 1;
  int largest = 0;  // largest stored value; 0 for float files

  bool is_float() const { return largest == 0; }
};

Target target_of(const std::filesystem::path& file, double scale) {
  check_scale(scale);
  const std::string extension = io::lower_extension(file);
  if (extension == ".png")
    return scale > 0 ? Target{io::Format::png, scale, 255} : Target{io::Format::png, kitti_scale, 65535};
  if (extension == ".pgm" && scale > 0) return {io::Format::pnm, scale, 255};
  if (extension == ".pgm")
    throw Error(ErrorCategory::call,
                "disparities in an 8-bit PGM require a scale, the stored value of a disparity of one pixel; give the "
                "scale, or use .pfm, .npy, .tiff or .png");
  if (extension != ".pfm" && extension != ".npy" && extension != ".tif" && extension != ".tiff")
    throw Error(ErrorCategory::call, text("the extension '", extension,
                                          "' is not supported for disparities; use .pfm, .npy, .tiff, .png or .pgm"));
  if (scale != 0 && scale != 1)
    throw Error(ErrorCategory::call, text("a float file stores disparities in pixels, without a scale (", scale,
                                          " was given); leave the scale out, or use .png or .pgm"));
  return {io::format_of(file), 1, 0};
}

[[noreturn]] void refuse_disparity(double disparity, const Target& target) {
  const std::string limit = number_text(std::floor(1000 * target.largest / target.scale) / 1000);
  throw Error(
      ErrorCategory::call,
      text("the disparity ", disparity, " cannot be written to this file, which can store 0 to ", limit, "; use ",
           disparity > 0 && target.largest == 255 ? "a smaller scale, or " : "", ".pfm, .npy or .tiff"));
}

// Returns the stored value for a valid disparity.
int code(double disparity, const Target& target) {
  const double rounded = std::round(disparity * target.scale);
  if (rounded < 0 || rounded > target.largest) refuse_disparity(disparity, target);
  return std::max(1, static_cast<int>(rounded));
}

template <class T>
std::string encode_codes(ImageView<const float> disparity, const Target& target) {
  Image<T> codes(disparity.size());
  for (int y = 0; y < disparity.height; ++y)
    for (int x = 0; x < disparity.width; ++x)
      codes(x, y) = std::isfinite(disparity(x, y)) ? static_cast<T>(code(disparity(x, y), target)) : T{0};
  return io::encode(target.format, codes);
}

std::string encode_float(ImageView<const float> disparity, const Target& target) {
  const float invalid = target.format == io::Format::pfm ? std::numeric_limits<float>::infinity() : invalid_disparity;
  Image<float> values(disparity);
  for (int y = 0; y < values.height(); ++y)
    for (int x = 0; x < values.width(); ++x)
      if (!std::isfinite(values(x, y))) values(x, y) = invalid;
  return io::encode(target.format, values);
}

std::string encode_disparity(ImageView<const float> disparity, const Target& target) {
  if (disparity.channels != 1)
    throw Error(ErrorCategory::call, text("a disparity map must have 1 channel, not ", disparity.channels));
  if (target.is_float()) return encode_float(disparity, target);
  if (target.largest == 255) return encode_codes<std::uint8_t>(disparity, target);
  return encode_codes<std::uint16_t>(disparity, target);
}

}  // namespace

Image<float> read_disparity(const std::filesystem::path& file, double scale) {
  Codes codes = read_codes(file);
  return io::naming(file, [&] {
    check_finite_scale(scale);
    return disparity_of(codes, known_scale(codes, scale));
  });
}

ScaledDisparity read_scaled_disparity(const std::filesystem::path& file, double scale) {
  Codes codes = read_codes(file);
  return io::naming(file, [&]() -> ScaledDisparity {
    check_finite_scale(scale);
    const double usual = usual_scale_of(codes), used = scale != 0 ? scale : usual != 0 ? usual : 1;
    return {disparity_of(codes, used), used, usual};
  });
}

Image<float> read_confidence(const std::filesystem::path& file) {
  Codes codes = read_codes(file);
  return io::naming(file, [&] {
    return std::visit([&](auto& pixels) { return to_confidence(one_channel(std::move(pixels)), codes.white); },
                      codes.image.pixels);
  });
}

Image<std::uint8_t> read_mask(const std::filesystem::path& file) {
  Codes codes = read_codes(file);
  return io::naming(file, [&] {
    Image<std::uint8_t> mask = to_bytes(std::move(codes.image), "a mask");
    check_mask(mask, ErrorCategory::format);
    for (int y = 0; y < mask.height(); ++y)
      for (int x = 0; x < mask.width(); ++x) mask(x, y) = mask(x, y) == mask_counts ? mask_counts : 0;
    return mask;
  });
}

Image<std::uint8_t> read_validity(const std::filesystem::path& file) {
  Codes codes = read_codes(file);
  return io::naming(file, [&] { return to_bytes(std::move(codes.image), "validity"); });
}

void write_disparity(const std::filesystem::path& file, ImageView<const float> disparity, double scale) {
  io::write_file(file, io::naming(file, [&] { return encode_disparity(disparity, target_of(file, scale)); }));
}

void check_writable_disparity(const std::filesystem::path& file, DisparityRange range, double scale) {
  io::naming(file, [&] {
    const Target target = target_of(file, scale);
    if (target.is_float()) return;
    code(range.min, target);
    code(range.max(), target);
  });
  check_writable(file);
}

}  // namespace stereopsis
