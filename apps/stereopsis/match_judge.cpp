// Judges the pairs of a call of `match`: the first one, a sample of a sequence, every pair of which little is measured,
// and with --strict every pair.
#include <fmt/core.h>

#include <algorithm>

#include "match.hpp"
#include "terminal.hpp"

namespace stereopsis::command::matching {
namespace {

constexpr std::size_t sample_step = 32;  // every so many frames, one is judged whatever was measured
// Little is measured if it is less than half of the pixels, and much less than of any pair that was found sound: a dark
// or noisy sequence is not judged again and again.
constexpr double little = 50, much_less = 0.8;
constexpr std::size_t most_unsound = 9;  // frames with a complaint, after which no more are judged

}  // namespace

PairReport MatchJob::report_of(const InputFrame& frame) const {
  return with_matched(
      frame, [](const AnyImageView& l, const AnyImageView& r) { return check_pair(l, r, CheckEffort::quick); });
}

// Returns whether the call says that disparities may be negative: by its range or, for cameras that converge, by the
// calibration. With --strict, a negative range is no excuse for swapped images.
bool MatchJob::expects_negative() const {
  const bool converging = rig && rig->cx_right - rig->cx_left > 0.5;
  return converging || (!options.strict && options.min_disparity && *options.min_disparity < 0);
}

// If the pair does not fit, but one of its images fits the other eye's image of the frame before it (of the first frame:
// after it), one eye is a frame late.
std::optional<Complaint> MatchJob::late_eye(const InputFrame& frame, std::size_t i) const try {
  if (!left.sequence || left.size() < 2) return {};
  const bool has_before = i > 0;
  const InputFrame other = read_rectified(has_before ? i - 1 : i + 1);
  const auto fits = [&](const AnyImage& l, const AnyImage& r) {
    InputFrame pair;
    pair.left = l;
    pair.right = r;
    const PairReport report = report_of(pair);
    return report.rectified() && !report.same_image && !report.same_view && report.turn == Turn::none;
  };
  const bool right_is_late = has_before ? fits(other.left, frame.right) : fits(frame.left, other.right);
  const bool left_is_late =
      !right_is_late && (has_before ? fits(frame.left, other.right) : fits(other.left, frame.right));
  if (!right_is_late && !left_is_late) return {};
  const std::string late = right_is_late ? right.name(i) : left.name(i);
  return Complaint{ComplaintKind::late,
                   fmt::format("{} is a frame late: it fits {}; find the frame that is missing or repeated, and give "
                               "images of the same time",
                               late, (right_is_late ? left : right).name(has_before ? i - 1 : i + 1))};
} catch (const std::exception&) {
  return {};  // the neighbour cannot be read
}

std::vector<Complaint> MatchJob::complaints(const InputFrame& frame, std::size_t i) const try {
  if (costs) return {};  // the given costs are matched, not the images
  std::vector<Complaint> found = complaints_of(report_of(frame), left.name(i), right.name(i),
                                               how_to_rectify.empty() ? "rectify the pair first" : how_to_rectify);
  for (auto& [fault, sentence] : found)
    if (fault == ComplaintKind::vertical && options.vertical)
      sentence = "the cameras seem to be side by side; leave --vertical out";
  if (expects_negative()) std::erase_if(found, [](const Complaint& c) { return c.kind == ComplaintKind::negative; });
  const bool may_be_late =
      !found.empty() && (found[0].kind == ComplaintKind::unrelated || found[0].kind == ComplaintKind::rows);
  if (may_be_late)
    if (const auto late = late_eye(frame, i)) return {*late};
  return found;
} catch (const Error&) {
  return {};  // the images are too small to be judged
}

std::string MatchJob::judge(const InputFrame& frame, std::size_t i) const {
  const std::vector<Complaint> found = complaints(frame, i);
  for (const auto& [fault, complaint] : found) {
    const auto known = std::ranges::find(judged.faults, fault, &Judged::Fault::kind);
    if (known != judged.faults.end()) {
      ++known->frames;
      continue;
    }
    warn_or_fail(fmt::format("{} and {}: {}", left.name(i), right.name(i), complaint));
    judged.faults.push_back({fault, i, 1});
  }
  judged.unsound += !found.empty();
  return found.empty() ? "" : found[0].sentence;
}

std::string MatchJob::judge_measured(const InputFrame& frame, std::size_t i, double measured) const {
  if (i == first_index) {
    if (first_complaint.empty()) judged.least_sound = std::min(judged.least_sound, measured);
    return first_complaint;
  }
  const bool is_little = measured < little && measured < much_less * judged.least_sound;
  if (!left.sequence || options.strict || judged.unsound >= most_unsound || (!is_little && i % sample_step != 0))
    return "";
  const std::string complaint = judge(frame, i);
  if (complaint.empty()) judged.least_sound = std::min(judged.least_sound, measured);
  return complaint;
}

void MatchJob::summarise_complaints() const {
  for (const Judged::Fault& fault : judged.faults) {
    if (fault.frames < 2) continue;
    const std::string sentence =
        fmt::format("{} more frames have the fault of {}{}", fault.frames - 1, left.name(fault.first),
                    judged.unsound >= most_unsound ? "; the others were not checked, which --strict does" : "");
    warnings.push_back(sentence);
    warn("warning: {}", sentence);
  }
}

}  // namespace stereopsis::command::matching
