// Decodes and encodes videos with OpenCV if it is installed: video.cpp opens the module of video_opencv.cpp. A build
// without OpenCV has video_none.cpp.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "stereopsis/pair_source.hpp"

namespace stereopsis::command {

// Throws Error(file), and Error(unsupported) if this build has no video decoder.
std::shared_ptr<Video> open_video(const std::filesystem::path& file);

// A video that is written.
class VideoFile {
 public:
  // Throws Error(unsupported) if this build has no encoder for the extension of the file.
  static std::shared_ptr<VideoFile> create(const std::filesystem::path& file, double rate);

  virtual ~VideoFile() = default;
  // Appends a frame of 8-bit RGB. All frames must have the size of the first.
  virtual void append(ImageView<const std::uint8_t> frame) = 0;
  // Completes the file. Throws Error(file) if it could not be written.
  virtual void finish() = 0;
};

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
