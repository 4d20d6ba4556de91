#include "common.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "stereopsis/io.hpp"

namespace stereopsis::command {

void MethodOptions::add_to(Command& command) {
  Option by_name = command.text("--method", method, "NAME", "Method, of `stereopsis methods` [sgm]");
  const Option by_file =
      command.path("--pipeline", pipeline_file, "FILE", "Pipeline as JSON, as `methods NAME --json` prints it");
  by_name.excludes(by_file);
  command.list("--set", settings, "NAME.PARAMETER=VALUE", "Sets a parameter; repeatable");
}

Pipeline MethodOptions::pipeline() const {
  Pipeline pipeline = pipeline_file.empty() ? Pipeline(method) : read_pipeline(pipeline_file);
  apply_settings(pipeline, settings);
  return pipeline;
}

void apply_settings(Pipeline& pipeline, const std::vector<std::string>& settings) {
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos)
      refuse(fmt::format("--set {} has no value; write NAME.PARAMETER=VALUE, such as sgm.p1=10", setting));
    pipeline.set(setting.substr(0, equals), setting.substr(equals + 1));
  }
}

void DeviceOptions::add_to(Command& command) {
  command.text("--device", name, "NAME", "auto, cpu, cuda[:N] or opencl[:N] [auto]");
  add_threads_to(command);
}

void DeviceOptions::add_threads_to(Command& command) {
  command.integer("--threads", threads, 1, 4096, "N", "Threads of the CPU [all]");
}

Device DeviceOptions::device() const { return {resolve_device(name), threads.value_or(0)}; }

int threads_of(const Device& device) {
  if (device.threads > 0) return device.threads;
  for (const DeviceDescription& found : devices())
    for (const auto& [name, value] : found.properties)
      if (found.name == "cpu" && name == "threads") return std::stoi(value);
  return 0;
}

namespace {

Json typed(const ParameterInfo& parameter) {
  if (parameter.type == "flag") return parameter.value == "true";
  if (parameter.type == "choice") return parameter.value;
  if (parameter.type == "numbers") {
    Json list = Json::array();
    std::istringstream parts(parameter.value);
    for (std::string part; std::getline(parts, part, ',');) list.push_back(Json::parse(part));
    return list;
  }
  return Json::parse(parameter.value, nullptr, false);
}

}  // namespace

Json parameters_json(const Pipeline& pipeline) {
  Json json = Json::object();
  for (const ParameterInfo& parameter : pipeline.parameters()) json[parameter.name] = typed(parameter);
  return json;
}

Json stages_json(const std::vector<StageTime>& stages, const Roofs& roofs) {
  Json list = Json::array();
  for (const StageTime& stage : stages)
    list.push_back({{"name", stage.name},
                    {"ms", stage.ms},
                    {"bytes", stage.bytes},
                    {"gb_per_s", gigabytes_per_second(stage)},
                    {"bound", roofs.bytes > 0 ? Json(to_string(bound_of(stage, roofs))) : Json(nullptr)}});
  return list;
}

Table stage_table(const std::string& title, const std::vector<StageTime>& stages, const Roofs& roofs) {
  Table table({title, "ms", "GB/s", "% of roof", "bound"});
  for (const StageTime& stage : stages)
    table.add({stage.name, cell(stage.ms, 3), cell(gigabytes_per_second(stage), 2),
               cell(stage.ms > 0 ? 100 * roof_of(stage, roofs).ms / stage.ms : 0, 0),
               to_string(bound_of(stage, roofs))});
  return std::move(table.left({0, 4}));
}

void write_json(const std::filesystem::path& file, const Json& json) { write_text(file, json.dump(2) + "\n"); }

std::string size_text(Size size) { return fmt::format("{}×{}", size.width, size.height); }

std::string range_text(DisparityRange range) { return fmt::format("{} to {}", range.min, range.max()); }

double gigabytes_per_second(const StageTime& stage) { return stage.ms > 0 ? stage.bytes / stage.ms * 1e-6 : 0; }

std::vector<double> time_runs(int repeat, const std::function<void()>& run) {
  run();
  std::vector<double> ms;
  for (int i = 0; i < repeat; ++i) {
    const Stopwatch watch;
    run();
    ms.push_back(watch.ms());
  }
  return ms;
}

double median(std::vector<double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto middle = values.begin() + (static_cast<std::ptrdiff_t>(values.size()) - 1) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace stereopsis::command
