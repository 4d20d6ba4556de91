// Refines a rig from scenes: finds points in both images of each pair, and fits the cameras to them.
#include "stereopsis/rig_refinement.hpp"

#include <algorithm>
#include <cmath>

#include "core/text.hpp"
#include "geometry/epipolar_fit.hpp"
#include "sparse/tracks.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis {
namespace {

using namespace epipolar;

constexpr int squares = 2000;  // most points of a pair, see find_tracks()
constexpr std::size_t most_pairs = 50, fewest_points = 300;
constexpr double most_rows_deviation = 0.1, most_rows_after = 0.5;  // pixels

[[noreturn]] void refuse(const std::string& sentence) { throw Error(ErrorCategory::format, sentence); }

// Returns the raw pixel that a rectified pixel shows.
std::array<double, 2> raw_pixel(const CalibratedCamera& camera, const Rig& rig, double cx, double x, double y) {
  return camera.lens.project(
      turned(transposed(camera.rectification), {(x - cx) / rig.focal, (y - rig.cy) / rig.focal, 1}));
}

// Returns whether a patch around a pixel has a source in the raw image.
bool is_usable(const Image<std::uint8_t>& usable, double x, double y) {
  constexpr int radius = 9;
  for (const int dy : {-radius, 0, radius})
    for (const int dx : {-radius, 0, radius}) {
      const int u = static_cast<int>(std::lround(x)) + dx, v = static_cast<int>(std::lround(y)) + dy;
      if (u < 0 || v < 0 || u >= usable.width() || v >= usable.height() || usable(u, v) == 0) return false;
    }
  return true;
}

// Finds points in the rectified images, whose rows differ by up to `rows`. Returns them in pixels of the raw images.
std::vector<Point> find_points(const StereoCalibration& c, std::size_t pairs, const ReadPair& read, int rows) {
  const RectificationMaps maps = rectification_maps(c);
  std::vector<Point> points;
  for (std::size_t i = 0; i < pairs; ++i)
    read(i, [&](const AnyImageView& left, const AnyImageView& right) {
      const RectifiedView a = rectified(left, maps.left), b = rectified(right, maps.right);
      const sparse::Side of_left(a.image), of_right(b.image);
      for (const sparse::Track& t : sparse::find_tracks(of_left, of_right, rows, squares)) {
        const double x = t.x - t.dx, y = t.y - t.dy;
        if (is_usable(a.usable, t.x, t.y) && is_usable(b.usable, x, y))
          points.push_back({raw_pixel(c.left, c.rig, c.rig.cx_left, t.x, t.y),
                            raw_pixel(c.right, c.rig, c.rig.cx_right, x, y), t.deviation, i});
      }
    });
  if (points.size() < fewest_points)
    refuse(text("only ", points.size(), " points were found in both images of the ", pairs,
                pairs == 1 ? " pair" : " pairs", ", and ", fewest_points,
                " are required; give more pairs, of scenes with texture"));
  return points;
}

// Returns the standard deviation of the rows over the image that the corrections predict, for far and for near points.
double rows_deviation(const StereoCalibration& c, const Matrix<terms>& covariance) {
  const Cameras cameras(c);
  double sum = 0;
  int count = 0;
  for (int j = 0; j < 5; ++j)
    for (int i = 0; i < 5; ++i)
      for (const double disparity : {0.0, 0.1 * c.rig.size.width}) {
        const double x = (0.1 + 0.2 * i) * c.rig.size.width, y = (0.1 + 0.2 * j) * c.rig.size.height;
        const Point p{raw_pixel(c.left, c.rig, c.rig.cx_left, x, y),
                      raw_pixel(c.right, c.rig, c.rig.cx_right, x - disparity + c.rig.cx_right - c.rig.cx_left, y), 1,
                      0};
        const Vector<terms> slopes = derivatives(cameras, p);
        for (std::size_t k = 0; k < terms; ++k) sum += slopes[k] * sparse::product(covariance[k], slopes);
        ++count;
      }
  return std::sqrt(std::max(sum / count, 0.0));
}

}  // namespace

std::string RigRefinement::sentence() const {
  const auto px = [](double v) { return text(std::round(v * 1000) / 1000, " px"); };
  std::string unknown;
  for (const RigTerm& t : terms)
    if (!t.is_observed) unknown += text(unknown.empty() ? "" : ", ", t.name);
  return text("rows of ", points, " points in ", pairs, pairs == 1 ? " pair" : " pairs", " differed by ",
              px(rows_before), " (median), and differ by ", px(rows_after), " after the correction; ",
              unknown.empty() ? "all terms were observed" : "not observed: " + unknown);
}

StereoCalibration cameras_of(const Rig& rig) {
  if (rig.size == Size{}) throw Error(ErrorCategory::call, "the rig has no size; give that of its images");
  StereoCalibration c;
  c.size = rig.size;
  c.left.lens = {.fx = rig.focal, .fy = rig.focal, .cx = rig.cx_left, .cy = rig.cy};
  c.right.lens = {.fx = rig.focal, .fy = rig.focal, .cx = rig.cx_right, .cy = rig.cy};
  c.rotation = no_rotation;
  c.translation = {-rig.baseline, 0, 0};
  c.rig = rig;
  return c;
}

RigRefinement refine_rig(const StereoCalibration& given, std::size_t all, const ReadPair& read_any) {
  const std::size_t pairs = std::min(all, most_pairs);
  const ReadPair read = [&](std::size_t i, const UsePair& use) { read_any(i * all / pairs, use); };
  // The first points show how far the rows differ; those of the corrected cameras are more, and more precise.
  const int reach = std::max(16, given.size.width / 20), near_reach = 4;
  std::vector<Point> points = find_points(given, pairs, read, reach);
  Fit first(given);
  first.solve(points, pairs);
  points = find_points(first.cameras().rectified(given), pairs, read, near_reach);
  Fit fit(given);
  const double before = median_distance(fit.cameras(), points);
  fit.solve(points, pairs);
  RigRefinement result{.calibration = fit.cameras().rectified(given), .terms = {}, .pairs = 0, .points = points.size()};
  for (std::size_t i = 0; i < pairs; ++i) result.pairs += std::ranges::count(points, i, &Point::pair) > 0;
  result.rows_before = before;
  result.rows_after = median_distance(fit.cameras(), points);
  const Matrix<terms> covariance = fit.covariance(result.pairs);
  for (std::size_t i = 0; i < terms; ++i) {
    const double deviation = std::sqrt(covariance[i][i]);
    result.terms.push_back({kinds[i].name, kinds[i].unit, fit.sum()[i] / kinds[i].size, deviation / kinds[i].size,
                            deviation < usual(i) / 2});
  }
  result.rows_deviation = rows_deviation(result.calibration, covariance);
  result.disparity_deviation = result.calibration.rig.focal * std::sqrt(covariance[yaw][yaw]);
  if (result.rows_after > most_rows_after)
    refuse(text("no correction fits: the rows still differ by ", number_text(std::round(result.rows_after * 100) / 100),
                " px (median), and ", number_text(most_rows_after),
                " px is allowed; check that the pairs are of these cameras, or calibrate with a board"));
  if (result.rows_deviation > most_rows_deviation)
    refuse(text("the scenes do not show how the cameras are turned: the rows would be known to ",
                number_text(std::ceil(result.rows_deviation * 100) / 100), " px only, and ",
                number_text(most_rows_deviation),
                " px is required; give pairs with near and far points in all parts of the image"));
  return result;
}

}  // namespace stereopsis
