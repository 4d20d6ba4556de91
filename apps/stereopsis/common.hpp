// What several subcommands share: the choice of method and device, JSON, times.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "options.hpp"
#include "stereopsis/device.hpp"
#include "stereopsis/disparity.hpp"
#include "stereopsis/image.hpp"
#include "stereopsis/matcher_group.hpp"
#include "stereopsis/pipeline.hpp"
#include "stereopsis/roofs.hpp"
#include "table.hpp"

namespace stereopsis::command {

using Json = nlohmann::ordered_json;

// --method or --pipeline, and --set.
struct MethodOptions {
  std::string method = "sgm";
  std::filesystem::path pipeline_file;
  std::vector<std::string> settings;

  void add_to(Command& command);
  // `of_costs`: its cost is `volume`, costs that are given, before anything is set.
  Pipeline pipeline(bool of_costs = false) const;
};

// NAME.PARAMETER=VALUE, one after the other.
void apply_settings(Pipeline& pipeline, const std::vector<std::string>& settings);

// --device, --threads and --implementation.
struct DeviceOptions {
  std::string name = "auto", implementation = "fused";
  std::optional<int> threads;

  // `several`: a sequence's frames may go to more than one.
  void add_to(Command& command, bool several = false);
  void add_threads_to(Command& command);
  // With the name that `auto` stands for.
  Device device() const;
  std::vector<Device> devices() const;  // of a list, each
};

const char* to_string(Implementation);
// How many threads of the CPU it uses; 0 where that is not known.
int threads_of(const Device& device);

// {"cost.window": 9, …}, typed.
Json parameters_json(const Pipeline& pipeline);
// Without roofs, the bounds are null.
Json stages_json(const std::vector<StageTime>& stages, const Roofs& roofs);
// A line for each: ms, GB/s, share of the roof, bound.
Table stage_table(const std::string& title, const std::vector<StageTime>& stages, const Roofs& roofs);
std::string json_text(const Json& json);
void write_json(const std::filesystem::path& file, const Json& json);

std::string size_text(Size size);              // "640×480"
std::string range_text(DisparityRange range);  // "0 to 63"
double gigabytes_per_second(const StageTime& stage);

// Milliseconds since it was made.
class Stopwatch {
 public:
  double ms() const { return std::chrono::duration<double, std::milli>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

// Milliseconds of `repeat` runs, after one to warm up.
std::vector<double> time_runs(int repeat, const std::function<void()>& run);

// The smallest value that this share of them, 0 to 1, does not exceed; NaN where there is nothing.
double quantile(std::vector<double> values, double share);
// The lower of two middles; NaN where there is nothing.
double median(std::vector<double> values);

}  // namespace stereopsis::command
