#include "jobs/pair_fault.hpp"

#include <vector>

namespace stereopsis::jobs {

std::optional<PairFault> gravest_fault(const StereoPair& given, const StereoPair* before, const RectificationMaps* maps,
                                       bool expects_negative) try {
  StereoPair pair = given;
  if (maps != nullptr) pair.row_alignment.reset();  // rows that a calibration has not rectified are its fault
  return with_matched(pair, maps, [&](const AnyImageView& left, const AnyImageView& right) -> std::optional<PairFault> {
    std::vector<PairFault> faults = faults_of(check_pair(left, right, CheckEffort::quick));
    if (expects_negative) std::erase_if(faults, [](const PairFault& f) { return f.kind == PairFaultKind::negative; });
    const bool has_before = before != nullptr && before->left.size() == pair.left.size();
    if (faults.empty() && has_before)
      return with_matched(*before, maps, [&](const AnyImageView& l, const AnyImageView& r) {
        return fixed_pattern_fault(left, right, l, r);
      });
    if (faults.empty()) return {};
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
