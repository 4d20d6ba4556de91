#include "pairing.hpp"

#include <algorithm>
#include <cstdio>
#include <rclcpp/time.hpp>
#include <utility>

#include "stereopsis/error.hpp"

namespace stereopsis_ros {
namespace {

using namespace stereopsis;

const std_msgs::msg::Header& header_of(const ImageMessage& message) {
  return std::visit([](const auto& m) -> const std_msgs::msg::Header& { return m->header; }, message);
}

std::string described(const AnyImageView& image) {
  return std::to_string(image.width) + "×" + std::to_string(image.height) + " " + to_string(image.type);
}

}  // namespace

Stamp stamp_of(const std_msgs::msg::Header& header) { return rclcpp::Time(header.stamp).nanoseconds(); }

std::string shown(Stamp stamp) {
  char text[32];
  std::snprintf(text, sizeof text, "%lld.%09lld", static_cast<long long>(stamp / 1'000'000'000),
                static_cast<long long>(stamp % 1'000'000'000));
  return text;
}

void Infos::add(Stamp stamp, Info info) {
  by_stamp_[stamp] = std::move(info);
  std::erase(order_, stamp);
  order_.push_back(stamp);
  if (order_.size() > depth_) by_stamp_.erase(order_.front()), order_.pop_front();
}

std::optional<Info> Infos::of(Stamp stamp, bool waits) {
  if (const auto same = by_stamp_.find(stamp); same != by_stamp_.end()) {
    follows_ = true;
    return same->second;
  }
  if (waits && (order_.empty() || (follows_ && order_.back() < stamp))) return {};
  if (order_.empty()) return Info();
  const auto after = by_stamp_.upper_bound(stamp);
  return after == by_stamp_.begin() ? by_stamp_.at(order_.front()) : std::prev(after)->second;
}

Pairing::Pairing(const StartSettings& settings, Notes& notes)
    : is_raw_(settings.rectifies),
      queue_(settings.queue),
      notes_(notes),
      images_(settings.tolerance, queue_),
      infos_{Infos(4 * queue_), Infos(4 * queue_)},
      cameras_(is_raw_) {
  if (settings.seeds != "none") seeds_.emplace(settings.seeds == "depth", settings.tolerance, 4 * queue_);
}

std::deque<StampedPair> Pairing::add(std::size_t side, ImageMessage message) {
  const Stamp stamp = stamp_of(header_of(message));
  if (auto pair = images_.add(side, stamp, std::move(message))) pending_.push_back(std::move(*pair));
  return ready();
}

std::deque<StampedPair> Pairing::add(std::size_t side, Info message) {
  const Stamp stamp = stamp_of(message->header);
  infos_[side].add(stamp, std::move(message));
  return ready();
}

std::deque<StampedPair> Pairing::add_seeds(sensor_msgs::msg::Image::ConstSharedPtr message) {
  const Stamp stamp = stamp_of(message->header);
  seeds_->add(stamp, std::move(message));
  return ready();
}

std::deque<StampedPair> Pairing::ready() {
  std::deque<StampedPair> made;
  while (!pending_.empty()) {
    const bool waits = pending_.size() <= queue_;
    std::array<Info, 2> infos;
    for (std::size_t side : {0U, 1U}) {
      const auto found = infos_[side].of(stamp_of(header_of(pending_.front()[side])), waits);
      if (!found) return made;
      infos[side] = *found;
    }
    if (waits && seeds_ && seeds_->may_come(stamp_of(header_of(pending_.front()[0])))) return made;
    const auto pair = std::move(pending_.front());
    pending_.pop_front();
    if (auto stamped_pair = stamped(pair, infos))
      made.push_back(std::move(*stamped_pair));
    else
      ++broken_;
  }
  return made;
}

std::optional<StampedPair> Pairing::stamped(const std::array<ImageMessage, 2>& pair, const std::array<Info, 2>& infos) {
  StampedPair made{.header = header_of(pair[0])};
  const std::string at = "at " + shown(stamp_of(made.header));
  for (std::size_t side : {0U, 1U}) try {
      made.images[side] = std::visit([](const auto& message) { return image_of(message); }, pair[side]);
    } catch (const Error& error) {
      const std::string name = side == 0 ? "left" : "right";
      notes_.note(name + ": broken images",
                  "the " + name + " image " + at + ": " + error.what() + "; the image is skipped");
      return {};
    }
  const AnyImageView &left = made.images[0].pixels, &right = made.images[1].pixels;
  if (left.size() != right.size() || left.type != right.type || left.channels != right.channels ||
      made.images[0].format != made.images[1].format) {
    notes_.note("pairs of unequal images", "the images " + at + " are " + described(left) + " and " + described(right) +
                                               "; a pair needs equal sizes and encodings, so the pair is skipped");
    return {};
  }
  made.cameras = cameras_at(at, infos, left.size());
  if (!made.cameras && is_raw_) return {};
  if (seeds_) made.seeds = seeds_of(made);
  return made;
}

// Returns the seeds of a pair; unknown ones if there are none.
std::shared_ptr<const Image<float>> Pairing::seeds_of(const StampedPair& pair) {
  const Stamp stamp = stamp_of(pair.header);
  const Size size = pair.cameras && pair.cameras->maps ? pair.cameras->maps->size() : pair.images[0].pixels.size();
  std::string fault = "there are none";
  try {
    const auto seeds = seeds_->of(stamp, pair.cameras ? &pair.cameras->rig : nullptr);
    if (seeds && seeds->size() == size) return seeds;
    if (seeds) fault = "they are " + described(*seeds) + ", and the matched images have another size";
  } catch (const Error& error) {
    fault = error.what();
  }
  notes_.note("pairs without seeds", "seeds at " + shown(stamp) + ": " + fault + "; the pair is matched without seeds");
  return std::make_shared<const Image<float>>(size, 1, invalid_disparity);
}

std::shared_ptr<const Cameras> Pairing::cameras_at(const std::string& at, const std::array<Info, 2>& infos, Size size) {
  if (!infos[0] || !infos[1]) {
    const std::string sides = infos[0] ? "right" : infos[1] ? "left" : "left and right";
    note_cameras("pairs without camera_info", at + " there is no camera_info of " + sides);
    return nullptr;
  }
  try {
    if (const std::string fault = fault_of_projections(*infos[0], *infos[1]); !fault.empty()) {
      note_cameras("camera_info: no baseline", at + " " + fault);
      return nullptr;
    }
    auto cameras = cameras_.read(*infos[0], *infos[1]);
    if (!cameras) note_cameras("camera_info: not calibrated", "both camera_info " + at + " are all zeros");
    if (!cameras || cameras->size == size) return cameras;
    note_cameras("camera_info: of another size", "camera_info " + at + " is of " + std::to_string(cameras->size.width) +
                                                     "×" + std::to_string(cameras->size.height) +
                                                     " pixels, but the images have " + std::to_string(size.width) +
                                                     "×" + std::to_string(size.height));
  } catch (const Error& error) {
    note_cameras("camera_info: broken", at + " " + error.what());
  }
  return nullptr;
}

void Pairing::note_cameras(const std::string& kind, const std::string& sentence) {
  notes_.note(kind, sentence + (is_raw_ ? "; the pair cannot be rectified and is skipped"
                                        : "; the pair is matched, without depth"));
}

}  // namespace stereopsis_ros
