#include "settings.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>
#include <vector>

#include "stereopsis/calibration.hpp"
#include "stereopsis/io.hpp"
#include "stereopsis/matcher.hpp"

namespace stereopsis_ros {
namespace {

using namespace stereopsis;
using rclcpp::ParameterType;
using rclcpp::ParameterValue;

[[noreturn]] void refuse(const std::string& sentence) { throw Error(ErrorCategory::call, sentence); }

#include "node_parameters.inc"

ParameterValue value_of(const ParameterInfo& info) {
  if (info.type == "flag") return ParameterValue(info.value == "true");
  if (info.type == "integer") return ParameterValue(std::int64_t{std::stoll(info.value)});
  if (info.type == "number") return ParameterValue(std::stod(info.value));
  return ParameterValue(info.value);
}

std::string text_of(const ParameterValue& value) {
  switch (value.get_type()) {
    case ParameterType::PARAMETER_BOOL: return detail::parameter_text(value.get<bool>());
    case ParameterType::PARAMETER_INTEGER:
      return detail::parameter_text(static_cast<long long>(value.get<std::int64_t>()));
    case ParameterType::PARAMETER_DOUBLE: return detail::parameter_text(value.get<double>());
    default: return value.get<std::string>();
  }
}

// Reads OFFSET[,ROLL[,ZOOM[,KEYSTONE]]]. Columns, rows and coefficients of a field may follow.
RowAlignment rows_of(const std::string& given) {
  constexpr std::size_t first_knot = 6;
  std::vector<double> values;
  std::istringstream in(given);
  bool ends = false;
  for (double value = 0; !ends && in >> value;) {
    values.push_back(value);
    ends = in.peek() == EOF;
    if (!ends && in.get() != ',') break;
  }
  const std::size_t count = values.size();
  values.resize(std::max(count, first_knot));
  RowAlignment rows{values[0], values[1], values[2], values[3]};
  if (ends && count < 5) return rows;
  const auto knots = [](double value) { return static_cast<int>(std::clamp<double>(value, 0, RowField::most_knots)); };
  rows.field.columns = knots(values[4]), rows.field.rows = knots(values[5]);
  if (ends && rows.field.is_valid() && first_knot + static_cast<std::size_t>(rows.field.count()) == count) {
    std::copy(values.begin() + first_knot, values.end(), rows.field.knots.begin());
    return rows;
  }
  refuse("align_rows " + given + " is not allowed; it must be auto, off, or OFFSET[,ROLL[,ZOOM[,KEYSTONE]]] in pixels");
}

Image<std::uint8_t> mask_of(const std::string& file) { return file.empty() ? Image<std::uint8_t>() : read_mask(file); }

std::optional<PosedCamera> camera_of(const std::string& to, const std::string& frame, bool rectifies) {
  if (to.empty() && !frame.empty()) refuse("register_frame is the frame of registered depth; give register_to, too");
  if (to == "raw" && !rectifies)
    refuse("register_to raw requires raw images, and these are rectified; give the file of a camera, or raw images");
  if (to.empty() || to == "raw") return {};
  if (frame.empty())
    refuse("register_to " + to + " requires the name of that camera's frame; give it as register_frame");
  return read_posed_camera(to, "m");
}

std::optional<DisparityRange> range_of(const Values& values) {
  const auto least = static_cast<int>(values.at("min_disparity").get<std::int64_t>());
  const auto count = static_cast<int>(values.at("disparity_range").get<std::int64_t>());
  if (count > 0) return DisparityRange{least, count};
  if (least != 0)
    refuse("min_disparity is " + std::to_string(least) +
           ", but disparity_range 0 estimates the whole range; set min_disparity to 0, or give a range");
  return {};
}

}  // namespace

void NodeParameter::check(const ParameterValue& value) const {
  if (choices.empty() || std::count(choices.begin(), choices.end(), value.get<std::string>()) > 0) return;
  refuse(name + " is '" + value.get<std::string>() + "'; it must be one of " + all_choices());
}

std::string NodeParameter::all_choices() const {
  std::string all;
  for (const std::string& choice : choices) all += (all.empty() ? "" : ", ") + choice;
  return all;
}

rcl_interfaces::msg::ParameterDescriptor NodeParameter::descriptor(bool is_read_only) const {
  rcl_interfaces::msg::ParameterDescriptor made;
  made.name = name, made.description = description, made.read_only = is_read_only;
  made.additional_constraints = all_choices();
  if (!minimum || !maximum) return made;
  if (initial.get_type() == ParameterType::PARAMETER_INTEGER) {
    auto& range = made.integer_range.emplace_back();
    range.from_value = std::llround(*minimum), range.to_value = std::llround(*maximum);
    range.step = static_cast<std::uint64_t>(std::max(1.0, step));
  } else if (initial.get_type() == ParameterType::PARAMETER_DOUBLE) {
    auto& range = made.floating_point_range.emplace_back();
    range.from_value = *minimum, range.to_value = *maximum;
  }
  return made;
}

StartSettings::StartSettings(const Values& values) : pipeline("sgm") {
  const auto text = [&](const char* name) { return values.at(name).get<std::string>(); };
  const auto flag = [&](const char* name) { return values.at(name).get<bool>(); };
  pipeline = text("pipeline").empty() ? Pipeline(text("method")) : read_pipeline(text("pipeline"));
  device = text("device"), threads = static_cast<int>(values.at("threads").get<std::int64_t>());
  estimates_rows = text("align_rows") == "auto";
  if (!estimates_rows && text("align_rows") != "off") rows = rows_of(text("align_rows"));
  seeds_previous = flag("seed_previous"), rectifies = flag("rectify");
  uses_system_qos = flag("use_system_default_qos");
  is_compressed = text("image_transport") == "compressed";
  seeds = text("seeds"), track_rig = text("track_rig");
  const std::string extension = std::filesystem::path(track_rig).extension();
  if (!track_rig.empty() && extension != ".yml" && extension != ".yaml" && extension != ".xml")
    refuse("track_rig " + track_rig + " is not allowed; the calibration is written as .yml, .yaml or .xml");
  if (seeds_previous && seeds != "none")
    refuse("seed_previous and seeds both give the seeds of a pair; leave one of them out");
  const double seconds = values.at("approximate_sync_tolerance_seconds").get<double>();
  tolerance = flag("approximate_sync") ? std::llround(seconds * 1e9) : 0;
  queue = static_cast<std::size_t>(values.at("queue_size").get<std::int64_t>());
  masks = {mask_of(text("left_mask")), mask_of(text("right_mask"))};
  is_registered = !text("register_to").empty(), frame = text("register_frame");
  camera = camera_of(text("register_to"), frame, rectifies);
}

LiveSettings LiveSettings::of(Pipeline pipeline, const std::vector<NodeParameter>& parameters, const Values& values) {
  for (const NodeParameter& parameter : parameters)
    if (!parameter.pipeline.empty())
      pipeline.set(parameter.pipeline, std::string_view(text_of(values.at(parameter.name))));
  const auto flag = [&](const char* name) { return values.at(name).get<bool>(); };
  LiveSettings made{std::move(pipeline),     range_of(values),  flag("invalid_is_nan"), flag("depth_in_millimetres"),
                    flag("organised_cloud"), flag("use_color"), flag("fill_depth"),     flag("measured_only")};
  Problem problem;
  problem.size = {640, 480}, problem.channels = 3, problem.range = made.range.value_or(DisparityRange{0, 64});
  const Plan plan(made.pipeline, problem, {"cpu"});  // rejects settings that match no pair
  return made;
}

const std::vector<NodeParameter>& start_parameters() { return at_start; }

std::vector<NodeParameter> live_parameters(const Pipeline& pipeline) {
  std::vector<NodeParameter> made = live;
  for (const ParameterInfo& info : pipeline.parameters()) {
    const std::string unit = info.unit.empty() ? "" : " [" + info.unit + "]";
    made.push_back({info.name, value_of(info), info.description + unit + "; " + info.allowed, info.minimum,
                    info.maximum, info.step, info.choices, info.name});
  }
  return made;
}

}  // namespace stereopsis_ros
