#include "command/scores.hpp"

#include <fmt/core.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "command/terminal.hpp"

namespace stereopsis::command {
namespace {

constexpr std::array region_names = {"nonocc", "all", "disc"};

Json measures_json(const Measures& measures) {
  Json json = Json::object();
  for (const auto& [key, value] : measure_columns) json[key] = measures.*value;  // NaN becomes null
  return json;
}

// Returns the mean over the scenes that have the region.
std::optional<Evaluation> average(const std::vector<const SceneResult*>& scenes, const std::string& region) {
  Evaluation mean;
  int count = 0;
  for (const SceneResult* scene : scenes) {
    const Evaluation* one = scene->region(region);
    if (!one) continue;
    ++count;
    for (const auto& [key, value] : measure_columns) {
      mean.all.*value += one->all.*value;
      mean.valid.*value += one->valid.*value;
    }
    mean.all.counted += one->all.counted;
    mean.valid.counted += one->valid.counted;
  }
  if (count == 0) return std::nullopt;
  for (const auto& [key, value] : measure_columns) {
    mean.all.*value /= count;
    mean.valid.*value /= count;
  }
  return mean;
}

SceneResult average(const std::string& dataset, const std::vector<const SceneResult*>& scenes) {
  SceneResult mean;
  mean.scene.name = "average of " + dataset;
  mean.scene.dataset = dataset;
  for (const SceneResult* scene : scenes) mean.ms += scene->ms / static_cast<double>(scenes.size());
  for (const char* region : region_names)
    if (const auto evaluation = average(scenes, region)) mean.regions[region] = *evaluation;
  return mean;
}

Json regions_json(const SceneResult& result) {
  Json json = Json::object();
  for (const char* region : region_names)
    if (const Evaluation* evaluation = result.region(region)) json[region] = to_json(*evaluation);
  return json;
}

}  // namespace

Json to_json(const Evaluation& evaluation) {
  Json json = measures_json(evaluation.all);
  json["counted"] = evaluation.all.counted;
  json["valid"] = measures_json(evaluation.valid);
  return json;
}

const Evaluation* SceneResult::region(const std::string& name) const {
  const auto found = regions.find(name);
  return found == regions.end() ? nullptr : &found->second;
}

double SceneResult::value(const std::string& name, double Measures::*measure) const {
  const Evaluation* found = region(name);
  return found ? found->all.*measure : std::numeric_limits<double>::quiet_NaN();
}

SceneFailures::SceneFailures()
    : report_([](const std::string& scene, const std::exception& problem) {
        warn("scene {}: {}", scene, problem.what());
        return std::string(problem.what());
      }) {}

void SceneFailures::note(const std::string& scene, const std::exception& problem) {
  list_.emplace_back(scene, report_(scene, problem));
}

Json SceneFailures::json() const {
  Json list = Json::array();
  for (const auto& [name, problem] : list_) list.push_back({{"name", name}, {"error", problem}});
  return list;
}

void reads(CallFiles& files, const std::vector<DatasetScene>& scenes) {
  for (const DatasetScene& scene : scenes) {
    files.reads(scene.folder / "dataset.json", "a scene's description");
    for (const auto* file : {&scene.left, &scene.right, &scene.truth, &scene.truth_nonocc, &scene.truth_right})
      files.reads(*file, "a scene's file");
    for (const DatasetScene::Mask& mask : scene.masks) files.reads(mask.file, "a scene's mask");
  }
}

std::vector<DatasetScene> scenes_of(const std::filesystem::path& folder, SceneFailures& failures) {
  if (!std::filesystem::is_directory(folder))
    refuse(fmt::format("--dataset {} is not a folder that exists", folder.string()));
  return find_scenes(folder, [&](const std::filesystem::path& file, const Error& error) {
    failures.note(file.parent_path().string(), error);
  });
}

SceneResult score(const DatasetScene& scene, const LoadedScene& loaded, ImageView<const float> disparity, double ms) {
  SceneResult result{scene, loaded.left.size(), ms, {}};
  for (const LoadedScene::Region& region : loaded.regions)
    result.regions[region.name] = evaluate(disparity, loaded.truth, region.mask);
  return result;
}

std::vector<SceneResult> averages(const std::vector<SceneResult>& results) {
  std::vector<SceneResult> means;
  std::set<std::string> done;
  for (const SceneResult& first : results) {
    if (!done.insert(first.scene.dataset).second) continue;
    std::vector<const SceneResult*> scenes;
    for (const SceneResult& result : results)
      if (result.scene.dataset == first.scene.dataset) scenes.push_back(&result);
    means.push_back(average(first.scene.dataset, scenes));
  }
  return means;
}

std::optional<double> average_of_12(const std::vector<SceneResult>& results) {
  double sum = 0;
  int count = 0;
  for (const SceneResult& result : results) {
    if (result.scene.dataset != "middlebury_v2") continue;
    for (const char* region : region_names)
      if (const Evaluation* evaluation = result.region(region)) {
        sum += evaluation->all.bad10;
        ++count;
      }
  }
  return count == 12 ? std::optional(sum / 12) : std::nullopt;
}

Json scenes_json(const std::string& method, const std::string& device, const Json& parameters,
                 const std::vector<SceneResult>& results) {
  Json scenes = Json::array(), average = Json::object();
  for (const SceneResult& r : results)
    scenes.push_back({{"name", r.scene.name},
                      {"dataset", r.scene.dataset},
                      {"width", r.size.width},
                      {"height", r.size.height},
                      {"disparities", r.scene.disparities},
                      {"ms", r.ms},
                      {"measures", regions_json(r)}});
  for (const SceneResult& mean : averages(results))
    average[mean.scene.dataset] = {{"ms", mean.ms}, {"measures", regions_json(mean)}};
  Json json = {
      {"method", method}, {"device", device}, {"parameters", parameters}, {"scenes", scenes}, {"average", average}};
  if (const auto twelve = average_of_12(results)) json["average_of_12"] = *twelve;
  return json;
}

}  // namespace stereopsis::command
