// Reads Windows bitmaps without compression: 1, 4 or 8 bits with a palette, 24 or 32 bits. A palette with only grey
// colours results in a grey image.
#include <cstdlib>

#include "core/text.hpp"
#include "io/codecs.hpp"

namespace stereopsis::io {
namespace {

struct Layout {
  std::size_t header = 0, pixels = 0;  // size of the information header in bytes, and position of the pixels
  std::int64_t width = 0, height = 0;  // a negative height means that rows are stored from top to bottom
  int bits = 0;
  std::size_t colours = 0;  // number of entries of the palette
};

[[noreturn]] void unsupported(const std::string& what) {
  throw Error(ErrorCategory::unsupported,
              text("the BMP has ", what, "; save it without compression, with 8, 24 or 32 bits, or convert it to PNG"));
}

template <class T>
T at(Bytes file, std::size_t position) {
  if (position > file.size() || sizeof(T) > file.size() - position)
    throw Error(ErrorCategory::format, "the BMP ends within its header; the file is cut off");
  return load<T>(file.data() + position, std::endian::little);
}

Layout layout_of(Bytes file) {
  constexpr std::size_t file_header = 14, core_header = 12, info_header = 40;
  Layout l;
  l.pixels = at<std::uint32_t>(file, 10);
  l.header = at<std::uint32_t>(file, file_header);
  if (l.header == core_header) {
    l.width = at<std::uint16_t>(file, 18);
    l.height = at<std::uint16_t>(file, 20);
    l.bits = at<std::uint16_t>(file, 24);
  } else if (l.header >= info_header) {
    l.width = at<std::int32_t>(file, 18);
    l.height = at<std::int32_t>(file, 22);
    l.bits = at<std::uint16_t>(file, 28);
    constexpr std::uint32_t none = 0, bit_fields = 3;
    const auto compression = at<std::uint32_t>(file, 30);
    const bool usual_fields = compression == bit_fields && l.bits == 32 && at<std::uint32_t>(file, 54) == 0xFF0000 &&
                              at<std::uint32_t>(file, 58) == 0xFF00 && at<std::uint32_t>(file, 62) == 0xFF;
    if (compression != none && !usual_fields) unsupported(text("the compression ", compression));
    l.colours = at<std::uint32_t>(file, 46);
  } else {
    throw Error(ErrorCategory::format, text("the BMP has a header of ", l.header, " bytes; the file is damaged"));
  }
  if (l.bits != 1 && l.bits != 4 && l.bits != 8 && l.bits != 24 && l.bits != 32)
    unsupported(text(l.bits, " bits per pixel"));
  const std::size_t most = l.bits <= 8 ? std::size_t{1} << l.bits : 0;
  if (l.colours == 0 || l.colours > most) l.colours = most;
  return l;
}

struct Colour {
  std::uint8_t blue = 0, green = 0, red = 0;
};

// Indices beyond the palette are black.
std::array<Colour, 256> palette_of(Bytes file, const Layout& l) {
  const std::size_t entry = l.header == 12 ? 3 : 4;
  std::array<Colour, 256> palette{};
  for (std::size_t i = 0; i < l.colours; ++i) {
    const std::size_t place = 14 + l.header + i * entry;
    palette[i] = {at<std::uint8_t>(file, place), at<std::uint8_t>(file, place + 1), at<std::uint8_t>(file, place + 2)};
  }
  return palette;
}

}  // namespace

AnyImage decode_bmp(Bytes file) {
  const Layout l = layout_of(file);
  const std::int64_t rows = std::abs(l.height);
  const std::size_t rest = file.size() - std::min(l.pixels, file.size());
  check({"BMP", l.width, rows, 1, l.bits}, rest);
  const std::size_t pitch = (static_cast<std::size_t>(l.width) * l.bits + 31) / 32 * 4;
  if (pitch * static_cast<std::size_t>(rows) > rest)
    throw Error(ErrorCategory::format, text("the BMP has ", rest, " bytes of pixels, and ", l.width, "×", rows, " of ",
                                            l.bits, " bits need ", pitch * rows, "; the file is cut off"));
  const std::array<Colour, 256> palette = palette_of(file, l);
  const bool is_grey = l.bits <= 8 && std::all_of(palette.begin(), palette.end(), [](const Colour& c) {
                         return c.red == c.green && c.green == c.blue;
                       });
  Image<std::uint8_t> image(static_cast<int>(l.width), static_cast<int>(rows), is_grey ? 1 : 3);
  for (int y = 0; y < image.height(); ++y) {
    const std::size_t stored = l.height < 0 ? static_cast<std::size_t>(y) : static_cast<std::size_t>(rows - 1 - y);
    const Bytes row = file.subspan(l.pixels + stored * pitch, pitch);
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(row[i]); };
    for (int x = 0; x < image.width(); ++x) {
      const std::size_t bit = static_cast<std::size_t>(x) * l.bits, place = bit / 8;
      const Colour colour = l.bits > 8 ? Colour{byte(place), byte(place + 1), byte(place + 2)}
                                       : palette[byte(place) >> (8 - l.bits - bit % 8) & ((1U << l.bits) - 1)];
      image(x, y, 0) = colour.red;
      if (is_grey) continue;
      image(x, y, 1) = colour.green;
      image(x, y, 2) = colour.blue;
    }
  }
  return image;
}

}  // namespace stereopsis::io
