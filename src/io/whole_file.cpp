// Distinguishes a complete result file from a truncated one by its header and its size, without decoding pixels.
#include <algorithm>
#include <fstream>
#include <limits>

#include "core/text.hpp"
#include "io/file.hpp"
#include "io/image_files.hpp"
#include "io/tokens.hpp"
#include "stereopsis/io.hpp"

namespace stereopsis {
namespace {

namespace fs = std::filesystem;
using io::Bytes;

// The beginning and the end of a file, large enough for every header and trailer.
struct Ends {
  std::string head, tail;
  std::uintmax_t size = 0;
};

Ends ends_of(const fs::path& file) {
  constexpr std::uintmax_t most = 4096;
  Ends ends{{}, {}, fs::file_size(file)};
  const auto count = static_cast<std::size_t>(std::min(ends.size, most));
  std::ifstream stream(file, std::ios::binary);
  const auto read = [&](std::string& part, std::uintmax_t from) {
    part.resize(count);
    stream.seekg(static_cast<std::streamoff>(from));
    stream.read(part.data(), static_cast<std::streamsize>(count));
  };
  read(ends.head, 0);
  read(ends.tail, ends.size - count);
  if (!stream) throw Error(ErrorCategory::file, text(file.string(), " cannot be read"));
  return ends;
}

// The size of the image and of the file, according to the header.
struct Announced {
  Size size;
  std::uintmax_t bytes = 0;  // size of the whole file
};

std::uintmax_t data_bytes(Size size, int channels, int bytes) {
  return static_cast<std::uintmax_t>(size.width) * static_cast<std::uintmax_t>(size.height) *
         static_cast<std::uintmax_t>(channels * bytes);
}

Size size_in(io::Tokens& tokens) {
  constexpr int any = std::numeric_limits<int>::max();
  const int width = tokens.integer("width", 1, any);
  return {width, tokens.integer("height", 1, any)};
}

Announced pfm(const Ends& ends) {
  io::Tokens tokens("PFM", ends.head);
  const int channels = tokens.next("magic number") == "PF" ? 3 : 1;
  const Size size = size_in(tokens);
  tokens.next("scale");
  return {size, ends.head.size() - tokens.data().size() + data_bytes(size, channels, 4)};
}

// Supports only the binary variants, which are the ones that this library writes.
Announced pnm(const Ends& ends) {
  io::Tokens tokens("PNM", ends.head);
  const int channels = tokens.next("magic number") == "P6" ? 3 : 1;
  const Size size = size_in(tokens);
  const int bytes = tokens.integer("maxval", 1, 65535) > 255 ? 2 : 1;
  return {size, ends.head.size() - tokens.data().size() + data_bytes(size, channels, bytes)};
}

Announced npy(const Ends& ends) {
  const io::NpyHeader header = io::npy_header(io::bytes_of(ends.head));
  return {header.size, header.file_bytes};
}

Announced png(const Ends& ends) {
  constexpr std::string_view end("\0\0\0\0IEND\xae\x42\x60\x82", 12);
  constexpr std::size_t width_at = 16, header = 33;
  if (ends.size < header || !ends.tail.ends_with(end)) return {};
  const auto* bytes = io::bytes_of(ends.head).data() + width_at;
  return {{io::load<std::int32_t>(bytes, std::endian::big), io::load<std::int32_t>(bytes + 4, std::endian::big)},
          ends.size};
}

Announced jpeg(const Ends& ends, const fs::path& file) {
  if (!ends.tail.ends_with("\xff\xd9")) return {};
  return {read_image(file).size(), ends.size};
}

// A cloud has no size in pixels.
Announced ply(const Ends& ends) {
  constexpr std::string_view end = "end_header\n", vertices = "element vertex ";
  const std::size_t length = ends.head.find(end), count_at = ends.head.find(vertices);
  if (length == std::string::npos || count_at > length) return {};
  const std::size_t digits = count_at + vertices.size();
  const auto count =
      parse_number<std::uintmax_t>(std::string_view(ends.head).substr(digits, ends.head.find('\n', digits) - digits));
  std::uintmax_t stride = 0;
  for (const auto& [property, bytes] : {std::pair{"\nproperty float ", 4}, {"\nproperty uchar ", 1}})
    for (std::size_t at = 0; (at = ends.head.find(property, at)) < length; ++at) stride += static_cast<unsigned>(bytes);
  if (!count) return {};
  return {{}, length + end.size() + *count * stride};
}

Announced pcd(const Ends& ends) {
  constexpr std::string_view end = "DATA binary\n", points = "\nPOINTS ", sizes = "\nSIZE ";
  const std::string_view head = ends.head;
  const std::size_t length = head.find(end), count_at = head.find(points), sizes_at = head.find(sizes);
  if (std::max({length, count_at, sizes_at}) == std::string::npos) return {};
  const auto line_at = [&](std::size_t at) { return head.substr(at, head.find('\n', at) - at); };
  const auto count = parse_number<std::uintmax_t>(line_at(count_at + points.size()));
  const std::string_view fields = line_at(sizes_at + sizes.size());  // "4 4 4": fields of 4 bytes each
  if (!count) return {};
  return {{}, length + end.size() + *count * 4 * static_cast<std::uintmax_t>(std::ranges::count(fields, '4'))};
}

Announced announced(const fs::path& file, const Ends& ends) {
  if (std::string_view(ends.head).starts_with("# .PCD")) return pcd(ends);
  if (std::string_view(ends.head).starts_with("ply\n")) return ply(ends);
  switch (io::format_of(io::bytes_of(ends.head))) {
    case io::Format::png: return png(ends);
    case io::Format::pnm: return pnm(ends);
    case io::Format::pfm: return pfm(ends);
    case io::Format::npy: return npy(ends);
    case io::Format::jpeg: return jpeg(ends, file);
    default:
      return {read_image(file).size(),
              ends.size};  // other formats are never written, and the parts of a TIFF may be in any order
  }
}

}  // namespace

bool is_whole(const fs::path& file, Size size) try {
  const Ends ends = ends_of(file);
  const Announced whole = announced(file, ends);
  const bool any_size = size == Size{} || whole.size == Size{};
  return ends.size > 0 && whole.bytes == ends.size && (any_size || whole.size == size);
} catch (const Error&) {
  return false;
} catch (const fs::filesystem_error&) {
  return false;
}

}  // namespace stereopsis
