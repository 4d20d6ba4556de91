#include "command/evaluate_maps.hpp"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "command/common.hpp"
#include "command/frames.hpp"
#include "command/result_files.hpp"
#include "command/scores.hpp"
#include "command/table.hpp"
#include "command/terminal.hpp"
#include "jobs/call_files.hpp"
#include "sources/maps.hpp"

namespace stereopsis::command {
namespace {

namespace fs = std::filesystem;

struct MapScore {
  sources::MapWithTruth files;
  fs::path mask;
  Evaluation all;
  std::optional<Evaluation> nonocc;
};

void require_size(const fs::path& file, Size size, const fs::path& other, Size other_size) {
  if (size != other_size)
    refuse(fmt::format("{} is {} but {} is {}; both must have the same size", file.string(), size_text(size),
                       other.string(), size_text(other_size)));
}

void score(const MapsCall& call, MapScore& map) {
  TruthOptions of_one = call.truth;
  of_one.file = map.files.truth;
  const auto [scored, known] = read_scored(map.files.map, call.disparity_scale, of_one);
  require_size(map.files.map, scored.values.size(), map.files.truth, known.values.size());
  const auto read = [&](const fs::path& file) {
    Image<std::uint8_t> mask = read_mask(file);
    require_size(file, mask.size(), map.files.truth, known.values.size());
    return mask;
  };
  const Image<std::uint8_t> mask = map.mask.empty() ? Image<std::uint8_t>() : read(map.mask);
  map.all = evaluate(scored.values, known.values, mask);
  if (const auto mismatch = mismatch_text(of_one, scored, known, mask)) warn("warning: {}", *mismatch);
  if (map.mask.empty() && !map.files.nonocc.empty())
    map.nonocc = evaluate(scored.values, known.values, read(map.files.nonocc));
}

std::vector<std::string> row(const std::string& name, const Evaluation& of) {
  std::vector<std::string> cells = {name};
  for (const auto measure : {&Measures::bad05, &Measures::bad10, &Measures::bad20, &Measures::bad40, &Measures::d1})
    cells.push_back(cell(of.all.*measure, 2));
  cells.push_back(cell(of.all.avgerr, 3));
  cells.push_back(cell(of.all.density, 1));
  return cells;
}

Evaluation mean_of(const std::vector<const Evaluation*>& all) {
  Evaluation mean;
  for (const auto& [key, value] : measure_columns)
    for (const Evaluation* one : all) {
      mean.all.*value += one->all.*value / static_cast<double>(all.size());
      mean.valid.*value += one->valid.*value / static_cast<double>(all.size());
    }
  for (const Evaluation* one : all) mean.all.counted += one->all.counted, mean.valid.counted += one->valid.counted;
  return mean;
}

void print(const std::vector<MapScore>& maps) {
  std::vector<const Evaluation*> all, nonocc;
  Table table({"map", "bad0.5", "bad1.0", "bad2.0", "bad4.0", "D1", "avgerr", "density"});
  for (const MapScore& map : maps) {
    table.add(row(map.files.name, map.all));
    all.push_back(&map.all);
    if (!map.nonocc) continue;
    table.add(row(map.files.name + ", nonocc", *map.nonocc));
    nonocc.push_back(&*map.nonocc);
  }
  table.add_rule();
  table.add(row("average", mean_of(all)));
  if (!nonocc.empty()) table.add(row("average, nonocc", mean_of(nonocc)));
  table.print();
}

Json as_json(const std::vector<MapScore>& maps) {
  Json list = Json::array();
  for (const MapScore& map : maps) {
    list.push_back({{"name", map.files.name},
                    {"disparity", map.files.map.string()},
                    {"truth", map.files.truth.string()},
                    {"measures", to_json(map.all)}});
    if (map.nonocc) list.back()["nonocc"] = to_json(*map.nonocc);
  }
  return {{"maps", list}};
}

}  // namespace

void evaluate_maps(const MapsCall& call) {
  call.truth.check();
  Frames found = sources::find_maps(call.disparity, "the disparity");
  std::vector<std::string> without_map;
  std::vector<MapScore> maps;
  for (sources::MapWithTruth& one : sources::with_truths(
           found, call.disparity, sources::find_maps(call.truth.file, "--truth"), call.truth.file, without_map))
    maps.push_back({std::move(one), {}, {}, {}});
  if (!call.mask.empty()) {
    const Frames masks = find_frames(call.mask, "--mask");
    const std::vector<fs::path> of_maps = sources::partners_of(found, masks);
    for (std::size_t i = 0; i < maps.size(); ++i) {
      maps[i].mask = masks.sequence ? of_maps[i] : call.mask;
      if (maps[i].mask.empty())
        refuse(fmt::format("{} has no partner in --mask {}", maps[i].files.map.string(), call.mask.string()));
    }
  }
  if (!without_map.empty())
    warn("warning: {} ground truths have no disparity map, such as {}", without_map.size(), without_map.front());
  CallFiles files;
  for (const MapScore& map : maps) {
    files.reads(map.files.map, "the disparity");
    files.reads(map.files.truth, "--truth");
    files.reads(map.mask, "--mask");
    files.reads(map.files.nonocc, "the mask beside the truth");
  }
  call.truth.rig.calibration().reads(files);
  files.writes(call.json, "--json");
  if (!call.json.empty()) check_result(call.json);
  for (MapScore& map : maps) score(call, map);
  if (!call.json.empty()) write_json(call.json, as_json(maps));
  print(maps);
}

}  // namespace stereopsis::command
