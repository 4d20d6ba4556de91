// Makes messages from the maps of a matched pair.
#pragma once

#include <memory>
#include <sensor_msgs/msg/camera_info.hpp>
#include <sensor_msgs/msg/image.hpp>
#include <sensor_msgs/msg/point_cloud2.hpp>
#include <stereo_msgs/msg/disparity_image.hpp>

#include "stereopsis/matcher.hpp"

namespace stereopsis_ros {

using std_msgs::msg::Header;

// 32FC1
std::unique_ptr<sensor_msgs::msg::Image> image_message(const Header& header, stereopsis::ImageView<const float> pixels);
// Returns 16UC1 with rounded millimetres, and 0 where there is no depth, or where it does not fit in 16 bits (REP 118).
std::unique_ptr<sensor_msgs::msg::Image> millimetres(const Header& header, stereopsis::ImageView<const float> depth);

// Invalid pixels are NaN, or min_disparity − 1, as in stereo_image_proc. Without a rig, no depth follows.
std::unique_ptr<stereo_msgs::msg::DisparityImage> disparity_message(const Header& header,
                                                                    stereopsis::ImageView<const float> disparity,
                                                                    stereopsis::DisparityRange range,
                                                                    const stereopsis::Pipeline& pipeline,
                                                                    const stereopsis::Rig* rig, bool invalid_is_nan);

// Returns a cloud with the fields x, y, z and, with `colour` (grey or RGB), rgb. An organised cloud has the rows and
// columns of the image, with NaN; otherwise it has the valid points.
std::unique_ptr<sensor_msgs::msg::PointCloud2> cloud_message(const Header& header,
                                                             stereopsis::ImageView<const float> points,
                                                             const stereopsis::AnyImageView& colour, bool is_organised);

}  // namespace stereopsis_ros
