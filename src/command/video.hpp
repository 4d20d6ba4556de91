// Decodes and encodes videos with OpenCV.
#pragma once

#include <filesystem>
#include <memory>

#include "jobs/video_file.hpp"
#include "stereopsis/pair_source.hpp"

namespace stereopsis::command {

// Throws Error(file), and Error(unsupported) without OpenCV.
std::shared_ptr<Video> open_video(const std::filesystem::path& file);

// See jobs::CreateVideo. The video gets its name when it is complete.
std::shared_ptr<jobs::VideoFile> create_video(const std::filesystem::path& file, double rate);

}  // namespace stereopsis::command
