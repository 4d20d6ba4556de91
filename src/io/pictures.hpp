// Files that hold several pictures: pages of a TIFF, pictures of an MPO, and views in one picture (JPS). The last part
// of a name, as in pair.tif[1], selects a picture; the first one is [0].
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <vector>

#include "io/codecs.hpp"

namespace stereopsis::io {

// Random access to the contents of a file, so that a page is read without the others.
class FileBytes {
 public:
  explicit FileBytes(Bytes contents) : contents_(contents), size_(contents.size()) {}
  explicit FileBytes(const std::filesystem::path& file);

  std::uint64_t size() const { return size_; }
  // Reads all bytes of `to`. Returns false if the file ends before.
  bool read(std::uint64_t offset, std::span<std::byte> to) const;
  // Returns up to `count` bytes.
  std::vector<std::byte> bytes(std::uint64_t offset, std::uint64_t count) const;

 private:
  Bytes contents_;
  mutable std::ifstream stream_;
  std::uint64_t size_ = 0;
};

// A picture in a file: the offset of its directory in a TIFF, else of its data.
struct Picture {
  std::uint64_t offset = 0;
};

// Returns the pictures of a file, in their order. Reduced images, such as thumbnails and the levels of a pyramid, masks
// and maps of brightness are no pictures. Returns one picture, the whole file, for formats that hold only one.
std::vector<Picture> pictures_of(const FileBytes& file);
std::vector<Picture> pictures_of_tiff(const FileBytes& file);
std::vector<Picture> pictures_of_jpeg(const FileBytes& file);

// The way in which a file stores both views.
enum class Views { none, pictures, side_by_side, top_bottom };

struct StoredViews {
  Views views = Views::none;
  bool right_first = false;
  std::size_t pictures = 1;  // number of pictures in the file
  bool is_views = false;     // the pictures are views of one scene (MPO), and not a sequence
};
// Returns how a file stores both views: as two pictures, or in one picture by the convention of JPS and PNS files or by
// the marker in a JPS. Returns none for a file that cannot be read.
StoredViews stored_views(const std::filesystem::path& file);

// A name of an image. The name of an existing file has no picture, whatever its last part is.
struct ImageName {
  std::filesystem::path file;
  std::optional<std::size_t> picture;
};
ImageName image_name(const std::filesystem::path& given);
std::filesystem::path with_picture(const std::filesystem::path& file, std::size_t picture);

// Returns picture `given`, or the only one if none is given. Throws Error(format) if there is no such picture, or if
// there are several and none is given.
Picture chosen(const std::vector<Picture>& pictures, std::optional<std::size_t> given);

}  // namespace stereopsis::io
