// Refines a rig from scenes: finds points in both images of each pair, and fits the cameras to them.
#include "stereopsis/rig_refinement.hpp"

#include <algorithm>
#include <cmath>

#include "core/text.hpp"
#include "geometry/epipolar_fit.hpp"
#include "geometry/unknown_pose.hpp"
#include "sparse/tracks.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis {
namespace {

using namespace epipolar;

constexpr int squares = 2000;  // most points of a pair, see find_tracks()
constexpr std::size_t most_pairs = 50;
constexpr double most_rows_after = 0.5;  // pixels

// Requirements of a result. Unknown cameras are often seen in one pair, and matching aligns the rows that remain.
struct Needs {
  std::size_t points;
  double rows_deviation;  // pixels
};
constexpr Needs of_refinement{300, 0.1}, of_unknown{100, 0.3};
constexpr std::size_t fewest_raw = 25;  // points of unknown cameras before their rectification

constexpr double better_for_focal = 0.7;  // ratio of the rows after and before, see estimate_rig()
constexpr double usual_focal = 0.9;  // focal length of cameras of which nothing is known, in longer sides of the image

[[noreturn]] void refuse_scenes(const std::string& sentence) { throw Error(ErrorCategory::format, sentence); }

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

// Reads up to 50 pairs, spread evenly.
class Reader {
 public:
  Reader(std::size_t all, const ReadPair& read) : all_(all), pairs_(std::min(all, most_pairs)), read_(read) {}

  std::size_t pairs() const { return pairs_; }
  void operator()(std::size_t i, const UsePair& use) const { read_(i * all_ / pairs_, use); }

 private:
  std::size_t all_, pairs_;
  const ReadPair& read_;
};

std::vector<Point> enough(std::vector<Point> points, std::size_t pairs, std::size_t fewest) {
  if (points.size() < fewest)
    refuse_scenes(text("only ", points.size(), " points were found in both images of the ", pairs,
                       pairs == 1 ? " pair" : " pairs", ", and ", fewest,
                       " are required; give more pairs, of scenes with texture"));
  return points;
}

// Finds points in the images as they are, whose rows differ by up to `rows`.
std::vector<Point> raw_points(const Reader& read, int rows) {
  std::vector<Point> points;
  for (std::size_t i = 0; i < read.pairs(); ++i)
    read(i, [&](const AnyImageView& left, const AnyImageView& right) {
      for (const sparse::Track& t : sparse::find_tracks(sparse::Side(left), sparse::Side(right), rows, squares))
        points.push_back({{1.0 * t.x, 1.0 * t.y}, {t.x - t.dx, t.y - t.dy}, t.deviation, i});
    });
  return enough(std::move(points), read.pairs(), fewest_raw);
}

// Finds points in the rectified images, whose rows differ by up to `rows`. Returns them in pixels of the raw images.
std::vector<Point> find_points(const StereoCalibration& c, const Reader& read, int rows, std::size_t fewest) {
  const RectificationMaps maps = rectification_maps(c);
  std::vector<Point> points;
  for (std::size_t i = 0; i < read.pairs(); ++i)
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
  return enough(std::move(points), read.pairs(), fewest);
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

// Returns how far the rows of points may differ before a correction, in pixels.
int reach_in(Size size) { return std::max(16, size.width / 20); }

// Throws an Error if the result is not good enough.
void check(const RigRefinement& result, const Needs& needs) {
  if (result.rows_after > most_rows_after)
    refuse_scenes(text("no correction fits: the rows still differ by ",
                       number_text(std::round(result.rows_after * 100) / 100), " px (median), and ",
                       number_text(most_rows_after),
                       " px is allowed; check that the pairs are of these cameras, or calibrate with a board"));
  if (result.rows_deviation > needs.rows_deviation)
    refuse_scenes(text("the scenes do not show how the cameras are turned: the rows would be known to ",
                       number_text(std::ceil(result.rows_deviation * 100) / 100), " px only, and ",
                       number_text(needs.rows_deviation),
                       " px is required; give pairs with near and far points in all parts of the image"));
}

// Corrects `given`; the search begins at `start`, whose rows differ by up to `reach`, and whose terms deviate by `errors`.
RigRefinement refined(const StereoCalibration& given, const StereoCalibration& start, const Vector<terms>& errors,
                      const Reader& read, int reach, const Needs& needs) {
  // The first points show how far the rows differ; those of the corrected cameras are more, and more precise.
  constexpr int near_reach = 4;
  std::vector<Point> points = find_points(start, read, reach, needs.points);
  Fit first(start, errors);
  first.solve(points, read.pairs());
  points = find_points(first.cameras().rectified(start), read, near_reach, needs.points);
  Fit fit(start, errors);
  fit.solve(points, read.pairs());
  RigRefinement result{.calibration = fit.cameras().rectified(given), .terms = {}, .pairs = 0, .points = points.size()};
  for (std::size_t i = 0; i < read.pairs(); ++i) result.pairs += std::ranges::count(points, i, &Point::pair) > 0;
  result.rows_before = median_distance(Cameras(given), points);
  result.rows_after = median_distance(fit.cameras(), points);
  const Matrix<terms> covariance = fit.covariance(result.pairs);
  const Vector<terms> by = correction(Cameras(given), fit.cameras());
  for (std::size_t i = 0; i < terms; ++i) {
    if (errors[i] <= kept) continue;
    const double deviation = std::sqrt(covariance[i][i]);
    result.terms.push_back(
        {kinds[i].name, kinds[i].unit, by[i] / kinds[i].size, deviation / kinds[i].size, deviation < errors[i] / 2});
  }
  result.rows_deviation = rows_deviation(result.calibration, covariance);
  result.disparity_deviation = result.calibration.rig.focal * std::sqrt(covariance[yaw][yaw]);
  check(result, needs);
  return result;
}

// Returns cameras beside each other that look in one direction.
StereoCalibration assumed_cameras(const UnknownCameras& known) {
  const Size size = known.size;
  const Length baseline = known.baseline ? known.baseline->as_of_rig() : Length{1, no_scale};
  const double length = known.focal.value_or(usual_focal * std::max(size.width, size.height));
  for (const auto& [value, name] : {std::pair{length, "focal length"}, {baseline.value, "baseline"}})
    if (!(value > 0) || !std::isfinite(value))
      throw Error(ErrorCategory::call,
                  text("the ", name, " ", number_text(value), " is not allowed; it must be above 0"));
  const double middle = (size.width - 1) / 2.0;
  return cameras_of({length, middle, middle, (size.height - 1) / 2.0, baseline.value, baseline.unit, size});
}

// Returns the cameras with the pose that most points of the raw images fit.
StereoCalibration placed(const StereoCalibration& assumed, const Reader& read) {
  Cameras cameras(assumed);
  place(cameras, raw_points(read, assumed.size.height / 4));
  if (const auto at = epipole(cameras, assumed.size))
    refuse_scenes(
        text("the camera moved forwards or backwards between the images: its other position is in the picture, at (",
             std::lround((*at)[0]), ", ", std::lround((*at)[1]), "); take both images side by side"));
  return cameras.rectified(assumed);
}

// Returns the result of a call, or nothing if it refuses the scenes.
template <class Call>
std::optional<RigRefinement> attempt(const Call& call) try {
  return call();
} catch (const Error& error) {
  if (error.category() != ErrorCategory::format) throw;
  return {};
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

RigRefinement refine_rig(const StereoCalibration& given, std::size_t all, const ReadPair& read) {
  return refined(given, given, usual(&Kind::given), Reader(all, read), reach_in(given.size), of_refinement);
}

RigRefinement estimate_rig(const UnknownCameras& known, std::size_t all, const ReadPair& read_any) {
  const StereoCalibration assumed = assumed_cameras(known);
  const Reader read(all, read_any);
  const StereoCalibration start = placed(assumed, read);
  const auto with_focal = [&](double deviation) {
    Vector<terms> errors = usual(&Kind::unknown);
    errors[focal] = deviation;
    return refined(assumed, start, errors, read, reach_in(known.size), of_unknown);
  };
  if (known.focal) return with_focal(kept);
  // Images of cameras that look in one direction agree with any focal length, and lenses that are not perfect then
  // prefer a wrong one. The focal length changes only if that makes the rows agree clearly better.
  std::optional<RigRefinement> result = attempt([&] { return with_focal(kept); });
  const double usual_deviation = usual(&Kind::unknown)[focal];
  if (!result) return with_focal(usual_deviation);
  const std::optional<RigRefinement> freed = attempt([&] { return with_focal(usual_deviation); });
  if (freed && freed->rows_after < better_for_focal * result->rows_after) return *freed;
  result->terms.push_back({kinds[focal].name, kinds[focal].unit, 0, kinds[focal].unknown, false});
  return *result;
}

}  // namespace stereopsis
