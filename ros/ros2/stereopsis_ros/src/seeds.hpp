// Disparities that are known beforehand, from the messages of a topic.
#pragma once

#include <map>
#include <memory>
#include <sensor_msgs/msg/image.hpp>

#include "stereopsis/rig.hpp"
#include "synchroniser.hpp"

namespace stereopsis_ros {

// The newest messages of the topic, by stamp.
class Seeds {
 public:
  // `tolerance`: largest difference of the stamps of a left image and its seeds. `depth`: number of messages that are kept.
  Seeds(bool is_depth, Stamp tolerance, std::size_t depth)
      : is_depth_(is_depth), tolerance_(tolerance), depth_(depth) {}

  void add(Stamp stamp, sensor_msgs::msg::Image::ConstSharedPtr message);
  // Returns whether the seeds of an image may still arrive: once seeds have come, pairs wait for theirs.
  bool may_come(Stamp stamp) const { return !by_stamp_.empty() && by_stamp_.rbegin()->first < stamp - tolerance_; }
  // Returns the disparities that belong to the image with this stamp, NaN where unknown; null if there are none, or if they
  // are depths and there is no rig. Throws Error(format) for a message without grey pixels, or that contradicts itself.
  std::shared_ptr<const stereopsis::Image<float>> of(Stamp stamp, const stereopsis::Rig* rig) const;

 private:
  bool is_depth_;
  Stamp tolerance_;
  std::size_t depth_;
  std::map<Stamp, sensor_msgs::msg::Image::ConstSharedPtr> by_stamp_;
};

}  // namespace stereopsis_ros
