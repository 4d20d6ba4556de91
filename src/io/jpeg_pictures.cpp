// The segments of a JPEG that describe several pictures or views: the index of an MPO (APP2 "MPF", CIPA DC-007, 2009)
// and the descriptor of a JPS (APP3 "_JPSJPS_", JPS specification of the VRex file format).
#include <algorithm>
#include <bit>
#include <string>

#include "io/file.hpp"
#include "io/pictures.hpp"

namespace stereopsis::io {
namespace {

using namespace std::string_view_literals;

// The contents of the segments before the pixels of a JPEG.
struct Header {
  std::uint64_t width = 0, height = 0, channels = 0;
  std::uint64_t index = 0;                // offset of the index of pictures, which is a TIFF structure; 0: none
  std::vector<std::byte> index_contents;  // contents of its segment
  std::vector<std::byte> views;           // contents of the descriptor of views; empty: none
  bool is_brightness = false;             // a gain map, which brightens another picture
};

bool contains(const std::vector<std::byte>& bytes, std::string_view part) {
  return text_of(bytes).find(part) != std::string_view::npos;
}

void add_application_segment(Header& header, int marker, std::uint64_t offset, const std::vector<std::byte>& segment) {
  const std::string_view contents = text_of(segment);
  constexpr std::string_view index = "MPF\0"sv, views = "_JPSJPS_"sv;
  if (marker == 0xE2 && contents.starts_with(index) && header.index == 0) {
    header.index = offset + index.size();
    header.index_contents.assign(segment.begin() + index.size(), segment.end());
  }
  if (marker == 0xE3 && contents.starts_with(views)) header.views = segment;
  for (const std::string_view map : {"hdrgm:"sv, "hdrgainmap"sv, "urn:iso:std:iso:ts:21496"sv})
    header.is_brightness |= contains(segment, map) && !contents.starts_with("MPF");
}

// Reads the segments from the beginning of a JPEG at `start` to its pixels.
Header header_of(const FileBytes& file, std::uint64_t start) {
  constexpr int most_segments = 1000;
  Header header;
  std::uint64_t at = start + 2;
  for (int i = 0; i < most_segments; ++i) {
    const auto head = file.bytes(at, 4);
    if (head.size() < 4 || head[0] != std::byte{0xFF}) return header;
    const int marker = std::to_integer<int>(head[1]);
    const std::uint64_t length = load<std::uint16_t>(head.data() + 2, std::endian::big);
    if (marker == 0xDA || length < 2) return header;
    const bool is_frame = marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
    if (is_frame || (marker >= 0xE0 && marker <= 0xEF)) {
      const auto segment = file.bytes(at + 4, length - 2);
      if (is_frame && segment.size() >= 6) {
        header.height = load<std::uint16_t>(segment.data() + 1, std::endian::big);
        header.width = load<std::uint16_t>(segment.data() + 3, std::endian::big);
        header.channels = std::to_integer<std::uint64_t>(segment[5]);
      } else if (!is_frame) {
        add_application_segment(header, marker, at + 4, segment);
      }
    }
    at += 2 + length;
  }
  return header;
}

// An entry of the index.
struct Entry {
  std::uint32_t type = 0;
  std::uint64_t offset = 0;
};

std::vector<Entry> entries_of(const Header& header) {
  constexpr std::uint16_t entries_tag = 0xB002;
  constexpr std::size_t entry_bytes = 16;
  const auto& index = header.index_contents;
  if (index.size() < 10) return {};
  const std::endian order = index[0] == std::byte{'M'} ? std::endian::big : std::endian::little;
  const auto number = [&]<class T>(T, std::size_t at) {
    return at <= index.size() && sizeof(T) <= index.size() - at ? load<T>(index.data() + at, order) : T{};
  };
  const std::size_t directory = number(std::uint32_t{}, 4), tags = number(std::uint16_t{}, directory);
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < tags; ++i) {
    const std::size_t tag = directory + 2 + 12 * i;
    if (number(std::uint16_t{}, tag) != entries_tag) continue;
    const std::size_t count = number(std::uint32_t{}, tag + 4) / entry_bytes, first = number(std::uint32_t{}, tag + 8);
    for (std::size_t k = 0; k < count && first + (k + 1) * entry_bytes <= index.size(); ++k) {
      const std::size_t at = first + k * entry_bytes;
      const std::uint64_t offset = number(std::uint32_t{}, at + 8);
      entries.push_back({number(std::uint32_t{}, at) & 0xFFFFFF, offset == 0 ? 0 : header.index + offset});
    }
  }
  return entries;
}

}  // namespace

// The first picture, and all that may be other views of the same size; not thumbnails (type 1) and maps of brightness.
std::vector<Picture> pictures_of_jpeg(const FileBytes& file) {
  const Header first = header_of(file, 0);
  std::vector<Picture> pictures(1);
  for (const Entry& entry : entries_of(first)) {
    const bool is_view = entry.type == 0 || entry.type >> 16 == 2;
    if (entry.offset == 0 || !is_view || entry.offset >= file.size()) continue;
    const Header header = header_of(file, entry.offset);
    if (header.width != first.width || header.height != first.height || header.channels != first.channels ||
        header.is_brightness)
      continue;
    pictures.push_back({entry.offset});
  }
  return pictures;
}

StoredViews stored_views(const std::filesystem::path& file) {
  const FileBytes source(file);
  StoredViews stored;
  stored.pictures = pictures_of(source).size();
  stored.is_views = stored.pictures > 1 && text_of(source.bytes(0, 3)) == "\xff\xd8\xff";
  if (stored.pictures == 2) stored.views = Views::pictures;
  const std::string extension = lower_extension(file);
  if (extension == ".jps" || extension == ".pns") {
    stored.views = Views::side_by_side;
    stored.right_first = true;
  }
  if (text_of(source.bytes(0, 3)) != "\xff\xd8\xff") return stored;
  // The bytes after the name and a length: separation, flags, layout and type (1: stereo), as the low byte is last.
  const std::vector<std::byte> views = header_of(source, 0).views;
  constexpr std::size_t flags = 11, layout = 12, type = 13;
  constexpr std::byte left_first{4};
  if (views.size() <= type || views[type] != std::byte{1}) return stored;
  stored.right_first = (views[flags] & left_first) == std::byte{};
  stored.views = views[layout] == std::byte{2}   ? Views::side_by_side
                 : views[layout] == std::byte{3} ? Views::top_bottom
                                                 : Views::none;  // interleaved, or an anaglyph
  return stored;
}

}  // namespace stereopsis::io
