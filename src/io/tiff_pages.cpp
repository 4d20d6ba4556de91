// The directories of a TIFF, each of which describes an image. Baseline TIFF and BigTIFF; see the TIFF 6.0
// specification, section 2, and TIFF Technical Note 1 (SubIFDs).
#include <algorithm>
#include <bit>
#include <optional>
#include <set>

#include "io/pictures.hpp"

namespace stereopsis::io {
namespace {

struct Directory {
  std::uint64_t offset = 0, next = 0;
  std::uint64_t width = 0, height = 0;
  bool is_part = false;  // a reduced image or a mask of another image
  std::uint64_t orientation = 1;
  std::uint64_t exif = 0, focal_35mm = 0;  // offset of the directory of Exif data; FocalLengthIn35mmFilm there
  std::vector<std::uint64_t> children;
};

class Directories {
 public:
  explicit Directories(const FileBytes& file) : file_(file) {
    const auto head = file.bytes(0, 16);
    if (head.size() < 8) return;
    order_ = head[0] == std::byte{'M'} ? std::endian::big : std::endian::little;
    big_ = load<std::uint16_t>(head.data() + 2, order_) == 43;
    if (big_ && head.size() < 16) return;
    first_ = big_ ? load<std::uint64_t>(head.data() + 8, order_) : load<std::uint32_t>(head.data() + 4, order_);
  }

  std::optional<Directory> first() const { return at(first_); }

  // Returns the directory at an offset; nothing if there is none.
  std::optional<Directory> at(std::uint64_t offset) const {
    constexpr std::uint64_t most_entries = 4096;
    const auto count = offset == 0 ? std::nullopt : number(offset, big_ ? 8 : 2);
    if (!count || *count == 0 || *count > most_entries) return {};
    const std::uint64_t start = offset + (big_ ? 8 : 2), bytes = big_ ? 20 : 12;
    Directory found;
    found.offset = offset;
    for (std::uint64_t i = 0; i < *count; ++i) {
      const std::uint64_t entry = start + i * bytes;
      const auto tag = number(entry, 2);
      if (!tag) return {};
      add(found, *tag, entry);
    }
    found.next = number(start + *count * bytes, big_ ? 8 : 4).value_or(0);
    return found;
  }

  // Returns the directories of the chain, without those below them.
  std::vector<Directory> chain() const {
    constexpr std::size_t most = 1 << 16;
    std::vector<Directory> all;
    std::set<std::uint64_t> visited;
    for (auto next = first(); next && visited.insert(next->offset).second && all.size() < most; next = at(next->next))
      all.push_back(*next);
    return all;
  }

 private:
  void add(Directory& to, std::uint64_t tag, std::uint64_t entry) const {
    constexpr std::uint64_t reduced = 1, mask = 4, old_reduced = 2;
    const auto value = [&] {
      const auto all = values(entry);
      return all.empty() ? 0 : all[0];
    };
    switch (tag) {
      case 254: to.is_part |= (value() & (reduced | mask)) != 0; break;
      case 255: to.is_part |= value() == old_reduced; break;
      case 256: to.width = value(); break;
      case 257: to.height = value(); break;
      case 274: to.orientation = value(); break;
      case 34665: to.exif = value(); break;
      case 41989: to.focal_35mm = value(); break;
      case 330: to.children = values(entry); break;
      default: break;
    }
  }

  // Returns the integers of an entry; nothing for other types.
  std::vector<std::uint64_t> values(std::uint64_t entry) const {
    constexpr std::uint64_t most = 256;
    const auto type = number(entry + 2, 2), count = number(entry + 4, big_ ? 8 : 4);
    const std::uint64_t size = !type                        ? 0
                               : *type == 3                 ? 2
                               : *type == 4 || *type == 13  ? 4
                               : *type == 16 || *type == 18 ? 8
                                                            : 0;
    if (size == 0 || !count || *count > most) return {};
    const std::uint64_t field = entry + (big_ ? 12 : 8), inside = big_ ? 8 : 4;
    const auto place = *count * size <= inside ? std::optional(field) : number(field, inside);
    std::vector<std::uint64_t> all;
    for (std::uint64_t i = 0; place && i < *count; ++i)
      if (const auto value = number(*place + i * size, size)) all.push_back(*value);
    return all;
  }

  std::optional<std::uint64_t> number(std::uint64_t offset, std::uint64_t size) const {
    std::byte raw[8];
    if (!file_.read(offset, std::span(raw, static_cast<std::size_t>(size)))) return {};
    return size == 2   ? load<std::uint16_t>(raw, order_)
           : size == 4 ? load<std::uint32_t>(raw, order_)
                       : load<std::uint64_t>(raw, order_);
  }

  const FileBytes& file_;
  std::endian order_ = std::endian::little;
  bool big_ = false;
  std::uint64_t first_ = 0;
};

bool is_smaller(const Directory& a, const Directory& b) { return a.width * a.height < b.width * b.height; }

}  // namespace

// A reduced image may have its full image below it (DNG). Some programs do not mark thumbnails: an image of at most half
// the width and height of the largest one is a reduced image, too.
std::vector<Picture> pictures_of_tiff(const FileBytes& file) {
  const Directories directories(file);
  const std::vector<Directory> chain = directories.chain();
  std::vector<Directory> whole;
  for (const Directory& directory : chain) {
    if (!directory.is_part) {
      whole.push_back(directory);
      continue;
    }
    for (const std::uint64_t child : directory.children)
      if (const auto below = directories.at(child); below && !below->is_part) whole.push_back(*below);
  }
  if (whole.empty()) {
    if (!chain.empty()) whole.push_back(*std::ranges::max_element(chain, is_smaller));
  } else {
    const Directory largest = *std::ranges::max_element(whole, is_smaller);
    std::erase_if(whole,
                  [&](const Directory& d) { return 2 * d.width <= largest.width && 2 * d.height <= largest.height; });
  }
  std::vector<Picture> pictures;
  for (const Directory& directory : whole) pictures.push_back({directory.offset});
  return pictures;
}

PhotoTags photo_tags(Bytes tiff) {
  const FileBytes source(tiff);
  const Directories directories(source);
  const auto first = directories.first();
  if (!first) return {};
  PhotoTags tags;
  if (first->orientation >= 1 && first->orientation <= 8) tags.orientation = static_cast<int>(first->orientation);
  if (const auto exif = directories.at(first->exif)) tags.focal_35mm = static_cast<int>(exif->focal_35mm);
  return tags;
}

}  // namespace stereopsis::io
