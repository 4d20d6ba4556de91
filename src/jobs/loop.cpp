#include "jobs/loop.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "jobs/texts.hpp"

namespace stereopsis::jobs {
namespace {

std::string advice_of(const LoopSettings& settings, const Sinks& sinks, const FrontEnd& front_end) {
  if (settings.in_flight == 1) return "";
  if (sinks.has_videos()) return "a video cannot be continued, so repeat the call";
  return fmt::format("continue with {}", front_end.spelled("resume"));
}

}  // namespace

Loop::Loop(const LoopSettings& settings, LoopFrames& frames, const Pipeline& pipeline,
           const std::vector<Device>& devices, const Sinks& sinks, const ResultFacts& facts, FrontEnd& front_end,
           FrameRecords& records)
    : settings_(settings),
      frames_(frames),
      pipeline_(pipeline),
      devices_(devices),
      sinks_(sinks),
      facts_(facts),
      front_end_(front_end),
      records_(records),
      advice_(advice_of(settings, sinks, front_end)),
      slots_(std::min(settings.in_flight + 1 + settings.files_at_once, records.frames.size())) {}

void Loop::run() {
  plan_.emplace(frames_.first_plan());
  sinks_.create_folders();
  const std::vector<bool> there = frames_.there(plan_->output_size());
  for (std::size_t i = 0; i < there.size(); ++i) there[i] ? note_there(i) : todo_.push_back(i);
  for (std::size_t k = 0; k < todo_.size() && !problem_; ++k) {
    read_ahead();
    // If reading is slow, the previous frame is finished first.
    if (!in_work_.empty() && reading_.front().wait_for(std::chrono::seconds(0)) != std::future_status::ready)
      finish_oldest();
    begin(todo_[k]);
    if (in_work_.size() == settings_.in_flight) finish_oldest();
  }
  finish_all();
  finish_writing();
  if (matchers_ && !problem_)
    for (const LostDevice& lost : matchers_->lost())
      front_end_.failure(fmt::format("{}; the other devices matched its frames", lost.why));
  if (problem_) std::rethrow_exception(problem_);
}

// Starts reading the next frames.
void Loop::read_ahead() {
  while (reading_.size() < settings_.files_at_once && next_read_ < todo_.size())
    reading_.push_back(std::async(launch(), [this, i = todo_[next_read_++]] {
      Read read;
      read.frame = frames_.take(i);
      if (settings_.with_right) read.mirrored = mirrored(read.frame);
      return read;
    }));
}

void Loop::begin(std::size_t i) try {
  Slot& slot = free_slot();
  std::future<Read> reading = std::move(reading_.front());
  reading_.pop_front();
  reading.wait();
  read_ahead();
  reading_failed_ = true;
  slot.input = reading.get();
  reading_failed_ = false;
  slot.frame = i;
  if (!matchers_ || matchers_->range() != slot.input.frame.range) make_matchers(slot.input.frame);
  slot.since_enqueued = {};
  slot.tickets = matchers_->enqueue(slot.input.frame, slot.input.mirrored, slot.result);
  in_work_.push_back(&slot);
} catch (...) {
  note_failure(i);
}

// Returns a slot that no device reads and no thread writes from. A failed frame returns its slot out of turn, so that
// slots do not become free in order.
Loop::Slot& Loop::free_slot() {
  return *std::find_if(slots_.begin(), slots_.end(), [this](const Slot& slot) {
    const auto is_among = [&](const std::deque<Slot*>& used) { return std::ranges::count(used, &slot) > 0; };
    return !is_among(written_) && !is_among(in_work_);
  });
}

void Loop::make_matchers(const InputFrame& frame) {
  finish_all();
  matchers_.reset();
  const auto right = settings_.with_right ? std::optional(frames_.problem(frame, true)) : std::nullopt;
  if (is_alone())
    matchers_ = std::make_unique<PairMatcher>(
        *plan_, right ? std::optional(Plan(pipeline_, *right, devices_.front())) : std::nullopt);
  else
    matchers_ = std::make_unique<PairMatcher>(pipeline_, frames_.problem(frame, false), right, devices_);
  records_.workspace_bytes = matchers_->workspace_bytes();
  records_.result_size = matchers_->plan().output_size();
  const int rows = matchers_->plan().stripe_rows();
  front_end_.detail(fmt::format("{} on {}, disparities {}: {} of workspace{}", pipeline_.method(), names_text(devices_),
                                range_text(matchers_->range()), memory_text(records_.workspace_bytes),
                                rows > 0 ? fmt::format(", in stripes of {} rows", rows) : ""));
  for (Slot& slot : slots_)
    if (slot.result.left.disparity.empty()) slot.result.left = matchers_->make_result();
}

void Loop::finish_all() {
  while (!in_work_.empty()) finish_oldest();
}

// Waits for the oldest frame in flight, and starts writing it when few enough earlier frames are being written.
void Loop::finish_oldest() {
  Slot& slot = *in_work_.front();
  in_work_.pop_front();
  FrameRecord& record = records_.frames[slot.frame];
  try {
    matchers_->wait(slot.tickets);
    note_times(slot, record);
  } catch (...) {
    return note_failure(slot.frame);
  }
  finish_writing(settings_.files_at_once - 1);
  written_.push_back(&slot);
  // The thread that writes a frame also counts and checks its pixels, because one thread could not do this for all
  // frames.
  slot.writing = std::async(launch(), [this, &slot, &record] { return conclude(slot, record); });
}

// Counts and writes a result. Returns the number of pixels that are too far for a 16-bit depth file.
long long Loop::conclude(Slot& slot, FrameRecord& record) {
  note_result(slot, record);
  slot.sampled_faults = frames_.sampled_faults(slot.input.frame, slot.frame);
  const Stopwatch watch;
  const long long too_far = sinks_.write(slot.frame, slot.input.frame, slot.result, facts_);
  record.writing_ms = watch.ms();
  return too_far;
}

// Notes how much of a result was measured, and removes the pixels that the settings exclude.
void Loop::note_result(Slot& slot, FrameRecord& record) const {
  record.note(slot.input.frame, slot.result.left);
  if (settings_.strict && record.density.measured < least_measured)
    throw Error(ErrorCategory::format, fmt::format("only {:.1f} % of the pixels of {} were measured, and {} requires "
                                                   "{} %; check the pair with `stereopsis check`",
                                                   record.density.measured, frames_.name(slot.frame),
                                                   front_end_.spelled("strict"), least_measured));
  const double usable = 100 - record.density.masked;
  slot.measured = usable > 0 ? record.density.measured / usable : 1;
  if (settings_.without == 0 && !settings_.min_confidence) return;
  for (Matched* const result : {&slot.result.left, &slot.result.right})
    drop_unwanted(*result, settings_.without, settings_.min_confidence);
  record.density = densities(slot.result.left.validity);
}

void Loop::note_times(const Slot& slot, FrameRecord& record) {
  record.latency_ms = slot.since_enqueued.ms();
  // The time for which the device worked on this frame alone.
  record.matching_ms = std::min(record.latency_ms, since_done_ ? since_done_->ms() : record.latency_ms);
  if (!since_done_) records_.first_ms = since_begun_.ms();
  since_done_ = Stopwatch();
}

// Waits until at most `left` frames are being written.
void Loop::finish_writing(std::size_t left) {
  while (written_.size() > left) {
    Slot& slot = *written_.front();
    written_.pop_front();
    FrameRecord& record = records_.frames[slot.frame];
    try {
      record.too_far = slot.writing.get();
      record.complaint = frames_.judge_measured(slot.input.frame, slot.frame, slot.measured, slot.sampled_faults);
      record.state = FrameRecord::State::done;
      note_done();
    } catch (...) {
      note_failure(slot.frame);
    }
  }
}

void Loop::note_there(std::size_t i) {
  records_.frames[i].state = FrameRecord::State::there;
  note_done();
}

void Loop::note_done() { front_end_.progress(++done_); }

void Loop::note_failure(std::size_t i) {
  FrameRecord& record = records_.frames[i];
  const Error error = record.note_failure(front_end_);
  if (settings_.keep_going) {
    front_end_.failure(fmt::format("frame {}: {}", frames_.name(i), error.what()));
    // Results of an earlier run, and those written before the failure, do not belong to this one.
    record.removed = sinks_.remove(i);
    for (const std::filesystem::path& file : record.removed)
      front_end_.failure(
          fmt::format("frame {}: {} was removed, because the frame failed", frames_.name(i), file.string()));
    return;
  }
  if (problem_) return;
  const bool fails_again = std::exchange(reading_failed_, false);
  // Frames that were begun before it are finished.
  finish_all();
  finish_writing();
  const std::string advice =
      fails_again ? fmt::format("skip such frames with {}", front_end_.spelled("keep_going")) : advice_;
  problem_ =
      std::make_exception_ptr(is_alone() ? error
                                         : Error(error.category(), fmt::format("{}; {} of {} frames are done; {}",
                                                                               error.what(), done_, count(), advice)));
}

}  // namespace stereopsis::jobs
