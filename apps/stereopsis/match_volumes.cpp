// Volumes of matching costs that `match` reads, writes and prints.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "match.hpp"
#include "table.hpp"
#include "terminal.hpp"

namespace stereopsis::command::matching {
namespace {

std::pair<int, int> probed_pixel(const std::string& given) {
  const std::size_t comma = given.find(',');
  if (comma == std::string::npos)
    refuse(fmt::format("--probe {} is not allowed; it must be a pixel of the left image as X,Y", given));
  const auto number = [&](const std::string& part) { return to_integer("--probe", part, 0, 1 << 28); };
  return {number(given.substr(0, comma)), number(given.substr(comma + 1))};
}

double cost_at(const AnyImageView& probed, int candidate, int probe) {
  return with_pixels(probed, [&](const auto& costs) { return static_cast<double>(costs(candidate, probe)); });
}

}  // namespace

void MatchJob::find_volumes() {
  for (const std::string& given : options.probes) probed.push_back(probed_pixel(given));
  const bool any = !options.sinks.volumes.empty() || !probed.empty() || !options.range.cost_volume.empty();
  if (any && inputs.is_sequence())
    refuse("--cost-volume, --save-volume and --probe apply to single pairs; give one file each for LEFT and RIGHT");
  if (!options.range.cost_volume.empty() && options.sinks.wants(ResultFile::right))
    refuse(
        "--right matches the mirrored pair, and --cost-volume has only the costs of the left view; leave one of them "
        "out");
}

void MatchJob::read_volumes() {
  if (options.range.cost_volume.empty()) return;
  costs = std::make_shared<const AnyImage>(read_volume(options.range.cost_volume));
  first.costs = costs;
  if (costs->size() != first.left.size())
    refuse(fmt::format("{} is {} but {} is {}; a cost volume must have the size of the left image",
                       options.range.cost_volume.string(), size_text(costs->size()), name(inputs.first_index()),
                       size_text(first.left.size())));
}

void MatchJob::check_probes() const {
  for (const auto& [x, y] : probed)
    if (x >= size().width || y >= size().height)
      refuse(fmt::format("--probe {},{} is outside the image of {}; give a pixel inside it", x, y, size_text(size())));
}

void print_probes(const MatchJob& call) {
  Problem problem = call.problems->of(call.first);
  problem.batch = 1;
  for (const Output& output : output_table)
    if (bool* const flag = output.flag(problem)) *flag = false;
  for (const auto& [x, y] : call.probed) problem.volumes.probes.push_back({x, y});
  problem.memory_limit = call.memory->for_matching();
  const Matched result = Matcher(Plan(call.matching.pipeline, problem, call.device())).match(call.first.pair());
  const auto is_reduced = [&](const AnyImageView& costs) {
    return !costs.empty() && costs.width != call.first.range.count;
  };
  if (result.disparity.size() != call.size() || std::ranges::any_of(result.probed, is_reduced))
    refuse("--probe requires costs of the images' size, and this pipeline reduces the images; set reduce.factor=1");
  for (std::size_t i = 0; i < call.probed.size(); ++i) {
    const auto [x, y] = call.probed[i];
    say("pixel {},{}: disparity {:.3f}\n", x, y, result.disparity(x, y));
    Table table({"disparity", "cost", "aggregated", "optimised"});
    for (int d = 0; d < call.first.range.count; ++d) {
      std::vector<std::string> row{std::to_string(call.first.range.min + d)};
      for (const AnyImageView costs : result.probed)
        row.push_back(
            costs.empty() ? "" : cell(cost_at(costs, d, static_cast<int>(i)), costs.type == PixelType::f32 ? 3 : 0));
      table.add(row);
    }
    table.print();
  }
}

}  // namespace stereopsis::command::matching
