#include "jobs/pair_loop.hpp"

#include <algorithm>
#include <utility>

namespace stereopsis::jobs {
namespace {

// Makes an exception of f() the failure of the pair, unless it has failed before.
template <class F>
void attempt(LoopPair& pair, F&& f) {
  if (!pair.failure) try {
      f();
    } catch (...) {
      pair.failure = std::current_exception();
    }
}

}  // namespace

PairLoop::~PairLoop() {
  while (!in_work_.empty()) finish_oldest();
}

std::unique_ptr<LoopPair> PairLoop::next() {
  while (in_work_.size() < steps_.most_in_flight() && take_and_begin()) {
  }
  if (!in_work_.empty()) return finish_oldest();
  if (problem_) std::rethrow_exception(std::exchange(problem_, nullptr));
  return nullptr;
}

// Returns false if no pair can be begun now. No pair is begun behind a failure, at which the caller may stop the loop.
bool PairLoop::take_and_begin() {
  if (!in_work_.empty() && in_work_.back()->failure) return false;
  if (!waiting_ && !is_stopped_ && !has_ended_) try {
      if (!in_work_.empty() && !steps_.is_ready()) return false;
      waiting_ = steps_.take();
      has_ended_ = !waiting_;
    } catch (...) {
      problem_ = std::current_exception();
      has_ended_ = true;
    }
  if (!waiting_ || is_stopped_) return false;
  bool must_plan = false;
  attempt(*waiting_, [&] { must_plan = !steps_.suits(*waiting_); });
  if (must_plan && !in_work_.empty()) return false;  // the old plan's memory is freed before the new one's is allocated
  attempt(*waiting_, [&] {
    if (must_plan) steps_.plan(*waiting_);
    waiting_->since_begun = {};
    steps_.begin(*waiting_);
  });
  in_work_.push_back(std::move(waiting_));
  return true;
}

std::unique_ptr<LoopPair> PairLoop::finish_oldest() {
  std::unique_ptr<LoopPair> pair = std::move(in_work_.front());
  in_work_.pop_front();
  attempt(*pair, [&] {
    steps_.finish(*pair);
    pair->latency_ms = pair->since_begun.ms();
    pair->matching_ms = std::min(pair->latency_ms, since_done_ ? since_done_->ms() : pair->latency_ms);
    since_done_ = Stopwatch();
  });
  return pair;
}

}  // namespace stereopsis::jobs
