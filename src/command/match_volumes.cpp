// Volumes of matching costs that `match` reads, writes and prints.
#include <fmt/core.h>

#include <algorithm>

#include "command/match.hpp"
#include "command/table.hpp"
#include "command/terminal.hpp"

namespace stereopsis::command::matching {
namespace {

double cost_at(const AnyImageView& probed, int candidate, int probe) {
  return with_pixels(probed, [&](const auto& costs) { return static_cast<double>(costs(candidate, probe)); });
}

}  // namespace

void print_probes(const Call& call) {
  const InputFrame& first = call.run.first();
  Problem problem = call.run.problems().of(first);
  problem.batch = 1;
  for (const Output& output : output_table)
    if (bool* const flag = output.flag(problem)) *flag = false;
  for (const auto& [x, y] : call.options.run.probes) problem.volumes.probes.push_back({x, y});
  problem.memory_limit = call.run.memory().for_matching();
  const Matched result =
      Matcher(Plan(call.run.matching().pipeline, problem, call.run.matching().devices.front())).match(first.pair());
  const auto is_reduced = [&](const AnyImageView& costs) { return !costs.empty() && costs.width != first.range.count; };
  if (result.disparity.size() != call.run.cameras().matched_size() || std::ranges::any_of(result.probed, is_reduced))
    refuse("--probe requires costs of the images' size, and this pipeline reduces the images; set reduce.factor=1");
  for (std::size_t i = 0; i < call.options.run.probes.size(); ++i) {
    const auto [x, y] = call.options.run.probes[i];
    say("pixel {},{}: disparity {:.3f}\n", x, y, result.disparity(x, y));
    Table table({"disparity", "cost", "aggregated", "optimised"});
    for (int d = 0; d < first.range.count; ++d) {
      std::vector<std::string> row{std::to_string(first.range.min + d)};
      for (const AnyImageView costs : result.probed)
        row.push_back(
            costs.empty() ? "" : cell(cost_at(costs, d, static_cast<int>(i)), costs.type == PixelType::f32 ? 3 : 0));
      table.add(row);
    }
    table.print();
  }
}

}  // namespace stereopsis::command::matching
