#include "jobs/pair_checks.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "geometry/stereo_rectify.hpp"
#include "jobs/fault_advice.hpp"
#include "jobs/pair_fault.hpp"
#include "stereopsis/rows.hpp"

namespace stereopsis::jobs {

PairChecks::PairChecks(const Inputs& inputs, const Cameras& cameras, Neighbours& neighbours, const SearchRange& range,
                       bool vertical, bool aligns_rows, const Complaints& complaints, const SettingNames& names)
    : inputs_(inputs),
      cameras_(cameras),
      neighbours_(neighbours),
      range_(range),
      vertical_(vertical),
      aligns_rows_(aligns_rows),
      complaints_(complaints),
      names_(names) {}

// Returns whether disparities may be negative: by the range or, for cameras that converge, by the calibration. In a
// strict run, a negative range is no excuse for swapped images.
bool PairChecks::expects_negative() const {
  const auto& rig = cameras_.rig();
  const bool converging = rig && rig->cx_right - rig->cx_left > 0.5;
  return converging || (!complaints_.strict() && range_.asks_for_negative());
}

// Compares the pair with the frame before it, or the first frame with the one after it. Returns that an eye is a frame
// late, if this may be the cause of the faults that were found, or, for a pair without a fault, that a pattern stays at
// its place.
std::optional<PairFault> PairChecks::fault_beside_neighbour(const Faults& found, const InputFrame& frame,
                                                            std::size_t i) const try {
  if (!inputs_.is_sequence() || inputs_.left().size() < 2) return {};
  const bool is_sampled = i == inputs_.first_index() || PairJudge::is_sample(i);
  if (found.empty() ? !is_sampled : !may_be_late(found[0].kind)) return {};
  const bool has_before = i > 0;
  const std::size_t k = has_before ? i - 1 : i + 1;
  const auto neighbour = neighbours_.read(k);
  return cameras_.with_matched(frame, [&](const AnyImageView& l, const AnyImageView& r) {
    return cameras_.with_matched(*neighbour, [&](const AnyImageView& other_l, const AnyImageView& other_r) {
      if (found.empty()) return fixed_pattern_fault(l, r, other_l, other_r);
      const auto late = late_eye(l, r, other_l, other_r, has_before);
      if (!late) return std::optional<PairFault>();
      return std::optional(*late == Eye::right ? late_fault(right_name(i), left_name(k))
                                               : late_fault(left_name(i), right_name(k)));
    });
  });
} catch (const std::exception&) {
  return {};  // the neighbour cannot be read
}

// Returns whether the pair is sound if it is rectified with the rotation transposed, or with its images exchanged.
bool PairChecks::is_sound_as(std::size_t i, bool transpose, bool exchange) const try {
  const StereoCalibration& c = *cameras_.raw_cameras();
  const Matrix3 rotation = transpose ? stereopsis::transposed(c.rotation) : c.rotation;
  const RectificationMaps maps =
      transpose ? rectification_maps(
                      stereo_rectified({c.size, c.left.lens, c.right.lens, {rotation, c.translation}, c.rig.unit}))
                : rectification_maps(c);
  InputFrame frame = inputs_.read_any(i);
  if (exchange) std::swap(frame.left, frame.right);
  const auto [l, r] = cameras_.rectified_pair(frame, maps);
  const PairReport report = check_pair(l, r, CheckEffort::quick);
  constexpr double most_dy = 0.5;  // px; calibrations that are off by a little may come nearer to the rows by chance
  return report.matches > 0 && report.median_dy <= most_dy && faults_of(report).empty();
} catch (const Error&) {
  return false;
}

// Returns what the user can do about a pair that has faults after rectification.
std::string PairChecks::advice_on_calibration(std::size_t i) const {
  const std::string source = cameras_.source().name();
  const std::string exchanged =
                        left_name(i) == right_name(i)
                            ? fmt::format("add {}, or leave it out if it is given", names_.spelled("right_first"))
                            : fmt::format("exchange {} and {}, {}", names_.spelled("left_images"),
                                          names_.spelled("right_images"), pair_name(i)),
                    transposed = fmt::format(
                        "transpose R in {} if it is from MATLAB: rows correspond with it transposed", source);
  if (is_sound_as(i, true, false)) return transposed;
  if (is_sound_as(i, false, true)) return exchanged;
  if (is_sound_as(i, true, true)) return exchanged + ", and " + transposed;
  return fmt::format(
      "the images were rectified with {}: check that it is the calibration of these cameras in this order, and "
      "correct it with `stereopsis calibrate --from-scenes` if a camera has moved",
      source);
}

// Returns the fault of a pair that does not fit after rectification. The order of the images is not judged, because it
// shows only where rows correspond.
std::optional<PairFault> PairChecks::fault_of_calibration(const Faults& found, std::size_t i) const {
  using enum PairFaultKind;
  const auto wrong = std::ranges::find_if(found, [this](const PairFault& fault) {
    return fault.kind == rows || fault.kind == turned || fault.kind == unrelated ||
           (fault.kind == vertical && !vertical_);
  });
  if (!cameras_.raw_cameras() || cameras_.tracker() || wrong == found.end()) return {};
  PairFault fault = *wrong;
  fault.sentence = fmt::format("after rectification, {}; {}", fault.sentence, advice_on_calibration(i));
  return fault;
}

PairChecks::Faults PairChecks::faults(const InputFrame& frame, std::size_t i) const try {
  if (range_.has_costs()) return {};  // the given costs are matched, not the images
  std::optional<PairFault> of_rows;
  const PairReport report = cameras_.with_matched(frame, [&](const AnyImageView& l, const AnyImageView& r) {
    const RowEstimate rows = frame.rows ? *frame.rows : estimate_row_alignment(l, r);
    if (!aligns_rows_) of_rows = unaligned_fault(rows);
    // Rows that a calibration has not rectified, or was not asked to, are a fault of the calibration or of the call.
    const bool has_raw_calibration =
        !cameras_.tracker() && (cameras_.raw_cameras() || !cameras_.how_to_rectify().empty());
    if (!aligns_rows_ || !rows.alignment || has_raw_calibration)
      return check_pair(l, r, CheckEffort::quick, range_.given());
    const AnyImage aligned = with_aligned_rows(r, *rows.alignment).image;
    return unless_vertical(check_pair(l, aligned, CheckEffort::quick, range_.given()), *rows.alignment, l, r);
  });
  // A strict run requires a verdict, as `check` does.
  if (const std::string why = why_not_judged(report); !why.empty() && i == inputs_.first_index())
    complaints_.note_or_fail(why);
  Faults found = faults_of(report);
  if (expects_negative()) std::erase_if(found, [](const PairFault& f) { return f.kind == PairFaultKind::negative; });
  if (const auto fault = fault_beside_neighbour(found, frame, i)) found = {*fault};
  if (const auto fault = fault_of_calibration(found, i)) return {*fault};
  const std::string& how = cameras_.how_to_rectify();
  if (found.empty() && of_rows && report.judged()) found = {*of_rows};
  found = with_advice(std::move(found), left_name(i), right_name(i), names_, how.empty() ? rectify_first : how);
  for (PairFault& fault : found)
    if (fault.kind == PairFaultKind::vertical && vertical_)
      fault.sentence = fmt::format("the cameras seem to be side by side; leave {} out", names_.spelled("vertical"));
  return found;
} catch (const Error& error) {
  if (error.category() != ErrorCategory::call) throw;
  return {};  // the images are too small to be compared
}

std::string PairChecks::judge(const Faults& found, std::size_t i) {
  for (const PairFault& fault : judged_.record(found, i)) {
    const std::string complaint = fmt::format("{}: {}", pair_name(i), fault.sentence);
    // A range may be limited on purpose, so a strict run allows it.
    fault.kind == PairFaultKind::outside_range ? complaints_.warn(complaint) : complaints_.warn_or_fail(complaint);
  }
  return found.empty() ? "" : found[0].sentence;
}

void PairChecks::judge_first(const InputFrame& first) {
  first_complaint_ = judge(faults(first, inputs_.first_index()), inputs_.first_index());
}

void PairChecks::check_strictly(const InputFrame& frame, std::size_t i) const {
  if (!complaints_.strict()) return;
  for (const PairFault& fault : faults(frame, i))
    if (fault.kind != PairFaultKind::outside_range)
      complaints_.warn_or_fail(fmt::format("{}: {}", pair_name(i), fault.sentence));
}

std::optional<PairChecks::Faults> PairChecks::sampled_faults(const InputFrame& frame, std::size_t i) const {
  const bool is_judged =
      i != inputs_.first_index() && inputs_.is_sequence() && !complaints_.strict() && PairJudge::is_sample(i);
  return is_judged ? std::optional(faults(frame, i)) : std::nullopt;
}

std::string PairChecks::judge_measured(const InputFrame& frame, std::size_t i, double measured,
                                       const std::optional<Faults>& sampled) {
  std::string complaint;
  if (i == inputs_.first_index())
    complaint = first_complaint_;
  else if (!complaints_.strict() && judged_.checks(i, measured))
    complaint = judge(sampled ? *sampled : faults(frame, i), i);
  if (complaint.empty()) judged_.record_sound(measured);
  return complaint;
}

void PairChecks::summarise() const {
  for (const PairJudge::Known& fault : judged_.known()) {
    if (fault.pairs < 2) continue;
    complaints_.warn(fmt::format(
        "{} the fault of {}{}",
        fault.pairs == 2 ? "1 more frame has" : fmt::format("{} more frames have", fault.pairs - 1),
        left_name(fault.first),
        judged_.has_given_up() ? fmt::format("; the others were not checked, which {} does", names_.spelled("strict"))
                               : ""));
  }
}

}  // namespace stereopsis::jobs
