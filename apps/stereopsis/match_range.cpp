// The range of a call of `match`: given, computed from depths, or estimated from frames spread over the sequence.
#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <set>

#include "core/text.hpp"
#include "match.hpp"
#include "terminal.hpp"

namespace stereopsis::command::matching {
namespace {

constexpr std::size_t most_samples = 9;

// Returns the first frame, the last one, and evenly spaced others.
std::set<std::size_t> spread(std::size_t count) {
  std::set<std::size_t> samples;
  for (std::size_t k = 0; k < most_samples; ++k) samples.insert(k * (count - 1) / (most_samples - 1));
  return samples;
}

DisparityRange united(DisparityRange a, DisparityRange b) {
  const int low = std::min(a.min, b.min), high = std::max(a.max(), b.max());
  return {low, high - low + 1};
}

}  // namespace

void MatchJob::warn_or_fail(const std::string& complaint) const {
  if (options.strict) throw Error(ErrorCategory::format, complaint + " (--strict)");
  front_end.warning(complaint);
}

std::optional<DisparityRange> MatchJob::given_range() const {
  if (options.disparities) return DisparityRange{options.min_disparity.value_or(0), *options.disparities};
  if (options.near) return range_of_depths();
  return {};
}

void MatchJob::choose_range() {
  const auto before = options.resume && !options.range_per_frame && range_is_estimated() && !costs
                          ? Record(sinks->sidecar(), front_end).range_before()
                          : std::nullopt;
  if (costs) {
    range = {options.min_disparity.value_or(0), costs->channels()};
    if (options.disparities.value_or(range.count) != range.count)
      refuse(fmt::format("--disparities {} differs from the number in {}; leave --disparities out, or give {}",
                         *options.disparities, options.cost_volume.string(), range.count));
    return;
  }
  if (options.disparities) {
    range = *given_range();
    return;
  }
  if (options.near) {
    range = *given_range();
    const auto [near, far] = depths();
    remark("disparities {} for depths of {} to {} {}, from {}", range_text(range), near, far,
           rig->unit.empty() ? "units" : rig->unit, options.rig.source());
    return;
  }
  const DisparityRange found = before ? *before : estimated_range();
  range = as_files_hold(found);
  if (options.range_per_frame) return;
  remark("disparities {}, {}{} (--min-disparity {} --disparities {})", range_text(range),
         before                             ? "as in the earlier run"
         : left.sequence && left.size() > 1 ? "estimated from frames of the sequence"
                                            : "estimated from the images",
         range == found ? "" : ", from 0 upwards because PNG and PGM cannot store negative disparities", range.min,
         range.count);
}

std::pair<double, double> MatchJob::depths() const {
  return {options.rig.in_unit_of(*rig, "--near", *options.near),
          options.far ? options.rig.in_unit_of(*rig, "--far", *options.far) : std::numeric_limits<double>::infinity()};
}

DisparityRange MatchJob::range_of_depths() const {
  const auto [near, far] = depths();
  const std::string unit = rig->unit.empty() ? "units" : rig->unit;
  // The unit was assumed where a number has none.
  const bool is_assumed = options.near->unit.empty() || (options.far && options.far->unit.empty());
  std::string advice;
  if (is_assumed && rig->unit.empty())
    advice = fmt::format("; the depths are in the unit of {}, which has none: {}, and the units of --near and --far",
                         options.rig.source(), options.rig.how_to_name_the_unit(*rig));
  else if (is_assumed)
    advice = fmt::format("; a number without a unit is in {}, the unit of {}: write --near {}m for metres", unit,
                         options.rig.source(), number_text(options.near->value));
  if (near > 0 && rig->disparity(near) > size.width - 1)
    refuse(fmt::format(
        "the disparity at --near {} is {:.6g}, and the images are only {} pixels wide; the nearest depth that "
        "both cameras see is {:.4g} {}{}",
        options.near->text(), rig->disparity(near), size.width, rig->depth(size.width - 1), unit, advice));
  return rig->range(near, far);
}

// Returns the union over all samples. A sample that cannot be read or judged is skipped, because its error will be
// reported when it is matched; a single sample is not skipped.
DisparityRange MatchJob::estimated_range() {
  std::optional<DisparityRange> all;
  std::set<std::string> said;
  std::exception_ptr problem;
  for (const std::size_t i : options.range_per_frame ? std::set{first_index} : spread(left.size())) try {
      InputFrame frame;
      if (i != first_index) frame = read_rectified(i);
      const InputFrame& sample = i == first_index ? first : frame;
      const DisparityRange one = with_matched(sample, estimate_range);
      all = all ? united(*all, one) : one;
      if (i != first_index) judge(faults(sample, i), i);
    } catch (const Error& error) {
      if (options.strict && error.category() != ErrorCategory::call) throw;
      if (!problem) problem = std::current_exception();
    }
  if (!all) try {
      std::rethrow_exception(problem);
    } catch (const Error& error) {
      if (how_to_rectify.empty() && !raw_cameras) throw;
      throw Error(error.category(), fmt::format("{}; if rows do not correspond, {}", error.what(),
                                                raw_cameras ? fmt::format("check {}, with which the pair was rectified",
                                                                          options.rig.source())
                                                            : how_to_rectify));
    }
  return *all;
}

DisparityRange MatchJob::range_of(const InputFrame& frame) const {
  return as_files_hold(with_matched(frame, estimate_range));
}

DisparityRange MatchJob::as_files_hold(DisparityRange found) const {
  return sinks->holds_no_sign() && found.min < 0 && found.max() > 0 ? DisparityRange{0, found.max() + 1} : found;
}

// Noise and a difference in brightness can gather wrong disparities at an end of the range. Sparse matches depend on
// neither.
OutsideRange MatchJob::outside_range(std::size_t i, DisparityRange searched) const try {
  constexpr OutsideRange not_known = {1, 1};
  if (costs) return not_known;
  return with_matched(read_rectified(i), [&](const AnyImageView& l, const AnyImageView& r) {
    return matches_outside(l, r, searched).value_or(not_known);
  });
} catch (const std::exception&) {
  return {1, 1};  // the images are too small, or can no longer be read
}

void MatchJob::check_range() const {
  if (range.min < size.width && range.max() > -size.width) return;
  refuse(
      fmt::format("all candidates of the search range {} are outside the image, which is {} pixels wide; use "
                  "disparities from {} to {}",
                  range_text(range), size.width, 1 - size.width, size.width - 1));
}

}  // namespace stereopsis::command::matching
