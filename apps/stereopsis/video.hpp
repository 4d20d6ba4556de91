// Decodes and encodes videos with OpenCV if it is installed: video.cpp opens the module of video_opencv.cpp. A build
// without OpenCV has video_none.cpp.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "jobs/video_file.hpp"
#include "stereopsis/pair_source.hpp"

namespace stereopsis::command {

// Throws Error(file), and Error(unsupported) if this build has no video decoder.
std::shared_ptr<Video> open_video(const std::filesystem::path& file);

using jobs::VideoFile;

// See jobs::CreateVideo.
std::shared_ptr<VideoFile> create_video(const std::filesystem::path& file, double rate);

// Returns the name that a video has until it is complete.
inline std::filesystem::path unfinished_video(const std::filesystem::path& file) {
  std::string name = ".";
  name += file.stem().string() + ".tmp" + file.extension().string();
  return file.parent_path() / name;
}

// The functions of the module.
using OpenVideoByModule = void(const std::filesystem::path& file, std::shared_ptr<Video>& video);
using CreateVideoByModule = void(const std::filesystem::path& file, double rate, std::shared_ptr<VideoFile>& video);

}  // namespace stereopsis::command
