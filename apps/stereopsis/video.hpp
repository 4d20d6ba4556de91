// Videos as sequences of images, decoded by OpenCV if it is installed: video_opencv.cpp, else video_none.cpp.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>

#include "stereopsis/image.hpp"

namespace stereopsis::command {

class Video {
 public:
  // Throws Error(file), and Error(unsupported) if this build has no video decoder.
  static std::shared_ptr<Video> open(const std::filesystem::path& file);

  virtual ~Video() = default;
  virtual std::size_t size() const = 0;  // number of frames
  virtual double rate() const = 0;       // frames per second
  // Returns a frame as 8-bit RGB. Several threads may call this function; reading in order is fastest.
  virtual AnyImage read(std::size_t frame) = 0;
};

}  // namespace stereopsis::command
