// Makes pairs with their cameras from the messages of four topics.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <variant>

#include "cameras.hpp"
#include "images.hpp"
#include "notes.hpp"
#include "seeds.hpp"
#include "settings.hpp"
#include "synchroniser.hpp"

namespace stereopsis_ros {

using ImageMessage =
    std::variant<sensor_msgs::msg::Image::ConstSharedPtr, sensor_msgs::msg::CompressedImage::ConstSharedPtr>;

// A pair of images of one size and encoding.
struct StampedPair {
  std_msgs::msg::Header header;  // header of the left image
  std::array<MessageImage, 2> images = {};
  std::shared_ptr<const stereopsis::Image<float>> seeds = {};  // null without a topic of seeds
  std::shared_ptr<const Cameras> cameras = {};                 // null if they are unknown or not calibrated
};

// The CameraInfo messages of one camera. `of` returns the one with the stamp of an image, else the newest before it, else
// the first; nothing if it may still arrive.
class Infos {
 public:
  explicit Infos(std::size_t depth) : depth_(depth) {}
  void add(Stamp stamp, Info info);
  std::optional<Info> of(Stamp stamp, bool waits);

 private:
  std::size_t depth_;
  std::map<Stamp, Info> by_stamp_;
  std::deque<Stamp> order_;  // stamps in the order of arrival
  bool follows_ = false;     // each image has a CameraInfo with the same stamp
};

// One thread at a time may use a pairing.
class Pairing {
 public:
  Pairing(const StartSettings& settings, Notes& notes);

  // Add a message of the left (0) or right (1) camera. Return the pairs that it completes.
  std::deque<StampedPair> add(std::size_t side, ImageMessage message);
  std::deque<StampedPair> add(std::size_t side, Info message);
  // Adds a message of the topic of seeds. Returns the pairs that it completes.
  std::deque<StampedPair> add_seeds(sensor_msgs::msg::Image::ConstSharedPtr message);

  const std::array<TopicCount, 2>& counts() const { return images_.counts(); }
  std::int64_t broken() const { return broken_; }  // number of pairs that could not be used

 private:
  std::deque<StampedPair> ready();
  std::optional<StampedPair> stamped(const std::array<ImageMessage, 2>& pair, const std::array<Info, 2>& infos);
  std::shared_ptr<const Cameras> cameras_at(const std::string& at, const std::array<Info, 2>& infos,
                                            stereopsis::Size size);
  std::shared_ptr<const stereopsis::Image<float>> seeds_of(const StampedPair& pair);
  void note_cameras(const std::string& kind, const std::string& sentence);

  bool is_raw_;
  std::size_t queue_;
  Notes& notes_;
  Synchroniser<ImageMessage> images_;
  std::array<Infos, 2> infos_;
  std::deque<std::array<ImageMessage, 2>> pending_;
  CameraReader cameras_;
  std::optional<Seeds> seeds_;
  std::int64_t broken_ = 0;
};

Stamp stamp_of(const std_msgs::msg::Header& header);
std::string shown(Stamp stamp);  // in seconds

}  // namespace stereopsis_ros
