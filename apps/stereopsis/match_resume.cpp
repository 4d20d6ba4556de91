// What --resume goes by. Every run of a sequence leaves, beside the disparities, a sidecar that says which call it was; a result
// is this call's, and whole (it was renamed to its name), if it is not older than the sidecar and than the files it comes from.
#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "match.hpp"
#include "terminal.hpp"

namespace stereopsis::command::matching {
namespace {

// All that a result depends on, but for the images themselves and a range that was estimated from them.
Json description_of(const Call& call) {
  const Options& o = call.options;
  Json outputs = Json::object();
  const fs::path here = fs::absolute(call.sidecar).parent_path();  // results may be moved together
  for (std::size_t k = 0; k < output_count; ++k)
    if (!o.outputs[k].empty())
      outputs[name_of(Output(k))] =
          fs::absolute(o.outputs[k]).lexically_normal().lexically_relative(here.lexically_normal()).string();
  const auto number = [](const auto& value) { return value ? Json(*value) : Json(nullptr); };
  Json calibration = Json::array();
  for (const std::string& file : o.rig.files) calibration.push_back(read_text(file));
  return {{"version", STEREOPSIS_VERSION},
          {"left", o.left.string()},
          {"right", o.right.string()},
          {"outputs", outputs},
          {"method", call.pipeline.method()},
          {"parameters", parameters_json(call.pipeline)},
          {"range", call.range_is_estimated() ? Json(o.range_per_frame ? "per frame" : "estimated")
                                              : Json{call.range.min, call.range.count}},
          {"mask_left", o.mask_left.string()},
          {"mask_right", o.mask_right.string()},
          {"calibration", calibration},
          {"rig", {number(o.rig.focal), o.rig.baseline, number(o.rig.doffs)}},
          {"raw", o.raw},
          {"roi", o.roi},
          {"crop", o.crop},
          {"scale", number(o.scale)},
          {"bit_depth", number(o.intensity.bit_depth)},
          {"white", number(o.intensity.white)},
          {"drop_filled", o.drop_filled},
          {"min_confidence", number(o.min_confidence)},
          {"frame", o.frame},
          {"organised", o.organised},
          {"disparity_error", number(o.disparity_error)}};
}

// As it is in a file, where what is not UTF-8 is replaced.
Json as_stored(const Json& json) { return Json::parse(json.dump(-1, ' ', false, Json::error_handler_t::replace)); }

Json read_sidecar(const fs::path& file) {
  Json json = Json::parse(read_text(file), nullptr, false);
  if (!json.is_object() || !json.contains("call") || !json.contains("estimated"))
    throw Error(ErrorCategory::format,
                fmt::format("{} is not what --resume goes by; remove it, and leave --resume out", file.string()));
  return json;
}

void check_same_call(const Call& call) {
  const Json before = read_sidecar(call.sidecar)["call"], now = as_stored(description_of(call));
  for (const auto& [key, value] : now.items()) {
    if (before.contains(key) && before[key] == value) continue;
    refuse(fmt::format(
        "--resume: the results at {} are of another call, whose \"{}\" was {} and is {}; leave --resume out to "
        "do all anew",
        call.options.outputs[Output::disparity].string(), key,
        before.contains(key) ? before[key].dump().substr(0, 200) : "not there", value.dump().substr(0, 200)));
  }
}

bool is_there(const Call& call, std::size_t i, fs::file_time_type since) {
  fs::file_time_type newest = since;
  std::error_code error;
  const auto consider = [&](const Frames& inputs) {
    newest = std::max(newest, fs::last_write_time(inputs.file(i), error));
  };
  consider(call.left);
  consider(call.right);
  if (call.mask_left) consider(*call.mask_left);
  if (call.mask_right) consider(*call.mask_right);
  for (const fs::path& file : call.files[i]) {
    if (file.empty() || error) continue;
    if (!fs::is_regular_file(file, error) || fs::file_size(file, error) == 0) return false;
    if (fs::last_write_time(file, error) < newest) return false;
  }
  return !error;
}

void remove_all_leftovers(const Call& call) {
  remove_leftovers(call.sidecar);
  if (!call.options.report.empty()) remove_leftovers(call.options.report);
  for (const OutputFiles& files : call.files)
    for (const fs::path& file : files)
      if (!file.empty()) remove_leftovers(file);
}

void write_sidecar(const Call& call) {
  write_json(call.sidecar, {{"call", description_of(call)}, {"estimated", {call.range.min, call.range.count}}});
}

}  // namespace

std::optional<DisparityRange> range_before(const fs::path& sidecar) {
  if (!file_exists(sidecar)) return std::nullopt;
  const Json range = read_sidecar(sidecar)["estimated"];
  if (!range.is_array() || range.size() != 2 || !range[0].is_number_integer() || !range[1].is_number_integer())
    return std::nullopt;
  return DisparityRange{range[0].get<int>(), range[1].get<int>()};
}

std::vector<bool> frames_there(const Call& call) {
  std::vector<bool> there(call.left.size(), false);
  if (!call.left.sequence) return there;
  if (call.options.resume) remove_all_leftovers(call);
  if (!call.options.resume || !file_exists(call.sidecar)) {
    write_sidecar(call);
    return there;
  }
  check_same_call(call);
  const fs::file_time_type since = fs::last_write_time(call.sidecar);
  for (std::size_t i = 0; i < there.size(); ++i) there[i] = is_there(call, i, since);
  remark("{} of {} frames are there already", std::count(there.begin(), there.end(), true), there.size());
  return there;
}

}  // namespace stereopsis::command::matching
