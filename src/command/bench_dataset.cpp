// stereopsis bench --dataset DIR: runs methods and peers one after the other on each scene, with the same timing and
// scoring.
#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "command/bench.hpp"
#include "command/commands.hpp"
#include "command/comparison.hpp"
#include "command/peers.hpp"
#include "command/progress.hpp"
#include "command/result_files.hpp"
#include "command/scores.hpp"
#include "command/table.hpp"
#include "command/terminal.hpp"
#include "jobs/pixels.hpp"
#include "stereopsis/evaluation.hpp"
#include "stereopsis/io.hpp"
#include "stereopsis/simd.hpp"

namespace stereopsis::command {
namespace {

// Returns the number of threads on the CPU; 0 for another device.
int cpu_threads(const Contender& contender) { return contender.runs_on() == "cpu" ? threads_of(contender.device) : 0; }

// Returns the label or, if several contenders have this label, the label with the device.
std::string name_of(const std::vector<Contender>& all, const Contender& contender) {
  if (std::ranges::count(all, contender.label, &Contender::label) == 1) return contender.label;
  const int threads = cpu_threads(contender);
  return fmt::format("{} on {}{}", contender.label, device_text(contender.runs_on(), contender.simd),
                     threads > 0 ? fmt::format(", threads: {}", threads) : "");
}

// Returns "; threads: 4" if all entries of the CPU have this number.
std::string common_threads(const std::vector<Entry>& entries) {
  std::set<int> counts;
  for (const Entry& entry : entries)
    if (entry.threads > 0) counts.insert(entry.threads);
  return counts.size() == 1 ? fmt::format("; threads: {}", *counts.begin()) : "";
}

// Prints the results of each dataset: first the ratios of times, with one column per method of ours.
void print_results(const std::vector<Entry>& entries) {
  for (std::size_t dataset = 0; dataset < entries.front().means.size(); ++dataset) {
    const std::string name = entries.front().means[dataset].scene.dataset;
    const bool twelve = average_of_12(entries.front().results) && name == "middlebury_v2";
    std::vector<std::string> header = {name, "device"};
    for (const Entry& ours : entries)
      if (!ours.peer) header.push_back("ms / " + ours.name);
    for (const char* column : {"ms", "nonocc bad1.0", "all bad1.0", "D1"}) header.emplace_back(column);
    if (twelve) header.emplace_back("average of 12");
    Table table(header);
    for (const Entry& entry : entries) {
      const SceneResult& mean = entry.means[dataset];
      std::vector<std::string> row = {entry.name, entry.device};
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

// Returns the region over which the errors are drawn: nonocc, or all pixels.
ImageView<const std::uint8_t> drawn_region(const LoadedScene& loaded) {
  for (const LoadedScene::Region& region : loaded.regions)
    if (region.name == std::string_view("nonocc")) return region.mask;
  return {};
}

// Runs every entry on one scene. A peer that does not support the scene has no result of it.
void bench_scene(const Bench& bench, const DatasetScene& scene, std::vector<Entry>& entries,
                 std::vector<Image<std::uint8_t>>& lefts) {
  const LoadedScene loaded = load_scene(scene, bench.rows);
  const auto note = [&](Entry& entry, ImageView<const float> disparity, double ms) {
    entry.results.push_back(score(scene, loaded, disparity, ms));
    if (!bench.html.empty())
      entry.errors.push_back(thumbnail(error_image(disparity, loaded.truth, drawn_region(loaded), 1, false)));
  };
  const StereoPair pair{loaded.left, loaded.right, {}, {}};
  std::size_t next = 0;
  for (const Contender& contender : bench.contenders) {
    use_simd(contender.simd);
    Problem problem = Problem::of(pair, {0, scene.disparities});
    problem.want_confidence = bench.confidence;
    Matcher matcher(Plan(contender.pipeline, problem, contender.device));
    Matched matched;
    const double ms = median(time_runs(
        bench.repeat, [&] { matcher.match(pair, matched); }, nullptr, bench.most_seconds));
    note(entries[next++], matched.disparity, ms);
  }
  if (!bench.html.empty()) lefts.push_back(thumbnail(jobs::to_8_bits(loaded.left)));
  const Image<std::uint8_t> left = jobs::to_8_bits(loaded.left), right = jobs::to_8_bits(loaded.right);
  for (const PeerName& name : bench.peers) {
    Entry& entry = entries[next++];
    const auto peer = make_peer(name, {left, right, scene.disparities, bench.threads, PeerColumns::all, scene.dataset});
    if (!peer && bench.alone)
      refuse(fmt::format("{} does not support {} with {} disparities", name.text(), size_text(left.size()),
                         scene.disparities));
    if (!peer) continue;
    entry.name = entry.label = peer->name;
    entry.parameters = peer->parameters;
    const double ms = median(time_runs(bench.repeat, peer->run, nullptr, bench.most_seconds));
    note(entry, peer->disparity(), ms);
  }
}

std::vector<Entry> entries_of(const Bench& bench) {
  std::vector<Entry> entries;
  for (const Contender& contender : bench.contenders)
    entries.push_back({name_of(bench.contenders, contender), contender.label,
                       device_text(contender.runs_on(), contender.simd), cpu_threads(contender),
                       parameters_json(contender.pipeline)});
  for (const PeerName& peer : bench.peers)
    entries.push_back({peer.text(), peer.text(), "cpu", threads_of({"cpu", bench.threads}), {}, true});
  return entries;
}

// Returns the results of the scenes on which all of our methods succeeded. A failed scene is recorded, and the others
// still run. A peer that does not support every scene is left out, because it has no averages to compare.
Compared bench_scenes(const Bench& bench, const std::vector<DatasetScene>& scenes, SceneFailures& failures,
                      const std::function<void(std::size_t, std::size_t)>& on_scene) {
  Compared compared{entries_of(bench), {}, {}};
  auto& [entries, left_out, lefts] = compared;
  std::size_t done = 0;
  on_scene(0, scenes.size());
  for (std::size_t i = 0; i < scenes.size(); ++i) {
    try {
      bench_scene(bench, scenes[i], entries, lefts);
      ++done;
    } catch (const std::exception& e) {
      failures.note(scenes[i].name, e);
      lefts.resize(std::min(lefts.size(), done));
      for (Entry& entry : entries) {
        entry.results.resize(std::min(entry.results.size(), done));
        entry.errors.resize(std::min(entry.errors.size(), done));
      }
    }
    on_scene(i + 1, scenes.size());
  }
  for (const Entry& entry : entries)
    if (entry.results.size() != done)
      left_out.push_back(
          fmt::format("{} is left out: it supports {} of {} scenes, because the others are too small "
                      "for its window and search range",
                      entry.name, entry.results.size(), done));
  std::erase_if(entries, [&](const Entry& entry) { return entry.results.size() != done; });
  for (Entry& entry : entries) entry.means = averages(entry.results);
  return compared;
}

}  // namespace

Json comparison_json(const Bench& bench, const Compared& compared, const SceneFailures& failures) {
  Json list = Json::array();
  for (const Entry& entry : compared.entries) {
    Json json = scenes_json(entry.label, entry.device, entry.parameters, entry.results);
    json["threads"] = entry.threads;
    json["peer"] = entry.peer ? Json(entry.label) : Json(nullptr);
    list.push_back(json);
  }
  return {{"threads", threads_of({"cpu", bench.threads})},
          {"commit", built_commit},
          {"results", list},
          {"left_out", compared.left_out},
          {"failed", failures.json()}};
}

Compared compare_on_scenes(const Bench& bench, const std::filesystem::path& dataset, SceneFailures& failures,
                           const std::function<void(std::size_t, std::size_t)>& on_scene) {
  const std::vector<DatasetScene> scenes = scenes_of(dataset, failures);
  CallFiles files = bench.files;
  reads(files, scenes);
  files.writes(bench.json, "--json");
  files.writes(bench.html, "--html");
  Compared compared = bench_scenes(bench, scenes, failures, on_scene);
  if (!bench.json.empty() && !bench.alone) write_json(bench.json, comparison_json(bench, compared, failures));
  if (!bench.html.empty()) {
    create_folder_of(bench.html);
    write_text(bench.html, comparison_page(dataset.string(), compared.entries, compared.lefts));
  }
  return compared;
}

Compared compare_with_progress(const Bench& bench, const std::filesystem::path& dataset, SceneFailures& failures) {
  std::optional<Progress> progress;
  return compare_on_scenes(bench, dataset, failures, [&](std::size_t done, std::size_t all) {
    if (!progress) progress.emplace(all, "scenes");
    progress->update(done);
  });
}

void bench_dataset(const Bench& bench, const std::filesystem::path& dataset) {
  SceneFailures failures;
  const Compared compared = compare_with_progress(bench, dataset, failures);
  for (const std::string& sentence : compared.left_out) warn("{}", sentence);
  if (!compared.entries.empty()) print_results(compared.entries);
  say("ms: mean over the scenes of the median of {} runs after one warm-up run{}.\nD1: over all pixels, or over nonocc "
      "if the ground truth of occluded pixels is not known.\n",
      bench.repeat, common_threads(compared.entries));
  if (!bench.left_out.empty()) remark("{}", bench.left_out);
  if (failures.size() > 0) throw CheckFailed{};
}

}  // namespace stereopsis::command
