// Sequences of files as inputs and outputs of a call.
#pragma once

#include <filesystem>
#include <string>

#include "call_files.hpp"
#include "sources/frames.hpp"

namespace stereopsis::command {

using sources::file_exists, sources::find_frames, sources::Frames, sources::frames_of, sources::is_file,
    sources::pair_up, sources::selected, sources::Unpaired;

// Registers the files of all frames. `what` names them in errors.
void reads(CallFiles& files, const Frames& frames, const std::string& what);

// Returns the output file of frame i. For a sequence, `given` is a pattern, or a directory in which the file gets the
// stem of the left file and `extension`. `option` names the output in errors.
std::filesystem::path output_file(const std::filesystem::path& given, const Frames& left, std::size_t i,
                                  const std::string& extension, const std::string& option);

}  // namespace stereopsis::command
