// The sidecar file that --resume reads. Every run of a sequence leaves, beside its results, a sidecar that says which call it was. A frame
// is this call's, and whole, if its files are not older than the sidecar and than what they come from, are as long as
// their headers announce, and have the size of this call's results.
#pragma once

#include <filesystem>
#include <vector>

#include "common.hpp"

namespace stereopsis::command {

// A result's file, and its size in pixels; 0×0 for a cloud, and for a picture with a legend.
struct OutputFile {
  std::filesystem::path file;
  Size size;
};

// A frame's inputs, and its outputs in the order in which they are written.
struct FrameFiles {
  std::vector<std::filesystem::path> inputs;
  std::vector<OutputFile> outputs;
};

// {"call": all that a result depends on, but for the images themselves, by names that a user knows, …}
Json read_sidecar(const std::filesystem::path& sidecar);

// Which frames an earlier run of this call has left whole. Begins the sidecar with `contents` where there is none, or nothing is to
// be resumed. Refuses results of another call; `results` is where they are.
std::vector<bool> frames_there(const std::filesystem::path& sidecar, const Json& contents,
                               const std::vector<FrameFiles>& frames, bool resume,
                               const std::filesystem::path& results);

// The lines of calibration files, which a call depends on.
Json lines_of(const std::vector<std::string>& files);

}  // namespace stereopsis::command
