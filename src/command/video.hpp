// Decodes and encodes videos with OpenCV if it is installed: video.cpp opens the module of video_opencv.cpp. A build
// without OpenCV has video_none.cpp.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "jobs/video_file.hpp"
#include "stereopsis/pair_source.hpp"

namespace stereopsis::command {

// Sets the folder of the module; without a call, it is that of the program, or where the build put it.
void look_for_video_module_in(const std::filesystem::path& folder);

// Throws Error(file), and Error(unsupported) if this build has no video decoder.
std::shared_ptr<Video> open_video(const std::filesystem::path& file);

using jobs::VideoFile;

// See jobs::CreateVideo.
std::shared_ptr<VideoFile> create_video(const std::filesystem::path& file, double rate);

// The functions of the module.
using OpenVideoByModule = void(const std::filesystem::path& file, std::shared_ptr<Video>& video);
// Creates the video under the name `unfinished`; the caller renames it.
using CreateVideoByModule = void(const std::filesystem::path& file, const std::filesystem::path& unfinished,
                                 double rate, std::shared_ptr<VideoFile>& video);

}  // namespace stereopsis::command
