// Lists of pairs: text files (.csv, .tsv, .txt) with the paths of images.
#pragma once

#include <array>

#include "sources/frames.hpp"

namespace stereopsis::sources {

bool is_list(const std::filesystem::path& path);

// Reads a list of paths, which are relative to its folder: a left and a right image in each line or, with `views` 1, an
// image that holds both views. Lines that begin with # are comments. Throws Error(call) for a line that cannot be used.
std::array<Frames, 2> frames_of_list(const std::filesystem::path& list, std::size_t views);

}  // namespace stereopsis::sources
