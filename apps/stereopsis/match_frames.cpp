// Matches the frames of a call. In a sequence, MatchJob::frames_in_flight() frames are in flight, and
// MatchJob::files_at_once() frames are read, and as many written, at the same time. A frame that fails ends the call or,
// with --keep-going, is recorded; frames begun before it are finished in either case.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <future>

#include "match_steps.hpp"
#include "progress.hpp"
#include "terminal.hpp"
#include "view_tickets.hpp"

namespace stereopsis::command::matching {
namespace {

// The matchers of both views for one range.
struct Matchers {
  Matchers(const MatchJob& call, const InputFrame& frame)
      : range(frame.range), left(call.pipeline, call.problem(frame), call.devices) {
    if (call.options.sinks.wants(ResultFile::right))
      right.emplace(call.pipeline, call.problem(frame, true), call.devices);
  }

  DisparityRange range;
  MatcherGroup left;
  std::optional<MatcherGroup> right;
};

// The data that is read ahead of matching.
struct Read {
  InputFrame frame, mirrored;
};

class FrameLoop {
 public:
  FrameLoop(MatchJob& call, FrameRecords& records)
      : call_(call),
        records_(records),
        most_in_work_(call.frames_in_flight()),
        files_at_once_(call.files_at_once()),
        facts_(call.facts()),
        slots_(most_in_work_ + 1 + files_at_once_),
        progress_(call.left.size(), "frames", advice()) {}

  void run() {
    const Plan plan = call_.plan(call_.first);  // throws before anything is written if the plan does not fit
    call_.sinks->create_folders();
    const std::vector<bool> there = frames_there(call_, call_.written_size(plan.output_size()));
    for (std::size_t i = 0; i < there.size(); ++i) there[i] ? note_there(i) : todo_.push_back(i);
    for (std::size_t k = 0; k < todo_.size() && !problem_; ++k) {
      read_ahead();
      // If reading is slow, the previous frame is finished first.
      if (!in_work_.empty() && reading_.front().wait_for(std::chrono::seconds(0)) != std::future_status::ready)
        finish_oldest();
      begin(todo_[k]);
      if (in_work_.size() == most_in_work_) finish_oldest();
    }
    finish_all();
    finish_writing();
    if (matchers_ && !problem_)
      for (const LostDevice& lost : matchers_->left.lost()) warn("{}; the other devices matched its frames", lost.why);
    if (problem_) std::rethrow_exception(problem_);
  }

 private:
  // Returns what the user can do after an interrupted call.
  const char* advice() const {
    return call_.sinks->has_videos() ? "a video cannot be continued, so repeat the call" : "continue with --resume";
  }

  // A frame while it is in flight or written.
  struct Slot {
    std::size_t frame = 0;
    Read input;
    FrameResult result;
    ViewTickets tickets;
    Stopwatch since_enqueued;
    double measured = 0;  // share of the usable pixels
    std::optional<std::vector<PairFault>> sampled_faults;
    std::future<long long> writing;  // declared last, so that it is finished before its inputs are destroyed
  };

  // Starts reading the next frames.
  void read_ahead() {
    while (reading_.size() < files_at_once_ && next_read_ < todo_.size())
      reading_.push_back(std::async(std::launch::async, [this, i = todo_[next_read_++]] {
        Read read;
        const bool first = i == call_.first_index && !call_.first.left.view().empty();
        read.frame = first ? std::move(call_.first) : call_.read(i);
        if (call_.options.sinks.wants(ResultFile::right)) read.mirrored = mirrored(read.frame);
        return read;
      }));
  }

  void begin(std::size_t i) try {
    Slot& slot = free_slot();
    std::future<Read> reading = std::move(reading_.front());
    reading_.pop_front();
    reading.wait();
    read_ahead();
    reading_failed_ = true;
    slot.input = reading.get();
    reading_failed_ = false;
    slot.frame = i;
    if (!matchers_ || matchers_->range != slot.input.frame.range) make_matchers(slot.input.frame);
    slot.since_enqueued = {};
    slot.tickets = enqueue_views(
        matchers_->left, [&](auto& left) { return left.enqueue(slot.input.frame.pair(), slot.result.left); },
        matchers_->right, [&](auto& right) { return right.enqueue(slot.input.mirrored.pair(), slot.result.right); });
    in_work_.push_back(&slot);
  } catch (...) {
    note_failure(i);
  }

  // Returns a slot that no device reads and no thread writes from. A failed frame returns its slot out of turn, so that
  // slots do not become free in order.
  Slot& free_slot() {
    return *std::find_if(slots_.begin(), slots_.end(), [this](const Slot& slot) {
      const auto is_among = [&](const std::deque<Slot*>& used) { return std::ranges::count(used, &slot) > 0; };
      return !is_among(written_) && !is_among(in_work_);
    });
  }

  void make_matchers(const InputFrame& frame) {
    finish_all();
    matchers_.reset();
    matchers_ = std::make_unique<Matchers>(call_, frame);
    const std::size_t of_right = matchers_->right ? matchers_->right->workspace_bytes() : 0;
    note_workspace(call_, matchers_->left.plan(), matchers_->left.workspace_bytes() + of_right, records_);
    for (Slot& slot : slots_)
      if (slot.result.left.disparity.empty()) slot.result.left = matchers_->left.make_result();
  }

  void finish_all() {
    while (!in_work_.empty()) finish_oldest();
  }

  // Waits for the oldest frame in flight, and starts writing it when few enough earlier frames are being written.
  void finish_oldest() {
    Slot& slot = *in_work_.front();
    in_work_.pop_front();
    FrameRecord& record = records_.frames[slot.frame];
    try {
      wait_for_views(matchers_->left, matchers_->right, slot.tickets);
      note_times(slot, record);
    } catch (...) {
      return note_failure(slot.frame);
    }
    finish_writing(files_at_once_ - 1);
    written_.push_back(&slot);
    // The thread that writes a frame also counts and checks its pixels, because one thread could not do this for all
    // frames.
    slot.writing = std::async(std::launch::async, [this, &slot, &record] {
      slot.measured = note_result(call_, slot.frame, slot.input.frame, slot.result, record);
      slot.sampled_faults = call_.sampled_faults(slot.input.frame, slot.frame);
      const Stopwatch watch;
      const long long too_far = call_.sinks->write(slot.frame, slot.input.frame, slot.result, facts_);
      record.writing_ms = watch.ms();
      return too_far;
    });
  }

  void note_times(const Slot& slot, FrameRecord& record) {
    record.latency_ms = slot.since_enqueued.ms();
    // The time for which the device worked on this frame alone.
    record.matching_ms = std::min(record.latency_ms, since_done_ ? since_done_->ms() : record.latency_ms);
    if (!since_done_) records_.first_ms = since_begun_.ms();
    since_done_ = Stopwatch();
  }

  // Waits until at most `left` frames are being written.
  void finish_writing(std::size_t left = 0) {
    while (written_.size() > left) {
      Slot& slot = *written_.front();
      written_.pop_front();
      FrameRecord& record = records_.frames[slot.frame];
      try {
        record.too_far = slot.writing.get();
        record.complaint = call_.judge_measured(slot.input.frame, slot.frame, slot.measured, slot.sampled_faults);
        record.state = FrameRecord::State::done;
        progress_.update(++done_);
      } catch (...) {
        note_failure(slot.frame);
      }
    }
  }

  void note_there(std::size_t i) {
    records_.frames[i].state = FrameRecord::State::there;
    progress_.update(++done_);
  }

  void note_failure(std::size_t i) {
    const Error error = note_error(records_.frames[i]);
    if (call_.options.keep_going) {
      warn("frame {}: {}", call_.left.name(i), error.what());
      return remove_outputs(i);
    }
    if (problem_) return;
    const bool fails_again = std::exchange(reading_failed_, false);
    // Frames that were begun before it are finished.
    finish_all();
    finish_writing();
    problem_ = std::make_exception_ptr(
        Error(error.category(), fmt::format("{}; {} of {} frames are done; {}", error.what(), done_, call_.left.size(),
                                            fails_again ? "skip such frames with --keep-going" : advice())));
  }

  // Results of an earlier run, and those written before the failure, do not belong to this call.
  void remove_outputs(std::size_t i) {
    records_.frames[i].removed = call_.sinks->remove(i);
    for (const fs::path& file : records_.frames[i].removed)
      warn("frame {}: {} was removed, because the frame failed", call_.left.name(i), file.string());
  }

  MatchJob& call_;
  FrameRecords& records_;
  const std::size_t most_in_work_, files_at_once_;
  const ResultFacts facts_;
  std::vector<Slot> slots_;  // one is being begun, those of in_work_ are in flight, those of written_ are being written
  Progress progress_;
  Stopwatch since_begun_;
  std::optional<Stopwatch> since_done_;
  std::size_t done_ = 0;         // frames
  bool reading_failed_ = false;  // the frame of the current failure cannot be read, now or later
  std::exception_ptr problem_;
  std::unique_ptr<Matchers> matchers_;  // destroyed before the memory that it works on
  std::deque<Slot*> in_work_, written_;
  std::vector<std::size_t> todo_;  // frames to match, of which next_read_ were given to a reader
  std::size_t next_read_ = 0;
  std::deque<std::future<Read>> reading_;  // declared last, for the same reason
};

}  // namespace

std::size_t FrameRecords::count(FrameRecord::State state) const {
  return static_cast<std::size_t>(
      std::count_if(frames.begin(), frames.end(), [state](const FrameRecord& r) { return r.state == state; }));
}

void match_frames(MatchJob& call, FrameRecords& records) {
  records.frames.resize(call.left.size());
  call.left.sequence ? FrameLoop(call, records).run() : match_pair(call, records);
}

}  // namespace stereopsis::command::matching
