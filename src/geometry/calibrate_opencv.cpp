#include <algorithm>
#include <cmath>
#include <map>
#include <opencv2/calib3d.hpp>
#include <opencv2/imgproc.hpp>
#if CV_VERSION_MAJOR >= 5
#include <opencv2/objdetect.hpp>  // chessboards
#endif
#ifdef STEREOPSIS_ARUCO
#include "geometry/charuco_opencv.hpp"
#endif

#include "core/refuse.hpp"
#include "core/suggestion.hpp"
#include "core/text.hpp"
#include "geometry/calibrate.hpp"
#include "geometry/stereo_rectify.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis {
namespace {

using Points2 = std::vector<cv::Point2f>;
using Points3 = std::vector<cv::Point3f>;

constexpr std::size_t least_views = 5;
constexpr std::size_t least_corners = 8;  // smallest number of corners per view; a pose has 6 unknowns
constexpr double least_coverage = 0.25;
constexpr double least_tilt = 10;  // smallest angle, in degrees, between the two boards that differ most
constexpr double outlier_ratio = 3;

cv::Mat wrapped(ImageView<const std::uint8_t> image) {
  return cv::Mat(image.height, image.width, CV_8UC1, const_cast<std::uint8_t*>(image.data),
                 static_cast<std::size_t>(image.pitch));
}

// Returns the smallest distance between neighbouring corners of a complete board.
float closest_neighbours(const Points2& corners, Size board) {
  float least = std::numeric_limits<float>::infinity();
  for (int y = 0; y < board.height; ++y)
    for (int x = 0; x < board.width; ++x) {
      const std::size_t i = static_cast<std::size_t>(y * board.width + x);
      if (x + 1 < board.width) least = std::min(least, static_cast<float>(cv::norm(corners[i] - corners[i + 1])));
      if (y + 1 < board.height)
        least = std::min(least,
                         static_cast<float>(cv::norm(corners[i] - corners[i + static_cast<std::size_t>(board.width)])));
    }
  return least;
}

// Returns the saddle point of the quadratic that best fits the image around a corner (Lucchese and Mitra 2002),
// starting at `corner`. Corners of rendered boards are located within 0.02 pixels, while cornerSubPix alone reaches
// 0.05 to 0.08.
cv::Point2f saddle_near(const cv::Mat& smooth, const cv::Point2f& corner, int radius) {
  const int side = 2 * radius + 1;
  const double n = side * side;
  double xx = 0, xxxx = 0, xxyy = 0;  // sums over the window
  for (int y = -radius; y <= radius; ++y)
    for (int x = -radius; x <= radius; ++x) xx += x * x, xxxx += x * x * x * x, xxyy += x * x * y * y;
  // The patch is cut out around a position with the precision of float, and the saddle is sought relative to it.
  cv::Point2d at = corner;
  cv::Mat patch;
  for (int step = 0; step < 20; ++step) {
    const cv::Point2f centre = at;
    cv::getRectSubPix(smooth, {side, side}, centre, patch);
    // The model is f = p·(x² + y² − mean) + m·(x² − y²) + b·xy + d·x + e·y + constant, whose terms are orthogonal on
    // the window.
    double p = 0, m = 0, b = 0, d = 0, e = 0;
    for (int y = -radius; y <= radius; ++y)
      for (int x = -radius; x <= radius; ++x) {
        const double f = static_cast<double>(patch.at<float>(y + radius, x + radius));
        p += (x * x + y * y - 2 * xx / n) * f;
        m += (x * x - y * y) * f;
        b += x * y * f;
        d += x * f;
        e += y * f;
      }
    p /= 2 * (xxxx + xxyy - 2 * xx * xx / n), m /= 2 * (xxxx - xxyy), b /= xxyy, d /= xx, e /= xx;
    const double a = p + m, c = p - m, determinant = 4 * a * c - b * b;
    if (determinant >= 0) return corner;  // not a saddle
    const cv::Point2d before = at;
    at = cv::Point2d(centre) + cv::Point2d((b * e - 2 * c * d) / determinant, (b * d - 2 * a * e) / determinant);
    if (cv::norm(at - before) < 1e-6) break;
  }
  return cv::norm(at - cv::Point2d(corner)) < 1 ? cv::Point2f(at) : corner;
}

// Refines corners in windows that extend `half` pixels to each side and contain no other corner. The windows extend at
// most 6 pixels, because the lens bends longer edges.
void refine(const cv::Mat& grey, Points2& corners, int half) {
  half = std::clamp(half, 2, 6);
  cv::cornerSubPix(grey, corners, {half, half}, {-1, -1}, {cv::TermCriteria::COUNT | cv::TermCriteria::EPS, 100, 1e-4});
  cv::Mat smooth;
  grey.convertTo(smooth, CV_32F);
  cv::GaussianBlur(smooth, smooth, {}, half / 4.0);
  for (cv::Point2f& corner : corners) corner = saddle_near(smooth, corner, half - 1);
}

BoardView chessboard(const cv::Mat& grey, const Board& board) {
  Points2 corners;
  const int flags = cv::CALIB_CB_ADAPTIVE_THRESH | cv::CALIB_CB_NORMALIZE_IMAGE | cv::CALIB_CB_FAST_CHECK;
  if (!cv::findChessboardCorners(grey, {board.corners.width, board.corners.height}, corners, flags)) return {};
  const int half = static_cast<int>(0.4f * closest_neighbours(corners, board.corners));
  refine(grey, corners, half);
  BoardView view;
  for (const cv::Point2f& p : corners) {
    view.ids.push_back(static_cast<int>(view.ids.size()));
    view.points.push_back({p.x, p.y});
  }
  return view;
}

#ifdef STEREOPSIS_ARUCO
charuco_opencv::Dictionary dictionary_of(const std::string& name) {
  static const std::map<std::string, int> names = {
      {"DICT_4X4_50", cv::aruco::DICT_4X4_50},   {"DICT_4X4_100", cv::aruco::DICT_4X4_100},
      {"DICT_4X4_250", cv::aruco::DICT_4X4_250}, {"DICT_5X5_50", cv::aruco::DICT_5X5_50},
      {"DICT_5X5_100", cv::aruco::DICT_5X5_100}, {"DICT_5X5_250", cv::aruco::DICT_5X5_250},
      {"DICT_6X6_50", cv::aruco::DICT_6X6_50},   {"DICT_6X6_100", cv::aruco::DICT_6X6_100},
      {"DICT_6X6_250", cv::aruco::DICT_6X6_250}, {"DICT_7X7_50", cv::aruco::DICT_7X7_50},
      {"DICT_7X7_100", cv::aruco::DICT_7X7_100}, {"DICT_ARUCO_ORIGINAL", cv::aruco::DICT_ARUCO_ORIGINAL}};
  const auto found = names.find(name);
  if (found == names.end()) {
    std::vector<std::string> all;
    for (const auto& [known, id] : names) all.push_back(known);
    refuse(text("the dictionary '", name, "' is not known", did_you_mean(name, all), "; it must be ", join(all, ", ")));
  }
  return cv::aruco::getPredefinedDictionary(found->second);
}

BoardView charuco(const cv::Mat& grey, const Board& board) {
  const auto layout =
      charuco_opencv::layout_of({board.corners.width + 1, board.corners.height + 1}, static_cast<float>(board.square),
                                static_cast<float>(board.marker), dictionary_of(board.dictionary));
  Points2 corners;
  std::vector<int> ids;
  charuco_opencv::find(grey, layout, corners, ids);
  if (corners.empty()) return {};
  // The corners are refined once more, in windows that do not reach the edges of the markers.
  float spacing = std::numeric_limits<float>::infinity();
  for (std::size_t i = 1; i < corners.size(); ++i)
    spacing = std::min(spacing, static_cast<float>(cv::norm(corners[i] - corners[i - 1])));
  const double gap = (board.square - board.marker) / (2 * board.square);
  refine(grey, corners, static_cast<int>(gap * static_cast<double>(spacing)));
  BoardView view{ids, {}};
  for (const cv::Point2f& p : corners) view.points.push_back({p.x, p.y});
  return view;
}
#else
BoardView charuco(const cv::Mat&, const Board&) {
  throw Error(ErrorCategory::unsupported,
              "charuco boards require OpenCV's aruco module, and this build was made without it; install "
              "libopencv-contrib-dev and build again, or use a chessboard");
}
#endif

// The corners of one camera in all views, and their positions on the board.
struct Observations {
  std::vector<Points3> board;
  std::vector<Points2> image;

  void add(const BoardView& view, const std::vector<std::size_t>& which, const Board& b) {
    board.emplace_back();
    image.emplace_back();
    for (const std::size_t i : which) {
      const int id = view.ids[i];
      board.back().emplace_back(static_cast<float>(b.square * (id % b.corners.width)),
                                static_cast<float>(b.square * (id / b.corners.width)), 0.0f);
      image.back().emplace_back(view.points[i][0], view.points[i][1]);
    }
  }
};

// The corners of one view that both cameras see.
struct SharedView {
  std::size_t pair;  // index of the pair
  std::vector<std::size_t> left, right;
};

SharedView shared(std::size_t number, const BoardPair& pair) {
  SharedView view{number, {}, {}};
  for (std::size_t i = 0; i < pair.left.ids.size(); ++i) {
    const auto other = std::find(pair.right.ids.begin(), pair.right.ids.end(), pair.left.ids[i]);
    if (other == pair.right.ids.end()) continue;
    view.left.push_back(i);
    view.right.push_back(static_cast<std::size_t>(other - pair.right.ids.begin()));
  }
  return view;
}

// A chessboard whose sides are both even or both odd looks the same upside down. Both views are numbered from the same
// end. end.
BoardPair same_way_up(BoardPair pair, const Board& board) {
  if (board.kind != Board::Kind::chessboard || (board.corners.width + board.corners.height) % 2 != 0) return pair;
  if (pair.left.points.empty() || pair.right.points.empty()) return pair;
  const auto direction = [](const BoardView& v) {
    return cv::Point2f(v.points.back()[0] - v.points.front()[0], v.points.back()[1] - v.points.front()[1]);
  };
  if (direction(pair.left).dot(direction(pair.right)) < 0)
    std::reverse(pair.right.points.begin(), pair.right.points.end());
  return pair;
}

double coverage_of(const std::vector<Points2>& views, Size size) {
  constexpr int columns = 8, rows = 6;
  std::array<bool, columns * rows> seen{};
  for (const Points2& view : views)
    for (const cv::Point2f& p : view) {
      const int x = std::clamp(static_cast<int>(p.x * columns / static_cast<float>(size.width)), 0, columns - 1);
      const int y = std::clamp(static_cast<int>(p.y * rows / static_cast<float>(size.height)), 0, rows - 1);
      seen[static_cast<std::size_t>(y * columns + x)] = true;
    }
  return static_cast<double>(std::count(seen.begin(), seen.end(), true)) / (columns * rows);
}

struct Camera {
  cv::Mat matrix, distortion;
  double rms = 0;
  std::vector<cv::Mat> rotations;
};

Camera calibrated(const Observations& seen, Size size) {
  Camera camera;
  std::vector<cv::Mat> translations;
  camera.rms = cv::calibrateCamera(seen.board, seen.image, {size.width, size.height}, camera.matrix, camera.distortion,
                                   camera.rotations, translations);
  return camera;
}

// Returns the largest angle between two boards, in degrees.
double tilt_of(const std::vector<cv::Mat>& rotations) {
  std::vector<cv::Vec3d> normals;
  for (const cv::Mat& vector : rotations) {
    cv::Matx33d r;
    cv::Rodrigues(vector, r);
    normals.emplace_back(r(0, 2), r(1, 2), r(2, 2));
  }
  double least = 1;
  for (const cv::Vec3d& a : normals)
    for (const cv::Vec3d& b : normals) least = std::min(least, a.dot(b));
  return std::acos(std::max(-1.0, least)) * 180 / CV_PI;
}

Matrix3 matrix_of(const cv::Mat& m) {
  Matrix3 out{};
  for (int i = 0; i < 9; ++i) out[static_cast<std::size_t>(i)] = m.at<double>(i / 3, i % 3);
  return out;
}

Lens lens_of(const Camera& camera) {
  Lens lens;
  lens.fx = camera.matrix.at<double>(0, 0), lens.fy = camera.matrix.at<double>(1, 1);
  lens.cx = camera.matrix.at<double>(0, 2), lens.cy = camera.matrix.at<double>(1, 2);
  const cv::Mat flat = camera.distortion.reshape(1, 1);
  for (int i = 0; i < std::min(12, flat.cols); ++i) lens.distortion[static_cast<std::size_t>(i)] = flat.at<double>(i);
  return lens;
}

// Calibration from one set of views.
class Fit {
 public:
  Fit(const std::vector<BoardPair>& pairs, const std::vector<SharedView>& views, const Board& board, Size size)
      : unit_(board.unit), size_(size) {
    for (const SharedView& view : views) {
      left_.add(pairs[view.pair].left, view.left, board);
      right_.add(pairs[view.pair].right, view.right, board);
    }
  }

  void check_coverage() const {
    for (const auto& [seen, which] : {std::pair{&left_, "left"}, {&right_, "right"}}) {
      const double coverage = coverage_of(seen->image, size_);
      if (coverage < least_coverage)
        refuse(text("the board covers ", std::lround(100 * coverage), " % of the ", which,
                    " camera's image over all views; ", std::lround(100 * least_coverage),
                    " % are required; show the board in all corners and at all edges of the image"));
    }
  }

  void run() {
    left = calibrated(left_, size_);
    right = calibrated(right_, size_);
    const double tilt = tilt_of(left.rotations);
    if (tilt < least_tilt)
      refuse(text(
          "the tilt of the board differs by at most ", number_text(std::round(10 * tilt) / 10),
          " degrees over all views; ", number_text(least_tilt),
          " are required to distinguish the focal length from the distance, so tilt the board more in some views"));
    cv::Mat essential, fundamental;
    // Refines all parameters together, starting from those of each camera.
    rms = cv::stereoCalibrate(left_.board, left_.image, right_.image, left.matrix, left.distortion, right.matrix,
                              right.distortion, {size_.width, size_.height}, rotation, translation, essential,
                              fundamental, per_view, cv::CALIB_USE_INTRINSIC_GUESS,
                              {cv::TermCriteria::COUNT | cv::TermCriteria::EPS, 200, 1e-9});
  }

  StereoCalibration calibration(double zoom) const {
    const double x = translation.at<double>(0), y = translation.at<double>(1);
    if (std::abs(y) > std::abs(x))
      refuse(
          "one camera is above the other, and only cameras side by side are supported; rotate the images by 90 "
          "degrees");
    if (x > 0) refuse("the right camera is to the left of the left camera; swap the left and the right images");
    const Pose pose{matrix_of(rotation), {x, y, translation.at<double>(2)}};
    StereoCalibration c = stereo_rectified({size_, lens_of(left), lens_of(right), pose, unit_}, zoom);
    if (zoom == 0) close_gaps(c);
    return c;
  }

  // Returns |y_left − y_right| for each corner of view `i`, computed with OpenCV's undistortPoints.
  std::vector<double> row_errors(const StereoCalibration& c, std::size_t i) const {
    const auto rows = [&](const Points2& points, const Camera& camera, const Matrix3& r, double cx) {
      const cv::Mat rotation_matrix(3, 3, CV_64F, const_cast<double*>(r.data()));
      const cv::Mat k(cv::Matx33d(c.rig.focal, 0, cx, 0, c.rig.focal, c.rig.cy, 0, 0, 1));
      Points2 rectified;
      cv::undistortPoints(points, rectified, camera.matrix, camera.distortion, rotation_matrix, k);
      return rectified;
    };
    const Points2 a = rows(left_.image[i], left, c.left.rectification, c.rig.cx_left);
    const Points2 b = rows(right_.image[i], right, c.right.rectification, c.rig.cx_right);
    std::vector<double> errors;
    for (std::size_t k = 0; k < a.size(); ++k) errors.push_back(std::abs(static_cast<double>(a[k].y) - b[k].y));
    return errors;
  }

  double view_rms(std::size_t i, int camera) const { return per_view.at<double>(static_cast<int>(i), camera); }
  double view_rms(std::size_t i) const { return std::hypot(view_rms(i, 0), view_rms(i, 1)) / std::sqrt(2.0); }
  double coverage(bool of_left) const { return coverage_of((of_left ? left_ : right_).image, size_); }

  Camera left, right;
  double rms = 0;
  cv::Mat rotation, translation, per_view;

 private:
  std::string unit_;
  Size size_;
  Observations left_, right_;
};

void check_count(std::size_t usable, std::size_t given) {
  if (usable < least_views)
    refuse(text("both cameras see the board in ", usable, " of ", given, " pairs; ", least_views,
                " are required, and 10 to 20 are recommended; check the board's size, the light and the focus, and "
                "record more pairs"));
}

// Returns the index of the view with the largest error if this view is an outlier, else −1.
std::ptrdiff_t outlier_of(const Fit& fit, std::size_t views) {
  std::vector<double> errors;
  for (std::size_t i = 0; i < views; ++i) errors.push_back(fit.view_rms(i));
  const auto worst = std::max_element(errors.begin(), errors.end());
  const std::ptrdiff_t index = worst - errors.begin();
  const double highest = *worst;
  std::nth_element(errors.begin(), errors.begin() + static_cast<std::ptrdiff_t>((views - 1) / 2), errors.end());
  return highest > outlier_ratio * errors[(views - 1) / 2] ? index : -1;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

}  // namespace

BoardView find_board(ImageView<const std::uint8_t> grey, const Board& board) {
  return board.kind == Board::Kind::charuco ? charuco(wrapped(grey), board) : chessboard(wrapped(grey), board);
}

CalibrationResult calibrate(const std::vector<BoardPair>& given, const Board& board, Size size,
                            const CalibrateOptions& options) {
  std::vector<BoardPair> pairs;
  std::vector<SharedView> views;
  for (const BoardPair& pair : given) {
    pairs.push_back(same_way_up(pair, board));
    SharedView view = shared(pairs.size() - 1, pairs.back());
    if (view.left.size() >= least_corners) views.push_back(std::move(view));
  }
  check_count(views.size(), given.size());
  Fit fit(pairs, views, board, size);
  fit.check_coverage();
  fit.run();
  CalibrationResult result;
  const auto entry = [&](std::size_t i, bool outlier) {
    return CalibrationResult::View{
        pairs[views[i].pair].name, fit.view_rms(i, 0), fit.view_rms(i, 1), fit.view_rms(i), 0, outlier};
  };
  for (std::ptrdiff_t worst; !options.keep_outliers && (worst = outlier_of(fit, views.size())) >= 0;) {
    result.views.push_back(entry(static_cast<std::size_t>(worst), true));
    views.erase(views.begin() + worst);
    check_count(views.size(), given.size());
    fit = Fit(pairs, views, board, size);
    fit.check_coverage();
    fit.run();
  }
  result.calibration = fit.calibration(options.zoom);
  std::vector<double> errors;
  for (std::size_t i = 0; i < views.size(); ++i) {
    const std::vector<double> of_view = fit.row_errors(result.calibration, i);
    errors.insert(errors.end(), of_view.begin(), of_view.end());
    result.views.push_back(entry(i, false));
    result.views.back().dy = mean(of_view);
  }
  std::sort(result.views.begin(), result.views.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  std::sort(errors.begin(), errors.end());
  result.dy_mean = mean(errors);
  result.dy_p95 = errors[(errors.size() - 1) * 95 / 100];
  result.rms_left = fit.left.rms;
  result.rms_right = fit.right.rms;
  result.rms = fit.rms;
  result.coverage_left = fit.coverage(true);
  result.coverage_right = fit.coverage(false);
  return result;
}

}  // namespace stereopsis
