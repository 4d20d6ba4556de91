// PNM: P2 and P5 (grey), P3 and P6 (RGB), as text or binary. A sample has one byte if the maxval is at most 255, and
// otherwise two bytes, the more significant one first.
#include <limits>

#include "core/text.hpp"
#include "io/codecs.hpp"
#include "io/tokens.hpp"

namespace stereopsis::io {
namespace {

[[noreturn]] void refuse_sample(int value, int maxval) {
  throw Error(ErrorCategory::format,
              text("the PNM data contain the value ", value, ", which is above the maxval of the header, ", maxval));
}

template <class T>
Image<T> read_samples(Tokens& tokens, bool binary, Size size, int channels, int maxval) {
  Image<T> image(size, channels);
  const auto* data = bytes_of(tokens.data()).data();
  for (int y = 0; y < size.height; ++y)
    for (int i = 0; i < size.width * channels; ++i, data += sizeof(T)) {
      const int value = binary ? load<T>(data, std::endian::big) : tokens.integer("sample", 0, 65535);
      if (value > maxval) refuse_sample(value, maxval);
      image.row(y)[i] = static_cast<T>(value);
    }
  return image;
}

// A binary PNM may hold several images, one after the other.
void check_single(std::string_view data, Size size, int pixel_bytes) {
  const std::size_t bytes = static_cast<std::size_t>(size.width) * size.height * pixel_bytes;
  const std::string_view rest = data.substr(std::min(bytes, data.size()));
  if (rest.size() > 2 && rest[0] == 'P' && rest[1] >= '1' && rest[1] <= '7' && rest[2] <= ' ')
    throw Error(ErrorCategory::format,
                "the file holds several PNM images; write each to a file of its own, for instance with pnmsplit");
}

// Scales values to the full range of T, with rounding to nearest.
template <class T>
void stretch(Image<T>& image, int maxval) {
  constexpr std::int64_t full = (1 << 8 * sizeof(T)) - 1;
  for (int y = 0; y < image.height(); ++y)
    for (int i = 0; i < image.width() * image.channels(); ++i) {
      T& value = image.row(y)[i];
      value = static_cast<T>((2 * value * full + maxval) / (2 * maxval));
    }
}

template <class T>
void append_samples(std::string& file, ImageView<const T> image) {
  for (int y = 0; y < image.height; ++y)
    for (int i = 0; i < image.width * image.channels; ++i) append(file, image.row(y)[i], std::endian::big);
}

}  // namespace

int pnm_maxval(Bytes file) {
  Tokens tokens("PNM", text_of(file));
  for (const char* before : {"magic number", "width", "height"}) tokens.next(before);
  return tokens.integer("maxval", 1, 65535);
}

AnyImage decode_pnm(Bytes file, Values values) {
  Tokens tokens("PNM", text_of(file));
  const std::string_view magic = tokens.next("magic number");
  const int kind = magic.size() == 2 ? magic[1] - '0' : 0;
  if (kind != 2 && kind != 3 && kind != 5 && kind != 6)
    throw Error(ErrorCategory::unsupported, text("the PNM variant '", Tokens::printable(magic),
                                                 "' is not supported; convert it to P2, P3, P5 or P6"));
  constexpr int any = std::numeric_limits<int>::max();
  const Size size{tokens.integer("width", 0, any), tokens.integer("height", 0, any)};
  const int maxval = tokens.integer("maxval", 1, 65535);
  const int channels = kind == 3 || kind == 6 ? 3 : 1;
  const bool binary = kind >= 5;
  const int bits = binary && maxval > 255 ? 16 : 8;
  // In text form, every sample except the last has at least one digit and one space.
  check({"PNM", size.width, size.height, channels, bits}, tokens.data().size() + !binary, binary ? 1 : 0.5);

  if (binary) check_single(tokens.data(), size, channels * bits / 8);

  const int depth = std::bit_width(static_cast<unsigned>(maxval));
  const bool full = maxval == (1 << depth) - 1 && depth >= 8;
  if (maxval <= 255) {
    auto image = read_samples<std::uint8_t>(tokens, binary, size, channels, maxval);
    if (!full && values == Values::intensities) stretch(image, maxval);
    return image;
  }
  auto image = read_samples<std::uint16_t>(tokens, binary, size, channels, maxval);
  if (!full && values == Values::intensities) stretch(image, maxval);
  return {std::move(image), full ? depth : 16};
}

std::string encode_pnm(AnyImageView image) {
  const int maxval = (1 << image.bit_depth) - 1;
  std::string file = text(image.channels == 3 ? "P6\n" : "P5\n", image.width, ' ', image.height, '\n', maxval, '\n');
  if (image.type == PixelType::u8)
    append_samples(file, image.as<std::uint8_t>());
  else
    append_samples(file, image.as<std::uint16_t>());
  return file;
}

}  // namespace stereopsis::io
