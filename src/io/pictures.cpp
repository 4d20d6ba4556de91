#include "io/pictures.hpp"

#include <algorithm>

#include "core/text.hpp"
#include "io/file.hpp"
#include "io/image_files.hpp"
#include "stereopsis/io.hpp"

namespace stereopsis {
namespace io {

namespace fs = std::filesystem;

// A pipe can be read only once, so that it has no contents here.
FileBytes::FileBytes(const fs::path& file) {
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return;
  stream_.open(file, std::ios::binary);
  size_ = fs::file_size(file, ignored);
  if (ignored || !stream_) size_ = 0;
}

bool FileBytes::read(std::uint64_t offset, std::span<std::byte> to) const {
  if (offset > size_ || to.size() > size_ - offset) return false;
  if (!stream_.is_open()) {
    std::ranges::copy(contents_.subspan(static_cast<std::size_t>(offset), to.size()), to.begin());
    return true;
  }
  stream_.clear();
  stream_.seekg(static_cast<std::streamoff>(offset));
  stream_.read(reinterpret_cast<char*>(to.data()), static_cast<std::streamsize>(to.size()));
  return static_cast<bool>(stream_);
}

std::vector<std::byte> FileBytes::bytes(std::uint64_t offset, std::uint64_t count) const {
  std::vector<std::byte> found(static_cast<std::size_t>(std::min(count, size_ - std::min(offset, size_))));
  if (!read(offset, found)) found.clear();
  return found;
}

std::vector<Picture> pictures_of(const FileBytes& file) {
  const auto head = file.bytes(0, 4);
  const std::string_view start = text_of(head);
  std::vector<Picture> pictures;
  if (start.starts_with("II") || start.starts_with("MM")) pictures = pictures_of_tiff(file);
  if (start.starts_with("\xff\xd8\xff")) pictures = pictures_of_jpeg(file);
  return pictures.empty() ? std::vector<Picture>(1) : pictures;
}

ImageName image_name(const fs::path& given) {
  const std::string name = given.string();
  const std::size_t bracket = name.rfind('[');
  std::error_code ignored;
  if (bracket == std::string::npos || bracket == 0 || !name.ends_with(']') || fs::exists(given, ignored))
    return {given, {}};
  const auto picture = parse_number<std::size_t>(std::string_view(name).substr(bracket + 1, name.size() - bracket - 2));
  const fs::path file = name.substr(0, bracket);
  if (!picture || !fs::exists(file, ignored) || fs::is_directory(file, ignored)) return {given, {}};
  return {file, picture};
}

fs::path with_picture(const fs::path& file, std::size_t picture) { return text(file.string(), '[', picture, ']'); }

Picture chosen(const std::vector<Picture>& pictures, std::optional<std::size_t> given) {
  const std::size_t count = pictures.size();
  const std::string names = count == 1 ? "[0]" : text("[0] to [", count - 1, ']');
  if (given && *given >= count)
    throw Error(ErrorCategory::format, text("there is no picture [", *given, "]; the file holds ", count,
                                            count == 1 ? " picture, " : " pictures, ", names));
  if (!given && count > 1)
    throw Error(ErrorCategory::format,
                text("the file holds ", count, " pictures, and one is required; choose it by a number after the name, ",
                     names, ", or write each picture to a file of its own"));
  return pictures[given.value_or(0)];
}

}  // namespace io

std::size_t picture_count(const std::filesystem::path& file) { return io::pictures_of(io::FileBytes(file)).size(); }

std::filesystem::path image_file(const std::filesystem::path& name) { return io::image_name(name).file; }

}  // namespace stereopsis
