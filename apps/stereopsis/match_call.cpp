// Checks a call of `match` completely, before any matching.
#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <sstream>

#include "jobs/folders.hpp"
#include "match.hpp"
#include "terminal.hpp"

namespace stereopsis::command::matching {
namespace {

// The method with its settings, without filling if that is switched off.
Pipeline pipeline_of(const Options& options) {
  Pipeline pipeline = options.method.pipeline(!options.range.cost_volume.empty());
  if (!options.no_fill) return pipeline;
  static constexpr std::array fills = {"fill", "vote_fill", "region_voting", "interpolation"};
  for (const PipelineSlot& slot : pipeline.slots()) {
    if (std::find(fills.begin(), fills.end(), slot.kind) == fills.end()) continue;
    for (const std::string& setting : options.method.settings) {
      const std::string stage = setting.substr(0, setting.find('.'));
      if ((stage == slot.slot || stage == slot.kind) && !setting.ends_with(".enabled=false"))
        refuse(fmt::format("--no-fill switches off the stage of --set {}; leave one of them out", setting));
    }
    pipeline.set(slot.slot + ".enabled", "false");
  }
  return pipeline;
}

MatchingSettings settings_of(const Options& options) {
  MatchingSettings made;
  made.pipeline = pipeline_of(options);
  made.devices = options.device.devices();
  made.min_confidence = options.min_confidence;
  made.disparity_error = options.disparity_error;
  made.measured_only = options.measured_only;
  made.fill_depth = options.fill_depth;
  made.want_times = options.timings || !options.sinks.report.empty();
  return made;
}

}  // namespace

MatchJob::MatchJob(const Options& given, CommandFrontEnd& text)
    : options(given),
      front_end(text),
      complaints(given.strict, text),
      matching(settings_of(given)),
      inputs(given.input, text) {
  check_sequence_options();
  if (!inputs.is_sequence()) matching.devices.resize(1);  // a single pair cannot be distributed
  find_volumes();
  name_outputs();
  sinks->check({0, 1});
  first = inputs.read_first();
  channels = first.left.channels();
  bit_depth = first.left.view().bit_depth;
  const sources::Frames& files = inputs.left();
  matching.constant = options.constant.regions(files.file(inputs.first_index()), files.video != nullptr);
  read_volumes();
  choose_cameras();
  choose_region();
  if (const auto complaint = options.intensity.low_contrast(first.left, name(inputs.first_index()), front_end))
    complaints.warn_or_fail(*complaint);
  cameras->rectify_ahead(first);
  range.emplace(options.range, inputs, *cameras, sinks->holds_no_sign(), front_end);
  checks.emplace(inputs, *cameras, *range, options.input.vertical, complaints, front_end);
  checks->judge_first(first);
  choose_range();
  check_probes();
  first.range = range->of(first);
  range->check();
  sinks->check(range->whole());  // again, for the sign of the range
}

std::string MatchJob::device_names() const {
  std::string names;
  for (const Device& one : matching.devices) names += (names.empty() ? "" : ",") + one.name;
  return names;
}

// A raw pair is rectified once: by the matcher on its device or, if other steps need it too, when it is read.
void MatchJob::choose_cameras() {
  const bool ahead = options.sinks.wants(ResultFile::right) ||
                     (options.range.is_estimated() && (!inputs.is_sequence() || options.range.per_frame));
  cameras.emplace(options.cameras, inputs, options.input.vertical, ahead, device().threads, front_end);
  cameras->read(first, complaints);
  check_unit();
  memory.emplace(options.memory, inputs, *cameras, options.sinks, options.min_confidence.has_value(), matching.devices,
                 front_end);
  memory->check();
  problems.emplace(matching, inputs, *cameras, options.sinks, *memory, front_end);
  cameras->make_maps();
}

// Frames of a video are decoded and written in order. The other settings judge or search each frame while it is read.
bool MatchJob::is_in_order() const {
  return inputs.is_video() || sinks->has_videos() || options.strict || options.range.per_frame ||
         cameras->rectifies_ahead();
}

void MatchJob::choose_range() {
  if (costs) return range->choose_of_costs(costs->channels());
  const auto before = options.resume && !options.range.per_frame && range->is_estimated()
                          ? Record(sinks->sidecar(), front_end).range_before()
                          : std::nullopt;
  range->choose(first, before, options.strict,
                [this](const InputFrame& frame, std::size_t i) { checks->judge_sample(frame, i); });
}

void MatchJob::check_unit() const {
  const fs::path& file = options.sinks.files[ResultFile::depth];
  const auto& rig = cameras->rig();
  if (extension_of(file) == ".png" && rig->unit != "mm" && rig->unit != "m")
    refuse(fmt::format("--depth {} stores millimetres, but {} has no unit; {}, or use .pfm, .npy or .tiff",
                       file.string(), cameras->source().name(), cameras->source().how_to_name_the_unit(*rig)));
}

void MatchJob::check_sequence_options() const {
  for (const auto& [given, name] : {std::pair{options.resume, "--resume"},
                                    {options.input.keep_going, "--keep-going"},
                                    {options.range.per_frame, "--range-per-frame"}})
    if (given && !inputs.is_sequence())
      refuse(fmt::format("{0} applies to sequences, and {1} is one file; leave {0} out", name,
                         options.input.left.string()));
}

void MatchJob::name_outputs() {
  CallFiles all;
  inputs.add_to(all);
  all.reads(options.method.pipeline_file, "--pipeline");
  all.reads(options.range.cost_volume, "--cost-volume");
  options.rig.calibration().reads(all);
  if (options.cameras.register_to != "raw") all.reads(options.cameras.register_to, "--register-to");
  sinks.emplace(options.sinks, inputs.left(), all, front_end);
}

ResultFacts MatchJob::facts() const {
  ResultFacts facts{.region = matching.region, .range = range->whole(), .rig = cameras->rig(), .registered = {}};
  if (cameras->target()) facts.registered = [this](const Image<float>& depth) { return cameras->registered(depth); };
  return facts;
}

InputFrame MatchJob::take(std::size_t i) {
  if (i == inputs.first_index() && !first.left.view().empty()) return std::move(first);
  InputFrame frame = cameras->read_frame(i);
  frame.costs = costs;
  checks->check_strictly(frame, i);
  frame.range = range->of(frame);
  return frame;
}

void MatchJob::choose_region() {
  if (options.roi.empty()) return;
  std::vector<int> numbers;
  std::istringstream parts(options.roi);
  for (std::string part; std::getline(parts, part, ',');) {
    const std::size_t begin = std::min(part.find_first_not_of(' '), part.size());
    numbers.push_back(to_integer("--roi", part.substr(begin, part.find_last_not_of(' ') + 1 - begin), 0,
                                 std::numeric_limits<int>::max()));
  }
  if (numbers.size() != 4 || numbers[2] == 0 || numbers[3] == 0)
    refuse(fmt::format("--roi {} is not allowed; it must be X,Y,WIDTH,HEIGHT with a width and height of at least 1",
                       options.roi));
  if (numbers[0] > size().width - numbers[2] || numbers[1] > size().height - numbers[3])
    refuse(fmt::format("--roi {} is not inside the image of {}; X + WIDTH may be at most {}, and Y + HEIGHT at most {}",
                       options.roi, size_text(size()), size().width, size().height));
  matching.region = Rect{numbers[0], numbers[1], numbers[2], numbers[3]};
}

}  // namespace stereopsis::command::matching
