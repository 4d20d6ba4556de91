#include "jobs/frame_record.hpp"

#include <algorithm>
#include <new>
#include <tuple>

namespace stereopsis::jobs {
namespace {

Error failure(FrameRecord& record, ErrorCategory category, const std::string& sentence) {
  record.state = FrameRecord::State::failed;
  record.problem = sentence;
  return Error(category, sentence);
}

}  // namespace

void FrameRecord::note(const InputFrame& frame, const Matched& result) {
  reading_ms = frame.reading_ms;
  rectifying_ms = frame.rectifying_ms;
  range = frame.range;
  rows = frame.rows;
  no_data_left = frame.no_data_left;
  no_data_right = frame.no_data_right;
  stages = result.times;
  density = densities(result.validity);
  std::tie(at_low_end, at_high_end) = shares_at_ends(result, range);
}

Error FrameRecord::note_failure(const std::exception_ptr& thrown, const FrontEnd& front_end) try {
  std::rethrow_exception(thrown);
} catch (const Error& error) {
  return failure(*this, error.category(), error.what());
} catch (const std::bad_alloc&) {
  return failure(*this, ErrorCategory::memory,
                 "there is not enough memory for this size and search range; use fewer disparities or " +
                     front_end.spelled("memory_limit"));
} catch (const std::exception& error) {
  return failure(*this, ErrorCategory::file, error.what());
}

std::size_t FrameRecords::count(FrameRecord::State state) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(frames, [state](const FrameRecord& record) { return record.state == state; }));
}

}  // namespace stereopsis::jobs
