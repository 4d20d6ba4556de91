#include "seeds.hpp"

#include <cmath>
#include <cstdlib>

#include "images.hpp"
#include "stereopsis/error.hpp"
#include "stereopsis/triangulation.hpp"

namespace stereopsis_ros {

using namespace stereopsis;

void Seeds::add(Stamp stamp, sensor_msgs::msg::Image::ConstSharedPtr message) {
  by_stamp_[stamp] = std::move(message);
  if (by_stamp_.size() > depth_) by_stamp_.erase(by_stamp_.begin());
}

std::shared_ptr<const Image<float>> Seeds::of(Stamp stamp, const Rig* rig) const {
  const sensor_msgs::msg::Image::ConstSharedPtr* nearest = nullptr;
  Stamp least = tolerance_;
  for (const auto& [at, message] : by_stamp_)
    if (const Stamp apart = std::abs(at - stamp); nearest ? apart < least : apart <= least)
      nearest = &message, least = apart;
  if (!nearest || (is_depth_ && !rig)) return nullptr;
  const AnyImageView given = image_of(*nearest).pixels;
  if (given.channels != 1)
    throw Error(ErrorCategory::format, "the encoding of seeds is " + (*nearest)->encoding +
                                           "; it must be 32FC1, or 16UC1 for depth in millimetres");
  auto made = std::make_shared<Image<float>>(given.size());
  with_pixels(given, [&](const auto& pixels) {
    for (int y = 0; y < given.height; ++y)
      for (int x = 0; x < given.width; ++x) (*made)(x, y) = static_cast<float>(pixels(x, y));
  });
  if (is_depth_)
    return std::make_shared<const Image<float>>(
        disparity_of_depth(*made, *rig, given.type == PixelType::u16 ? 1e-3 : 1));
  for (int y = 0; y < given.height; ++y)
    for (int x = 0; x < given.width; ++x)
      if (!std::isfinite((*made)(x, y))) (*made)(x, y) = invalid_disparity;
  return made;
}

}  // namespace stereopsis_ros
