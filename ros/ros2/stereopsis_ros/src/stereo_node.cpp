#include "stereo_node.hpp"

#include <rclcpp_components/register_node_macro.hpp>

#include "stereopsis/error.hpp"

namespace stereopsis_ros {
namespace {

using namespace std::chrono_literals;
using diagnostic_msgs::msg::DiagnosticStatus;
using sensor_msgs::msg::CameraInfo;
using sensor_msgs::msg::CompressedImage;

constexpr std::array<const char*, 2> sides = {"left", "right"};

}  // namespace

StereoNode::StereoNode(const rclcpp::NodeOptions& options)
    : Node("stereopsis", options),
      start_(declared(start_parameters(), true)),
      parameters_(live_parameters(start_.pipeline)),
      values_(declared(parameters_, false)),
      notes_([this](const std::string& text) { warn(text); }),
      topics_(start_.rectifies ? std::array<std::string, 2>{"left/image_raw", "right/image_raw"}
                               : std::array<std::string, 2>{"left/image_rect", "right/image_rect"}),
      health_(topics_, [this](const std::string& text) { warn(text); }),
      publishers_(*this, start_),
      matching_(start_, LiveSettings::of(start_.pipeline, parameters_, values_), publishers_, notes_,
                [this](Stamp stamp, double busy) {
                  const std::lock_guard lock(mutex_);
                  health_.finish_pair(busy, static_cast<double>(now().nanoseconds() - stamp) * 1e-9);
                }),
      diagnostics_(create_publisher<diagnostic_msgs::msg::DiagnosticArray>("/diagnostics", 1)),
      on_set_(add_on_set_parameters_callback([this](const auto& changed) { return set(changed); })),
      timers_{create_wall_timer(500ms, [this] { follow_subscribers(); }),
              create_wall_timer(1s, [this] { diagnose(); })} {}

// Returns the values from the command line or a parameter file, or the initial ones.
Values StereoNode::declared(const std::vector<NodeParameter>& parameters, bool is_read_only) {
  Values values;
  for (const NodeParameter& parameter : parameters) {
    rclcpp::ParameterValue& value = values[parameter.name];
    value = declare_parameter(parameter.name, parameter.initial, parameter.descriptor(is_read_only));
    if (is_read_only) parameter.check(value);  // the pipeline checks its own parameters
  }
  return values;
}

rcl_interfaces::msg::SetParametersResult StereoNode::set(const std::vector<rclcpp::Parameter>& changed) {
  rcl_interfaces::msg::SetParametersResult result;
  Values values = values_;
  for (const rclcpp::Parameter& parameter : changed)
    if (const auto found = values.find(parameter.get_name()); found != values.end())
      found->second = parameter.get_parameter_value();
  try {
    matching_.change(LiveSettings::of(start_.pipeline, parameters_, values));
    values_ = std::move(values);
    result.successful = true;
  } catch (const stereopsis::Error& error) {
    result.successful = false;
    result.reason = error.what();
  }
  return result;
}

void StereoNode::follow_subscribers() {
  const bool is_wanted = publishers_.wanted().any();
  if (is_wanted == !subscriptions_.empty()) return;
  if (!is_wanted) {
    subscriptions_.clear();
    matching_.clear();
  }
  {
    const std::lock_guard lock(mutex_);
    restart();
  }
  if (!is_wanted) return;
  for (const std::size_t side : {0U, 1U}) {
    if (start_.is_compressed)  // image_transport appends the name to the remapped topic
      subscribe<CompressedImage>(side, get_node_topics_interface()->resolve_topic_name(topics_[side]) + "/compressed");
    else
      subscribe<sensor_msgs::msg::Image>(side, topics_[side]);
    subscribe<CameraInfo>(side, std::string(sides[side]) + "/camera_info");
  }
  if (start_.seeds != "none")
    subscribe<sensor_msgs::msg::Image>(
        "seeds", {}, [](Pairing& pairing, auto message) { return pairing.add_seeds(std::move(message)); });
}

template <class M>
void StereoNode::subscribe(std::size_t side, const std::string& topic) {
  rclcpp::SubscriptionOptions options;
  if (!std::is_same_v<M, CameraInfo>)
    options.event_callbacks.message_lost_callback = [this, side](const rclcpp::QOSMessageLostInfo& lost) {
      const std::lock_guard lock(mutex_);
      health_.lose(side, lost.total_count_change);
    };
  subscribe<M>(topic, options,
               [side](Pairing& pairing, auto message) { return pairing.add(side, std::move(message)); });
}

// `add` gives a message to the pairing, and returns the pairs that it completes.
template <class M, class Add>
void StereoNode::subscribe(const std::string& topic, rclcpp::SubscriptionOptions options, Add add) {
  options.qos_overriding_options = rclcpp::QosOverridingOptions::with_default_policies();
  const rclcpp::QoS quality =
      start_.uses_system_qos ? rclcpp::QoS(rclcpp::SystemDefaultsQoS()) : rclcpp::SensorDataQoS();
  const auto receive = [this, add](typename M::ConstSharedPtr message) {
    const std::lock_guard lock(mutex_);
    for (StampedPair& pair : add(*pairing_, std::move(message))) health_.receive_pair(matching_.put(std::move(pair)));
  };
  subscriptions_.push_back(create_subscription<M>(topic, quality, receive, options));
}

void StereoNode::diagnose() {
  diagnostic_msgs::msg::DiagnosticArray message;
  message.header.stamp = now();
  DiagnosticStatus& status = message.status.emplace_back();
  status.message = "nothing has subscribed to the results";
  if (!subscriptions_.empty()) {
    const std::lock_guard lock(mutex_);
    status = health_.status(pairing_->counts(), notes_, pairing_->broken() + matching_.failed());
  }
  status.name = "stereopsis: stereo pairs";
  if (const std::string rows = matching_.rows(); !rows.empty()) {
    auto& entry = status.values.emplace_back();
    entry.key = "rows", entry.value = rows;
  }
  diagnostics_->publish(message);
}

}  // namespace stereopsis_ros

RCLCPP_COMPONENTS_REGISTER_NODE(stereopsis_ros::StereoNode)
