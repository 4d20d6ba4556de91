#include "io/image_files.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/text.hpp"
#include "io/file.hpp"
#include "io/pictures.hpp"
#include "stereopsis/io.hpp"

namespace stereopsis {
namespace io {
namespace {

[[noreturn]] void refuse_video() {
  throw Error(
      ErrorCategory::format,
      "this is a video, and an image is required; `stereopsis match LEFT RIGHT` and `stereopsis view LEFT RIGHT` "
      "read videos, or write the frames as PNG files first");
}

// Detects the video containers AVI, MP4 and MOV, Matroska and WebM, Ogg, ASF, FLV, MPEG streams and YUV4MPEG. The list
// of MP4 brands excludes the brands of HEIF images.
bool begins_as_video(std::string_view start) {
  using namespace std::string_view_literals;
  if (start.starts_with("RIFF") && start.size() >= 12 && start.substr(8, 3) == "AVI") return true;
  if (start.size() >= 12 && start.substr(4, 4) == "ftyp") {
    const std::string_view brand = start.substr(8, 4);
    return brand != "heic" && brand != "heix" && brand != "mif1" && brand != "msf1" && brand != "avif";
  }
  for (const std::string_view magic : {"\x1a\x45\xdf\xa3"sv, "OggS"sv, "\x30\x26\xb2\x75"sv, "FLV\x01"sv,
                                       "\x00\x00\x01\xba"sv, "\x00\x00\x01\xb3"sv, "YUV4MPEG2"sv})
    if (start.starts_with(magic)) return true;
  constexpr std::size_t packet = 188;  // length of a packet in an MPEG transport stream
  return start.size() > 2 * packet && start[0] == 'G' && start[packet] == 'G' && start[2 * packet] == 'G';
}

// A kind of picture that is not read, which begins with `start`.
struct Unread {
  std::string_view start;
  const char *name, *remedy;
};

// Returns what an unknown file is, and the remedy.
std::string named_kind(std::string_view start) {
  using namespace std::string_view_literals;
  constexpr const char *frames = "write its frames as PNG files", *convert = "convert it to PNG or TIFF",
                       *develop = "develop it to a 16-bit TIFF, for instance with `dcraw -T -6` or RawTherapee";
  static constexpr Unread kinds[] = {{"GIF8", "a GIF, which may hold several frames", frames},
                                     {"8BPS", "a Photoshop file", convert},
                                     {"\x76\x2f\x31\x01", "an OpenEXR file", "convert it to PFM or TIFF"},
                                     {"#?RADIANCE", "a Radiance HDR file", "convert it to PFM or TIFF"},
                                     {"SIMPLE  =", "a FITS file", "convert it to TIFF"},
                                     {"\x89HDF", "an HDF5 file, as Spring's .dsp5 and .flo5",
                                      "write the map as .npy; of Spring, every second row and column fits the images"},
                                     {"IIU\0"sv, "a camera's raw file (RW2)", develop},
                                     {"IIRO", "a camera's raw file (ORF)", develop},
                                     {"FUJIFILMCCD-RAW", "a camera's raw file (RAF)", develop}};
  for (const auto& [beginning, name, remedy] : kinds)
    if (start.starts_with(beginning)) return text("this is ", name, "; ", remedy);
  if (start.size() >= 12 && start.substr(4, 4) == "ftyp")
    return "this is a HEIF image (HEIC, AVIF), which may hold several pictures, such as both views; write each view as "
           "a PNG file";
  return start.empty() ? "the file is empty; give an image"
                       : "this is not a PNG, PNM, JPEG, TIFF, PFM, NPY, WebP, BMP or JPEG 2000 file; convert it to one "
                         "of these formats";
}

}  // namespace

void check_no_video(const std::filesystem::path& file) {
  std::error_code ignored;
  if (is_video(file) && std::filesystem::is_regular_file(file, ignored)) naming(file, refuse_video);
}

Format format_of(Bytes contents) {
  const std::string_view start = text_of(contents);
  if (start.starts_with("\x89PNG")) return Format::png;
  if (start.starts_with("\xff\xd8\xff")) return Format::jpeg;
  if (start.starts_with(std::string_view("II*\0", 4)) || start.starts_with(std::string_view("MM\0*", 4)) ||
      start.starts_with(std::string_view("II+\0", 4)) || start.starts_with(std::string_view("MM\0+", 4)))
    return Format::tiff;
  if (start.starts_with("\x93NUMPY")) return Format::npy;
  if (start.starts_with("Pf") || start.starts_with("PF")) return Format::pfm;
  if (start.size() > 1 && start[0] == 'P' && start[1] >= '1' && start[1] <= '7') return Format::pnm;
  if (start.starts_with("RIFF") && start.size() >= 12 && start.substr(8, 4) == "WEBP") return Format::webp;
  if (start.starts_with("BM")) return Format::bmp;
  if (start.starts_with(std::string_view("\0\0\0\x0cjP  \r\n", 10)) || start.starts_with("\xff\x4f\xff\x51"))
    return Format::jpeg2000;
  if (begins_as_video(start)) refuse_video();
  throw Error(ErrorCategory::format, named_kind(start));
}

static long long count_zeros(const Image<std::uint8_t>& mask) {
  long long count = 0;
  for (int y = 0; y < mask.height(); ++y) count += std::count(mask.row(y), mask.row(y) + mask.width(), 0);
  return count;
}

static Decoded decode_any(Format format, Bytes contents, Values values, Picture picture) {
  switch (format) {
    case Format::png: return decode_png(contents);
    case Format::pnm: return {decode_pnm(contents, values)};
    case Format::jpeg: return {decode_jpeg(contents.subspan(static_cast<std::size_t>(picture.offset)))};
    case Format::tiff: return decode_tiff(FileBytes(contents), picture.offset);
    case Format::pfm: return {decode_pfm(contents)};
    case Format::webp: return {decode_webp(contents)};
    case Format::bmp: return {decode_bmp(contents)};
    case Format::jpeg2000: return {decode_jpeg2000(contents)};
    default: return decode_npy(contents);
  }
}

// Programs that ignore the alpha channel often leave it 0.
static Decoded without_empty_mask(Decoded decoded) {
  const Image<std::uint8_t>& mask = decoded.mask;
  if (count_zeros(mask) == static_cast<long long>(mask.width()) * mask.height()) decoded.mask = {};
  return decoded;
}

Decoded decode(Format format, Bytes contents, Values values, std::optional<std::size_t> picture) {
  const Picture one = chosen(pictures_of(FileBytes(contents)), picture);
  return without_empty_mask(decode_any(format, contents, values, one));
}

Contents read_contents(const std::filesystem::path& given) {
  const auto [file, picture] = image_name(given);
  check_no_video(file);
  return {read_file(file), picture};
}

// Reads only one page of a TIFF.
static std::optional<Decoded> decode_page(const std::filesystem::path& given) {
  const auto [file, picture] = image_name(given);
  if (!picture) return {};
  const FileBytes source(file);
  const auto head = source.bytes(0, 16);
  if (head.empty() || format_of(head) != Format::tiff) return {};
  return without_empty_mask(decode_tiff(source, chosen(pictures_of(source), picture).offset));
}

Format format_of(const std::filesystem::path& file) {
  const std::string extension = lower_extension(file);
  if (extension == ".png") return Format::png;
  if (extension == ".pgm" || extension == ".ppm" || extension == ".pnm") return Format::pnm;
  if (extension == ".jpg" || extension == ".jpeg") return Format::jpeg;
  if (extension == ".tif" || extension == ".tiff") return Format::tiff;
  if (extension == ".pfm") return Format::pfm;
  if (extension == ".npy") return Format::npy;
  if (extension == ".webp") return Format::webp;
  if (extension == ".jp2") return Format::jpeg2000;
  throw Error(ErrorCategory::call,
              text("the extension '", extension,
                   "' is not supported for images; use .png, .pgm, .ppm, .jpg, .tiff, .webp, .jp2, .pfm or .npy"));
}

void check_can_write(const std::filesystem::path& file) {
  struct Missing {
    const char *extension, *library;
  };
  static constexpr Missing missing[] = {
#ifndef STEREOPSIS_TIFF
      {".tif", "libtiff-dev"},
      {".tiff", "libtiff-dev"},
#endif
#ifndef STEREOPSIS_WEBP
      {".webp", "libwebp-dev"},
#endif
#ifndef STEREOPSIS_JPEG2000
      {".jp2", "libopenjp2-7-dev"},
#endif
      {"", ""}};
  for (const Missing& one : missing)
    if (*one.extension != '\0' && lower_extension(file) == one.extension)
      throw Error(ErrorCategory::unsupported,
                  text(file.string(), " cannot be written, because this build has no ", one.extension,
                       " files; use .png, .pfm or .npy, or install ", one.library, " and build again"));
}

static void refuse(const AnyImageView& image, const char* format, const char* instead) {
  throw Error(ErrorCategory::call,
              text("a ", format, " file cannot store ", to_string(image.type), " pixels; use ", instead));
}

std::string encode(Format format, AnyImageView image) {
  if (image.empty() || (image.channels != 1 && image.channels != 3))
    throw Error(ErrorCategory::call,
                text("an image of ", image.width, "×", image.height, " pixels with ", image.channels,
                     " channels cannot be written; it must have pixels, and 1 or 3 channels"));
  const bool is_float = image.type == PixelType::f32;
  if (image.type == PixelType::u16 && image.bit_depth != 16 && format != Format::pnm)
    throw Error(ErrorCategory::call,
                text("only PNM can store the bit depth of 16-bit pixels, which is ", image.bit_depth,
                     " here; use .pgm or .ppm, or scale the pixels to 16 bits first"));
  switch (format) {
    case Format::png:
      if (is_float) refuse(image, "PNG", ".pfm, .tiff or .npy, or convert them to 8 or 16 bits");
      return encode_png(image);
    case Format::pnm:
      if (is_float) refuse(image, "PNM", ".pfm, .tiff or .npy, or convert them to 8 or 16 bits");
      return encode_pnm(image);
    case Format::jpeg:
      if (image.type != PixelType::u8) refuse(image, "JPEG", ".png, .tiff or .npy");
      return encode_jpeg(image);
    case Format::tiff: return encode_tiff(image);
    case Format::webp:
      if (image.type != PixelType::u8) refuse(image, "WebP", ".png, .tiff or .npy");
      return encode_webp(image);
    case Format::jpeg2000:
      if (is_float) refuse(image, "JPEG 2000", ".pfm, .tiff or .npy, or convert them to 8 or 16 bits");
      return encode_jpeg2000(image);
    case Format::pfm:
      if (!is_float) refuse(image, "PFM", ".png, .tiff or .npy");
      return encode_pfm(image.as<float>());
    default: return encode_npy(image);
  }
}

static Decoded read(const std::filesystem::path& file) {
  const auto decode_file = [&] {
    const Contents contents = read_contents(file);
    const Bytes bytes = bytes_of(contents.bytes);
    return naming(file, [&] { return decode(format_of(bytes), bytes, Values::intensities, contents.picture); });
  };
  auto page = naming(file, [&] { return decode_page(file); });
  Decoded decoded = page ? std::move(*page) : decode_file();
  return naming(file, [&] {
    if (decoded.is_signed)
      throw Error(ErrorCategory::unsupported,
                  "the image has signed 16-bit pixels, which only disparity maps may have; convert it to unsigned "
                  "pixels");
    return decoded;
  });
}

static bool is_no_data(float value) {
  constexpr float lowest = std::numeric_limits<float>::lowest();
  return !std::isfinite(value) || value == -9999 || value == -32767 || value == -32768 || value == lowest;
}

// Marks pixels without data of a float image in the mask, and sets them to NaN.
static void mask_floats(Image<float>& image, Image<std::uint8_t>& mask) {
  if (mask.empty()) mask = Image<std::uint8_t>(image.size(), 1, 255);
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x) {
      float* const pixel = image.row(y) + static_cast<std::ptrdiff_t>(x) * image.channels();
      if (std::any_of(pixel, pixel + image.channels(), is_no_data)) mask(x, y) = 0;
      if (mask(x, y) == 0) std::fill_n(pixel, image.channels(), std::numeric_limits<float>::quiet_NaN());
    }
}

static void check_channels(const std::filesystem::path& file, int channels) {
  const std::string extension = lower_extension(file);
  if ((extension == ".pgm" && channels == 3) || (extension == ".ppm" && channels == 1))
    throw Error(ErrorCategory::call, text("a ", extension, " file cannot store ", channels == 3 ? "RGB" : "grey",
                                          " pixels; use ", channels == 3 ? ".ppm" : ".pgm"));
}

}  // namespace io

bool is_video(const std::filesystem::path& file) {
  const std::string extension = io::lower_extension(file);
  for (const char* video : {".mp4", ".m4v",  ".avi", ".mkv", ".mov", ".webm", ".mpg",   ".mpeg", ".wmv",  ".flv",
                            ".ogv", ".m2ts", ".mts", ".3gp", ".y4m", ".mjpg", ".mjpeg", ".h264", ".h265", ".hevc"})
    if (extension == video) return true;
  return false;
}

AnyImage read_image(const std::filesystem::path& file) { return io::read(file).image; }

MaskedImage read_masked_image(const std::filesystem::path& file) {
  io::Decoded decoded = io::read(file);
  MaskedImage read{std::move(decoded.image), std::move(decoded.mask)};
  if (auto* const floats = std::get_if<Image<float>>(&read.image.pixels)) io::mask_floats(*floats, read.mask);
  read.no_data = io::count_zeros(read.mask);
  if (read.no_data == 0 && read.image.view().type == PixelType::f32) read.mask = {};
  return read;
}

namespace io {
namespace {

PhotoTags photo_tags_of(const std::filesystem::path& file) {
  const std::string contents = read_file(image_file(file));
  const Bytes bytes = bytes_of(contents);
  if (contents.starts_with("II") || contents.starts_with("MM")) return photo_tags(bytes);
  // Exif data is a TIFF structure. In JPEG files, it follows this name near the beginning; in PNG files, it is a chunk
  // of this name.
  constexpr std::size_t most = 1 << 16;
  const std::string_view start = std::string_view(contents).substr(0, most);
  using namespace std::string_view_literals;
  for (const std::string_view name : {"Exif\0\0"sv, "eXIf"sv})
    if (const std::size_t at = start.find(name); at != std::string_view::npos)
      return photo_tags(bytes.subspan(at + name.size()));
  return {};
}

}  // namespace
}  // namespace io

int image_orientation(const std::filesystem::path& file) { return io::photo_tags_of(file).orientation; }

std::optional<double> photo_focal(const std::filesystem::path& file, Size size) {
  constexpr double diagonal_of_film = 43.266615;  // the frame is 36×24 mm
  const int focal = io::photo_tags_of(file).focal_35mm;
  if (focal == 0) return {};
  return focal * std::hypot(size.width, size.height) / diagonal_of_film;
}

AnyImage read_volume(const std::filesystem::path& file) {
  const std::string contents = io::read_file(file);
  return io::naming(file, [&] {
    const io::Bytes bytes = io::bytes_of(contents);
    if (io::format_of(bytes) != io::Format::npy)
      throw Error(ErrorCategory::format,
                  "this is not an NPY file; a cost volume must be an NPY array of shape (height, width, disparities)");
    return io::decode_npy(bytes, true).image;
  });
}

void write_volume(const std::filesystem::path& file, AnyImageView volume) {
  if (io::lower_extension(file) != ".npy")
    throw Error(ErrorCategory::call,
                text(file.string(), ": a cost volume can only be written as .npy; use this extension"));
  io::write_file(file, io::encode_npy(volume, true));
}

void write_image(const std::filesystem::path& file, AnyImageView image) {
  const std::string contents = io::naming(file, [&] {
    io::check_channels(file, image.channels);
    return io::encode(io::format_of(file), image);
  });
  io::write_file(file, contents);
}

}  // namespace stereopsis
