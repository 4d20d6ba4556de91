// The topics of the results.
#pragma once

#include <array>
#include <rclcpp/rclcpp.hpp>

#include "cameras.hpp"
#include "messages.hpp"
#include "settings.hpp"
#include "stereopsis/run.hpp"

namespace stereopsis_ros {

// The results that have subscribers.
struct Wanted {
  bool disparity = false, depth = false, points = false, confidence = false, registered = false;

  bool operator==(const Wanted&) const = default;
  bool any() const { return *this != Wanted(); }
};

class Publishers {
 public:
  Publishers(rclcpp::Node& node, const StartSettings& settings);

  Wanted wanted() const;
  // Publishes the wanted results of a pair. Results that need cameras are left out if `cameras` is null.
  void send(const Header& header, const stereopsis::RunResult& done, const LiveSettings& settings, Wanted wanted,
            const Cameras* cameras) const;

 private:
  template <class M>
  using Publisher = std::shared_ptr<rclcpp::Publisher<M>>;
  void send_depth(const Header& header, const stereopsis::Matched& maps, const LiveSettings& settings, Wanted wanted,
                  const Cameras& cameras) const;
  void send_registered(Header header, const stereopsis::Image<float>& depth, bool is_in_millimetres,
                       const Cameras& cameras) const;

  Publisher<stereo_msgs::msg::DisparityImage> disparity_;
  Publisher<sensor_msgs::msg::Image> depth_, confidence_, registered_;
  Publisher<sensor_msgs::msg::CameraInfo> depth_info_, registered_info_;
  Publisher<sensor_msgs::msg::PointCloud2> points_;
  std::optional<stereopsis::PosedCamera> camera_;
  std::string frame_;
};

}  // namespace stereopsis_ros
