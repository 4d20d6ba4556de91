#include "publishers.hpp"

#include "stereopsis/formats.hpp"
#include "stereopsis/registration.hpp"

namespace stereopsis_ros {
namespace {

using namespace stereopsis;

template <class M>
std::shared_ptr<rclcpp::Publisher<M>> publisher(rclcpp::Node& node, const std::string& topic) {
  rclcpp::PublisherOptions options;
  options.qos_overriding_options = rclcpp::QosOverridingOptions::with_default_policies();
  return node.create_publisher<M>(topic, rclcpp::QoS(1), options);  // reliable, which also serves sensor data's quality
}

// Returns the disparities of measured pixels.
Image<float> measured(const Matched& maps) {
  Image<float> made(maps.disparity.view());
  for (int y = 0; y < made.height(); ++y)
    for (int x = 0; x < made.width(); ++x)
      if (maps.validity(x, y) != 0) made(x, y) = invalid_disparity;
  return made;
}

std::unique_ptr<sensor_msgs::msg::Image> depth_message(const Header& header, ImageView<const float> depth,
                                                       bool is_in_millimetres) {
  return is_in_millimetres ? millimetres(header, depth) : image_message(header, depth);
}

std::unique_ptr<sensor_msgs::msg::CameraInfo> with_header(const Header& header, sensor_msgs::msg::CameraInfo info) {
  info.header = header;
  return std::make_unique<sensor_msgs::msg::CameraInfo>(std::move(info));
}

}  // namespace

Publishers::Publishers(rclcpp::Node& node, const StartSettings& settings)
    : disparity_(publisher<stereo_msgs::msg::DisparityImage>(node, "disparity")),
      depth_(publisher<sensor_msgs::msg::Image>(node, "depth/image_rect")),
      confidence_(publisher<sensor_msgs::msg::Image>(node, "confidence")),
      depth_info_(publisher<sensor_msgs::msg::CameraInfo>(node, "depth/camera_info")),
      points_(publisher<sensor_msgs::msg::PointCloud2>(node, "points2")),
      camera_(settings.camera),
      frame_(settings.frame) {
  if (!settings.is_registered) return;
  registered_ = publisher<sensor_msgs::msg::Image>(node, "depth_registered/image_raw");
  registered_info_ = publisher<sensor_msgs::msg::CameraInfo>(node, "depth_registered/camera_info");
}

Wanted Publishers::wanted() const {
  const auto has = [](const auto&... publishers) {
    return ((publishers && publishers->get_subscription_count() > 0) || ...);
  };
  return {has(disparity_), has(depth_, depth_info_), has(points_), has(confidence_),
          has(registered_, registered_info_)};
}

void Publishers::send(const Header& header, const RunResult& done, const LiveSettings& settings, Wanted wanted,
                      const Cameras* cameras) const {
  const Matched& maps = done.maps;
  if (wanted.disparity) {
    const Image<float> kept = settings.is_measured_only ? measured(maps) : Image<float>();
    disparity_->publish(disparity_message(header, kept.empty() ? maps.disparity.view() : kept.view(), done.range,
                                          settings.pipeline, cameras ? &cameras->rig : nullptr,
                                          settings.invalid_is_nan));
  }
  if (wanted.confidence) confidence_->publish(image_message(header, maps.confidence));
  if (wanted.points && cameras) {
    AnyImage rgb;
    AnyImageView colour;
    const StereoPair& pair = done.pair.images;
    if (settings.is_coloured && cameras->maps)
      colour = maps.rectified.view();
    else if (settings.is_coloured && pair.format)
      to_rgb(pair.left, *pair.format, rgb), colour = rgb.view();
    else if (settings.is_coloured)
      colour = pair.left;
    points_->publish(cloud_message(header, maps.points, colour, settings.is_organised));
  }
  if (cameras) send_depth(header, maps, settings, wanted, *cameras);
}

void Publishers::send_depth(const Header& header, const Matched& maps, const LiveSettings& settings, Wanted wanted,
                            const Cameras& cameras) const {
  if (wanted.depth) {
    depth_->publish(depth_message(header, maps.depth, settings.is_in_millimetres));
    depth_info_->publish(with_header(header, info_of(rectified_camera(cameras.rig, maps.depth.size()))));
  }
  if (wanted.registered) send_registered(header, maps.depth, settings.is_in_millimetres, cameras);
}

void Publishers::send_registered(Header header, const Image<float>& depth, bool is_in_millimetres,
                                 const Cameras& cameras) const {
  const auto& calibration = cameras.calibration;
  PosedCamera camera = calibration ? raw_left_camera(*calibration) : rectified_camera(cameras.rig, cameras.size);
  if (camera_) camera = calibration ? posed_relative_to_raw(*camera_, *calibration) : *camera_;
  if (!frame_.empty()) header.frame_id = frame_;
  registered_->publish(depth_message(header, register_depth(depth, cameras.rig, camera).depth, is_in_millimetres));
  registered_info_->publish(with_header(header, info_of(camera)));
}

}  // namespace stereopsis_ros
