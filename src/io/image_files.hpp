// Selects the codec of a file: by its contents for reading, by its name for writing.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "io/codecs.hpp"

namespace stereopsis::io {

enum class Format { png, pnm, jpeg, tiff, pfm, npy, webp, bmp, jpeg2000 };

// Throws Error(format) if the file exists and has the name of a video, which may be too large to read.
void check_no_video(const std::filesystem::path& file);
// Throws Error(format) if the format of the contents is not supported.
Format format_of(Bytes contents);
// Throws Error(format) if the contents hold several pictures and none is chosen.
Decoded decode(Format format, Bytes contents, Values values, std::optional<std::size_t> picture = {});

// The contents of a file, and the picture that its name chooses.
struct Contents {
  std::string bytes;
  std::optional<std::size_t> picture;
};
Contents read_contents(const std::filesystem::path& given);

// Throws Error(call) if images cannot be written with this extension.
Format format_of(const std::filesystem::path& file);
// Throws Error(call) if the format cannot store pixels of this type.
std::string encode(Format format, AnyImageView image);
// Throws Error(unsupported) if this build lacks the library that writes files with this extension.
void check_can_write(const std::filesystem::path& file);

}  // namespace stereopsis::io
