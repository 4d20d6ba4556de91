// The parameters of the node, and the settings of matching and of results that follow from them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <rclcpp/node.hpp>
#include <string>
#include <vector>

#include "stereopsis/image.hpp"
#include "stereopsis/pipeline.hpp"
#include "stereopsis/registration.hpp"
#include "stereopsis/row_alignment.hpp"

namespace stereopsis_ros {

// A parameter of the node. `pipeline` is the name of the parameter in the pipeline; empty for those of the node itself.
struct NodeParameter {
  std::string name;
  rclcpp::ParameterValue initial;
  std::string description;
  std::optional<double> minimum = {}, maximum = {};
  double step = 0;
  std::vector<std::string> choices = {};
  std::string pipeline = {};

  rcl_interfaces::msg::ParameterDescriptor descriptor(bool is_read_only) const;
  std::string all_choices() const;
  void check(const rclcpp::ParameterValue& value) const;  // throws Error(call) unless the value is one of the choices
};

using Values = std::map<std::string, rclcpp::ParameterValue>;

// The settings that are read when the node starts.
struct StartSettings {
  explicit StartSettings(const Values& values);  // throws Error(call)

  stereopsis::Pipeline pipeline;
  std::string device;
  int threads;
  std::optional<stereopsis::RowAlignment> rows;  // alignment of the rows of all pairs
  bool estimates_rows;                           // the rows of each pair are estimated
  bool seeds_previous, rectifies, is_compressed, uses_system_qos;
  std::int64_t tolerance;  // largest difference of the stamps of a pair, in nanoseconds
  std::size_t queue;
  std::array<stereopsis::Image<std::uint8_t>, 2> masks;
  bool is_registered;                             // depth is registered to another camera
  std::optional<stereopsis::PosedCamera> camera;  // the camera; empty for the raw left camera
  std::string seeds;                              // contents of the topic of seeds: none, disparity or depth
  std::string track_rig;                          // file for the calibration of a rig that moves; "": it does not
  std::string frame;                              // frame_id of registered depth; empty for that of the left images
};

// The settings that can change while the node runs.
struct LiveSettings {
  stereopsis::Pipeline pipeline;
  std::optional<stereopsis::DisparityRange> range;  // estimated from the first pair if it is empty
  bool invalid_is_nan, is_in_millimetres, is_organised, is_coloured, fills_depth, is_measured_only;

  // Returns the settings that follow from all values. Throws Error(call) for settings that match no pair.
  static LiveSettings of(stereopsis::Pipeline pipeline, const std::vector<NodeParameter>& parameters,
                         const Values& values);
};

const std::vector<NodeParameter>& start_parameters();
// Returns the parameters that can change: those of the node, and all parameters of the pipeline.
std::vector<NodeParameter> live_parameters(const stereopsis::Pipeline& pipeline);

}  // namespace stereopsis_ros
