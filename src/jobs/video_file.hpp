// A video that a run writes. A run has no encoder; the program provides one.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "stereopsis/image.hpp"

namespace stereopsis::jobs {

class VideoFile {
 public:
  virtual ~VideoFile() = default;
  // Appends a frame of 8-bit RGB. All frames must have the size of the first.
  virtual void append(ImageView<const std::uint8_t> frame) = 0;
  // Completes the file. Throws Error(file) if it could not be written.
  virtual void finish() = 0;
};

// Creates a video with this number of frames per second. Throws Error(unsupported) if there is no encoder for the
// extension of the file.
using CreateVideo = std::function<std::shared_ptr<VideoFile>(const std::filesystem::path& file, double rate)>;

}  // namespace stereopsis::jobs
