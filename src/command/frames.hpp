// Sequences of files as inputs of a call.
#pragma once

#include "jobs/call_files.hpp"
#include "sources/frames.hpp"

namespace stereopsis::command {

using jobs::CallFiles;
using sources::file_exists, sources::find_frames, sources::Frames, sources::frames_of, sources::is_file,
    sources::pair_up, sources::selected, sources::Unpaired;

}  // namespace stereopsis::command
