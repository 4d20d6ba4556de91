// Estimates the alignment of rows: a robust plane through the tracks of a pair.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/refuse.hpp"
#include "core/text.hpp"
#include "sparse/row_field.hpp"
#include "sparse/row_motion.hpp"
#include "sparse/rows.hpp"
#include "sparse/tracks.hpp"
#include "stereopsis/rows.hpp"

namespace stereopsis {
namespace {

using namespace sparse;

constexpr int reach = 12;  // largest difference between rows that is searched, in pixels
// Numbers of squares of the image that have at most one corner each. A filter needs fewer tracks of each pair.
constexpr int squares = 4000, squares_of_sequence = 2000;
constexpr double precision = 0.25;    // smallest spread of the tracks, in their standard deviations
constexpr double least_extent = 0.1;  // smallest standard deviation of the tracks' positions, as a part of each side

// Returns the points at which the tracks measure the plane, in the aligned right image.
std::vector<RowPoint> points_of(const std::vector<Track>& tracks, Size size) {
  std::vector<RowPoint> points;
  for (const Track& t : tracks)
    points.push_back({(t.x - t.dx + 0.5) / size.width - 0.5, (t.y + 0.5) / size.height - 0.5, -t.dy, t.deviation,
                      t.dx / size.width});
  return points;
}

// Returns whether the points have a small extent along one side of the image.
bool are_in_one_corner(const std::vector<RowPoint>& points) {
  double u = 0, v = 0, uu = 0, vv = 0;
  for (const RowPoint& p : points) {
    u += p.u;
    v += p.v;
    uu += p.u * p.u;
    vv += p.v * p.v;
  }
  const auto n = static_cast<double>(points.size()), least = least_extent * least_extent * n * n;
  return n * uu - u * u < least || n * vv - v * v < least;
}

// Returns the standard deviation of the points around a plane with a term in the disparity, as their median implies.
double spread_around(const RowPlane& plane, double of_disparity, const std::vector<RowPoint>& points) {
  if (points.empty()) return 0;
  std::vector<double> apart;
  for (const RowPoint& p : points) apart.push_back(std::abs(p.dy - plane.at(p.u, p.v) - of_disparity * p.disparity));
  const auto middle = apart.begin() + static_cast<std::ptrdiff_t>(apart.size() / 2);
  std::nth_element(apart.begin(), middle, apart.end());
  return 1.4826 * *middle;
}

NoAlignment reason_of(const std::vector<RowPoint>& points, const RowEstimate& e) {
  if (e.tracks < RowEstimate::enough_tracks) return NoAlignment::few_tracks;
  if (are_in_one_corner(points)) return NoAlignment::one_corner;
  if (e.deviation.rms() > RowEstimate::most_deviation) return NoAlignment::uncertain;
  return e.plane.rms() < RowEstimate::least_rms ? NoAlignment::rows_agree : NoAlignment::none;
}

// Returns the plane of the disparities, by weighted least squares. The prior makes it unique.
std::array<double, plane_terms> plane_of_disparities(const std::vector<RowPoint>& points) {
  constexpr double prior = 1e-6;
  Matrix<plane_terms> normal{};
  Vector<plane_terms> right{};
  for (std::size_t i = 0; i < plane_terms; ++i) normal[i][i] = prior;
  for (const RowPoint& p : points) {
    const Vector<plane_terms> factors{1, p.u, p.v, p.u * p.v};
    for (std::size_t i = 0; i < plane_terms; ++i) {
      for (std::size_t j = 0; j < plane_terms; ++j) normal[i][j] += factors[i] * factors[j];
      right[i] += factors[i] * p.disparity;
    }
  }
  return NormalEquations<plane_terms>(normal).solution(right);
}

// Returns the disparity that 2 % of the points are below.
double far_disparity(const std::vector<RowPoint>& points) {
  if (points.empty()) return 0;
  std::vector<double> all;
  for (const RowPoint& p : points) all.push_back(p.disparity);
  const auto place = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 50);
  std::nth_element(all.begin(), place, all.end());
  return *place;
}

RowPlane plane_of_terms(const Terms& terms) { return {terms[0], terms[1], terms[2], terms[3]}; }

// Subtracts a plane or a field from the points.
template <class Rows>
std::vector<RowPoint> without(const Rows& rows, std::vector<RowPoint> points) {
  for (RowPoint& p : points) p.dy -= rows.at(p.u, p.v);
  return points;
}

RowAlignment alignment_of(const RowPlane& p, const RowField& field = {}) {
  return {to_grid(p.offset), to_grid(p.roll), to_grid(p.zoom), to_grid(p.keystone), field};
}

RowAlignment sum_of(const RowPlane& p, const RowAlignment& a) {
  return {p.offset + a.offset, p.roll + a.roll, p.zoom + a.zoom, p.keystone + a.keystone, a.field};
}

// Returns whether the tracks can show the alignment. A field beyond them follows the scene, not the rows: one camera is
// above the other, for example.
bool is_within_reach(const RowAlignment& a) { return a.most() <= reach; }

// The tracks of a pair, as points of the plane and of fields.
class PairRows {
 public:
  PairRows(const AnyImageView& left, const AnyImageView& right, int most_tracks)
      : left_(left),
        right_(right),
        size_(left.size()),
        most_tracks_(most_tracks),
        tracks_(find_tracks(left_, right_, reach, most_tracks)) {}

  const Level& left() const { return left_.finest(); }
  std::vector<RowPoint> points() const { return points_of(tracks_, size_); }
  // Returns a field, if one is required beside the plane, and subtracts it from the points.
  RowField field(const RowPlane& plane, std::vector<RowPoint>& points) const {
    const std::optional<RowAlignment> found = fit_field(without(plane, at_textures(tracks_)));
    if (!found || !is_within_reach(sum_of(plane, *found))) return {};
    std::vector<RowPoint> after = points_after(sum_of(plane, *found));
    const RowField field = fit_field(without(plane, after), found->field).field;
    if (!is_within_reach(alignment_of(plane, field))) return {};
    points = without(field, after);
    return field;
  }

 private:
  std::vector<RowPoint> at_textures(const std::vector<Track>& tracks) const {
    std::vector<RowPoint> points = points_of(tracks, size_);
    for (std::size_t i = 0; i < tracks.size(); ++i) {
      points[i].u += tracks[i].texture_x / size_.width;
      points[i].v += tracks[i].texture_y / size_.height;
    }
    return points;
  }

  // Returns the points of the tracks that are found after an alignment: patches whose rows differ by a slope are not
  // located precisely.
  std::vector<RowPoint> points_after(const RowAlignment& alignment) const {
    const std::vector<Track> tracks =
        find_tracks(left_, Side(pyramid(aligned(right_.finest(), alignment))), reach, most_tracks_);
    std::vector<RowPoint> points = at_textures(tracks);
    for (RowPoint& p : points) p.dy += alignment.at(p.u, p.v + p.dy / size_.height);
    return points;
  }

  Side left_, right_;
  Size size_;
  int most_tracks_;
  std::vector<Track> tracks_;
};

}  // namespace

const char* to_string(NoAlignment reason) {
  constexpr std::array names = {"", "few_tracks", "uncertain", "one_corner", "rows_agree"};
  return names[static_cast<std::size_t>(reason)];
}

std::string RowEstimate::sentence() const {
  const auto px = [](double value) { return text(std::round(value * 100) / 100, " px"); };
  switch (reason) {
    case NoAlignment::none:
      return text("rows differ by ", px(plane.rms()), ": offset ", px(plane.offset), ", roll ", px(plane.roll),
                  ", zoom ", px(plane.zoom), ", keystone ", px(plane.keystone),
                  plane.field.empty() ? "" : text(", field of ", plane.field.columns, "×", plane.field.rows, " knots"));
    case NoAlignment::few_tracks:
      return text("rows cannot be aligned: only ", tracks,
                  " points of the left image were found precisely in the right one, and ", enough_tracks,
                  " are required");
    case NoAlignment::one_corner:
      return text("rows cannot be aligned: the ", tracks,
                  " points that were found in both images lie in one part of the image");
    case NoAlignment::uncertain:
      return text("rows cannot be aligned: their difference is known to ", px(deviation.rms()), " only, and ",
                  px(most_deviation), " is required");
    default: return text("rows agree: they differ by ", px(plane.rms()));
  }
}

RowEstimate estimate_row_alignment(const AnyImageView& left, const AnyImageView& right) {
  check_images(left, right);
  RowEstimate e;
  const PairRows rows(left, right, squares);
  std::vector<RowPoint> points = rows.points();
  RowFit fit = fit_rows(points, RowTerms::keystone, precision);
  const RowField field = rows.field(fit.plane, points);
  if (!field.empty()) fit = fit_rows(points, RowTerms::keystone, precision);
  e.tracks = static_cast<int>(points.size());
  e.plane = alignment_of(fit.plane, field);
  e.deviation = alignment_of(fit.deviations);
  e.remaining = to_grid(spread_around(fit.plane, 0, points));
  e.reason = reason_of(points, e);
  if (e.reason == NoAlignment::none) e.alignment = e.plane;
  return e;
}

RowMeasurement measure_rows(const AnyImageView& left, const AnyImageView& right) {
  check_images(left, right);
  const PairRows rows(left, right, squares_of_sequence);
  std::vector<RowPoint> points = rows.points();
  TermsFit fit = fit_terms(points, precision);
  // Waves make the term in the disparity wrong, so that a field is fitted beside a plane alone.
  const RowField field = rows.field(fit_rows(points, RowTerms::keystone, precision).plane, points);
  if (!field.empty()) fit = fit_terms(points, precision);
  return {left.size(),
          static_cast<int>(points.size()),
          to_grid(spread_around(plane_of_terms(fit.terms), fit.terms[plane_terms], points)),
          fit.terms,
          fit.information,
          plane_of_disparities(points),
          far_disparity(points),
          field,
          row_profile(rows.left())};
}

}  // namespace stereopsis
