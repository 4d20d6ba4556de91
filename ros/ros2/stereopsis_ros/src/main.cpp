// The component in a process of its own.
#include "stereo_node.hpp"

int main(int count, char** words) {
  rclcpp::init(count, words);
  try {
    rclcpp::spin(std::make_shared<stereopsis_ros::StereoNode>(rclcpp::NodeOptions()));
  } catch (const std::exception& error) {  // a value that is not allowed
    RCLCPP_FATAL(rclcpp::get_logger("stereopsis"), "%s", error.what());
    return 2;
  }
  rclcpp::shutdown();
}
