// The sidecar file that --resume reads. Every run of a sequence leaves a sidecar next to its results that identifies
// the call. A frame is complete if its files are as long as their headers announce and have the size of this call's
// results. It belongs to this call if its files are not older than the sidecar and their inputs.
#pragma once

#include <filesystem>
#include <vector>

#include "common.hpp"

namespace stereopsis::command {

// A result's file and its size in pixels; 0×0 for a cloud, and for an image with a legend.
struct OutputFile {
  std::filesystem::path file;
  Size size;
};

// A frame's inputs, and its outputs in the order in which they are written.
struct FrameFiles {
  std::vector<std::filesystem::path> inputs;
  std::vector<OutputFile> outputs;
};

// Reads {"call": everything that a result depends on except the images, by names that a user knows, …}.
Json read_sidecar(const std::filesystem::path& sidecar);

// Returns which frames an earlier run of this call has completed. Creates the sidecar with `contents` if there is none,
// or if nothing is to be resumed. Throws an Error for results of another call; `results` is their location.
std::vector<bool> frames_there(const std::filesystem::path& sidecar, const Json& contents,
                               const std::vector<FrameFiles>& frames, bool resume,
                               const std::filesystem::path& results);

// Returns the lines of calibration files, which a call depends on.
Json lines_of(const std::vector<std::string>& files);

}  // namespace stereopsis::command
