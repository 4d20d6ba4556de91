// The node as a component, which launch files compose with cameras in one process.
#pragma once

#include <array>
#include <diagnostic_msgs/msg/diagnostic_array.hpp>
#include <mutex>
#include <optional>
#include <rclcpp/rclcpp.hpp>
#include <vector>

#include "health.hpp"
#include "matching.hpp"
#include "pairing.hpp"
#include "publishers.hpp"
#include "settings.hpp"

namespace stereopsis_ros {

// Subscribes to the cameras only while the results have subscribers.
class StereoNode : public rclcpp::Node {
 public:
  explicit StereoNode(const rclcpp::NodeOptions& options);  // throws stereopsis::Error for values that are not allowed

 private:
  Values declared(const std::vector<NodeParameter>& parameters, bool is_read_only);
  rcl_interfaces::msg::SetParametersResult set(const std::vector<rclcpp::Parameter>& changed);
  void follow_subscribers();
  template <class M>
  void subscribe(std::size_t side, const std::string& topic);
  template <class M, class Add>
  void subscribe(const std::string& topic, rclcpp::SubscriptionOptions options, Add add);
  void diagnose();
  void warn(const std::string& text) const { RCLCPP_WARN(get_logger(), "%s", text.c_str()); }
  void restart() { pairing_.emplace(start_, notes_), health_.restart(); }

  StartSettings start_;
  std::vector<NodeParameter> parameters_;
  Values values_;
  Notes notes_;
  std::array<std::string, 2> topics_;  // names of the topics of the images
  std::mutex mutex_;                   // protects pairing_ and health_
  std::optional<Pairing> pairing_;     // present from the first subscriber on
  Health health_;
  Publishers publishers_;
  Matching matching_;
  rclcpp::Publisher<diagnostic_msgs::msg::DiagnosticArray>::SharedPtr diagnostics_;
  std::vector<rclcpp::SubscriptionBase::SharedPtr> subscriptions_;
  OnSetParametersCallbackHandle::SharedPtr on_set_;
  std::vector<rclcpp::TimerBase::SharedPtr> timers_;
};

}  // namespace stereopsis_ros
