// Functions and options shared by several subcommands: the choice of method and device, JSON, times.
#pragma once

#include <filesystem>
#include <functional>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "command/options.hpp"
#include "command/table.hpp"
#include "jobs/stopwatch.hpp"
#include "jobs/texts.hpp"
#include "stereopsis/device.hpp"
#include "stereopsis/image.hpp"
#include "stereopsis/matcher_group.hpp"
#include "stereopsis/pipeline.hpp"
#include "stereopsis/rig.hpp"
#include "stereopsis/roofs.hpp"

namespace stereopsis::command {

using jobs::memory_text, jobs::range_text, jobs::size_text, jobs::Stopwatch;
using Json = nlohmann::ordered_json;

// The options --device, --threads and --implementation.
struct DeviceOptions {
  std::string name = "auto", implementation = "fused", simd = "auto";
  std::optional<int> threads;

  // `several`: the frames of a sequence may be distributed over several devices.
  void add_to(Command& command, bool several = false);
  void add_threads_to(Command& command);
  // Return the device, with `auto` resolved to its name, or every device of a list. Both select the SIMD target.
  Device device() const;
  std::vector<Device> devices() const;
};

struct ChosenMethod {
  Pipeline pipeline;
  std::string own_device;  // the device of a method from outside the library: "cuda:1"; else empty
};

// The options --method, --pipeline and --set.
struct MethodOptions {
  std::string method;  // empty: sgm
  std::filesystem::path pipeline_file;
  std::vector<std::string> settings;

  void add_to(Command& command);
  // Adds --pipeline and --set beside a --method of the command's own.
  void add_file_to(Command& command, const Option& by_name);
  // `of_costs`: before any setting, the cost becomes `volume`, given costs.
  ChosenMethod chosen(const DeviceOptions& device, bool of_costs = false) const;
  // Returns whether the call names a method, a pipeline or settings.
  bool given() const { return !method.empty() || !pipeline_file.empty() || !settings.empty(); }
};

// Applies NAME.PARAMETER=VALUE settings in order.
void apply_settings(Pipeline& pipeline, const std::vector<std::string>& settings);

inline constexpr const char* simd_help =
    "SIMD instructions of the CPU: auto, sse4, avx2, avx512 or neon; results are identical";

const char* to_string(Implementation);
// Returns how many CPU threads a device uses; 0 if unknown.
int threads_of(const Device& device);

// Returns {"cost.window": 9, …} with typed values.
Json parameters_json(const Pipeline& pipeline);
// Returns the stages as JSON; without roofs, the bounds are null.
Json stages_json(const std::vector<StageTime>& stages, const Roofs& roofs);
// Returns a table with one row per stage: ms, GB/s, share of the roof, bound.
Table stage_table(const std::string& title, const std::vector<StageTime>& stages, const Roofs& roofs);
// Returns the share of the roof in percent for a table. A share above 100 means that the data lie in a cache, which is faster
// than the memory of the roof.
std::string roof_share(double roof_ms, double ms);
std::string json_text(const Json& json);
void write_json(const std::filesystem::path& file, const Json& json);

constexpr double mebibyte = 1 << 20;
Frame to_frame(const std::string& name);  // the frame that --frame names
double gigabytes_per_second(const StageTime& stage);

// Returns the milliseconds of `repeat` runs after one warm-up run, or of the only run if `repeat` is 0. `processor_ms`
// receives the processor time per run, which is the sum over all threads of the process. No run begins after
// `most_seconds`.
std::vector<double> time_runs(int repeat, const std::function<void()>& run, double* processor_ms = nullptr,
                              double most_seconds = std::numeric_limits<double>::infinity());

// Returns the smallest value that is not exceeded by this share of the values, 0 to 1; NaN if there are none.
double quantile(std::vector<double> values, double share);
// Returns the lower median; NaN if there are no values.
double median(std::vector<double> values);

}  // namespace stereopsis::command
