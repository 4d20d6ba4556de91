#include "stereopsis/registration.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "core/refuse.hpp"
#include "core/text.hpp"
#include "geometry/lens.hpp"
#include "geometry/rotations.hpp"
#include "geometry/row_threads.hpp"
#include "stages/triangulate/rig_check.hpp"
#include "stereopsis/disparity.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis {
namespace {

constexpr double largest_step = 1;  // largest difference of disparity, in pixels, between neighbours on one surface

// A pixel of the depth map as the target camera sees it.
struct Vertex {
  Vector3 point{};            // position in the frame of the target camera
  double x = 0, y = 0;        // pixel in the image of the target camera
  double disparity = 0;       // disparity in the rig
  float column = 0, row = 0;  // pixel in the depth map
  bool visible = false;       // true if it has a depth, and lies in front of the target camera
};

// The triangles of a block of 2×2 pixels, as bits of a mask.
constexpr std::uint8_t none = 0, upper = 1, lower = 2;

// The depth map as a mesh of triangles.
class Surface {
 public:
  Surface(ImageView<const float> depth, const Rig& rig, const PosedCamera& camera, RowThreads& threads)
      : size_(depth.size()),
        vertices_(static_cast<std::size_t>(depth.width) * depth.height),
        reach_(depth.height),
        triangles_(depth.size(), 1, none) {
    const double fold = fold_of(camera.lens);
    threads.rows(size_.height, [&](int first, int last) {
      for (int y = first; y < last; ++y) project_row(depth, rig, camera, fold, y);
    });
    threads.rows(size_.height - 1, [&](int first, int last) {
      for (int y = first; y < last; ++y)
        for (int x = 0; x + 1 < size_.width; ++x) triangles_(x, y) = triangles_between(x, y);
    });
  }

  Size size() const { return size_; }
  const Vertex& at(int x, int y) const { return vertices_[static_cast<std::size_t>(y) * size_.width + x]; }

  // Returns the triangles of the block whose upper left pixel is (x, y).
  std::uint8_t triangles(int x, int y) const { return x < 0 || y < 0 ? none : triangles_(x, y); }

  // Returns whether the pixel belongs to no triangle.
  bool is_alone(int x, int y) const {
    return (triangles(x, y) & upper) == 0 && triangles(x - 1, y) == none && triangles(x, y - 1) == none &&
           (triangles(x - 1, y - 1) & lower) == 0;
  }

  // Returns whether row y, with the triangles below it, may reach rows [first, last) of the target image.
  bool reaches(int y, int first, int last) const {
    const Reach &a = reach_[y], &b = reach_[std::min(y + 1, size_.height - 1)];
    return std::min(a.top, b.top) - 1 < last && std::max(a.bottom, b.bottom) + 1 >= first;
  }

 private:
  struct Reach {
    double top = std::numeric_limits<double>::infinity(), bottom = -top;
  };

  void project_row(ImageView<const float> depth, const Rig& rig, const PosedCamera& camera, double fold, int y) {
    for (int x = 0; x < size_.width; ++x) {
      const double z = depth(x, y);
      if (!(z > 0) || !std::isfinite(z)) continue;
      const Vector3 left{(x - rig.cx_left) / rig.focal * z, (y - rig.cy) / rig.focal * z, z};
      Vector3 point = turned(camera.rotation, left);
      for (std::size_t k = 0; k < 3; ++k) point[k] += camera.translation[k];
      if (!(point[2] > 0) || point[0] * point[0] + point[1] * point[1] >= fold * point[2] * point[2]) continue;
      const auto [px, py] = camera.lens.project(point);
      if (!std::isfinite(px) || !std::isfinite(py)) continue;
      vertices_[static_cast<std::size_t>(y) * size_.width + x] = {
          point, px, py, rig.disparity(z), static_cast<float>(x), static_cast<float>(y), true};
      reach_[y] = {std::min(reach_[y].top, py), std::max(reach_[y].bottom, py)};
    }
  }

  std::uint8_t triangles_between(int x, int y) const {
    const Vertex &a = at(x, y), &b = at(x + 1, y), &c = at(x, y + 1), &d = at(x + 1, y + 1);
    return static_cast<std::uint8_t>((joined(a, b) && joined(a, c) ? upper : none) |
                                     (joined(d, b) && joined(d, c) ? lower : none));
  }

  static bool joined(const Vertex& a, const Vertex& b) {
    return a.visible && b.visible && std::abs(a.disparity - b.disparity) <= largest_step;
  }

  Size size_;
  std::vector<Vertex> vertices_;
  std::vector<Reach> reach_;  // one entry per row
  Image<std::uint8_t> triangles_;
};

// Draws triangles and points into rows [first, last) of the target image, with a z-buffer.
class Drawing {
 public:
  Drawing(RegisteredDepth& result, int first, int last) : result_(result), first_(first), last_(last) {}

  void draw(const Vertex& a, const Vertex& b, const Vertex& c) {
    const double area = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
    if (area == 0) return;
    const auto [left, right] = std::minmax({a.x, b.x, c.x});
    const auto [top, bottom] = std::minmax({a.y, b.y, c.y});
    for (int y = clamped(std::ceil(top), first_, last_); y < last_ && y <= bottom; ++y)
      for (int x = clamped(std::ceil(left), 0, width()); x < width() && x <= right; ++x) {
        // Barycentric coordinates of the centre of the pixel; all are positive inside the triangle.
        const std::array share = {((b.x - x) * (c.y - y) - (b.y - y) * (c.x - x)) / area,
                                  ((c.x - x) * (a.y - y) - (c.y - y) * (a.x - x)) / area,
                                  ((a.x - x) * (b.y - y) - (a.y - y) * (b.x - x)) / area};
        if (share[0] < 0 || share[1] < 0 || share[2] < 0) continue;
        interpolate(x, y, {&a, &b, &c}, share, area > 0);
      }
  }

  void draw(const Vertex& v) {
    const double x = std::floor(v.x + 0.5), y = std::floor(v.y + 0.5);
    if (x >= 0 && x < width() && y >= first_ && y < last_)
      put(static_cast<int>(x), static_cast<int>(y), v.point, v.column, v.row, true);
  }

 private:
  static int clamped(double value, int low, int high) {
    return static_cast<int>(std::clamp(value, static_cast<double>(low), static_cast<double>(high)));
  }
  int width() const { return result_.depth.width(); }

  // On a plane, x / z, y / z and 1 / z are linear in the image.
  void interpolate(int x, int y, const std::array<const Vertex*, 3>& corners, const std::array<double, 3>& share,
                   bool from_front) {
    double inverse = 0, column = 0, row = 0;
    Vector3 point{};
    for (std::size_t k = 0; k < 3; ++k) {
      const double weight = share[k] / corners[k]->point[2];
      inverse += weight;
      for (std::size_t i = 0; i < 2; ++i) point[i] += weight * corners[k]->point[i];
      column += weight * corners[k]->column;
      row += weight * corners[k]->row;
    }
    put(x, y, {point[0] / inverse, point[1] / inverse, 1 / inverse}, column / inverse, row / inverse, from_front);
  }

  void put(int x, int y, const Vector3& point, double column, double row, bool from_front) {
    float& depth = result_.depth(x, y);
    const auto z = static_cast<float>(point[2]);
    if (!(z < depth)) return;
    depth = z;
    for (int i = 0; i < 3; ++i)
      result_.points(x, y, i) = from_front ? static_cast<float>(point[static_cast<std::size_t>(i)]) : invalid_disparity;
    result_.source(x, y, 0) = from_front ? static_cast<float>(column) : invalid_disparity;
    result_.source(x, y, 1) = from_front ? static_cast<float>(row) : invalid_disparity;
  }

  RegisteredDepth& result_;
  int first_, last_;
};

void draw_rows(const Surface& surface, RegisteredDepth& result, int first, int last) {
  Drawing drawing(result, first, last);
  const auto [width, height] = surface.size();
  for (int y = 0; y < height; ++y) {
    if (!surface.reaches(y, first, last)) continue;
    for (int x = 0; x < width; ++x) {
      if (const std::uint8_t found = surface.triangles(x, y); found != none) {
        const Vertex &b = surface.at(x + 1, y), &c = surface.at(x, y + 1);
        if ((found & upper) != 0) drawing.draw(surface.at(x, y), b, c);
        if ((found & lower) != 0) drawing.draw(b, surface.at(x + 1, y + 1), c);
      }
      if (surface.at(x, y).visible && surface.is_alone(x, y)) drawing.draw(surface.at(x, y));
    }
  }
  for (int y = first; y < last; ++y)
    for (int x = 0; x < result.depth.width(); ++x)
      if (std::isnan(result.source(x, y, 0))) result.depth(x, y) = invalid_disparity;
}

void check(ImageView<const float> depth, const Rig& rig, const PosedCamera& camera) {
  const auto size_text = [](Size size) { return text(size.width, "×", size.height); };
  if (depth.empty()) refuse("the depth map is empty; give one with at least one pixel");
  if (rig.size != Size{} && rig.size != depth.size())
    refuse(text("the depth map is ", size_text(depth.size()), ", but the rig is for images of ", size_text(rig.size),
                "; give the depth of the rectified left view"));
  check_rig(rig);
  check_lens("the camera", camera.lens);
  if (!is_rotation(camera.rotation, rotation_tolerance))
    refuse("the rotation of the camera is not a rotation; its rows must be orthonormal, and its determinant 1");
  for (const double t : camera.translation)
    if (!std::isfinite(t))
      refuse(text("the translation of the camera has the component ", number_text(t), "; it must be finite"));
  if (camera.size.width < 1 || camera.size.height < 1)
    refuse(text("the camera has images of ", size_text(camera.size), "; width and height must be at least 1"));
}

}  // namespace

PosedCamera raw_left_camera(const StereoCalibration& calibration) {
  return {calibration.left.lens, calibration.size, transposed(calibration.left.rectification), {}};
}

PosedCamera posed_relative_to_raw(const PosedCamera& camera, const StereoCalibration& calibration) {
  PosedCamera posed = camera;
  posed.rotation = product(camera.rotation, transposed(calibration.left.rectification));
  return posed;
}

RegisteredDepth register_depth(ImageView<const float> depth, const Rig& rig, const PosedCamera& camera, int threads) {
  check(depth, rig, camera);
  RegisteredDepth result{Image<float>(camera.size, 1, std::numeric_limits<float>::infinity()),
                         Image<float>(camera.size, 3, invalid_disparity),
                         Image<float>(camera.size, 2, invalid_disparity)};
  RowThreads pool(threads);
  const Surface surface(depth, rig, camera, pool);
  pool.rows(
      camera.size.height, [&](int first, int last) { draw_rows(surface, result, first, last); }, 32);
  return result;
}

}  // namespace stereopsis
