#include "jobs/pair_fault.hpp"

#include <fmt/core.h>

#include <vector>

namespace stereopsis::jobs {

std::optional<PairFault> unaligned_fault(const RowEstimate& rows) {
  constexpr double most = 0.3;  // px
  if (!rows.alignment || rows.alignment->rms() <= most) return {};
  return PairFault{PairFaultKind::unaligned,
                   fmt::format("the rows differ by {:.2f} px, and are not aligned", rows.alignment->rms())};
}

PairReport unless_vertical(const PairReport& aligned, const RowAlignment& rows, const AnyImageView& left,
                           const AnyImageView& right) {
  constexpr double most = 1;  // px; a plane that follows far points leaves nearly all points within this distance
  if (rows.field.empty() && aligned.p95_dy <= most) return aligned;
  const PairReport given = check_pair(left, right, CheckEffort::quick);
  return given.vertical ? given : aligned;
}

std::optional<PairFault> gravest_fault(const StereoPair& given, const StereoPair* before, const RectificationMaps* maps,
                                       bool expects_negative) try {
  StereoPair pair = given;
  if (maps != nullptr) pair.row_alignment.reset();  // rows that a calibration has not rectified are its fault
  return with_matched(pair, maps, [&](const AnyImageView& left, const AnyImageView& right) -> std::optional<PairFault> {
    PairReport report = check_pair(left, right, CheckEffort::quick);
    if (pair.row_alignment) {
      StereoPair unaligned = pair;
      unaligned.row_alignment.reset();
      report = with_matched(unaligned, nullptr, [&](const AnyImageView& l, const AnyImageView& r) {
        return unless_vertical(report, *pair.row_alignment, l, r);
      });
    }
    std::vector<PairFault> faults = faults_of(report);
    if (expects_negative) std::erase_if(faults, [](const PairFault& f) { return f.kind == PairFaultKind::negative; });
    const bool has_before = before != nullptr && before->left.size() == pair.left.size();
    if (faults.empty()) {
      std::optional<PairFault> fault;
      if (has_before)
        fault = with_matched(*before, maps, [&](const AnyImageView& l, const AnyImageView& r) {
          return fixed_pattern_fault(left, right, l, r);
        });
      if (fault || given.row_alignment || !report.judged()) return fault;
      return unaligned_fault(estimate_row_alignment(left, right));
    }
    if (!has_before || !may_be_late(faults[0].kind)) return faults[0];
    const auto late = with_matched(
        *before, maps, [&](const AnyImageView& l, const AnyImageView& r) { return late_eye(left, right, l, r, true); });
    if (!late) return faults[0];
    return *late == Eye::right ? late_fault("right", "the left image before it")
                               : late_fault("left", "the right image before it");
  });
} catch (const Error& error) {
  if (error.category() != ErrorCategory::call) throw;
  return {};
}

}  // namespace stereopsis::jobs
