#include "jobs/file_run.hpp"

#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "jobs/folders.hpp"
#include "jobs/texts.hpp"

namespace stereopsis::jobs {

namespace fs = std::filesystem;
using sources::refuse;

FileRun::FileRun(const FileRunSettings& settings, FrontEnd& front_end)
    : settings_(settings),
      front_end_(front_end),
      complaints_(settings.strict, front_end),
      matching_(settings.matching),
      inputs_(settings.inputs, front_end),
      seeds_(settings.seeds, inputs_, settings.inputs.vertical, front_end) {
  if (seeds_.gives_any() && matching_.pipeline.get("seeds.stage") == "none")
    matching_.pipeline.set("seeds.stage", "seeds");
  check_settings();
  if (!inputs_.is_sequence()) matching_.devices.resize(1);  // a single pair cannot be distributed
  name_outputs();
  sinks_->check({0, 1});
  read_first();
  choose_cameras();
  check_inside();
  const std::string first_name = name(inputs_.first_index());
  if (const auto complaint = settings.inputs.intensities.low_contrast(first_.left, first_name, front_end))
    complaints_.warn_or_fail(*complaint);
  cameras_->rectify_ahead(first_);
  seeds_.read(first_, inputs_.first_index(), *cameras_);
  align_first();
  choose_range();
  choose_within_budget();
  warn_of_seeds();
  sinks_->check(range_->whole());  // again, for the sign of the range
}

Size FileRun::as_stored(Size matched) const {
  return settings_.inputs.vertical ? Size{matched.height, matched.width} : matched;
}

void FileRun::check_settings() const {
  const auto spelled = [&](const char* setting) { return front_end_.spelled(setting); };
  const bool has_costs = !settings_.range.cost_volume.empty();
  for (const auto& [given, setting] : {std::pair{settings_.resume, "resume"},
                                       {settings_.inputs.keep_going, "keep_going"},
                                       {settings_.range.per_frame, "range_per_frame"}})
    if (given && !inputs_.is_sequence())
      refuse(fmt::format("{0} applies to sequences, and {1} is one file; leave {0} out", spelled(setting),
                         settings_.inputs.left.string()));
  if (inputs_.is_sequence() && (has_costs || !settings_.sinks.volumes.empty() || !settings_.probes.empty()))
    refuse(fmt::format("{}, {} and {} apply to single pairs; give one file each for {} and {}", spelled("cost_volume"),
                       spelled("save_volume"), spelled("probe"), spelled("left_images"), spelled("right_images")));
  check_seeds();
  check_tracking();
  check_budget();
  if (has_costs && settings_.sinks.wants(ResultFile::right))
    refuse(
        fmt::format("{} matches the mirrored pair, and {} has only the costs of the left view; leave one of them out",
                    spelled("right"), spelled("cost_volume")));
}

void FileRun::check_tracking() const {
  const fs::path& file = settings_.cameras.track_rig;
  if (file.empty()) return;
  const std::string option = front_end_.spelled("track_rig"), extension = extension_of(file);
  if (!inputs_.is_sequence())
    refuse(fmt::format("{} follows a rig over a sequence, and {} is one file; leave it out", option,
                       settings_.inputs.left.string()));
  if (!settings_.cameras.rig.given())
    refuse(fmt::format("{} requires the calibration of the cameras; give it with {}", option,
                       front_end_.spelled("calib")));
  if (settings_.resume || settings_.inputs.vertical)
    refuse(fmt::format("{} cannot be combined with {}; leave one of them out", option,
                       front_end_.spelled(settings_.resume ? "resume" : "vertical")));
  if (extension != ".yml" && extension != ".yaml" && extension != ".xml")
    refuse(
        fmt::format("{} {} is not allowed; the calibration is written as .yml, .yaml or .xml", option, file.string()));
  check_writable(file);
}

void FileRun::check_seeds() const {
  if (seeds_.gives_any() && settings_.sinks.wants(ResultFile::right))
    refuse(fmt::format("{} matches the mirrored pair, and seeds belong to the left view; leave one of them out",
                       front_end_.spelled("right")));
  if (seeds_.needs_frame_before() && settings_.resume)
    refuse(fmt::format("with {}, each frame depends on the result of the frame before; leave {} out",
                       front_end_.spelled("seed_previous"), front_end_.spelled("resume")));
}

void FileRun::name_outputs() {
  CallFiles all;
  inputs_.add_to(all);
  seeds_.add_to(all);
  for (const auto& [file, setting] : settings_.read) all.reads(file, front_end_.spelled(setting));
  all.reads(settings_.range.cost_volume, front_end_.spelled("cost_volume"));
  RigSource(settings_.cameras.rig, front_end_).reads(all);
  if (settings_.cameras.register_to != "raw")
    all.reads(settings_.cameras.register_to, front_end_.spelled("register_to"));
  all.writes(settings_.cameras.track_rig, front_end_.spelled("track_rig"));
  sinks_.emplace(settings_.sinks, inputs_.left(), all, front_end_);
}

void FileRun::read_first() {
  first_ = inputs_.read_first();
  const sources::Frames& files = inputs_.left();
  matching_.constant = settings_.constant.regions(files.file(inputs_.first_index()), files.video != nullptr);
  read_costs();
}

void FileRun::read_costs() {
  const fs::path& file = settings_.range.cost_volume;
  if (file.empty()) return;
  costs_ = std::make_shared<const AnyImage>(read_volume(file));
  first_.costs = costs_;
  if (costs_->size() != first_.left.size())
    refuse(fmt::format("{} is {} but {} is {}; a cost volume must have the size of the left image", file.string(),
                       size_text(costs_->size()), name(inputs_.first_index()), size_text(first_.left.size())));
}

// A raw pair is rectified once: by the matcher on its device or, if other steps need it too, when it is read.
void FileRun::choose_cameras() {
  const bool ahead = settings_.sinks.wants(ResultFile::right) ||
                     (settings_.range.is_estimated() && (!inputs_.is_sequence() || settings_.range.per_frame));
  cameras_.emplace(settings_.cameras, inputs_, settings_.inputs.vertical, ahead, matching_.devices.front().threads,
                   front_end_);
  cameras_->read(first_, complaints_);
  check_unit();
  seeds_.read_pose_for(*cameras_);
  memory_.emplace(settings_.memory, inputs_, *cameras_, settings_.sinks, matching_.min_confidence.has_value(),
                  matching_.devices, front_end_);
  memory_->check();
  problems_.emplace(matching_, inputs_, *cameras_, settings_.sinks, *memory_, front_end_);
  cameras_->make_maps();
}

void FileRun::check_unit() const {
  const fs::path& file = settings_.sinks.files[ResultFile::depth];
  const auto& rig = cameras_->rig();
  if (extension_of(file) == ".png" && rig->unit != "mm" && rig->unit != "m")
    refuse(fmt::format("{} {} stores millimetres, but {} has no unit; {}, or use .pfm, .npy or .tiff",
                       front_end_.spelled("depth"), file.string(), cameras_->source().name(),
                       cameras_->source().how_to_name_the_unit(*rig)));
  if (const auto& limits = settings_.sinks.pictures.depth_limits)
    for (const Length& limit : {limits->first, limits->second})
      cameras_->source().in_unit_of(*rig, "color_range", limit);  // throws for a rig without a unit
}

// Checks that the region and the probed pixels are inside the image.
void FileRun::check_inside() const {
  const Size size = cameras_->matched_size();
  if (const auto& region = matching_.region;
      region && (region->x > size.width - region->width || region->y > size.height - region->height))
    refuse(fmt::format(
        "{} {},{},{},{} is not inside the image of {}; X + WIDTH may be at most {}, and Y + HEIGHT at most {}",
        front_end_.spelled("roi"), region->x, region->y, region->width, region->height, size_text(size), size.width,
        size.height));
  for (const auto& [x, y] : settings_.probes)
    if (x >= size.width || y >= size.height)
      refuse(fmt::format("{} {},{} is outside the image of {}; give a pixel inside it", front_end_.spelled("probe"), x,
                         y, size_text(size)));
}

// Says how many seeds of the first frame have no effect.
void FileRun::warn_of_seeds() const {
  const DisparityRange range = range_->of(first_);
  long long known = 0, outside = 0;
  for (int y = 0; y < first_.seeds.height(); ++y)
    for (int x = 0; x < first_.seeds.width(); ++x) {
      const float seed = first_.seeds(x, y);
      if (std::isnan(seed)) continue;
      ++known;
      if (!(seed >= static_cast<float>(range.min) && seed <= static_cast<float>(range.max()))) ++outside;
    }
  if (outside > 0)
    front_end_.warning(
        fmt::format("{} of {} seeds of {} are outside the search range, and have no effect; give a wider range",
                    outside, known, name(inputs_.first_index())));
}

// Aligns the first frame, which is judged before it is matched.
void FileRun::align_first() {
  rows_.emplace(settings_.rows, *cameras_, inputs_.is_sequence(), costs_ != nullptr);
  first_.measured_rows = rows_->measured(first_, cameras_->tracker() != nullptr);
  note_rows(inputs_.first_index(), first_.measured_rows);
  rows_->align(first_);
}

// Chooses the range of the first frame, and of all frames where it is the same. Judges the frames that it reads.
void FileRun::choose_range() {
  range_.emplace(settings_.range, inputs_, *cameras_, sinks_->holds_no_sign(), front_end_);
  neighbours_.emplace(*cameras_);
  checks_.emplace(inputs_, *cameras_, *neighbours_, *range_, settings_.inputs.vertical, !settings_.rows.is_off,
                  complaints_, front_end_);
  checks_->judge_first(first_);
  if (costs_) {
    range_->choose_of_costs(costs_->channels());
  } else {
    const auto before = settings_.resume && !settings_.range.per_frame && range_->is_estimated()
                            ? Record(sinks_->sidecar(), front_end_).range_before()
                            : std::nullopt;
    range_->choose(first_, before, settings_.strict,
                   [this](const InputFrame& frame, std::size_t i) { checks_->judge_sample(frame, i); });
  }
  first_.range = range_->of(first_);
  range_->check();
}

ResultFacts FileRun::facts() const {
  ResultFacts facts{.region = matching_.region, .range = range_->whole(), .rig = cameras_->rig(), .registered = {}};
  if (cameras_->target()) facts.registered = [this](const Image<float>& depth) { return cameras_->registered(depth); };
  return facts;
}

// Frames of a video are decoded and written in order. The other settings judge or search each frame while it is read.
bool FileRun::is_in_order() const {
  return inputs_.is_video() || sinks_->has_videos() || settings_.strict || settings_.range.per_frame ||
         cameras_->rectifies_ahead();
}

void FileRun::match(const Describe& describe, FrameRecords& records) {
  describe_ = describe;
  records.frames.resize(inputs_.left().size());
  const LoopSettings settings{.in_flight = memory_->frames_in_flight(),
                              .files_at_once = memory_->files_at_once(is_in_order()),
                              .keep_going = settings_.inputs.keep_going,
                              .strict = settings_.strict,
                              .without = matching_.without,
                              .min_confidence = matching_.min_confidence,
                              .with_right = settings_.sinks.wants(ResultFile::right),
                              .one_at_a_time = seeds_.needs_frame_before()};
  const ResultFacts known = facts();
  Loop loop(settings, *this, matching_.pipeline, matching_.devices, *sinks_, known, front_end_, records);
  front_end_.begin(records.frames.size(), loop.advice());
  try {
    loop.run();
  } catch (...) {
    front_end_.end();
    throw;
  }
  front_end_.end();
  if (cameras_->tracker()) {
    tell_of_rig();
    write_calibration(settings_.cameras.track_rig, cameras_->tracker()->calibration());
  }
  if (const auto shutters = rows_->shutters()) front_end_.warning(shutters->sentence());
}

std::vector<bool> FileRun::there(Size result) const {
  // A single pair and videos alone have no record.
  const std::size_t count = inputs_.left().size();
  if (sinks_->sidecar().empty()) return std::vector<bool>(count, false);
  const auto& region = matching_.region;
  const Size written = settings_.sinks.crop ? Size{region->width, region->height} : as_stored(result);
  const auto& target = cameras_->target();
  std::vector<FrameFiles> frames(count);
  for (std::size_t i = 0; i < count; ++i) {
    frames[i].inputs = inputs_.files_of(i);
    seeds_.add_files_of(i, frames[i].inputs);
    frames[i].outputs = sinks_->outputs(i, written, target ? std::optional(target->size) : std::nullopt);
  }
  const fs::path& report = settings_.sinks.report;
  if (settings_.resume && !report.empty()) remove_leftovers(report);
  const DisparityRange range = range_->whole();
  return Record(sinks_->sidecar(), front_end_)
      .frames_there({{"call", describe_()}, {"estimated", {range.min, range.count}}}, frames, settings_.resume,
                    settings_.sinks.main_output());
}

InputFrame FileRun::take(std::size_t i) {
  if (i == inputs_.first_index() && !first_.left.view().empty()) return std::move(first_);
  try {
    InputFrame frame = read_next(i);
    note_rows(i, frame.measured_rows);
    return frame;
  } catch (...) {
    note_rows(i, {});
    throw;
  }
}

// Gives the tracker the rows of a frame; nothing for a frame that cannot be read.
void FileRun::note_rows(std::size_t i, const std::optional<RowMeasurement>& rows) const {
  if (cameras_->tracker()) cameras_->tracker()->add(i, rows);
}

// Reads a frame, and corrects it if the rig moves. Other steps have not corrected the frames that they keep.
InputFrame FileRun::read_next(std::size_t i) {
  const auto kept = neighbours_->kept(i);
  InputFrame frame;
  if (cameras_->tracker()) {
    frame = kept && !cameras_->rectifies_ahead() ? *kept : inputs_.read(i);
    cameras_->follow(frame, i);
  } else {
    frame = kept ? *kept : cameras_->read_frame(i);
  }
  if (PairJudge::is_sample(i + 1)) neighbours_->keep(i, frame);
  frame.costs = costs_;
  seeds_.read(frame, i, *cameras_);
  checks_->check_strictly(frame, i);
  frame.range = range_->of(frame);
  frame.measured_rows = rows_->measured(frame, cameras_->tracker() && i % RigTracker::one_of == 0);
  return frame;
}

std::optional<RowMeasurement> FileRun::rows_of(std::size_t i) const {
  if (!rows_->needs_all_frames() || i == inputs_.first_index()) return {};  // the first frame was aligned before
  return rows_->measured(cameras_->read_frame(i));
}

void FileRun::align(InputFrame& frame, const std::vector<RowMeasurement>& passed) {
  for (const RowMeasurement& rows : passed) rows_->pass(rows);
  rows_->align(frame);
  tell_of_rig();
}

void FileRun::tell_of_rig() {
  if (!cameras_->tracker()) return;
  for (const RigNews& news : cameras_->tracker()->news()) {
    rig_news_.push_back(news);
    const std::string sentence = fmt::format("{}: {}", name(news.pair), news.sentence());
    news.is_warning() ? front_end_.warning(sentence) : front_end_.remark(sentence);
  }
}

}  // namespace stereopsis::jobs
