// Tests depth of planes that is registered to cameras which see the same planes, so that the truth is exact.
#include "stereopsis/registration.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "stereopsis/error.hpp"
#include "support/rigs.hpp"

namespace stereopsis::registration_test {
namespace {

constexpr float invalid = std::numeric_limits<float>::quiet_NaN();

// A rectangle of the plane n·X = 1 in the left camera's frame, bounded in x.
struct Wall {
  Vector3 normal;
  double from = -1e9, to = 1e9;  // x
};

double dot(const Vector3& a, const Vector3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

struct Hit {
  Vector3 point;
  std::size_t wall = 0;
};

// Returns the nearest wall on the ray from `origin`.
std::optional<Hit> nearest_hit(const std::vector<Wall>& walls, const Vector3& origin, const Vector3& ray) {
  std::optional<Hit> nearest;
  double shortest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < walls.size(); ++i) {
    const double t = (1 - dot(walls[i].normal, origin)) / dot(walls[i].normal, ray);
    if (!(t > 1e-9) || t >= shortest) continue;
    const Vector3 point{origin[0] + t * ray[0], origin[1] + t * ray[1], origin[2] + t * ray[2]};
    if (point[0] < walls[i].from || point[0] > walls[i].to) continue;
    shortest = t;
    nearest = Hit{point, i};
  }
  return nearest;
}

Rig left_rig() {
  Rig rig;
  rig.focal = 140;
  rig.cx_left = rig.cx_right = 79.5;
  rig.cy = 59.5;
  rig.baseline = 0.1;
  rig.unit = "m";
  rig.size = {160, 120};
  return rig;
}

Image<float> depth_of(const std::vector<Wall>& walls, const Rig& rig) {
  Image<float> depth(rig.size);
  for (int y = 0; y < rig.size.height; ++y)
    for (int x = 0; x < rig.size.width; ++x) {
      const auto hit = nearest_hit(walls, {0, 0, 0}, {(x - rig.cx_left) / rig.focal, (y - rig.cy) / rig.focal, 1});
      depth(x, y) = hit ? static_cast<float>(hit->point[2]) : invalid;
    }
  return depth;
}

PosedCamera third_camera(Lens::Model model, bool distorted) {
  PosedCamera camera;
  camera.lens = {.fx = 190, .fy = 192, .cx = 101, .cy = 73, .model = model, .distortion = {}};
  if (distorted && model == Lens::Model::fisheye) camera.lens.distortion = {0.02, -0.01, 0.003, -0.001};
  if (distorted && model == Lens::Model::polynomial) camera.lens.distortion = {-0.2, 0.05, 0.001, -0.0005, -0.01};
  camera.size = {200, 150};
  camera.rotation = test::rotation({0.6, 0.8, 0}, 0.05);
  camera.translation = {0.06, -0.01, 0.02};
  return camera;
}

// The point that the third camera sees at a pixel.
struct Truth {
  Vector3 point;        // position in the frame of the third camera
  double x = 0, y = 0;  // position in the left image
  bool seen = false;    // true if the left camera sees the point
};

std::optional<Truth> truth_at(const std::vector<Wall>& walls, const Rig& rig, const PosedCamera& camera, double px,
                              double py) {
  const Matrix3 back = transposed(camera.rotation);
  const Vector3 t = camera.translation, centre = turned(back, {-t[0], -t[1], -t[2]});
  const auto hit = nearest_hit(walls, centre, turned(back, test::ray_of(camera.lens, px, py)));
  if (!hit) return std::nullopt;
  const Vector3 p = hit->point;
  Truth truth{turned(camera.rotation, p)};
  for (std::size_t k = 0; k < 3; ++k) truth.point[k] += t[k];
  if (p[2] <= 0) return truth;
  truth.x = p[0] / p[2] * rig.focal + rig.cx_left;
  truth.y = p[1] / p[2] * rig.focal + rig.cy;
  const auto seen = nearest_hit(walls, {0, 0, 0}, {p[0] / p[2], p[1] / p[2], 1});
  truth.seen = seen && seen->wall == hit->wall && truth.x >= 0 && truth.y >= 0 && truth.x <= rig.size.width - 1 &&
               truth.y <= rig.size.height - 1;
  return truth;
}

// Compares a registered depth with the truth, except within one pixel of an edge. Returns the number of pixels with a
// depth.
int compare(const RegisteredDepth& result, const std::vector<Wall>& walls, const Rig& rig, const PosedCamera& camera,
            double tolerance) {
  int valid = 0;
  for (int y = 0; y < camera.size.height; ++y)
    for (int x = 0; x < camera.size.width; ++x) {
      const auto truth = truth_at(walls, rig, camera, x, y);
      const bool seen = truth && truth->seen;
      bool at_edge = false;
      for (const double dy : {-1.6, 0.0, 1.6})
        for (const double dx : {-1.6, 0.0, 1.6}) {
          const auto other = truth_at(walls, rig, camera, x + dx, y + dy);
          at_edge |= (other && other->seen) != seen ||
                     (seen && std::abs(other->point[2] - truth->point[2]) > 0.1 * truth->point[2]);
        }
      if (at_edge) continue;
      const float depth = result.depth(x, y);
      EXPECT_EQ(seen, std::isfinite(depth)) << x << ", " << y;
      EXPECT_EQ(std::isfinite(depth), std::isfinite(result.source(x, y, 0)));
      if (!seen || !std::isfinite(depth)) continue;
      ++valid;
      EXPECT_NEAR(depth, truth->point[2], tolerance * truth->point[2]) << x << ", " << y;
      for (int k = 0; k < 3; ++k)
        EXPECT_NEAR(result.points(x, y, k), truth->point[static_cast<std::size_t>(k)], tolerance * truth->point[2]);
      EXPECT_NEAR(result.source(x, y, 0), truth->x, 1e-3 + 100 * tolerance);
      EXPECT_NEAR(result.source(x, y, 1), truth->y, 1e-3 + 100 * tolerance);
    }
  return valid;
}

const std::vector<Wall> slanted = {{{0.2, -0.1, 0.5}}};
const std::vector<Wall> two_walls = {{{0.02, 0.01, 0.4}}, {{0.05, 0, 0.9}, -0.15, 0.1}};

TEST(Registration, APlaneStaysThePlaneInAThirdCamera) {
  for (const auto model : {Lens::Model::polynomial, Lens::Model::fisheye})
    for (const bool distorted : {false, true}) {
      const PosedCamera camera = third_camera(model, distorted);
      const bool pinhole = !distorted && model == Lens::Model::polynomial;
      const RegisteredDepth result = register_depth(depth_of(slanted, left_rig()), left_rig(), camera);
      ASSERT_EQ(result.depth.size(), camera.size);
      EXPECT_GT(compare(result, slanted, left_rig(), camera, pinhole ? 1e-5 : 1e-4), 10000);
    }
}

TEST(Registration, TheNearerWallHidesTheFartherOneAndUnseenPixelsAreInvalid) {
  for (const double side : {-1.0, 1.0}) {
    PosedCamera camera = third_camera(Lens::Model::polynomial, true);
    camera.translation[0] *= side;
    const RegisteredDepth result = register_depth(depth_of(two_walls, left_rig()), left_rig(), camera);
    EXPECT_GT(compare(result, two_walls, left_rig(), camera, 1e-4), 10000);
    int hidden = 0;  // number of pixels on the farther wall that the nearer wall hides from the left camera
    for (int y = 0; y < camera.size.height; ++y)
      for (int x = 0; x < camera.size.width; ++x) {
        const auto truth = truth_at(two_walls, left_rig(), camera, x, y);
        hidden += truth && !truth->seen && truth->x > 2 && truth->x < 157 && truth->y > 2 && truth->y < 117 &&
                  std::isnan(result.depth(x, y));
      }
    EXPECT_GT(hidden, 100) << "the scene must have such pixels";
  }
}

TEST(Registration, ToTheRawLeftImage) {
  for (const auto model : {Lens::Model::polynomial, Lens::Model::fisheye}) {
    const StereoCalibration calibration = test::calibration_for({160, 120}, model);
    const std::vector<Wall> wall = {{{0.0001, -0.00005, 0.0005}}};  // in mm
    const PosedCamera camera = raw_left_camera(calibration);
    const RegisteredDepth result = register_depth(depth_of(wall, calibration.rig), calibration.rig, camera);
    ASSERT_EQ(result.depth.size(), calibration.size);
    EXPECT_GT(compare(result, wall, calibration.rig, camera, 1e-4), 10000);
  }
}

TEST(Registration, APoseCanBeRelativeToTheRawLeftCamera) {
  const StereoCalibration calibration = test::calibration_for({160, 120});
  const PosedCamera third = third_camera(Lens::Model::polynomial, false);
  const PosedCamera posed = posed_relative_to_raw(third, calibration);
  const Vector3 point{0.3, -0.2, 2};
  const Vector3 raw = turned(transposed(calibration.left.rectification), point);
  const Vector3 expected = turned(third.rotation, raw), got = turned(posed.rotation, point);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(got[k], expected[k], 1e-12);
  EXPECT_EQ(posed.translation, third.translation);
}

TEST(Registration, ASurfaceSeenFromBehindHidesAndHasNoDepth) {
  PosedCamera camera = third_camera(Lens::Model::polynomial, false);
  camera.rotation = test::rotation({0, 1, 0}, 3.14159265358979);  // the camera looks back from behind the wall
  camera.translation = {0, 0, 8};
  const std::vector<Wall> wall = {{{0, 0, 0.25}}};
  const RegisteredDepth result = register_depth(depth_of(wall, left_rig()), left_rig(), camera);
  for (int y = 0; y < camera.size.height; ++y)
    for (int x = 0; x < camera.size.width; ++x) EXPECT_TRUE(std::isnan(result.depth(x, y)));
}

// Registers depth by the definition in the header: for each pixel of the target, all triangles and points are examined.
Image<float> defined(const Image<float>& depth, const Rig& rig, const PosedCamera& camera) {
  struct Corner {
    Vector3 point;
    double x, y;
  };
  const auto valid = [&](int x, int y) {
    return x >= 0 && y >= 0 && x < depth.width() && y < depth.height() && depth(x, y) > 0 && std::isfinite(depth(x, y));
  };
  const auto corner = [&](int x, int y) {
    const double z = depth(x, y);
    Vector3 p = turned(camera.rotation, {(x - rig.cx_left) / rig.focal * z, (y - rig.cy) / rig.focal * z, z});
    for (std::size_t k = 0; k < 3; ++k) p[k] += camera.translation[k];
    const auto [px, py] = camera.lens.project(p);
    return Corner{p, px, py};
  };
  const auto joined = [&](int x, int y, int x2, int y2) {
    return valid(x, y) && valid(x2, y2) && std::abs(rig.disparity(depth(x, y)) - rig.disparity(depth(x2, y2))) <= 1;
  };
  std::vector<std::array<Corner, 3>> triangles;
  Image<std::uint8_t> used(depth.size(), 1, std::uint8_t{0});
  for (int y = 0; y < depth.height(); ++y)
    for (int x = 0; x < depth.width(); ++x) {
      if (joined(x, y, x + 1, y) && joined(x, y, x, y + 1)) {
        triangles.push_back({corner(x, y), corner(x + 1, y), corner(x, y + 1)});
        used(x, y) = used(x + 1, y) = used(x, y + 1) = 1;
      }
      if (joined(x + 1, y + 1, x + 1, y) && joined(x + 1, y + 1, x, y + 1)) {
        triangles.push_back({corner(x + 1, y), corner(x + 1, y + 1), corner(x, y + 1)});
        used(x + 1, y) = used(x + 1, y + 1) = used(x, y + 1) = 1;
      }
    }
  Image<float> result(camera.size, 1, invalid);
  for (int y = 0; y < camera.size.height; ++y)
    for (int x = 0; x < camera.size.width; ++x) {
      double nearest = std::numeric_limits<double>::infinity();
      bool front = false;
      for (const auto& [a, b, c] : triangles) {
        const double area = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
        const double u = ((b.x - x) * (c.y - y) - (b.y - y) * (c.x - x)) / area,
                     v = ((c.x - x) * (a.y - y) - (c.y - y) * (a.x - x)) / area, w = 1 - u - v;
        if (!(u >= 0 && v >= 0 && w >= 0)) continue;
        const double z = 1 / (u / a.point[2] + v / b.point[2] + w / c.point[2]);
        if (z < nearest) nearest = z, front = area > 0;
      }
      for (int sy = 0; sy < depth.height(); ++sy)
        for (int sx = 0; sx < depth.width(); ++sx) {
          if (!valid(sx, sy) || used(sx, sy) != 0) continue;
          const Corner one = corner(sx, sy);
          if (std::floor(one.x + 0.5) == x && std::floor(one.y + 0.5) == y && one.point[2] < nearest)
            nearest = one.point[2], front = true;
        }
      if (front) result(x, y) = static_cast<float>(nearest);
    }
  return result;
}

TEST(Registration, FollowsTheDefinitionOnARuggedMapWithHoles) {
  Rig rig = left_rig();
  rig.size = {24, 18};
  rig.focal = 21;
  rig.cx_left = rig.cx_right = 11.5;
  rig.cy = 8.5;
  Image<float> depth(rig.size);
  unsigned state = 1;
  for (int y = 0; y < rig.size.height; ++y)
    for (int x = 0; x < rig.size.width; ++x) {
      state = state * 1664525U + 1013904223U;
      const double disparity = 1.5 + 0.5 * ((x / 5 + y / 4) % 5) + (state >> 16) % 100 * 0.009;
      depth(x, y) = (state >> 24) % 6 == 0 ? invalid : static_cast<float>(rig.depth(disparity));
    }
  depth(3, 3) = 0;
  depth(4, 3) = std::numeric_limits<float>::infinity();
  PosedCamera camera = third_camera(Lens::Model::polynomial, true);
  camera.size = {40, 30};
  camera.lens.fx = camera.lens.fy = 35;
  camera.lens.cx = 19;
  camera.lens.cy = 15;
  const Image<float> expected = defined(depth, rig, camera);
  int valid = 0;
  for (const int threads : {1, 2, 5}) {
    const RegisteredDepth got = register_depth(depth, rig, camera, threads);
    for (int y = 0; y < camera.size.height; ++y)
      for (int x = 0; x < camera.size.width; ++x) {
        ASSERT_EQ(std::isnan(expected(x, y)), std::isnan(got.depth(x, y))) << x << ", " << y;
        if (std::isnan(expected(x, y))) continue;
        ++valid;
        EXPECT_NEAR(got.depth(x, y), expected(x, y), 1e-6 * expected(x, y)) << x << ", " << y;
      }
  }
  EXPECT_GT(valid, 1000);
}

TEST(Registration, RejectsWhatHasNoDepth) {
  const PosedCamera camera = third_camera(Lens::Model::polynomial, false);
  const Image<float> depth(left_rig().size, 1, 2.0F);
  EXPECT_THROW(register_depth(Image<float>(), left_rig(), camera), Error);
  EXPECT_THROW(register_depth(Image<float>({10, 10}, 1, 1.0F), left_rig(), camera), Error);
  EXPECT_THROW(register_depth(depth, Rig(), camera), Error);
  EXPECT_THROW(register_depth(depth, left_rig(), PosedCamera()), Error);
  PosedCamera without_size = camera;
  without_size.size = {};
  EXPECT_THROW(register_depth(depth, left_rig(), without_size), Error);
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Matrix3& rotation : {Matrix3{}, {1, 0, 0, 0, 1, 0, 0, 0, nan}, {-1, 0, 0, 0, 1, 0, 0, 0, 1}}) {
    PosedCamera turned = camera;
    turned.rotation = rotation;
    EXPECT_THROW(register_depth(depth, left_rig(), turned), Error);
  }
  PosedCamera nowhere = camera;
  nowhere.translation[1] = nan;
  EXPECT_THROW(register_depth(depth, left_rig(), nowhere), Error);
  PosedCamera blurred = camera;
  blurred.lens.distortion[1] = nan;
  EXPECT_THROW(register_depth(depth, left_rig(), blurred), Error);
  Rig aside = left_rig();
  aside.cx_right = nan;
  EXPECT_THROW(register_depth(depth, aside, camera), Error);
}

}  // namespace
}  // namespace stereopsis::registration_test
