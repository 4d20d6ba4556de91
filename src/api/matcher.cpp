#include "stereopsis/matcher.hpp"

#include <algorithm>
#include <atomic>

#include "api/call_images.hpp"
#include "api/failures.hpp"
#include "api/results.hpp"
#include "core/text.hpp"
#include "execution/engine.hpp"
#include "stereopsis/formats.hpp"
#include "stereopsis/rectification.hpp"

namespace stereopsis {
Problem Problem::of(const StereoPair& pair, DisparityRange range) {
  return {.size = pair.format ? picture_size(pair.left, *pair.format) : pair.left.size(),
          .pixel_type = pair.left.type,
          .channels = pair.format ? 3 : pair.left.channels,
          .bit_depth = pair.left.bit_depth,
          .range = range,
          .region = {},
          .format = pair.format};
}

struct Matcher::State {
  // A pair in flight.
  struct InWork {
    // Numbers of the first and the last pair of this frame for which no wait() has been called.
    std::uint64_t first = 0, number = 0;
    bool pending = false;
    std::exception_ptr error;            // error of a finished pair, if there was no memory to keep it in `failures`
    std::optional<MatchedViews> result;  // nullopt if the result is on the device
    Matched part;  // images for the required input of a region, or for outputs that the caller did not pass
    MatchedViews part_views;
  };

  explicit State(Plan plan_) : plan(std::move(plan_)), frames(plan.problem().batch) {
    const Problem& problem = plan.problem();
    const EngineOptions options{problem.batch, problem.want_times, problem.geometry.rectification, plan.lanes_,
                                plan.lane_bytes_};
    const Device& device = plan.device();
    engine = device.name == "cpu" ? make_host_engine(plan.programs_, options, device.threads)
                                  : make_gpu_engine(plan.programs_, options, device.name);
  }

  // Throws an Error if the caller is a stage that this matcher runs: the buffers are in use, and waiting would never
  // end.
  void enter() const {
    if (engine->runs_here())
      throw Error(ErrorCategory::call,
                  "the matcher was called inside a stage that it runs; use another matcher in the stage, or use this "
                  "one after the match");
  }
  // Throws an Error for the ticket of another matcher. A default-constructed ticket is done.
  void check(Ticket ticket) const {
    if (ticket != Ticket() && (ticket.matcher != number || ticket.number >= next))
      throw Error(ErrorCategory::call,
                  "the ticket belongs to another matcher; wait with the matcher that returned the ticket");
  }
  int frame_of(Ticket ticket) const { return static_cast<int>(ticket.number % frames.size()); }
  bool is_in_work(Ticket ticket) const {
    const InWork& frame = frames[frame_of(ticket)];
    return ticket.matcher == number && frame.pending && frame.first <= ticket.number && ticket.number <= frame.number;
  }
  // Returns the frame for the next pair, after the previous pair of this frame is finished. In a stream, a pair on the
  // device follows the previous pair without waiting.
  int next_frame(bool in_stream) {
    const int i = frame_of({next, number});
    const bool goes_on = in_stream && !frames[i].result && !plan.problem().want_times;
    if (frames[i].pending && !goes_on) finish(i);
    return i;
  }
  Ticket begun(int i, std::optional<MatchedViews> result) {
    if (!frames[i].pending) frames[i].first = next;
    frames[i].number = next++;
    frames[i].pending = true;
    frames[i].result = std::move(result);
    return {frames[i].number, number};
  }
  // Returns the views that the engine writes: views of `part` for a region, and a validity map if the caller passed
  // none.
  const MatchedViews& written(int i, MatchedViews& result);
  Ticket enqueue(CallImages images, MatchedViews result);
  void match(CallImages images, MatchedViews result);
  // Finishes the pair. If it failed, keeps the error for wait().
  void finish(int i);
  void end(InWork& frame, int i);
  bool idle() const {
    return std::none_of(frames.begin(), frames.end(), [](const InWork& frame) { return frame.pending; });
  }

  Plan plan;
  std::vector<InWork> frames;
  std::uint64_t next = 0;
  static inline std::atomic<std::uint64_t> matchers = 0;
  const std::uint64_t number = ++matchers;  // number of this matcher
  Failures failures;
  std::unique_ptr<Engine> engine;  // the engine is destroyed before the memory that it uses
  State* next_forgotten = nullptr;
};

Matcher::Matcher(Plan plan) : state_(std::make_unique<State>(std::move(plan))) {}
Matcher::~Matcher() { let_go(); }
Matcher::Matcher(Matcher&&) noexcept = default;
Matcher& Matcher::operator=(Matcher&& other) noexcept {
  if (this == &other) return *this;
  let_go();
  state_ = std::move(other.state_);
  return *this;
}

// A stage that destroys its own matcher still uses the matcher's memory, so the memory is not freed.
void Matcher::let_go() noexcept {
  static std::atomic<State*> forgotten = nullptr;  // reachable, so that leak checkers do not report it
  if (state_ == nullptr || !state_->engine->runs_here()) return state_.reset();
  State* const state = state_.release();
  state->next_forgotten = forgotten.exchange(state);
}

const Plan& Matcher::plan() const { return state_->plan; }
bool Matcher::is_in_own_stage() const { return state_->engine->runs_here(); }

const MatchedViews& Matcher::State::written(int i, MatchedViews& result) {
  InWork& frame = frames[i];
  if (plan.problem().region) return frame.part_views = resized_part_views(plan, frame.part);
  if (result.validity.empty() && !requests_paths_only(plan.problem())) {
    if (frame.part.validity.empty()) frame.part.validity = Image<std::uint8_t>(plan.output_size());
    result.validity = frame.part.validity;
  }
  return result;
}

void Matcher::State::finish(int i) {
  InWork& frame = frames[i];
  if (!frame.error) try {
      end(frame, i);
    } catch (...) {
      frame.error = std::current_exception();
    }
  if (frame.error) failures.keep(frame.first, frame.number, frame.error);
  frame.error = nullptr;
  frame.pending = false;
}

void Matcher::State::end(InWork& frame, int i) {
  std::vector<StageTime> none;
  engine->end(i, frame.result && frame.result->times != nullptr ? *frame.result->times : none);
  if (frame.result && plan.problem().region) place_part(plan, frame.part_views, *frame.result);
}

Ticket Matcher::State::enqueue(CallImages images, MatchedViews result) {
  const int i = next_frame(false);
  images.add(written(i, result));
  engine->use_maps(images.maps(plan));
  engine->begin(i, images.frame(plan));
  return begun(i, std::move(result));
}

void Matcher::State::match(CallImages images, MatchedViews result) {
  std::vector<StageTime> none;
  images.add(written(0, result));
  engine->use_maps(images.maps(plan));
  engine->match(images.frame(plan), result.times != nullptr ? *result.times : none);
}

namespace {

// Collects the images of a call, and checks them. An image of `result` that will be resized is checked only for
// overlaps.
CallImages checked(const Plan& plan, const StereoPair& pair, const Matched& result) {
  CallImages images(pair);
  images.add(result);
  images.check_inputs(plan);
  images.check_overlaps(plan);
  return images;
}

template <class Pair, class Result>
CallImages checked(const Plan& plan, const Pair& pair, const Result& result) {
  CallImages images(pair);
  images.add(result);
  images.check_inputs(plan);
  images.check_outputs(plan);
  images.check_overlaps(plan);
  return images;
}

}  // namespace

Ticket Matcher::enqueue(const StereoPair& pair, Matched& result) {
  state_->enter();
  const CallImages images = checked(plan(), pair, result);
  return state_->enqueue(images, resized_views(plan(), result));
}

Ticket Matcher::enqueue(const StereoPair& pair, const MatchedViews& result) {
  state_->enter();
  return state_->enqueue(checked(plan(), pair, result), result);
}

Ticket Matcher::enqueue(const DevicePair& pair, const DeviceMatched& result, std::optional<std::uint64_t> stream) {
  state_->enter();
  const CallImages images = checked(plan(), pair, result);
  const int i = state_->next_frame(stream.has_value());
  state_->engine->use_maps(images.maps(plan()));
  state_->engine->begin(i, images.frame(plan()), true, stream ? &*stream : nullptr);
  return state_->begun(i, {});
}

void Matcher::wait(Ticket ticket) {
  state_->enter();
  state_->check(ticket);
  if (ticket == Ticket()) return;
  if (state_->is_in_work(ticket)) state_->finish(state_->frame_of(ticket));
  state_->failures.rethrow(ticket.number);
}

bool Matcher::is_done(Ticket ticket) const {
  state_->enter();
  state_->check(ticket);
  return !state_->is_in_work(ticket) || state_->engine->is_done(state_->frame_of(ticket));
}

Matched Matcher::match(const StereoPair& pair) {
  Matched result;
  match(pair, result);
  return result;
}

void Matcher::match(const StereoPair& pair, Matched& result) {
  state_->enter();
  if (!state_->idle() || plan().problem().region) return wait(enqueue(pair, result));
  const CallImages images = checked(plan(), pair, result);
  state_->match(images, resized_views(plan(), result));
}

void Matcher::match(const StereoPair& pair, const MatchedViews& result) {
  state_->enter();
  if (!state_->idle() || plan().problem().region) return wait(enqueue(pair, result));
  state_->match(checked(plan(), pair, result), result);
}

void Matcher::match(std::span<const StereoPair> pairs, std::span<Matched> results) {
  if (pairs.size() != results.size())
    throw Error(ErrorCategory::call, text(pairs.size(), " pairs do not match the number of results, ", results.size(),
                                          "; pass one result for each pair"));
  std::vector<Ticket> tickets;
  tickets.reserve(pairs.size());
  try {
    for (std::size_t i = 0; i < pairs.size(); ++i) tickets.push_back(enqueue(pairs[i], results[i]));
    for (const Ticket ticket : tickets) wait(ticket);
  } catch (...) {
    // Waits for all pairs, because pairs in flight still write to the results, which the caller may destroy.
    for (const Ticket ticket : tickets) try {
        wait(ticket);
      } catch (...) {  // the first error is thrown
      }
    throw;
  }
}

Matched Matcher::make_result() const { return page_locked_result(plan()); }

Matched match(const StereoPair& pair, DisparityRange range, const Pipeline& pipeline, const Device& device) {
  return Matcher(Plan(pipeline, Problem::of(pair, range), device)).match(pair);
}

}  // namespace stereopsis
