// NPY, NumPy's array file: "\x93NUMPY", version, header length, a Python dictionary, numbers.
#include <optional>

#include "core/text.hpp"
#include "io/codecs.hpp"
#include "io/tokens.hpp"

namespace stereopsis::io {
namespace {

struct Header {
  std::string type;  // such as "<f4"
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

[[noreturn]] void malformed(std::string_view rest) {
  throw Error(ErrorCategory::format, text("the NPY header differs from the format of NumPy, from '",
                                          Tokens::printable(rest), "' on; write the file with numpy.save"));
}

// Parses the dictionary {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }, whose keys may be in any order.
class Dictionary {
 public:
  explicit Dictionary(std::string_view text) : rest_(text) {}

  Header read() {
    Header header;
    int found = 0;
    expect("{");
    while (!accept("}")) {
      const std::string key = quoted();
      expect(":");
      if (key == "descr")
        header.type = quoted();
      else if (key == "fortran_order")
        header.fortran_order = flag();
      else if (key == "shape")
        header.shape = numbers();
      else
        malformed(key);
      found |= key == "descr" ? 1 : key == "shape" ? 2 : 4;
      if (!accept(",") && !rest_.starts_with('}')) malformed(rest_);
    }
    if (found != 7)
      throw Error(ErrorCategory::format,
                  "the NPY header lacks descr, fortran_order or shape; write the file with numpy.save");
    return header;
  }

 private:
  bool accept(std::string_view token) {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n"), rest_.size()));
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n"), rest_.size()));
    return true;
  }
  void expect(std::string_view token) {
    if (!accept(token)) malformed(rest_);
  }
  std::string quoted() {
    const char quote = accept("'") ? '\'' : '"';
    if (quote == '"') expect("\"");
    const std::size_t length = rest_.find(quote);
    if (length == std::string_view::npos) malformed(rest_);
    const std::string value(rest_.substr(0, length));
    rest_.remove_prefix(length);
    expect({&quote, 1});
    return value;
  }
  bool flag() {
    if (accept("True")) return true;
    expect("False");
    return false;
  }
  std::vector<std::int64_t> numbers() {
    std::vector<std::int64_t> values;
    expect("(");
    while (!accept(")")) {
      const std::size_t digits = std::min(rest_.find_first_not_of("-0123456789"), rest_.size());
      const auto value = parse_number<std::int64_t>(rest_.substr(0, digits));
      if (!value) malformed(rest_);
      values.push_back(*value);
      rest_.remove_prefix(digits);
      if (!accept(",") && !rest_.starts_with(')')) malformed(rest_);
    }
    return values;
  }

  std::string_view rest_;
};

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::vector<std::string> parts;
  for (const std::int64_t n : shape) parts.push_back(text(n));
  return text('(', join(parts, ", "), ')');
}

struct Layout {
  Claim claim;
  std::endian order;
  bool fortran_order;
};

// `File` is the type of the numbers in the file, `T` the type of the pixels.
template <class File, class T>
AnyImage read_numbers(const Layout& layout, Bytes data) {
  check(layout.claim, data.size());
  const auto [format, width, height, channels, bits] = layout.claim;
  const std::int64_t step_x = layout.fortran_order ? height : channels;
  const std::int64_t step_y = layout.fortran_order ? 1 : width * channels;
  const std::int64_t step_channel = layout.fortran_order ? height * width : 1;
  Image<T> image(static_cast<int>(width), static_cast<int>(height), channels);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < channels; ++c) {
        const std::int64_t index = y * step_y + x * step_x + c * step_channel;
        image(x, y, c) =
            static_cast<T>(load<File>(data.data() + index * static_cast<std::int64_t>(sizeof(File)), layout.order));
      }
  return image;
}

AnyImage white_where_true(AnyImage image) {
  auto& pixels = std::get<Image<std::uint8_t>>(image.pixels);
  for (int y = 0; y < pixels.height(); ++y)
    for (int i = 0; i < pixels.width() * pixels.channels(); ++i) pixels.row(y)[i] = pixels.row(y)[i] != 0 ? 255 : 0;
  return image;
}

template <class T>
std::string write_numbers(ImageView<const T> image, std::string file) {
  const std::size_t count = static_cast<std::size_t>(image.width) * image.channels;
  file.reserve(file.size() + sizeof(T) * count * image.height);
  for (int y = 0; y < image.height; ++y) {
    if constexpr (std::endian::native == std::endian::little)
      file.append(reinterpret_cast<const char*>(image.row(y)), sizeof(T) * count);
    else
      for (std::size_t i = 0; i < count; ++i) append(file, image.row(y)[i], std::endian::little);
  }
  return file;
}

struct HeaderAndLength {
  Header header;
  std::size_t length;  // number of bytes before the numbers
};

HeaderAndLength read_header(Bytes file) {
  constexpr std::size_t before_length = 8;
  const bool wide = file.size() > 6 && file[6] != std::byte{1};  // versions 2 and 3
  const std::size_t start = before_length + (wide ? 4 : 2);
  if (file.size() < start) throw Error(ErrorCategory::format, "the NPY file ends inside its header; it is cut off");
  const std::byte* length_at = file.data() + before_length;
  const std::size_t length =
      wide ? load<std::uint32_t>(length_at, std::endian::little) : load<std::uint16_t>(length_at, std::endian::little);
  if (file.size() - start < length)
    throw Error(ErrorCategory::format, "the NPY file ends inside its header; it is cut off");
  return {Dictionary(text_of(file.subspan(start, length))).read(), start + length};
}

// Removes dimensions of 1 around an image: (1, height, width, 1) becomes (height, width).
void drop_single_dimensions(std::vector<std::int64_t>& shape) {
  while (shape.size() > 3 && shape.front() == 1) shape.erase(shape.begin());
  while (shape.size() > 2 && shape.back() == 1) shape.pop_back();
  if (shape.size() == 3 && shape.front() == 1 && shape.back() != 3) shape.erase(shape.begin());
}

}  // namespace

NpyHeader npy_header(Bytes head) {
  const auto [header, length] = read_header(head);
  const auto bytes_of_number = header.type.size() == 3 ? parse_number<int>(header.type.substr(2)) : std::nullopt;
  if (header.shape.size() < 2 || !bytes_of_number)
    throw Error(ErrorCategory::format,
                text("the NPY array has the shape ", shape_text(header.shape), " and the type '",
                     Tokens::printable(header.type),
                     "'; an image or a cost volume must have at least 2 dimensions and numbers"));
  auto bytes = static_cast<std::uintmax_t>(*bytes_of_number);
  for (const std::int64_t count : header.shape) bytes *= static_cast<std::uintmax_t>(count);
  return {{static_cast<int>(header.shape[1]), static_cast<int>(header.shape[0])}, length + bytes};
}

Decoded decode_npy(Bytes file, bool is_volume) {
  auto [header, header_bytes] = read_header(file);
  if (!is_volume) drop_single_dimensions(header.shape);
  const Bytes data = file.subspan(header_bytes);

  const auto& shape = header.shape;
  const std::int64_t channels = shape.size() == 3 ? shape[2] : 1;
  constexpr std::int64_t most_disparities = 16384;
  if (is_volume && (shape.size() != 3 || channels < 1 || channels > most_disparities))
    throw Error(ErrorCategory::unsupported, text("the NPY array has the shape ", shape_text(shape),
                                                 "; a cost volume must have the shape (height, width, disparities), "
                                                 "with a number of disparities of at most ",
                                                 most_disparities));
  if (!is_volume && ((shape.size() != 2 && shape.size() != 3) || (channels != 1 && channels != 3)))
    throw Error(ErrorCategory::unsupported,
                text("the NPY array has the shape ", shape_text(shape),
                     "; an image must have the shape (height, width) or (height, width, 3)"));
  const std::string number = header.type.substr(std::min<std::size_t>(1, header.type.size()));
  const bool big = header.type.starts_with('>');
  const bool has_order = big || header.type.starts_with('<');
  const bool fortran_order = header.fortran_order;
  const auto layout = [&](int bits) {
    return Layout{{"NPY", shape[1], shape[0], static_cast<int>(channels), bits},
                  big ? std::endian::big : std::endian::little,
                  fortran_order};
  };
  if (number == "b1") return {white_where_true(read_numbers<std::uint8_t, std::uint8_t>(layout(8), data))};
  if (number == "u1") return {read_numbers<std::uint8_t, std::uint8_t>(layout(8), data)};
  if (number == "u2" && has_order) return {read_numbers<std::uint16_t, std::uint16_t>(layout(16), data)};
  if (number == "i2" && has_order && !is_volume) return {read_numbers<std::int16_t, float>(layout(16), data), {}, true};
  if (number == "f4" && has_order) return {read_numbers<float, float>(layout(32), data)};
  if (number == "f8" && has_order) return {read_numbers<double, float>(layout(64), data)};
  throw Error(ErrorCategory::unsupported,
              text("the NPY array has the type '", Tokens::printable(header.type), "'; it must be uint8, uint16, ",
                   is_volume ? "" : "int16, ", "float32 or float64, so convert it with astype"));
}

std::string encode_npy(AnyImageView image, bool is_volume) {
  const char* type = image.type == PixelType::u8 ? "|u1" : image.type == PixelType::u16 ? "<u2" : "<f4";
  std::string header = text("{'descr': '", type, "', 'fortran_order': False, 'shape': (", image.height, ", ",
                            image.width, image.channels == 1 && !is_volume ? "" : text(", ", image.channels), "), }");
  constexpr std::size_t prefix = 10;
  header.resize((prefix + header.size() + 1 + 63) / 64 * 64 - prefix - 1, ' ');  // aligns the numbers to 64 bytes
  header += '\n';
  std::string file("\x93NUMPY\x01\x00", 8);
  append(file, static_cast<std::uint16_t>(header.size()), std::endian::little);
  file += header;
  return with_pixels(image, [&](auto pixels) { return write_numbers(pixels, std::move(file)); });
}

}  // namespace stereopsis::io
