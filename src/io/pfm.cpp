// PFM: "Pf" (one channel) or "PF" (RGB), width, height, scale, then floats from the bottom row up. The sign of the
// scale is the byte order (negative: little-endian). The magnitude of the scale is ignored, because disparity files of
// the Middlebury benchmark have a magnitude that must not be applied.
#include <cmath>
#include <limits>

#include "core/text.hpp"
#include "io/codecs.hpp"
#include "io/tokens.hpp"

namespace stereopsis::io {

AnyImage decode_pfm(Bytes file) {
  Tokens tokens("PFM", text_of(file));
  const std::string_view magic = tokens.next("magic number");
  if (magic != "Pf" && magic != "PF")
    throw Error(ErrorCategory::format,
                text("the PFM file begins with '", Tokens::printable(magic), "'; it must begin with Pf or PF"));
  constexpr int any = std::numeric_limits<int>::max();
  const Size size{tokens.integer("width", 0, any), tokens.integer("height", 0, any)};
  const std::string_view scale_text = tokens.next("scale");
  const auto scale = parse_number<double>(scale_text);
  if (!scale || !std::isfinite(*scale) || *scale == 0)
    throw Error(ErrorCategory::format, text("the scale of the PFM file is '", Tokens::printable(scale_text),
                                            "'; it must be a number other than 0"));
  const int channels = magic == "PF" ? 3 : 1;
  Bytes data = bytes_of(tokens.data());
  check({"PFM", size.width, size.height, channels, 32}, data.size());

  Image<float> image(size, channels);
  const int row_samples = size.width * channels;
  const std::size_t needed = sizeof(float) * static_cast<std::size_t>(row_samples) * size.height;
  // The header line ended with \r\n.
  if (data.size() == needed + 1 && data.front() == std::byte{'\n'}) data = data.subspan(1);
  const std::byte* next = data.data();
  for (int y = size.height - 1; y >= 0; --y)
    for (int i = 0; i < row_samples; ++i, next += sizeof(float))
      image.row(y)[i] = load<float>(next, *scale < 0 ? std::endian::little : std::endian::big);
  return image;
}

std::string encode_pfm(ImageView<const float> image) {
  std::string file = text(image.channels == 3 ? "PF\n" : "Pf\n", image.width, ' ', image.height, "\n-1.0\n");
  const std::size_t row_samples = static_cast<std::size_t>(image.width) * image.channels;
  file.reserve(file.size() + sizeof(float) * row_samples * image.height);
  for (int y = image.height - 1; y >= 0; --y)
    if constexpr (std::endian::native == std::endian::little)
      file.append(reinterpret_cast<const char*>(image.row(y)), sizeof(float) * row_samples);
    else
      for (std::size_t i = 0; i < row_samples; ++i) append(file, image.row(y)[i], std::endian::little);
  return file;
}

}  // namespace stereopsis::io
