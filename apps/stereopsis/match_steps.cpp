#include "match_steps.hpp"

#include <fmt/core.h>

#include <new>
#include <tuple>

#include "terminal.hpp"

namespace stereopsis::command::matching {
namespace {

Error failure(FrameRecord& record, ErrorCategory category, const std::string& sentence) {
  record.state = FrameRecord::State::failed;
  record.problem = sentence;
  return Error(category, sentence);
}

void drop(const MatchJob& call, Matched& result) {
  const Options& o = call.options;
  const auto least = static_cast<float>(o.min_confidence.value_or(0));
  for (int y = 0; y < result.disparity.height(); ++y)
    for (int x = 0; x < result.disparity.width(); ++x) {
      std::uint8_t& bits = result.validity(x, y);
      const bool valid = (bits & validity::reasons) == 0;
      const bool made_up = o.measured_only && (bits & (validity::filled | validity::repaired)) != 0;
      const bool unsure = o.min_confidence && !(result.confidence(x, y) >= least);
      if (!valid || (!made_up && !unsure)) continue;
      bits |= validity::ambiguous;
      for (Image<float>* image : {&result.disparity, &result.depth, &result.uncertainty})
        if (!image->empty()) (*image)(x, y) = invalid_disparity;
      for (int c = 0; c < 3 && !result.points.empty(); ++c) result.points(x, y, c) = invalid_disparity;
    }
}

}  // namespace

void drop_unwanted(const MatchJob& call, FrameResult& result) {
  if (!call.options.measured_only && !call.options.min_confidence) return;
  drop(call, result.left);
  if (!result.right.disparity.empty()) drop(call, result.right);
}

InputFrame mirrored(const InputFrame& frame) {
  return {jobs::mirrored(frame.right), jobs::mirrored(frame.left), jobs::mirrored(frame.mask_right.view()),
          jobs::mirrored(frame.mask_left.view()), frame.range};
}

void note_workspace(const MatchJob& call, const Plan& left, std::size_t bytes, FrameRecords& records) {
  records.workspace_bytes = bytes;
  records.result_size = left.output_size();
  detail("{} on {}, disparities {}: {} of workspace{}", call.pipeline.method(), call.device_names(),
         range_text(left.problem().range), memory_text(bytes),
         left.stripe_rows() > 0 ? fmt::format(", in stripes of {} rows", left.stripe_rows()) : "");
}

double note_result(const MatchJob& call, std::size_t i, const InputFrame& frame, FrameResult& result,
                   FrameRecord& record) {
  record.reading_ms = frame.reading_ms;
  record.rectifying_ms = frame.rectifying_ms;
  record.range = frame.range;
  record.no_data_left = frame.no_data_left;
  record.no_data_right = frame.no_data_right;
  record.stages = result.left.times;
  record.density = densities(result.left.validity);
  std::tie(record.at_low_end, record.at_high_end) = shares_at_ends(result.left, record.range);
  if (call.options.strict && record.density.measured < least_measured)
    throw Error(ErrorCategory::format, fmt::format("only {:.1f} % of the pixels of {} were measured, and --strict "
                                                   "requires 5 %; check the pair with `stereopsis check`",
                                                   record.density.measured, call.left.name(i)));
  const double usable = 100 - record.density.masked;
  const double measured = usable > 0 ? record.density.measured / usable : 1;
  drop_unwanted(call, result);
  if (call.options.measured_only || call.options.min_confidence) record.density = densities(result.left.validity);
  return measured;
}

Error note_error(FrameRecord& record) try { throw; } catch (const Error& error) {
  return failure(record, error.category(), error.what());
} catch (const std::bad_alloc&) {
  return failure(record, ErrorCategory::memory,
                 "there is not enough memory for this size and search range; use fewer disparities or --memory-limit");
} catch (const std::exception& error) {
  return failure(record, ErrorCategory::file, error.what());
}

}  // namespace stereopsis::command::matching
