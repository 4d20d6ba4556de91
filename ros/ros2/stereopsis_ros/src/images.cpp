#include "images.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "stereopsis/formats.hpp"
#include "stereopsis/io.hpp"

namespace stereopsis_ros {
namespace {

using namespace stereopsis;

constexpr std::uint64_t most_pixels = 1ULL << 28;  // the limit of the readers of image files

[[noreturn]] void fail(const std::string& sentence) { throw Error(ErrorCategory::format, sentence); }

// The layout of a pixel in a message.
struct Encoding {
  PixelType type = PixelType::u8;
  int samples = 1;
  std::optional<PixelFormat> format = {};
  int luma = -1;  // sample that is read of YUV 4:2:2; -1: all samples

  std::size_t sample_bytes() const { return type == PixelType::u8 ? 1 : type == PixelType::u16 ? 2 : 4; }
};

const std::map<std::string, PixelFormat> formats = {
    {"bgr", PixelFormat::bgr},
    {"rgba", PixelFormat::rgba},
    {"bgra", PixelFormat::bgra},
    {"bayer_rggb", PixelFormat::bayer_rggb},
    {"bayer_bggr", PixelFormat::bayer_bggr},
    {"bayer_gbrg", PixelFormat::bayer_gbrg},
    {"bayer_grbg", PixelFormat::bayer_grbg},
};

// The encodings by their names in sensor_msgs/image_encodings.hpp.
const std::map<std::string, Encoding> encodings = [] {
  std::map<std::string, Encoding> made = {
      {"32FC1", {PixelType::f32}},         {"yuv422", {.samples = 2, .luma = 1}},
      {"uyvy", {.samples = 2, .luma = 1}}, {"yuv422_yuy2", {.samples = 2, .luma = 0}},
      {"yuyv", {.samples = 2, .luma = 0}},
  };
  for (const auto& [bits, type] : {std::pair{"8", PixelType::u8}, std::pair{"16", PixelType::u16}}) {
    const std::string count = bits;
    made["mono" + count] = made[count + "UC1"] = {type};
    made["rgb" + count] = {type, 3};
    made[count + "UC3"] = {type, 3, PixelFormat::bgr};  // the order of OpenCV's images
    for (const auto& [name, format] : formats) made[name + count] = {type, channels_of(format), format};
  }
  return made;
}();

const Encoding& encoding_of(const std::string& name) {
  if (const auto found = encodings.find(name); found != encodings.end()) return found->second;
  std::string known;
  for (const auto& [each, _] : encodings) known += (known.empty() ? "" : ", ") + each;
  fail("the encoding '" + name.substr(0, 40) + "' is not known; it must be one of " + known);
}

void check(const sensor_msgs::msg::Image& message, std::size_t row) {
  const std::uint64_t width = message.width, height = message.height, step = message.step;
  if (width < 1 || height < 1 || width * height > most_pixels)
    fail("the size is " + std::to_string(width) + "×" + std::to_string(height) + "; it must be 1 to " +
         std::to_string(most_pixels) + " pixels");
  if (step < row)
    fail("step is " + std::to_string(step) + ", but " + std::to_string(width) + " pixels of " + message.encoding +
         " require " + std::to_string(row) + " bytes");
  if (const std::size_t size = message.data.size(); size != step * height && size != step * (height - 1) + row)
    fail("data has " + std::to_string(size) + " bytes, but " + std::to_string(height) + " rows of " +
         std::to_string(step) + " bytes require " + std::to_string(step * height));
}

// Returns the bytes of each sample in the order of this machine.
std::shared_ptr<std::vector<std::uint8_t>> swapped(const std::vector<std::uint8_t>& data, std::size_t sample) {
  auto made = std::make_shared<std::vector<std::uint8_t>>(data);
  for (std::size_t i = 0; i + sample <= made->size(); i += sample)
    std::reverse(made->begin() + static_cast<std::ptrdiff_t>(i),
                 made->begin() + static_cast<std::ptrdiff_t>(i + sample));
  return made;
}

std::shared_ptr<Image<std::uint8_t>> luma_of(const AnyImageView& pixels, int sample) {
  auto made = std::make_shared<Image<std::uint8_t>>(pixels.size());
  const auto from = pixels.as<std::uint8_t>();
  for (int y = 0; y < pixels.height; ++y)
    for (int x = 0; x < pixels.width; ++x) (*made)(x, y) = from(x, y, sample);
  return made;
}

// A file in memory, which the library's reader of image files can open.
class MemoryFile {
 public:
  explicit MemoryFile(const std::vector<std::uint8_t>& data) : number_(memfd_create("stereopsis", MFD_CLOEXEC)) {
    if (number_ < 0 || write(number_, data.data(), data.size()) != static_cast<ssize_t>(data.size()))
      throw Error(ErrorCategory::memory, "there is no memory for a file of " + std::to_string(data.size()) + " bytes");
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { close(number_); }
  std::string name() const { return "/proc/self/fd/" + std::to_string(number_); }

 private:
  int number_;
};

AnyImage decoded(const std::vector<std::uint8_t>& data) {
  const MemoryFile file(data);
  try {
    return read_image(file.name());
  } catch (const Error& error) {
    std::string text = error.what();
    if (const auto at = text.find(file.name()); at != std::string::npos)
      text.replace(at, file.name().size(), "the compressed image");
    throw Error(error.category(), text);
  }
}

}  // namespace

MessageImage image_of(const sensor_msgs::msg::Image::ConstSharedPtr& message) {
  const Encoding& encoding = encoding_of(message->encoding);
  check(*message, message->width * encoding.sample_bytes() * static_cast<std::size_t>(encoding.samples));
  const std::uint8_t* data = message->data.data();
  MessageImage made{.format = encoding.format, .owner = message};
  if (encoding.sample_bytes() > 1 && (message->is_bigendian != 0) != (std::endian::native == std::endian::big)) {
    const auto bytes = swapped(message->data, encoding.sample_bytes());
    data = bytes->data(), made.owner = bytes;
  }
  const Size size{static_cast<int>(message->width), static_cast<int>(message->height)};
  made.pixels = any_view_with_byte_pitch(data, encoding.type, size, encoding.samples, message->step);
  if (encoding.luma >= 0) {
    const auto luma = luma_of(made.pixels, encoding.luma);
    made.pixels = *luma, made.owner = luma;
  }
  return made;
}

MessageImage image_of(const sensor_msgs::msg::CompressedImage::ConstSharedPtr& message) {
  const auto image = std::make_shared<const AnyImage>(decoded(message->data));
  MessageImage made{.pixels = image->view(), .owner = image};
  const std::string& format = message->format;
  made.is_lossy = format.find("jpeg") != format.npos || format.find("jpg") != format.npos;
  const auto pattern = formats.find(format.substr(0, std::string("bayer_rggb").size()));
  if (pattern != formats.end() && is_bayer(pattern->second) && image->channels() == 1) made.format = pattern->second;
  return made;
}

}  // namespace stereopsis_ros
