#include "jobs/loop.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "jobs/rows.hpp"
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
      advice_(advice_of(settings, sinks, front_end)) {}

void Loop::run() {
  const Stopwatch since_begun;
  plan_.emplace(frames_.first_plan());
  sinks_.create_folders();
  const std::vector<bool> there = frames_.there(plan_->output_size());
  for (std::size_t i = 0; i < there.size(); ++i) there[i] ? note_there(i) : todo_.push_back(i);
  while (std::unique_ptr<LoopPair> next = loop_.next()) {
    std::unique_ptr<Slot> slot(static_cast<Slot*>(next.release()));
    if (!slot->failure && records_.first_ms == 0) records_.first_ms = since_begun.ms();
    write(std::move(slot));
    if (problem_) loop_.stop();
  }
  finish_writing();
  if (problem_) throw_problem();
  if (matchers_)
    for (const LostDevice& lost : matchers_->lost())
      front_end_.failure(fmt::format("{}; the other devices matched its frames", lost.why));
}

// Starts reading the next frames.
void Loop::read_ahead() {
  while (reading_.size() < settings_.files_at_once && next_read_ < todo_.size())
    reading_.push_back(std::async(launch(), [this, number = next_read_++] { return read(number); }));
}

// Reads a frame of todo_.
Loop::Read Loop::read(std::size_t number) const {
  Read read;
  const std::size_t i = todo_[number];
  for (std::size_t k = number == 0 ? 0 : todo_[number - 1] + 1; k < i; ++k)
    if (const auto rows = frames_.rows_of(k)) read.passed.push_back(*rows);
  read.frame = frames_.take(i);
  if (settings_.with_right) read.mirrored = mirrored(read.frame);
  return read;
}

bool Loop::is_ready() {
  read_ahead();
  return reading_.empty() || reading_.front().wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

// Frames that cannot be read have a failure.
std::unique_ptr<LoopPair> Loop::take() {
  if (next_taken_ == todo_.size()) return nullptr;
  read_ahead();
  std::unique_ptr<Slot> slot = new_slot();
  slot->frame = todo_[next_taken_++];
  std::future<Read> reading = std::move(reading_.front());
  reading_.pop_front();
  reading.wait();
  read_ahead();
  try {
    slot->input = reading.get();
    frames_.align(slot->input.frame, slot->input.passed);
    if (settings_.with_right) slot->input.mirrored.rows = mirrored(slot->input.frame.rows);
    // Judging takes longer than matching on a GPU, and therefore begins before.
    slot->judging =
        std::async(launch(), [this, &of = *slot] { return frames_.sampled_faults(of.input.frame, of.frame); });
  } catch (...) {
    slot->failure = std::current_exception();
    slot->is_unreadable = true;
  }
  return slot;
}

// Returns a slot whose result memory an earlier frame has used, if there is one.
std::unique_ptr<Loop::Slot> Loop::new_slot() {
  auto slot = std::make_unique<Slot>();
  if (spare_.empty()) return slot;
  slot->result = std::move(spare_.back()->result);
  spare_.pop_back();
  return slot;
}

bool Loop::suits(const LoopPair& pair) {
  return matchers_ && matchers_->suits(static_cast<const Slot&>(pair).input.frame);
}

void Loop::plan(LoopPair& pair) {
  const InputFrame& frame = static_cast<Slot&>(pair).input.frame;
  if (matchers_ && is_alone()) plan_.emplace(pipeline_, frames_.problem(frame, false), devices_.front());
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
}

void Loop::begin(LoopPair& pair) {
  Slot& slot = static_cast<Slot&>(pair);
  if (slot.result.left.disparity.empty()) slot.result.left = matchers_->make_result();
  frames_.follow(slot.input.frame, slot.frame);
  slot.tickets = matchers_->enqueue(slot.input.frame, slot.input.mirrored, slot.result);
}

void Loop::finish(LoopPair& pair) {
  const Slot& slot = static_cast<Slot&>(pair);
  matchers_->wait(slot.tickets);
  frames_.keep(slot.frame, slot.result.left);
}

// Starts writing a frame when few enough earlier frames are being written.
void Loop::write(std::unique_ptr<Slot> slot) {
  if (slot->failure) {
    note_failure(*slot, slot->failure);
    spare_.push_back(std::move(slot));
    return;
  }
  finish_writing(settings_.files_at_once - 1);
  FrameRecord& record = records_.frames[slot->frame];
  record.latency_ms = slot->latency_ms;
  record.matching_ms = slot->matching_ms;
  Slot& begun = *written_.emplace_back(std::move(slot));
  // The thread that writes a frame also counts and checks its pixels, because one thread could not do this for all
  // frames.
  begun.writing = std::async(launch(), [this, &begun, &record] { return conclude(begun, record); });
}

// Counts and writes a result. Returns the number of pixels that are too far for a 16-bit depth file.
long long Loop::conclude(Slot& slot, FrameRecord& record) {
  note_result(slot, record);
  slot.sampled_faults = slot.judging.get();
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

// Waits until at most `left` frames are being written.
void Loop::finish_writing(std::size_t left) {
  while (written_.size() > left) {
    std::unique_ptr<Slot> slot = std::move(written_.front());
    written_.pop_front();
    FrameRecord& record = records_.frames[slot->frame];
    try {
      record.too_far = slot->writing.get();
      record.complaint = frames_.judge_measured(slot->input.frame, slot->frame, slot->measured, slot->sampled_faults);
      record.state = FrameRecord::State::done;
      note_done();
    } catch (...) {
      note_failure(*slot, std::current_exception());
    }
    spare_.push_back(std::move(slot));
  }
}

void Loop::note_there(std::size_t i) {
  records_.frames[i].state = FrameRecord::State::there;
  note_done();
}

void Loop::note_done() { front_end_.progress(++done_); }

// The first failure ends the run, unless it keeps going.
void Loop::note_failure(const Slot& slot, const std::exception_ptr& failure) {
  const std::size_t i = slot.frame;
  FrameRecord& record = records_.frames[i];
  const Error error = record.note_failure(failure, front_end_);
  if (!settings_.keep_going) {
    if (!problem_) problem_ = Failure{error, slot.is_unreadable};
    return;
  }
  front_end_.failure(fmt::format("frame {}: {}", frames_.name(i), error.what()));
  // Results of an earlier run, and those written before the failure, do not belong to this one.
  record.removed = sinks_.remove(i);
  for (const std::filesystem::path& file : record.removed)
    front_end_.failure(
        fmt::format("frame {}: {} was removed, because the frame failed", frames_.name(i), file.string()));
}

void Loop::throw_problem() const {
  const Error& error = problem_->error;
  if (is_alone()) throw error;
  const std::string advice =
      problem_->is_unreadable ? fmt::format("skip such frames with {}", front_end_.spelled("keep_going")) : advice_;
  throw Error(error.category(), fmt::format("{}; {} of {} frames are done; {}", error.what(), done_, count(), advice));
}

}  // namespace stereopsis::jobs
