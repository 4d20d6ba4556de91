// Estimates the alignment of rows: a robust plane through the tracks of a pair.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/refuse.hpp"
#include "core/text.hpp"
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

RowAlignment alignment_of(const RowPlane& p) {
  return {to_grid(p.offset), to_grid(p.roll), to_grid(p.zoom), to_grid(p.keystone)};
}

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
                  ", zoom ", px(plane.zoom), ", keystone ", px(plane.keystone));
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
  const Side a(left), b(right);
  const std::vector<RowPoint> points = points_of(find_tracks(a, b, reach, squares), left.size());
  const RowFit fit = fit_rows(points, RowTerms::keystone, precision);
  e.tracks = static_cast<int>(points.size());
  e.plane = alignment_of(fit.plane);
  e.deviation = alignment_of(fit.deviations);
  e.remaining = to_grid(spread_around(fit.plane, 0, points));
  e.reason = reason_of(points, e);
  if (e.reason == NoAlignment::none) e.alignment = e.plane;
  return e;
}

RowMeasurement measure_rows(const AnyImageView& left, const AnyImageView& right) {
  check_images(left, right);
  const Side a(left), b(right);
  const std::vector<RowPoint> points = points_of(find_tracks(a, b, reach, squares_of_sequence), left.size());
  const auto [terms, information] = fit_terms(points, precision);
  const RowPlane plane{terms[0], terms[1], terms[2], terms[3]};
  return {left.size(),
          static_cast<int>(points.size()),
          to_grid(spread_around(plane, terms[plane_terms], points)),
          terms,
          information,
          plane_of_disparities(points),
          far_disparity(points),
          row_profile(a.finest())};
}

}  // namespace stereopsis
