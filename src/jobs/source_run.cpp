// Runs over the pairs of a source: stereopsis/run.hpp.
#include <algorithm>
#include <cmath>
#include <utility>

#include "jobs/frame.hpp"
#include "jobs/pair_fault.hpp"
#include "jobs/pair_loop.hpp"
#include "jobs/pixels.hpp"
#include "jobs/seed_source.hpp"
#include "jobs/texts.hpp"
#include "stereopsis/run.hpp"
#include "stereopsis/seeds.hpp"

namespace stereopsis {
namespace {

using namespace jobs;

constexpr int most_in_flight_on_a_device = 4096;

void check(const RunSettings& settings) {
  const auto refuse = [](const std::string& sentence) { throw Error(ErrorCategory::call, sentence); };
  if (settings.devices.empty()) refuse("a run has no device; give at least one, such as Device{\"auto\"}");
  if (settings.in_flight < 1 || settings.in_flight > most_in_flight_on_a_device)
    refuse("in_flight = " + std::to_string(settings.in_flight) + " is not allowed; it must be 1 to " +
           std::to_string(most_in_flight_on_a_device));
  const Problem& problem = settings.problem;
  if (problem.stripe || problem.refine_only || problem.volumes.given)
    refuse("a run matches whole pairs of images; leave stripe, refine_only and volumes.given out, or use a Matcher");
}

// The matched share of the pixels inside the masks and the region.
double measured_share(const Matched& maps) {
  const Densities density = densities(maps.validity);
  const double usable = 100 - density.masked;
  return usable > 0 ? density.measured / usable : 1;
}

bool converges(const std::optional<Rig>& rig) { return rig && rig->cx_right - rig->cx_left > 0.5; }

}  // namespace

struct Run::State : LoopSteps {
  struct Pair : LoopPair {
    RunPair given;
    Matched maps;
    DisparityRange range;
    std::optional<RowEstimate> rows;
    Image<float> seeds, trust;
    Ticket ticket;
  };

  State(RunSettings settings_, RunSource& source_) : settings(std::move(settings_)), source(source_) { prepare(); }

  // Begins with the present settings.
  void prepare() {
    range = settings.range;
    judge = {};
    rows = {};
    before.reset();
    result_before = {};
    judged = 0;
    has_changed = true;
    if (settings.tracker)
      settings.problem.geometry.rectification = settings.tracker->maps_for(settings.tracker->pairs());
  }
  const RectificationMaps* maps() const { return settings.problem.geometry.rectification.get(); }

  std::size_t most_in_flight() const override {
    if (settings.seeds_previous) return 1;
    return static_cast<std::size_t>(settings.in_flight) * (group ? group->devices().size() : 1);
  }
  bool is_ready() override { return source.is_ready(); }
  std::unique_ptr<LoopPair> take() override {
    std::optional<RunPair> given = source.take();
    if (!given) return nullptr;
    auto pair = std::make_unique<Pair>();
    pair->given = std::move(*given);
    if (settings.tracker) pair->given.images.rectification = settings.tracker->maps_for(settings.tracker->pairs());
    if (!spare.empty()) {
      pair->maps = std::move(spare.back());
      spare.pop_back();
    }
    return pair;
  }
  bool suits(const LoopPair& pair) override {
    if (has_changed || !group) return false;
    const Problem& old = group->plan().problem();
    const StereoPair& images = static_cast<const Pair&>(pair).given.images;
    const Problem now = Problem::of(images, old.range);
    return now.size == old.size && now.pixel_type == old.pixel_type && now.channels == old.channels &&
           now.bit_depth == old.bit_depth && now.format == old.format &&
           serves(old.geometry.rectification.get(), images.rectification.get());
  }
  void plan(LoopPair& pair) override {
    const StereoPair& images = static_cast<Pair&>(pair).given.images;
    group.reset();
    if (!range) range = with_matched(images, maps(), estimate_range);
    Pipeline pipeline = settings.pipeline;
    if (settings.seeds_previous && pipeline.get("seeds.stage") == "none") pipeline.set("seeds.stage", "seeds");
    group.emplace(pipeline, problem_of(images), devices());
    has_changed = false;
  }
  void begin(LoopPair& pair_) override {
    Pair& pair = static_cast<Pair&>(pair_);
    if (pair.maps.disparity.empty()) pair.maps = group->make_result();
    pair.range = *range;
    track(pair);
    StereoPair images = pair.given.images;
    if (settings.seeds_previous) {
      seed(pair);
      images.seeds = pair.seeds.view(), images.seed_trust = pair.trust.view();
    }
    pair.ticket = group->enqueue(images, pair.maps);
  }
  void finish(LoopPair& pair_) override {
    Pair& pair = static_cast<Pair&>(pair_);
    group->wait(pair.ticket);
    if (settings.seeds_previous) result_before.keep(0, pair.maps);
  }

  // Makes the disparities of the pair before the seeds of a pair.
  void seed(Pair& pair) const {
    const StereoPair& images = pair.given.images;
    if (images.seeds.data)
      throw Error(ErrorCategory::call, "the pair has seeds, and seeds_previous is set; leave one of them out");
    const Size size = maps() ? maps()->size() : images.left.size();
    pair.seeds = moved(pair.given, size);
    pair.trust = Image<float>(size, 1, trust_of_frame_before);
  }
  Image<float> moved(const RunPair& pair, Size size) const {
    const Image<float>& disparity = result_before.disparity();
    if (disparity.size() != size) return Image<float>(size, 1, std::nanf(""));
    if (!pair.flow.empty()) return moved_disparities(disparity, pair.flow);
    if (!pair.motion) return Image<float>(disparity.view());
    const auto& rig = settings.problem.geometry.rig;
    if (!rig)
      throw Error(ErrorCategory::call, "the pair has a motion, and the run has no rig; set problem.geometry.rig");
    return moved_disparities(disparity, *rig, *pair.motion);
  }

  // Finds the maps and the alignment of the rows of a pair.
  void track(Pair& pair) {
    StereoPair& images = pair.given.images;
    RigTracker* const tracker = settings.tracker.get();
    const std::size_t number = tracker ? tracker->pairs() : 0;
    const bool aligns = settings.aligns_rows && !images.row_alignment;
    pair.rows.reset();
    std::optional<RowMeasurement> measured;
    if (aligns || (tracker && number % RigTracker::one_of == 0)) {
      StereoPair unaligned = images;
      unaligned.row_alignment.reset();
      measured = with_matched(unaligned, maps(), measure_rows);
    }
    if (tracker) tracker->add(number, measured);
    if (!aligns) return;
    pair.rows = rows.next(*measured);
    images.row_alignment = pair.rows->alignment.value_or(RowAlignment());
  }

  Problem problem_of(const StereoPair& images) const {
    const Problem kind = Problem::of(images, *range);
    Problem problem = settings.problem;
    if (images.rectification) problem.geometry.rectification = images.rectification;
    problem.size = kind.size;
    problem.pixel_type = kind.pixel_type;
    problem.channels = kind.channels;
    problem.bit_depth = kind.bit_depth;
    problem.format = kind.format;
    problem.range = kind.range;
    problem.batch = settings.in_flight;
    if (settings.aligns_rows && !problem.row_alignment) problem.row_alignment = RowAlignment();
    return problem;
  }
  // Each entry of the settings may be a list.
  std::vector<Device> devices() const {
    std::vector<Device> all;
    for (const Device& listed : settings.devices)
      for (const Device& device : devices_of(listed)) all.push_back(device);
    return all;
  }

  // Judges a pair that was matched.
  void judge_pair(RunResult& result) {
    result.measured = measured_share(result.maps);
    result.fault.reset();
    result.is_new_fault = false;
    if (!settings.judges) return;
    const std::size_t number = judged++;
    if (judge.checks(number, result.measured))
      result.fault = gravest_fault(result.pair.images, before ? &before->images : nullptr, maps(), expects_negative());
    if (result.fault && result.fault->kind == PairFaultKind::unaligned)
      result.fault->sentence += "; set RunSettings::aligns_rows";
    if (result.fault)
      result.is_new_fault = !judge.record({*result.fault}, number).empty();
    else
      judge.record_sound(result.measured);
    before = result.pair;
    if (!before->owner) before.reset();  // its images may hold another pair by then
  }
  bool expects_negative() const {
    return (settings.range && settings.range->min < 0) || converges(settings.problem.geometry.rig);
  }

  RunSettings settings;
  RunSource& source;
  std::optional<DisparityRange> range;
  RowFilter rows;
  PairJudge judge;
  std::optional<RunPair> before;
  FrameBefore result_before;
  std::size_t judged = 0;
  bool has_changed = true;
  std::vector<Matched> spare;  // memory of results
  std::optional<MatcherGroup> group;
  PairLoop loop{*this};  // declared last: its pairs are finished before all else is destroyed
};

Run::Run(RunSettings settings, RunSource& source) {
  check(settings);
  state_ = std::make_unique<State>(std::move(settings), source);
}
Run::~Run() = default;
Run::Run(Run&&) noexcept = default;

bool Run::next(RunResult& result) {
  std::unique_ptr<LoopPair> next = state_->loop.next();
  if (!next) return false;
  auto& pair = static_cast<State::Pair&>(*next);
  if (pair.failure) try {
      std::rethrow_exception(pair.failure);
    } catch (const Error& error) {
      throw Error(error.category(), (pair.given.name.empty() ? "" : pair.given.name + ": ") + error.what());
    }
  result.pair = std::move(pair.given);
  std::swap(result.maps, pair.maps);
  if (!pair.maps.disparity.empty()) state_->spare.push_back(std::move(pair.maps));
  result.range = pair.range;
  result.rows = pair.rows;
  result.latency_ms = pair.latency_ms;
  result.matching_ms = pair.matching_ms;
  state_->judge_pair(result);
  return true;
}

void Run::change(RunSettings settings) {
  check(settings);
  state_->settings = std::move(settings);
  state_->prepare();
}

void Run::stop() { state_->loop.stop(); }
const RunSettings& Run::settings() const { return state_->settings; }
std::optional<ShutterDelay> Run::shutters() const { return state_->rows.shutters(); }
std::optional<DisparityRange> Run::range() const { return state_->range; }
std::vector<LostDevice> Run::lost() const { return state_->group ? state_->group->lost() : std::vector<LostDevice>(); }
const Plan* Run::plan() const { return state_->group ? &state_->group->plan() : nullptr; }

}  // namespace stereopsis
