// Stands in for video_opencv.cpp in a build without OpenCV's videoio.
#include <fmt/core.h>

#include "command/video.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis::command {

void look_for_video_module_in(const std::filesystem::path&) {}

std::shared_ptr<Video> open_video(const std::filesystem::path& file) {
  throw Error(ErrorCategory::unsupported,
              fmt::format("{} is a video, and this build cannot decode videos; use `stereopsis view LEFT RIGHT` of the "
                          "Python package, write the frames as PNG files, or install libopencv-dev and build again",
                          file.string()));
}

std::shared_ptr<VideoFile> create_video(const std::filesystem::path& file, double) {
  throw Error(
      ErrorCategory::unsupported,
      fmt::format("{} is a video, and this build cannot encode videos; write a pattern such as color%03d.png, or "
                  "install libopencv-dev and build again",
                  file.string()));
}

}  // namespace stereopsis::command
