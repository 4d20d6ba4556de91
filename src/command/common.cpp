#include "command/common.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <nlohmann/json.hpp>

#include "command/outside_methods.hpp"
#include "command/result_files.hpp"
#include "command/terminal.hpp"
#include "core/parameters.hpp"
#include "core/text.hpp"
#include "stereopsis/io.hpp"
#include "stereopsis/simd.hpp"

namespace stereopsis::command {

void MethodOptions::add_to(Command& command) {
  const Option by_name = command.text(
      "--method", method, "NAME",
      "Name of a method or a preset (fast, balanced, accurate), which `stereopsis methods` lists; with the "
      "Python package also onnx:FILE or program:CMD [sgm]");
  add_file_to(command, by_name);
}

void MethodOptions::add_file_to(Command& command, const Option& by_name) {
  Option by_file = command.path(
      "--pipeline", pipeline_file, "FILE",
      "JSON file of the pipeline to use instead of --method, in the format of `stereopsis methods NAME --json`");
  by_file.excludes(by_name);
  command.list("--set", settings, "NAME.PARAMETER=VALUE",
               "Set a parameter (optimisation.p1=10), the stage of a slot (cost.stage=rank) or the list of refinements "
               "(refinements=left_right,median); repeatable");
}

ChosenMethod MethodOptions::chosen(const DeviceOptions& device, bool of_costs) const {
  ChosenMethod chosen = pipeline_file.empty() ? method_named(method.empty() ? "sgm" : method, device)
                                              : method_of_file(pipeline_file, device);
  Pipeline& pipeline = chosen.pipeline;
  if (of_costs && has_own_device(pipeline))
    refuse(fmt::format("--cost-volume replaces the matching cost, and {} has none; leave one of them out",
                       pipeline.method()));
  if (of_costs && pipeline.get("cost.stage") != "volume") {
    pipeline.set("cost.stage", "volume");
    // A saved volume contains both costs of the method already.
    if (pipeline.get("plus.stage") != "none") {
      pipeline.set("plus.stage", "none");
      remark("--cost-volume replaces the costs of {}, cost and plus; --set plus.stage=NAME adds another cost",
             pipeline.method());
    }
  }
  apply_settings(pipeline, settings);
  return chosen;
}

// Rejects a setting of a refinement that does not run, because it has no effect.
static void refuse_switched_off(const Pipeline& pipeline, const std::string& name) {
  const std::string stage = name.substr(0, name.find('.'));
  for (const PipelineSlot& slot : pipeline.slots())
    for (const ParameterInfo& parameter : slot.parameters)
      if ((stage == slot.slot || stage == slot.kind) && parameter.name == slot.slot + ".enabled") {
        if (parameter.value == "false" && name != stage + ".enabled")
          refuse(fmt::format("--set {} has no effect while {} is false; add --set {}=true", name, parameter.name,
                             parameter.name));
        return;
      }
}

namespace {

struct Setting {
  std::string name, value;  // in the pipeline's notation
};

// Rejects a setting that undoes earlier ones: another stage in a slot, or other refinements, replace the parameters set
// before.
void refuse_undone(const Pipeline& pipeline, const std::vector<Setting>& before, const std::string& setting) {
  for (const auto& [name, value] : before) {
    std::string now;
    try {
      now = pipeline.get(name);
    } catch (const Error&) {  // its stage is no longer in the pipeline
    }
    if (now != value)
      refuse(
          fmt::format("--set {} overrides --set {}={}; {}", setting, name, value,
                      name == "refinements" ? "change this list instead" : "give the two options in the other order"));
  }
}

// Returns the name `slot.parameter` of a parameter that may be given by its stage or with an earlier spelling.
std::string full_name(const Pipeline& pipeline, const std::string& name) {
  const std::size_t dot = std::min(name.find('.'), name.size());
  const std::string prefix = name.substr(0, dot), own = name.substr(dot);
  for (const PipelineSlot& slot : pipeline.slots()) {
    if (prefix != slot.slot && prefix != slot.kind) continue;
    for (const ParameterInfo& parameter : slot.parameters)
      if (is_spelling_of(slot.slot + own, parameter.name)) return parameter.name;
  }
  return name;
}

// Tells which settings were given by an alias, once for each call of the command.
void remark_aliases(const std::vector<std::string>& aliases) {
  static std::string told;
  const std::string list = join(aliases, ", ");
  if (aliases.empty() || list == told) return;
  remark("--set: {}; lists of parameters and pipeline files have the names SLOT.PARAMETER", list);
  told = list;
}

}  // namespace

void apply_settings(Pipeline& pipeline, const std::vector<std::string>& settings) {
  std::vector<std::string> changed, aliases;
  std::vector<Setting> before;
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos)
      refuse(fmt::format("--set {} has no value; write NAME.PARAMETER=VALUE, such as optimisation.p1=10", setting));
    const std::string name = setting.substr(0, equals), was = pipeline.get(name);
    std::erase_if(before, [&](const Setting& one) { return one.name == name; });
    if (const std::string full = full_name(pipeline, name); full != name)
      aliases.push_back(fmt::format("{} is {}", name, full));
    pipeline.set(name, setting.substr(equals + 1));
    refuse_undone(pipeline, before, setting);
    before.push_back({name, pipeline.get(name)});
    if (before.back().value != was) changed.push_back(name);
  }
  for (const std::string& name : changed) refuse_switched_off(pipeline, name);
  remark_aliases(aliases);
}

void DeviceOptions::add_to(Command& command, bool several) {
  command.text("--device", name, "NAME",
               several ? "Device: auto, cpu, cuda[:N] or opencl[:N]; for a sequence also a list with commas, or cuda:* "
                         "for all [auto]"
                       : "Device: auto, cpu, cuda[:N] or opencl[:N] [auto]");
  add_threads_to(command);
  command.text("--implementation", implementation, "NAME",
               "Implementation: fused (fast), plain (one stage at a time) or oracle (slow scalar reference); results "
               "are identical [fused]");
  command.text("--simd", simd, "NAME", fmt::format("{} [auto]", simd_help));
}

void DeviceOptions::add_threads_to(Command& command) {
  command.integer("--threads", threads, 1, 4096, "N", "Number of CPU threads [all]");
}

const char* to_string(Implementation implementation) {
  return implementation == Implementation::fused   ? "fused"
         : implementation == Implementation::plain ? "plain"
                                                   : "oracle";
}

static Implementation to_implementation(const std::string& name) {
  for (const Implementation one : {Implementation::fused, Implementation::plain, Implementation::oracle})
    if (name == to_string(one)) return one;
  refuse(fmt::format("--implementation {} is not allowed; it must be fused, plain or oracle", name));
}

Device DeviceOptions::device() const {
  const Implementation chosen = to_implementation(implementation);
  const bool definitions = chosen == Implementation::oracle && name == "auto";  // only the CPU runs the oracles
  use_simd(simd);
  return {resolve_device(definitions ? "cpu" : name), threads.value_or(0), chosen};
}

std::vector<Device> DeviceOptions::devices() const {
  if (name.find_first_of(",*") == std::string::npos) return {device()};
  use_simd(simd);
  return devices_of({name, threads.value_or(0), to_implementation(implementation)});
}

int threads_of(const Device& device) {
  if (device.threads > 0) return device.threads;
  for (const DeviceDescription& found : devices())
    for (const auto& [name, value] : found.properties)
      if (found.name == "cpu" && name == "threads") return std::stoi(value);
  return 0;
}

Json parameters_json(const Pipeline& pipeline) {
  Json json = Json::object();
  for (const ParameterInfo& parameter : pipeline.parameters()) json[parameter.name] = Json::parse(to_json(parameter));
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

std::string roof_share(double roof_ms, double ms) {
  const double share = ms > 0 ? 100 * roof_ms / ms : 0;
  return share > 100 ? "> 100" : cell(share, 0);
}

Table stage_table(const std::string& title, const std::vector<StageTime>& stages, const Roofs& roofs) {
  Table table({title, "ms", "GB/s", "% of roof", "bound"});
  for (const StageTime& stage : stages)
    table.add({stage.name, cell(stage.ms, 3), cell(gigabytes_per_second(stage), 2),
               roof_share(roof_of(stage, roofs).ms, stage.ms), to_string(bound_of(stage, roofs))});
  return std::move(table.left({0, 4}));
}

// Names of files may contain bytes that are not UTF-8.
std::string json_text(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }
void write_json(const std::filesystem::path& file, const Json& json) {
  create_folder_of(file);
  write_text(file, json_text(json));
}

Frame to_frame(const std::string& name) {
  if (name == "optical") return Frame::optical;
  if (name == "head") return Frame::head;
  refuse(fmt::format("--frame {} is not allowed; it must be optical or head", name));
}

double gigabytes_per_second(const StageTime& stage) { return stage.ms > 0 ? stage.bytes / stage.ms * 1e-6 : 0; }

std::vector<double> time_runs(int repeat, const std::function<void()>& run, double* processor_ms, double most_seconds) {
  const Stopwatch since_begun;
  run();
  if (repeat == 0 || since_begun.ms() > 1e3 * most_seconds) return {since_begun.ms()};
  std::vector<double> ms;
  const std::clock_t begin = std::clock();
  for (int i = 0; i < repeat && since_begun.ms() <= 1e3 * most_seconds; ++i) {
    const Stopwatch watch;
    run();
    ms.push_back(watch.ms());
  }
  if (processor_ms != nullptr)
    *processor_ms =
        1000.0 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC / static_cast<double>(ms.size());
  return ms;
}

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto count = static_cast<double>(values.size());
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(std::max(std::ceil(share * count), 1.0)) - 1;
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

}  // namespace stereopsis::command
