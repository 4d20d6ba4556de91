// Scores of a program on scenes with ground truth, for `evaluate` and `bench`.
#pragma once

#include <array>
#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "command/common.hpp"
#include "command/frames.hpp"
#include "stereopsis/dataset.hpp"
#include "stereopsis/evaluation.hpp"

namespace stereopsis::command {

struct Column {
  const char* key;
  double Measures::*value;
};

// The columns in the order of the JSON; `density` is given only over all counted pixels, because it is 100 over valid
// pixels.
constexpr std::array<Column, 12> measure_columns = {{{"bad0.5", &Measures::bad05},
                                                     {"bad1.0", &Measures::bad10},
                                                     {"bad2.0", &Measures::bad20},
                                                     {"bad4.0", &Measures::bad40},
                                                     {"d1", &Measures::d1},
                                                     {"out3", &Measures::out3},
                                                     {"avgerr", &Measures::avgerr},
                                                     {"rms", &Measures::rms},
                                                     {"a90", &Measures::a90},
                                                     {"a95", &Measures::a95},
                                                     {"a99", &Measures::a99},
                                                     {"density", &Measures::density}}};

Json to_json(const Evaluation& evaluation);

struct SceneResult {
  DatasetScene scene;
  Size size;
  double ms = 0;
  std::map<std::string, Evaluation> regions;  // the regions of the scene, by name

  const Evaluation* region(const std::string& name) const;
  // Returns NaN if the scene lacks the region.
  double value(const std::string& region, double Measures::*measure) const;
  // Returns "all", or "nonocc" if the truth of occluded pixels is unknown.
  std::string widest() const { return region("all") ? "all" : "nonocc"; }
};

// Scenes that could not be read or matched: each is reported at once, and the others still run.
class SceneFailures {
 public:
  // Reports a failure, and returns the sentence that the list has.
  using Report = std::function<std::string(const std::string& scene, const std::exception& problem)>;

  SceneFailures();  // prints
  explicit SceneFailures(Report report) : report_(std::move(report)) {}

  void note(const std::string& scene, const std::exception& problem);
  std::size_t size() const { return list_.size(); }
  Json json() const;  // [{"name": …, "error": …}, …]

 private:
  Report report_;
  std::vector<std::pair<std::string, std::string>> list_;
};

// Returns the scenes of --dataset.
std::vector<DatasetScene> scenes_of(const std::filesystem::path& folder, SceneFailures& failures);
// Registers all their files as inputs.
void reads(CallFiles& files, const std::vector<DatasetScene>& scenes);

SceneResult score(const DatasetScene& scene, const LoadedScene& loaded, ImageView<const float> disparity, double ms);

// Returns the mean over the scenes of each dataset, in the order of their first scenes; a measure is averaged over the
// scenes that have the region.
std::vector<SceneResult> averages(const std::vector<SceneResult>& results);

// Returns the value of the Middlebury version 2 table: bad1.0 over nonocc, all and disc of tsukuba, venus, teddy and
// cones.
std::optional<double> average_of_12(const std::vector<SceneResult>& results);

Json scenes_json(const std::string& method, const std::string& device, const Json& parameters,
                 const std::vector<SceneResult>& results);

}  // namespace stereopsis::command
