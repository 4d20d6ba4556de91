// Selects the codec of a file: by its contents for reading, by its name for writing.
#pragma once

#include <filesystem>
#include <string>

#include "io/codecs.hpp"

namespace stereopsis::io {

enum class Format { png, pnm, jpeg, tiff, pfm, npy, webp, bmp, jpeg2000 };

// Throws Error(format) for an existing file with the name of a video, which may be too large to read.
void check_no_video(const std::filesystem::path& file);
// Throws Error(format) if the contents are in no supported format.
Format format_of(Bytes contents);
Decoded decode(Format format, Bytes contents, Values values);

// Throws Error(call) if images cannot be written with this extension.
Format format_of(const std::filesystem::path& file);
// Throws Error(call) if the format cannot hold such pixels.
std::string encode(Format format, AnyImageView image);

}  // namespace stereopsis::io
