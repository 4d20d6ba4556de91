#include "jobs/search_range.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <set>

#include "core/text.hpp"
#include "jobs/texts.hpp"

namespace stereopsis::jobs {
namespace {

using sources::refuse;

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

std::string unit_of(const Rig& rig) { return rig.unit.empty() ? "units" : rig.unit; }

}  // namespace

SearchRange::SearchRange(const RangeSettings& settings, const Inputs& inputs, const Cameras& cameras, bool without_sign,
                         FrontEnd& front_end)
    : settings_(settings), inputs_(inputs), cameras_(cameras), without_sign_(without_sign), front_end_(front_end) {}

std::optional<DisparityRange> SearchRange::given() const {
  if (settings_.disparities) return DisparityRange{settings_.min_disparity.value_or(0), *settings_.disparities};
  if (settings_.near) return of_depths();
  return {};
}

void SearchRange::choose_of_costs(int disparities) {
  whole_ = {settings_.min_disparity.value_or(0), disparities};
  if (settings_.disparities.value_or(disparities) != disparities)
    refuse(fmt::format("{0} {1} differs from the number in {2}; leave {0} out, or give {3}",
                       front_end_.spelled("disparities"), *settings_.disparities, settings_.cost_volume.string(),
                       disparities));
}

void SearchRange::choose(const InputFrame& first, const std::optional<DisparityRange>& before, bool strict,
                         const Visit& visit) {
  if (const auto stated = given()) {
    whole_ = *stated;
    if (settings_.disparities) return;
    const auto [near, far] = depths();
    return front_end_.remark(fmt::format("disparities {} for depths of {} to {} {}, from {}", range_text(whole_), near,
                                         far, unit_of(*cameras_.rig()), cameras_.source().name()));
  }
  const DisparityRange found = before ? *before : estimated(first, strict, visit);
  whole_ = as_files_hold(found);
  if (settings_.per_frame) return;
  front_end_.remark(
      fmt::format("disparities {}, {}{} ({} {} {} {})", range_text(whole_),
                  before                                               ? "as in the earlier run"
                  : inputs_.is_sequence() && inputs_.left().size() > 1 ? "estimated from frames of the sequence"
                                                                       : "estimated from the images",
                  whole_ == found ? "" : ", from 0 upwards because PNG and PGM cannot store negative disparities",
                  front_end_.spelled("min_disparity"), whole_.min, front_end_.spelled("disparities"), whole_.count));
}

std::pair<double, double> SearchRange::depths() const {
  const auto in_unit = [&](const char* setting, const Length& length) {
    return cameras_.source().in_unit_of(*cameras_.rig(), setting, length);
  };
  return {in_unit("near", *settings_.near),
          settings_.far ? in_unit("far", *settings_.far) : std::numeric_limits<double>::infinity()};
}

DisparityRange SearchRange::of_depths() const {
  const auto [near, far] = depths();
  const Rig& rig = *cameras_.rig();
  const int width = cameras_.matched_size().width;
  if (near > 0 && rig.disparity(near) > width - 1)
    refuse(fmt::format(
        "the disparity at {} {} is {:.6g}, and the images are only {} pixels wide; the nearest depth that both cameras "
        "see is {:.4g} {}{}",
        front_end_.spelled("near"), settings_.near->text(), rig.disparity(near), width, rig.depth(width - 1),
        unit_of(rig), advice_on_unit()));
  return rig.range(near, far);
}

// Says which unit was assumed, where a depth has none.
std::string SearchRange::advice_on_unit() const {
  const bool is_assumed = settings_.near->unit.empty() || (settings_.far && settings_.far->unit.empty());
  if (!is_assumed) return "";
  const Rig& rig = *cameras_.rig();
  const RigSource& source = cameras_.source();
  const std::string near = front_end_.spelled("near");
  if (rig.unit.empty())
    return fmt::format("; the depths are in the unit of {}, which has none: {}, and the units of {} and {}",
                       source.name(), source.how_to_name_the_unit(rig), near, front_end_.spelled("far"));
  if (rig.unit == no_scale)
    return fmt::format("; {} has no scale, and depths are multiples of its baseline", source.name());
  return fmt::format("; a number without a unit is in {}, the unit of {}: write {} {}m for metres", rig.unit,
                     source.name(), near, number_text(settings_.near->value));
}

// Returns the union over all samples. A sample that cannot be read or judged is skipped, because its error will be
// reported when it is matched; a single sample is not skipped.
DisparityRange SearchRange::estimated(const InputFrame& first, bool strict, const Visit& visit) const {
  std::optional<DisparityRange> all;
  std::exception_ptr problem;
  const std::size_t first_index = inputs_.first_index();
  for (const std::size_t i : settings_.per_frame ? std::set{first_index} : spread(inputs_.left().size())) try {
      InputFrame frame;
      if (i != first_index) frame = cameras_.read_frame(i);
      const InputFrame& sample = i == first_index ? first : frame;
      const DisparityRange one = cameras_.with_matched(sample, estimate_range);
      all = all ? united(*all, one) : one;
      if (i != first_index) visit(sample, i);
    } catch (const Error& error) {
      if (strict && error.category() != ErrorCategory::call) throw;
      if (!problem) problem = std::current_exception();
    }
  if (!all) try {
      std::rethrow_exception(problem);
    } catch (const Error& error) {
      if (cameras_.how_to_rectify().empty() && !cameras_.raw_cameras()) throw;
      throw Error(error.category(),
                  fmt::format("{}; if rows do not correspond, {}", error.what(),
                              cameras_.raw_cameras()
                                  ? fmt::format("check {}, with which the pair was rectified", cameras_.source().name())
                                  : cameras_.how_to_rectify()));
    }
  return *all;
}

DisparityRange SearchRange::of(const InputFrame& frame) const {
  return settings_.per_frame ? as_files_hold(cameras_.with_matched(frame, estimate_range)) : whole_;
}

DisparityRange SearchRange::as_files_hold(DisparityRange found) const {
  return without_sign_ && found.min < 0 && found.max() > 0 ? DisparityRange{0, found.max() + 1} : found;
}

void SearchRange::check() const {
  const int width = cameras_.matched_size().width;
  if (whole_.min < width && whole_.max() > -width) return;
  refuse(
      fmt::format("all candidates of the search range {} are outside the image, which is {} pixels wide; use "
                  "disparities from {} to {}",
                  range_text(whole_), width, 1 - width, width - 1));
}

// Noise and a difference in brightness can gather wrong disparities at an end of the range. Sparse matches depend on
// neither.
OutsideRange SearchRange::outside(std::size_t i, DisparityRange searched) const try {
  constexpr OutsideRange not_known = {1, 1};
  if (has_costs()) return not_known;
  return cameras_.with_matched(cameras_.read_frame(i), [&](const AnyImageView& l, const AnyImageView& r) {
    return matches_outside(l, r, searched).value_or(not_known);
  });
} catch (const std::exception&) {
  return {1, 1};  // the images are too small, or can no longer be read
}

}  // namespace stereopsis::jobs
