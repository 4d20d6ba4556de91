// Matches a single pair with a Matcher: `match` with one file for LEFT and one for RIGHT.
#include "match_steps.hpp"
#include "progress.hpp"

namespace stereopsis::command::matching {

void match_pair(const MatchJob& call, FrameRecords& records) {
  const Progress progress(1, "frames");
  const Stopwatch since_begun;
  const InputFrame& frame = call.first;
  const Plan plan = call.plan(frame);  // rejects a pair that does not fit before a file is written
  call.sinks->create_folders();
  FrameRecord& record = records.frames.front();
  try {
    Matcher left(plan);
    FrameResult result;
    result.left = left.make_result();
    std::optional<Matcher> right;
    InputFrame mirror;
    if (call.options.sinks.wants(ResultFile::right)) {
      right.emplace(Plan(call.pipeline, call.problem(frame, true), call.device));
      mirror = mirrored(frame);
    }
    note_workspace(call, plan, plan.workspace_bytes() + (right ? right->plan().workspace_bytes() : 0), records);

    const Stopwatch matching;
    left.match(frame.pair(), result.left);
    if (right) right->match(mirror.pair(), result.right);
    record.matching_ms = record.latency_ms = matching.ms();
    records.first_ms = since_begun.ms();

    const double measured = note_result(call, 0, frame, result, record);
    record.complaint = call.judge_measured(frame, 0, measured, {});
    const Stopwatch writing;
    record.too_far = call.sinks->write(0, frame, result, call.facts());
    record.writing_ms = writing.ms();
    record.state = FrameRecord::State::done;
  } catch (...) {
    throw note_error(record);
  }
}

}  // namespace stereopsis::command::matching
