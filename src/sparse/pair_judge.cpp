#include "stereopsis/pair_judge.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/text.hpp"
#include "sparse/shared_pattern.hpp"

namespace stereopsis {
namespace {

// The entries have the order of Turn and of PairFaultKind.
constexpr std::array turns = {"fits", "is turned by 180°", "has its rows in reverse order", "is mirrored"};
constexpr std::array names = {
    "same picture",         "turned",       "vertical",         "not one scene",     "rows differ",
    "negative disparities", "a frame late", "a shared pattern", "outside the range", "rows not aligned"};

constexpr double much_less = 0.85;     // quotient of the measured share and the usual one from which a pair is checked
constexpr double most_outside = 0.05;  // largest share of the points that a search range may leave out without a fault

bool fits(const PairReport& report) {
  return report.judged() && report.rectified() && !report.same_image && !report.same_view && report.turn == Turn::none;
}

std::string in_tenths(double pixels) {
  const auto tenths = std::lround(pixels * 10);
  return text(tenths < 0 ? "-" : "", std::abs(tenths) / 10, '.', std::abs(tenths) % 10);
}

// Returns a remark if a verdict is not reliable.
std::string remark_on_few(const PairReport& report) {
  return report.matches < PairReport::enough_matches ? text(" (judged by only ", report.matches, " points)") : "";
}

std::string rows_sentence(const PairReport& report) {
  const RowDifference& rows = report.rows;
  return text("rows do not correspond: they differ by up to ", in_tenths(std::max(rows.most_apart, report.median_dy)),
              " px, and at most ", in_tenths(report.rows_limit()), " px is allowed (offset ", in_tenths(rows.offset),
              " px, roll ", in_tenths(rows.roll), " px from the left border to the right one, zoom ",
              in_tenths(rows.zoom), " px from the upper border to the lower one)", remark_on_few(report));
}

// Returns the fault of a range that leaves out many points.
std::optional<PairFault> range_fault(const PairReport& report) {
  const auto [below, above] = report.outside;
  const bool farther = below > above;
  const double share = std::max(below, above);
  if (share <= most_outside || report.matches < PairReport::enough_matches) return {};
  return PairFault{
      PairFaultKind::outside_range,
      text(std::lround(100 * share), " % of the points are beyond the ", farther ? "lower" : "upper",
           " end of the search range: they are ", farther ? "farther" : "nearer", ", and get wrong disparities"),
      farther};
}

PairFault shared_pattern_fault() {
  return {PairFaultKind::shared_pattern,
          text("both images have the same pattern at the same place, such as fixed noise of the sensor or a watermark, "
               "and it is matched instead of the scene, with disparity 0")};
}

}  // namespace

const char* to_string(PairFaultKind kind) { return names[static_cast<std::size_t>(kind)]; }

std::vector<PairFault> faults_of(const PairReport& report) {
  using enum PairFaultKind;
  if (report.same_image) return {{same_picture, "both images have the same pixels"}};
  if (!report.judged()) return {};
  if (report.same_view)
    return {{same_picture, text("both images seem to show the same picture, or one pattern of both sensors, because "
                                "nearly all disparities are 0",
                                remark_on_few(report))}};
  if (report.turn != Turn::none)
    return {{turned, text("one of the images ", turns[static_cast<std::size_t>(report.turn)])}};
  if (report.vertical)
    return {{vertical,
             "one camera seems to be above the other, because points differ in their rows and not in their columns",
             report.swapped}};
  if (report.unrelated) return {{unrelated, "no point of one image was found in the other"}};
  std::vector<PairFault> faults;
  if (!report.rectified()) faults.push_back({rows, rows_sentence(report)});
  if (report.swapped)
    faults.push_back({negative,
                      text("the images seem to be swapped, or the cameras converge, because most disparities are "
                           "negative (median ",
                           in_tenths(report.median_disparity), " px)", remark_on_few(report)),
                      true});
  if (report.shared_pattern) faults.push_back(shared_pattern_fault());
  // The disparities of swapped images lie outside for another reason.
  if (const auto fault = range_fault(report); fault && faults.empty()) faults.push_back(*fault);
  return faults;
}

std::optional<PairFault> fixed_pattern_fault(const AnyImageView& left, const AnyImageView& right,
                                             const AnyImageView& left_of_neighbour,
                                             const AnyImageView& right_of_neighbour) {
  PairReport report;
  report.size = left.size();
  for (const AnyImageView* other : {&right, &left_of_neighbour, &right_of_neighbour})
    if (other->size() != report.size) return {};
  if (report.too_small()) return {};
  constexpr int reach = 2;  // rows; the pair was checked
  const sparse::Side l(left), r(right), other_l(left_of_neighbour), other_r(right_of_neighbour);
  const std::vector<sparse::Match> matches = sparse::distinct(sparse::find_matches(l, r, reach).refined);
  const bool exists =
      sparse::fixed_pattern(matches, l.finest(), r.finest(), other_l.finest(), other_r.finest()).exists();
  return exists ? std::optional(shared_pattern_fault()) : std::nullopt;
}

std::string why_not_judged(const PairReport& report) {
  if (report.judged()) return "";
  if (report.too_small())
    return text("not judged: images of ", report.size.width, "×", report.size.height,
                " pixels are too small; a pair is judged from ", PairReport::smallest_long_side, "×",
                PairReport::smallest_short_side, " pixels on");
  return "not judged: no point of one image was found in the other, and they have too little texture to say why";
}

PairFault late_fault(const std::string& image, const std::string& other) {
  return {PairFaultKind::late, text(image, " is a frame late: it fits ", other)};
}

bool may_be_late(PairFaultKind kind) { return kind == PairFaultKind::unrelated || kind == PairFaultKind::rows; }

std::optional<Eye> late_eye(const AnyImageView& left, const AnyImageView& right, const AnyImageView& left_of_neighbour,
                            const AnyImageView& right_of_neighbour, bool neighbour_is_before) {
  if (fits(check_pair(left_of_neighbour, right, CheckEffort::quick)))
    return neighbour_is_before ? Eye::right : Eye::left;
  if (fits(check_pair(left, right_of_neighbour, CheckEffort::quick)))
    return neighbour_is_before ? Eye::left : Eye::right;
  return std::nullopt;
}

bool PairJudge::checks(std::size_t number, double measured) const {
  return !has_given_up() && (is_sample(number) || measured < much_less * usual_);
}

void PairJudge::record_sound(double measured) {
  constexpr double weight = 0.125;  // the share of the newest pair in the mean
  usual_ = usual_ == 0 || measured < much_less * usual_ ? measured : usual_ + weight * (measured - usual_);
}

std::vector<PairFault> PairJudge::record(const std::vector<PairFault>& faults, std::size_t number) {
  std::vector<PairFault> first_of_kind;
  for (const PairFault& fault : faults) {
    const auto known = std::ranges::find(known_, fault.kind, &Known::kind);
    if (known != known_.end()) {
      ++known->pairs;
      continue;
    }
    known_.push_back({fault.kind, number, 1});
    first_of_kind.push_back(fault);
  }
  unsound_ += !faults.empty();
  return first_of_kind;
}

}  // namespace stereopsis
