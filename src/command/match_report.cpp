// Reports of `match` on its frames: a line per stage, a summary with warnings, and a report as JSON.
#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "command/match.hpp"
#include "command/result_files.hpp"
#include "command/table.hpp"
#include "command/terminal.hpp"

namespace stereopsis::command::matching {
namespace {

using State = FrameRecord::State;

constexpr double most_at_an_end = 1;     // percentage of pixels
constexpr double least_outside = 0.002;  // share of the sparse matches; fewer may be wrong ones

std::vector<const FrameRecord*> done_of(const FrameRecords& records) {
  std::vector<const FrameRecord*> done;
  for (const FrameRecord& record : records.frames)
    if (record.state == State::done) done.push_back(&record);
  return done;
}

template <class F>
std::vector<double> values_of(const std::vector<const FrameRecord*>& records, F&& value) {
  std::vector<double> values;
  for (const FrameRecord* record : records) values.push_back(value(*record));
  return values;
}

double matching_ms(const FrameRecord& record) { return record.matching_ms; }
double latency_ms(const FrameRecord& record) { return record.latency_ms; }

// Returns the median over the frames for each stage.
std::vector<StageTime> median_stages(const std::vector<const FrameRecord*>& records) {
  std::vector<StageTime> stages = records[0]->stages;
  for (std::size_t s = 0; s < stages.size(); ++s)
    stages[s].ms =
        median(values_of(records, [s](const FrameRecord& r) { return s < r.stages.size() ? r.stages[s].ms : 0; }));
  return stages;
}

struct Worst {
  std::size_t frame, more;  // the worst frame, and the number of others out of bounds
};

// Returns the frame with the largest value above `most`.
template <class F>
std::optional<Worst> worst_of(const FrameRecords& records, double most, F&& value) {
  std::optional<Worst> worst;
  for (std::size_t i = 0; i < records.frames.size(); ++i) {
    if (records.frames[i].state != State::done || value(records.frames[i]) <= most) continue;
    if (!worst)
      worst = Worst{i, 0};
    else
      worst = Worst{value(records.frames[i]) > value(records.frames[worst->frame]) ? i : worst->frame, worst->more + 1};
  }
  return worst;
}

const char* ending(std::size_t frames) { return frames == 1 ? "" : "s"; }

// Returns "x.png and 3 more frames".
std::string named(const Call& call, const Worst& worst) {
  return fmt::format("{}{}", call.run.inputs().left().name(worst.frame),
                     worst.more > 0 ? fmt::format(" and {} more frame{}", worst.more, ending(worst.more)) : "");
}

// A pair that does not fit gathers at the ends of the range for another reason.
double at_high_end(const FrameRecord& r) { return r.complaint.empty() ? r.at_high_end : 0; }
double at_low_end(const FrameRecord& r) { return r.complaint.empty() ? r.at_low_end : 0; }

void warn_of(const Call& call, const FrameRecords& records) {
  const auto caution = [&](const std::string& sentence) { call.front_end.warning(sentence); };
  if (const auto empty = worst_of(records, -least_measured, [](const FrameRecord& r) { return -r.density.measured; }))
    caution(fmt::format(
        "fewer than {1} % of the pixels of {0} were measured{2} check rectification, order and search range "
        "with `stereopsis check`",
        named(call, *empty), least_measured,
        call.options.run.matching.min_confidence ? " with the confidence of --min-confidence; lower it, or" : ";"));
  const auto is_cut = [&](std::size_t frame, double OutsideRange::*side) {
    return call.run.range().outside(frame, records.frames[frame].range).*side > least_outside;
  };
  if (const auto near = worst_of(records, most_at_an_end, at_high_end);
      near && is_cut(near->frame, &OutsideRange::above))
    caution(
        fmt::format("many disparities of {} are at the upper end of the search range, so nearer points may be missed; "
                    "raise --disparities",
                    named(call, *near)));
  if (const auto far = worst_of(records, most_at_an_end, at_low_end); far && is_cut(far->frame, &OutsideRange::below))
    caution(
        fmt::format("many disparities of {} are at the lower end of the search range, so farther points may be missed; "
                    "lower --min-disparity",
                    named(call, *far)));
  long long too_far = 0;
  for (const FrameRecord& record : records.frames) too_far += record.too_far;
  if (too_far > 0)
    caution(
        fmt::format("{} pixels are farther than 65.535 m, the largest depth of a 16-bit image, and were written as 0 "
                    "to --depth; use .pfm, .npy or .tiff",
                    too_far));
}

Json latency_json(const FrameRecords& records) {
  const std::vector<double> ms = values_of(done_of(records), latency_ms);
  if (ms.empty()) return nullptr;
  return {{"median_ms", median(ms)}, {"p99_ms", quantile(ms, 0.99)}, {"max_ms", quantile(ms, 1)}};
}

// Returns the name of a result in the report: that of its option.
std::string name_of(const Call& call, std::size_t file) {
  return file == ResultFile::disparity ? "disparity" : call.front_end.spelled(file_kinds()[file].name).substr(2);
}

Json rows_json(const std::optional<RowEstimate>& rows) {
  if (!rows) return nullptr;
  const RowAlignment& a = rows->plane;
  Json field = Json::array();
  for (int row = 0; row < a.field.rows; ++row) {
    const float* first = a.field.knots.data() + row * a.field.columns;
    field.push_back(std::vector<float>(first, first + a.field.columns));
  }
  return {{"aligned", rows->alignment.has_value()},
          {"reason", to_string(rows->reason)},
          {"rms", a.rms()},
          {"offset", a.offset},
          {"roll", a.roll},
          {"zoom", a.zoom},
          {"keystone", a.keystone},
          {"field", field},
          {"points", rows->tracks}};
}

// Returns how the rows of the frames were aligned, for the summary; "" if they were not.
std::string aligned_text(const std::vector<const FrameRecord*>& done) {
  std::vector<double> rms;
  for (const FrameRecord* record : done)
    if (record->rows && record->rows->alignment) rms.push_back(record->rows->alignment->rms());
  if (rms.empty()) return "";
  if (done.size() > 1)
    return fmt::format(", rows of {} frame{} aligned (median {:.2f} px)", rms.size(), ending(rms.size()), median(rms));
  const RowAlignment& a = *done[0]->rows->alignment;
  return fmt::format(", rows aligned ({:.2f} px, roll {:.2f} px{})", rms[0], a.roll,
                     a.field.empty() ? "" : fmt::format(", field of {}×{} knots", a.field.columns, a.field.rows));
}

Json frame_json(const Call& call, const FrameRecord& r, std::size_t i) {
  Json outputs = Json::object();
  for (std::size_t k = 0; k < file_count; ++k)
    if (!call.run.sinks().files(i)[k].empty()) outputs[name_of(call, k)] = shown_name(call.run.sinks().files(i)[k]);
  Json frame = {
      {"left", call.run.inputs().left().name(i)}, {"right", call.run.inputs().right().name(i)}, {"outputs", outputs}};
  if (r.state == State::there) frame["there_already"] = true;
  if (r.state == State::failed) frame["failed"] = r.problem;
  for (const fs::path& file : r.removed) frame["removed"].push_back(file.string());
  if (r.state == State::waiting) frame["failed"] = "not reached";
  if (r.state != State::done) return frame;
  if (r.no_data_left > 0 || r.no_data_right > 0)
    frame["no_data"] = {{"left", r.no_data_left}, {"right", r.no_data_right}};
  if (!r.complaint.empty()) frame["complaint"] = r.complaint;
  const Densities& d = r.density;
  frame.update({{"rows", rows_json(r.rows)},
                {"min_disparity", r.range.min},
                {"disparities", r.range.count},
                {"ms",
                 {{"reading", r.reading_ms},
                  {"rectifying", r.rectifying_ms},
                  {"matching", r.matching_ms},
                  {"latency", r.latency_ms},
                  {"writing", r.writing_ms}}},
                {"stages", stages_json(r.stages, {})},
                {"at_ends_of_range", {{"lower", r.at_low_end}, {"upper", r.at_high_end}}},
                {"density",
                 {{"measured", d.measured},
                  {"filled", d.filled},
                  {"repaired", d.repaired},
                  {"before_fill", d.measured},
                  {"after_fill", d.valid},
                  {"reasons",
                   {{"no_candidate", d.no_candidate},
                    {"left_right", d.left_right},
                    {"ambiguous", d.ambiguous},
                    {"speckle", d.speckle},
                    {"masked", d.masked}}}}}});
  return frame;
}

// Says which results contain pixels that were not measured.
void print_filled(const Options& o) {
  if (o.measured_only) return;
  const char* const depth = !o.run.sinks.wants_depth() ? ""
                            : o.run.matching.fill_depth
                                ? "; so do depth and points"
                                : "; depth and points are measured only (--fill-depth adds the others)";
  if (o.run.sinks.wants(ResultFile::disparity))
    summarise("{} contains filled or repaired pixels (--measured-only leaves them out){}\n",
              shown_name(o.run.sinks.main_output()), depth);
  else if (o.run.sinks.wants_depth() && !o.run.matching.fill_depth)
    summarise("depth and points contain measured pixels only (--fill-depth adds the others)\n");
}

// Returns the device of the method, which a network may have for itself.
std::string device_of(const Call& call) {
  return call.options.own_device.empty() ? names_text(call.run.matching().devices) : call.options.own_device;
}

// Returns what the run noticed of a rig that moves.
Json rig_json(const Call& call) {
  const auto angles = [](const RigTurn& turn) {
    return Json{{"pitch", turn.pitch}, {"yaw", turn.yaw}, {"roll", turn.roll}};
  };
  Json news = Json::array();
  for (const RigNews& one : call.run.rig_news())
    news.push_back({{"frame", one.pair},
                    {"kind", to_string(one.kind)},
                    {"turn", angles(one.turn)},
                    {"deviation", angles(one.deviation)}});
  return news;
}

Json budget_json(const std::optional<BudgetOutcome>& budget) {
  if (!budget) return nullptr;
  return {{"ms", budget->choice.ms}, {"measured_now", budget->choice.is_measured}, {"options", budget->options}};
}

}  // namespace

void print_timings(const Call& call, const FrameRecords& records) {
  const auto done = done_of(records);
  if (done.empty()) return;
  Table table = stage_table(done.size() > 1 ? "stage (median of the frames)" : "stage", median_stages(done),
                            measure_roofs(call.run.matching().devices.front()));
  const auto add = [&](const std::string& name, double ms) { table.add({name, cell(ms, 3), "", "", ""}); };
  add("matching, whole", median(values_of(done, matching_ms)));
  add("reading files", median(values_of(done, [](const FrameRecord& r) { return r.reading_ms; })));
  if (call.run.cameras().rectifies_ahead())
    add("rectifying", median(values_of(done, [](const FrameRecord& r) { return r.rectifying_ms; })));
  add("writing files", median(values_of(done, [](const FrameRecord& r) { return r.writing_ms; })));
  if (done.size() > 1) {
    const std::vector<double> latencies = values_of(done, latency_ms);
    add("latency of a frame: median", median(latencies));
    add("99th percentile", quantile(latencies, 0.99));
    add("maximum", quantile(latencies, 1));
  }
  add("from the plan to the first frame", records.first_ms);
  table.print();
}

void print_summary(const Call& call, const FrameRecords& records) {
  call.run.checks().summarise();
  warn_of(call, records);
  const auto done = done_of(records);
  const std::size_t failed = records.count(State::failed), there = records.count(State::there);
  const auto mean = [&](auto&& value) {
    double sum = 0;
    for (const FrameRecord* record : done) sum += value(record->density);
    return done.empty() ? 0 : sum / static_cast<double>(done.size());
  };
  const double measured = mean([](const Densities&d) { return d.measured; }),
               filled = mean([](const Densities&d) { return d.filled; }),
               repaired = mean([](const Densities&d) { return d.repaired; });
  const std::string sequence =
      !call.run.inputs().is_sequence() ? ""
      : there + failed == 0            ? fmt::format("{} frame{} of ", done.size(), ending(done.size()))
                            : fmt::format("{} of {} frames{} of ", done.size() + there, call.run.inputs().left().size(),
                                          there > 0 ? fmt::format(" ({} from an earlier run)", there) : "");
  if (failed > 0) warn("{} of {} frames failed", failed, call.run.inputs().left().size());
  if (call.options.json) return;  // the only content of standard output
  const fs::path& main = call.options.run.sinks.main_output();
  const std::string result = shown_name(main.empty() ? call.options.run.sinks.volumes.front().file : main);
  if (done.empty())
    return summarise("{}: {}{}\n", result, sequence, size_text(call.run.as_stored(call.run.cameras().matched_size())));
  summarise("{}: {}{}, disparities {}, {} on {}, {:.1f} % measured{}{}{}, {:.1f} ms{}\n", result, sequence,
            size_text(call.run.as_stored(call.run.cameras().matched_size())),
            call.options.run.range.per_frame ? "of each frame" : range_text(call.run.range().whole()),
            call.run.matching().pipeline.method(), device_of(call), measured,
            filled > 0 ? fmt::format(", {:.1f} % filled", filled) : "",
            repaired > 0 ? fmt::format(", {:.1f} % repaired", repaired) : "", aligned_text(done),
            median(values_of(done, matching_ms)), call.run.inputs().is_sequence() ? " a frame" : "");
  if (filled + repaired > 0) print_filled(call.options);
  const jobs::Cameras& cameras = call.run.cameras();
  if (cameras.rig() && cameras.rig()->unit == no_scale && call.options.run.sinks.wants_depth())
    summarise("depth and points are multiples of the baseline, because {} has no scale\n", cameras.source().name());
}

void write_report(const Call& call, const FrameRecords& records, const std::optional<Explanation>& plan) {
  Json frames = Json::array();
  for (std::size_t i = 0; i < records.frames.size(); ++i) frames.push_back(frame_json(call, records.frames[i], i));
  const Options& o = call.options;
  write_json(
      o.run.sinks.report,
      {{"version", STEREOPSIS_VERSION},
       {"method", call.run.matching().pipeline.method()},
       {"device", device_of(call)},
       {"implementation", to_string(call.run.matching().devices.front().implementation)},
       {"threads", threads_of(call.run.matching().devices.front())},
       {"parameters", parameters_json(call.run.matching().pipeline)},
       {"width", call.run.as_stored(call.run.inputs().image_size()).width},
       {"height", call.run.as_stored(call.run.inputs().image_size()).height},
       {"result_width", call.run.as_stored(records.result_size).width},
       {"result_height", call.run.as_stored(records.result_size).height},
       {"channels", call.run.inputs().format().channels},
       {"bit_depth", call.run.inputs().format().bit_depth},
       {"black", call.options.constant.measure ? Json(nullptr) : Json(call.run.matching().constant.black)},
       {"min_disparity", call.run.range().whole().min},
       {"disparities", call.run.range().whole().count},
       {"range_from", !o.run.range.cost_volume.empty() ? "cost volume"
                      : o.run.range.disparities        ? "call"
                      : o.run.range.near               ? "calibration"
                      : o.run.range.per_frame          ? "each frame"
                                                       : "estimate"},
       {"budget", budget_json(call.run.budget())},
       {"roi", call.run.matching().region ? Json{call.run.matching().region->x, call.run.matching().region->y,
                                                 call.run.matching().region->width, call.run.matching().region->height}
                                          : Json(nullptr)},
       {"workspace_bytes", records.workspace_bytes},
       {"first_frame_ms", records.first_ms},
       {"latency", latency_json(records)},
       {"plan", plan ? to_json(*plan) : Json(nullptr)},
       {"rig", rig_json(call)},
       {"warnings", call.front_end.warnings()},
       {"without_partner", call.run.inputs().without_partner()},
       {"frames", frames}});
}

}  // namespace stereopsis::command::matching
