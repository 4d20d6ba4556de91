// stereopsis bench --dataset DIR: runs methods and peers one after the other on each scene, with the same timing and
// scoring.
#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "bench.hpp"
#include "commands.hpp"
#include "outputs.hpp"
#include "peers.hpp"
#include "progress.hpp"
#include "scores.hpp"
#include "table.hpp"
#include "terminal.hpp"

namespace stereopsis::command {
namespace {

struct Entry {
  std::string label, device;
  Json parameters;  // the parameters; for a peer, of the last scene, because the search range changes
  bool peer = false;
  std::vector<SceneResult> results, means = {};
};

// Prints the results of each dataset: first the ratios of times, with one column per method of ours.
void print_results(const std::vector<Entry>& entries) {
  for (std::size_t dataset = 0; dataset < entries.front().means.size(); ++dataset) {
    const std::string name = entries.front().means[dataset].scene.dataset;
    const bool twelve = average_of_12(entries.front().results) && name == "middlebury_v2";
    std::vector<std::string> header = {name, "device"};
    for (const Entry& ours : entries)
      if (!ours.peer) header.push_back("ms / " + ours.label);
    for (const char* column : {"ms", "nonocc bad1.0", "all bad1.0", "D1"}) header.emplace_back(column);
    if (twelve) header.emplace_back("average of 12");
    Table table(header);
    for (const Entry& entry : entries) {
      const SceneResult& mean = entry.means[dataset];
      std::vector<std::string> row = {entry.label, entry.device};
      for (const Entry& ours : entries)
        if (!ours.peer) row.push_back(cell(mean.ms / ours.means[dataset].ms, 2));
      row.push_back(cell(mean.ms, 1));
      row.push_back(cell(mean.value("nonocc", &Measures::bad10), 2));
      row.push_back(cell(mean.value("all", &Measures::bad10), 2));
      row.push_back(cell(mean.value(mean.widest(), &Measures::d1), 2));
      if (twelve) row.push_back(cell(average_of_12(entry.results).value(), 2));
      table.add(row);
    }
    table.left({0, 1}).print();
    say("\n");
  }
}

// Runs every entry on one scene; entries for peers are added when they first appear.
void bench_scene(const Bench& bench, const DatasetScene& scene, std::vector<Entry>& entries) {
  const LoadedScene loaded = load_scene(scene);
  const StereoPair pair{loaded.left, loaded.right, {}, {}};
  std::size_t next = 0;
  for (const auto& [label, pipeline, device] : bench.contenders) {
    Matcher matcher(Plan(pipeline, Problem::of(pair, {0, scene.disparities}), device));
    Matched matched;
    const double ms = median(time_runs(bench.repeat, [&] { matcher.match(pair, matched); }));
    entries[next++].results.push_back(score(scene, loaded, matched.disparity, ms));
  }
  if (!bench.peers) return;
  const Image<std::uint8_t> left = grey(to_8_bits(loaded.left)), right = grey(to_8_bits(loaded.right));
  for (const Peer& peer : make_peers({left, right, scene.disparities, bench.threads, PeerColumns::all})) {
    if (next == entries.size()) entries.push_back({peer.name, "cpu", peer.parameters, true, {}});
    const double ms = median(time_runs(bench.repeat, peer.run));
    entries[next++].results.push_back(score(scene, loaded, peer.disparity(), ms));
  }
}

// Returns the results of the scenes on which all of our methods succeeded. A failed scene is recorded, and the others
// still run.
std::vector<Entry> bench_scenes(const Bench& bench, const std::vector<DatasetScene>& scenes, SceneFailures& failures) {
  std::vector<Entry> entries;
  for (const auto& [label, pipeline, device] : bench.contenders)
    entries.push_back({label, device.name, parameters_json(pipeline), false, {}});
  Progress progress(scenes.size(), "scenes");
  std::size_t done = 0;
  for (std::size_t i = 0; i < scenes.size(); ++i) {
    try {
      bench_scene(bench, scenes[i], entries);
      ++done;
    } catch (const std::exception& e) {
      failures.note(scenes[i].name, e);
      for (Entry& entry : entries) entry.results.resize(std::min(entry.results.size(), done));
    }
    progress.update(i + 1);
  }
  // A peer that does not support every scene has no averages to compare.
  std::erase_if(entries, [&](const Entry& entry) { return entry.results.size() != done; });
  for (Entry& entry : entries) entry.means = averages(entry.results);
  return entries;
}

}  // namespace

void bench_dataset(const Bench& bench, const std::filesystem::path& dataset) {
  SceneFailures failures;
  const std::vector<DatasetScene> scenes = scenes_of(dataset, failures);
  CallFiles files;
  reads(files, scenes);
  files.writes(bench.json, "--json");
  const std::vector<Entry> entries = bench_scenes(bench, scenes, failures);
  print_results(entries);
  say("ms: mean over the scenes of the median of {} runs after one warm-up run, {} threads.\nD1: over all pixels, or "
      "over nonocc if the ground truth of occluded pixels is not known.\n",
      bench.repeat, threads_of(bench.contenders.front().device));
  if (!bench.json.empty()) {
    Json list = Json::array();
    for (const Entry& entry : entries) {
      Json json = scenes_json(entry.label, entry.device, entry.parameters, entry.results);
      json["peer"] = entry.peer ? Json(entry.label) : Json(nullptr);
      list.push_back(json);
    }
    write_json(bench.json, {{"threads", threads_of(bench.contenders.front().device)},
                            {"commit", STEREOPSIS_COMMIT},
                            {"results", list},
                            {"failed", failures.json()}});
  }
  if (failures.size() > 0) throw CheckFailed{};
}

}  // namespace stereopsis::command
