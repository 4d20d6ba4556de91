// Builds files with several pictures for tests: TIFF with pages, MPO, JPS. Picture n is grey with the value 10·n.
#pragma once

#include <string>
#include <vector>

#include "io/codecs.hpp"

namespace stereopsis::test {

struct Page {
  int number = 1;
  Size size = {16, 8};
  std::uint32_t subfile = 0;        // NewSubfileType
  std::vector<Page> children = {};  // SubIFDs, at most one
  std::uint32_t photometric = 1;
};

// The bytes of a directory of 11 entries before the offset of the next one.
inline std::size_t directory_bytes(bool big) { return big ? 20 * 11 + 8 : 12 * 11 + 2; }

// Appends a page, and returns the place of the offset of the next one.
inline std::size_t append_page(std::string& file, const Page& page, bool big) {
  std::uint64_t child = 0;
  const auto append = [&](auto value) { io::append(file, value, std::endian::little); };
  const auto number = [&](std::uint64_t value) { big ? append(value) : append(static_cast<std::uint32_t>(value)); };
  for (const Page& below : page.children) {
    child = append_page(file, below, big) - directory_bytes(big);
  }
  const std::uint64_t pixels = file.size(), bytes = static_cast<std::uint64_t>(page.size.width) * page.size.height;
  file.append(bytes, static_cast<char>(10 * page.number));
  const std::vector<std::pair<std::uint16_t, std::uint64_t>> tags = {{254, page.subfile},
                                                                     {256, page.size.width},
                                                                     {257, page.size.height},
                                                                     {258, 8},
                                                                     {259, 1},
                                                                     {262, page.photometric},
                                                                     {273, pixels},
                                                                     {277, 1},
                                                                     {278, page.size.height},
                                                                     {279, bytes},
                                                                     {330, child}};
  big ? append(static_cast<std::uint64_t>(tags.size())) : append(static_cast<std::uint16_t>(tags.size()));
  for (const auto& [tag, value] : tags) {
    append(tag);
    append(std::uint16_t{4});
    number(1);
    append(static_cast<std::uint32_t>(value));
    if (big) append(std::uint32_t{0});
  }
  const std::size_t next = file.size();
  number(0);
  return next;
}

inline std::string tiff_of(const std::vector<Page>& pages, bool big = false) {
  std::string file = big ? std::string("II+\0\x08\0\0\0", 8) : std::string("II*\0", 4);
  std::size_t place = file.size();
  io::append(file, std::uint32_t{0}, std::endian::little);
  if (big) io::append(file, std::uint32_t{0}, std::endian::little);
  for (const Page& page : pages) {
    const std::size_t next = append_page(file, page, big);
    std::string offset;
    io::append(offset, static_cast<std::uint32_t>(next - directory_bytes(big)), std::endian::little);
    file.replace(place, 4, offset);
    place = next;
  }
  return file;
}

// Returns a JPEG with a segment after its first two bytes.
inline std::string with_segment(const std::string& jpeg, char marker, const std::string& contents) {
  std::string segment{'\xff', marker};
  io::append(segment, static_cast<std::uint16_t>(contents.size() + 2), std::endian::big);
  return jpeg.substr(0, 2) + segment + contents + jpeg.substr(2);
}

struct MpoPicture {
  int number = 1;
  Size size = {16, 8};
  std::uint32_t type = 0x020002;  // disparity
  std::string metadata = {};      // contents of an APP1 segment
};

inline std::string mpo(const std::vector<MpoPicture>& pictures) {
  std::vector<std::string> files;
  for (const MpoPicture& picture : pictures) {
    std::string one =
        io::encode_jpeg(Image<std::uint8_t>(picture.size, 1, static_cast<std::uint8_t>(10 * picture.number)));
    if (!picture.metadata.empty()) one = with_segment(one, '\xe1', picture.metadata);
    files.push_back(one);
  }
  const auto append = [](std::string& to, auto value) { io::append(to, value, std::endian::little); };
  const std::size_t count = files.size(), index_bytes = 8 + 2 + 12 + 4 + 16 * count;
  constexpr std::size_t before = 2 + 4 + 4;  // bytes of the file before the index
  std::size_t offset = files[0].size() + 4 + 4 + index_bytes;
  std::string index("II*\0\x08\0\0\0", 8);
  append(index, std::uint16_t{1});
  append(index, std::uint16_t{0xB002});
  append(index, std::uint16_t{7});
  append(index, static_cast<std::uint32_t>(16 * count));
  append(index, std::uint32_t{8 + 2 + 12 + 4});
  append(index, std::uint32_t{0});
  for (std::size_t i = 0; i < count; ++i) {
    append(index, i == 0 ? std::uint32_t{0x030000} : pictures[i].type);
    append(index, static_cast<std::uint32_t>(i == 0 ? offset : files[i].size()));
    append(index, static_cast<std::uint32_t>(i == 0 ? 0 : offset - before));
    append(index, std::uint32_t{0});
    if (i > 0) offset += files[i].size();
  }
  std::string file = with_segment(files[0], '\xe2', std::string("MPF\0", 4) + index);
  for (std::size_t i = 1; i < count; ++i) file += files[i];
  return file;
}

// A picture of two views with the descriptor of JPS: layout 1 interleaved, 2 side by side, 3 over one another; flag 4:
// the left view is the first.
inline std::string jps(char layout, char flags) {
  Image<std::uint8_t> both({16, 8}, 1, 10);
  for (int y = 0; y < 8; ++y)
    for (int x = 8; x < 16; ++x) both(x, y) = 20;
  return with_segment(io::encode_jpeg(both), '\xe3',
                      std::string("_JPSJPS_\0\4", 10) + std::string{'\0', flags, layout, '\1', '\0', '\0'});
}

}  // namespace stereopsis::test
