// The pixels of image messages, as the library reads them: without a copy, if it can read the encoding as it is.
#pragma once

#include <memory>
#include <optional>
#include <sensor_msgs/msg/compressed_image.hpp>
#include <sensor_msgs/msg/image.hpp>

#include "stereopsis/image.hpp"
#include "stereopsis/pixel_format.hpp"

namespace stereopsis_ros {

// The pixels of a message.
struct MessageImage {
  stereopsis::AnyImageView pixels = {};
  std::optional<stereopsis::PixelFormat> format = {};  // empty for grey or RGB
  bool is_lossy = false;                               // the message holds a JPEG image
  std::shared_ptr<const void> owner = {};  // keeps the pixels: the message itself, unless they were converted
};

// Throw Error(format) for a message that contradicts itself or has an unknown encoding.
MessageImage image_of(const sensor_msgs::msg::Image::ConstSharedPtr& message);
MessageImage image_of(const sensor_msgs::msg::CompressedImage::ConstSharedPtr& message);

}  // namespace stereopsis_ros
