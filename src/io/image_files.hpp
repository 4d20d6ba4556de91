// Which codec a file needs: by its contents for reading, by its name for writing.
#pragma once

#include <filesystem>
#include <string>

#include "io/codecs.hpp"

namespace stereopsis::io {

enum class Format { png, pnm, jpeg, tiff, pfm, npy };

// Throws Error(format) for an existing file whose name is that of a video, which may be too large to be read.
void check_no_video(const std::filesystem::path& file);
// Throws Error(format) where the contents are none of them.
Format format_of(Bytes contents);
AnyImage decode(Format format, Bytes contents, Values values);

// Throws Error(call) where the extension is none that images are written to.
Format format_of(const std::filesystem::path& file);
// Throws Error(call) where the format can't hold such pixels.
std::string encode(Format format, AnyImageView image);

}  // namespace stereopsis::io
