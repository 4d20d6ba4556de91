// What `match` says of its frames: a line per stage, a summary, and a report as JSON.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "match.hpp"
#include "table.hpp"

namespace stereopsis::command::matching {
namespace {

template <class F>
double median_of(const FrameRecords& records, F&& ms) {
  std::vector<double> values;
  for (const FrameRecord& record : records) values.push_back(ms(record));
  return median(values);
}

double matching_ms(const FrameRecord& record) { return record.matching_ms; }

// The median over the frames of each stage.
std::vector<StageTime> median_stages(const FrameRecords& records) {
  std::vector<StageTime> stages = records[0].stages;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    std::vector<double> ms;
    for (const FrameRecord& record : records)
      if (s < record.stages.size()) ms.push_back(record.stages[s].ms);
    stages[s].ms = median(ms);
  }
  return stages;
}

}  // namespace

void print_timings(const Call& call, const FrameRecords& records) {
  Table table = stage_table(records.size() > 1 ? "stage (median of the frames)" : "stage", median_stages(records),
                            measure_roofs(call.device));
  table.add({"matching, whole", cell(median_of(records, matching_ms), 3), "", "", ""});
  table.add(
      {"reading files", cell(median_of(records, [](const FrameRecord& r) { return r.reading_ms; }), 3), "", "", ""});
  table.add(
      {"writing files", cell(median_of(records, [](const FrameRecord& r) { return r.written.ms; }), 3), "", "", ""});
  table.print();
}

void print_summary(const Call& call, const FrameRecords& records) {
  long long too_far = 0;
  for (const FrameRecord& record : records) too_far += record.written.too_far;
  if (too_far > 0)
    fmt::print(stderr,
               "stereopsis: {} pixels are farther than 65.535 m and were written as 0 to --depth; .pfm holds them\n",
               too_far);
  double valid = 0;
  for (const FrameRecord& record : records) valid += record.density.valid / static_cast<double>(records.size());
  fmt::print("{}: {}{}, disparities {}, {} on {}, {:.1f} % valid, {:.1f} ms{}\n",
             call.options.outputs[Output::disparity].string(),
             call.left.sequence ? fmt::format("{} frames of ", call.left.size()) : "", size_text(call.size),
             range_text(call.range), call.pipeline.method(), call.device.name, valid, median_of(records, matching_ms),
             call.left.sequence ? " a frame" : "");
}

Json report(const Call& call, const FrameRecords& records, const Plan& plan) {
  Json frames = Json::array();
  for (std::size_t i = 0; i < records.size(); ++i) {
    const FrameRecord& r = records[i];
    const Densities& d = r.density;
    Json outputs = Json::object();
    for (std::size_t k = 0; k < output_count; ++k)
      if (!call.files[i][k].empty())
        outputs[k == Output::disparity ? "disparity" : output_kinds()[k].option + 2] = call.files[i][k].string();
    frames.push_back({{"left", call.left.files[i].string()},
                      {"right", call.right.files[i].string()},
                      {"outputs", outputs},
                      {"ms", {{"reading", r.reading_ms}, {"matching", r.matching_ms}, {"writing", r.written.ms}}},
                      {"stages", stages_json(r.stages, {})},
                      {"density",
                       {{"before_fill", d.measured},
                        {"after_fill", d.valid},
                        {"reasons",
                         {{"no_candidate", d.no_candidate},
                          {"left_right", d.left_right},
                          {"ambiguous", d.ambiguous},
                          {"speckle", d.speckle},
                          {"masked", d.masked}}}}}});
  }
  const Problem& problem = plan.problem();
  return {{"version", STEREOPSIS_VERSION},
          {"method", call.pipeline.method()},
          {"device", call.device.name},
          {"threads", threads_of(call.device)},
          {"parameters", parameters_json(call.pipeline)},
          {"width", problem.size.width},
          {"height", problem.size.height},
          {"result_width", plan.output_size().width},
          {"result_height", plan.output_size().height},
          {"channels", problem.channels},
          {"bit_depth", problem.bit_depth},
          {"min_disparity", call.range.min},
          {"disparities", call.range.count},
          {"range_from", call.options.disparities ? "call"
                         : call.options.near      ? "calibration"
                                                  : "estimate"},
          {"roi",
           call.region ? Json{call.region->x, call.region->y, call.region->width, call.region->height} : Json(nullptr)},
          {"workspace_bytes", plan.workspace_bytes()},
          {"frames", frames}};
}

}  // namespace stereopsis::command::matching
