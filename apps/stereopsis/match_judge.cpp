// Judges the pairs of a call of `match`: the first one, a sample of a sequence, every pair of which little is measured,
// and with --strict every pair.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "geometry/stereo_rectify.hpp"
#include "match.hpp"
#include "terminal.hpp"

namespace stereopsis::command::matching {

// Returns whether the call says that disparities may be negative: by its range or, for cameras that converge, by the
// calibration. With --strict, a negative range is no excuse for swapped images.
bool MatchJob::expects_negative() const {
  const bool converging = rig && rig->cx_right - rig->cx_left > 0.5;
  return converging || (!options.strict && options.min_disparity && *options.min_disparity < 0);
}

// Compares the pair with the frame before it, or the first frame with the one after it.
std::optional<PairFault> MatchJob::late_fault_of(const InputFrame& frame, std::size_t i) const try {
  if (!left.sequence || left.size() < 2) return {};
  const bool has_before = i > 0;
  const std::size_t k = has_before ? i - 1 : i + 1;
  const InputFrame neighbour = read_rectified(k);
  const auto late = with_matched(frame, [&](const AnyImageView& l, const AnyImageView& r) {
    return with_matched(neighbour, [&](const AnyImageView& other_l, const AnyImageView& other_r) {
      return late_eye(l, r, other_l, other_r, has_before);
    });
  });
  if (!late) return {};
  return *late == Eye::right ? late_fault(right.name(i), left.name(k)) : late_fault(left.name(i), right.name(k));
} catch (const std::exception&) {
  return {};  // the neighbour cannot be read
}

// Returns whether the pair is sound if it is rectified with the rotation transposed, or with LEFT and RIGHT exchanged.
bool MatchJob::is_sound_as(std::size_t i, bool transpose, bool exchange) const try {
  const StereoCalibration& c = *raw_cameras;
  const Matrix3 rotation = transpose ? stereopsis::transposed(c.rotation) : c.rotation;
  const RectificationMaps other =
      transpose ? rectification_maps(
                      stereo_rectified({c.size, c.left.lens, c.right.lens, {rotation, c.translation}, c.rig.unit}))
                : *maps;
  InputFrame frame = read_images(i);
  if (exchange) std::swap(frame.left, frame.right);
  const AnyImage l = rectified(frame.left, other.left, {}, device.threads).image,
                 r = rectified(frame.right, other.right, {}, device.threads).image;
  const PairReport report = check_pair(l, r, CheckEffort::quick);
  constexpr double most_dy = 0.5;  // px; calibrations that are off by a little may come nearer to the rows by chance
  return report.matches > 0 && report.median_dy <= most_dy && faults_of(report).empty();
} catch (const Error&) {
  return false;
}

// Returns what the user can do about a pair that has faults after rectification.
std::string MatchJob::advice_on_calibration(std::size_t i) const {
  const std::string exchanged = fmt::format("exchange LEFT and RIGHT, {} and {}", left.name(i), right.name(i)),
                    transposed =
                        fmt::format("transpose R in {} if it is from MATLAB: rows correspond with it transposed",
                                    options.rig.source());
  if (is_sound_as(i, true, false)) return transposed;
  if (is_sound_as(i, false, true)) return exchanged;
  if (is_sound_as(i, true, true)) return exchanged + ", and " + transposed;
  return fmt::format(
      "the images were rectified with {}: check that it is the calibration of these cameras in this order, and "
      "calibrate again if a camera has moved",
      options.rig.source());
}

// Returns the fault of a pair that does not fit after rectification. The order of the images is not judged, because it
// shows only where rows correspond.
std::optional<PairFault> MatchJob::fault_of_calibration(const std::vector<PairFault>& found, std::size_t i) const {
  using enum PairFaultKind;
  const auto wrong = std::ranges::find_if(found, [this](const PairFault& fault) {
    return fault.kind == rows || fault.kind == turned || fault.kind == unrelated ||
           (fault.kind == vertical && !options.vertical);
  });
  if (!raw_cameras || wrong == found.end()) return {};
  PairFault fault = *wrong;
  fault.sentence = fmt::format("after rectification, {}; {}", fault.sentence, advice_on_calibration(i));
  return fault;
}

std::vector<PairFault> MatchJob::faults(const InputFrame& frame, std::size_t i) const try {
  if (costs) return {};  // the given costs are matched, not the images
  const PairReport report = with_matched(frame, [&](const AnyImageView& l, const AnyImageView& r) {
    return check_pair(l, r, CheckEffort::quick, given_range());
  });
  if (const std::string why = why_not_judged(report); !why.empty() && i == first_index) not_judged(why);
  std::vector<PairFault> found = faults_of(report);
  if (expects_negative()) std::erase_if(found, [](const PairFault& f) { return f.kind == PairFaultKind::negative; });
  if (!found.empty() && may_be_late(found[0].kind))
    if (const auto late = late_fault_of(frame, i)) found = {*late};
  if (const auto fault = fault_of_calibration(found, i)) return {*fault};
  found = with_advice(std::move(found), left.name(i), right.name(i),
                      how_to_rectify.empty() ? "rectify the pair first" : how_to_rectify);
  for (PairFault& fault : found)
    if (fault.kind == PairFaultKind::vertical && options.vertical)
      fault.sentence = "the cameras seem to be side by side; leave --vertical out";
  return found;
} catch (const Error& error) {
  if (error.category() != ErrorCategory::call) throw;
  return {};  // the images are too small to be compared
}

// With --strict, every pair requires a verdict, as for `check`.
void MatchJob::not_judged(const std::string& why) const {
  if (options.strict) throw Error(ErrorCategory::format, why + " (--strict)");
  detail("{}", why);
}

std::string MatchJob::judge(const std::vector<PairFault>& found, std::size_t i) const {
  for (const PairFault& fault : judged.record(found, i)) {
    const std::string complaint = fmt::format("{} and {}: {}", left.name(i), right.name(i), fault.sentence);
    // A range may be limited on purpose, so --strict allows it.
    fault.kind == PairFaultKind::outside_range ? front_end.warning(complaint) : warn_or_fail(complaint);
  }
  return found.empty() ? "" : found[0].sentence;
}

std::optional<std::vector<PairFault>> MatchJob::sampled_faults(const InputFrame& frame, std::size_t i) const {
  const bool is_judged = i != first_index && left.sequence && !options.strict && PairJudge::is_sample(i);
  return is_judged ? std::optional(faults(frame, i)) : std::nullopt;
}

std::string MatchJob::judge_measured(const InputFrame& frame, std::size_t i, double measured,
                                     const std::optional<std::vector<PairFault>>& sampled) {
  std::string complaint = first_complaint;
  if (i != first_index) {
    if (!left.sequence || options.strict || !judged.checks(i, measured)) return "";
    complaint = judge(sampled ? *sampled : faults(frame, i), i);
  }
  if (complaint.empty()) judged.record_sound(measured);
  return complaint;
}

void MatchJob::summarise_complaints() const {
  for (const PairJudge::Known& fault : judged.known()) {
    if (fault.pairs < 2) continue;
    const std::string sentence = fmt::format(
        "{} the fault of {}{}",
        fault.pairs == 2 ? "1 more frame has" : fmt::format("{} more frames have", fault.pairs - 1),
        left.name(fault.first), judged.has_given_up() ? "; the others were not checked, which --strict does" : "");
    front_end.warning(sentence);
  }
}

}  // namespace stereopsis::command::matching
