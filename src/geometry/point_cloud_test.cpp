// Tests clouds of planes, whose normals, means and triangles are known.
#include "stereopsis/point_cloud.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "stereopsis/error.hpp"

namespace stereopsis::point_cloud_test {
namespace {

constexpr float unknown = std::numeric_limits<float>::quiet_NaN();

// A plane in front of the camera, z = depth + slope · x, with one point per pixel.
Image<float> plane(int width, int height, float depth, float slope = 0) {
  Image<float> points({width, height}, 3);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      points(x, y, 0) = 0.01F * static_cast<float>(x);
      points(x, y, 1) = 0.01F * static_cast<float>(y);
      points(x, y, 2) = depth + slope * points(x, y, 0);
    }
  return points;
}

TEST(PointCloud, NormalsPointToTheCamera) {
  const Image<float> normals = surface_normals(plane(5, 4, 2, 1));
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 5; ++x) {
      EXPECT_NEAR(normals(x, y, 0), std::sqrt(0.5), 1e-5);
      EXPECT_NEAR(normals(x, y, 1), 0, 1e-5);
      EXPECT_NEAR(normals(x, y, 2), -std::sqrt(0.5), 1e-5);
    }
}

TEST(PointCloud, NormalsOfInvalidAndOfLonelyPixelsAreUnknown) {
  Image<float> points = plane(5, 5, 2);
  points(1, 1, 2) = unknown;
  for (int c = 0; c < 3; ++c) points(3, 3, c) *= 2;  // far behind the others
  const Image<float> normals = surface_normals(points);
  EXPECT_TRUE(std::isnan(normals(1, 1, 0)));
  EXPECT_TRUE(std::isnan(normals(3, 3, 0)));
  EXPECT_NEAR(normals(2, 2, 2), -1, 1e-5);
}

TEST(PointCloud, ValidPixelsHaveTheirProperties) {
  Image<float> points = plane(3, 1, 2);
  points(1, 0, 0) = unknown;
  Image<std::uint8_t> colour({3, 1}, 3);
  for (int x = 0; x < 3; ++x)
    for (int c = 0; c < 3; ++c) colour(x, 0, c) = static_cast<std::uint8_t>(10 * x + c);
  Image<float> confidence({3, 1}, 1, 0.5F);
  const PointCloud cloud = point_cloud(points, colour, confidence);
  ASSERT_EQ(cloud.points.size(), 2u);
  EXPECT_EQ(cloud.colors[1], (std::array<std::uint8_t, 3>{20, 21, 22}));
  EXPECT_EQ(cloud.confidence, std::vector<float>(2, 0.5F));
  const PointCloud organised = point_cloud(points, colour, {}, {}, true);
  ASSERT_EQ(organised.points.size(), 3u);
  for (const float value : organised.points[1]) EXPECT_TRUE(std::isnan(value));
  EXPECT_TRUE(organised.confidence.empty());
  const PointCloud grey = point_cloud(points, Image<std::uint8_t>({3, 1}, 1, 7), {});
  EXPECT_EQ(grey.colors[0], (std::array<std::uint8_t, 3>{7, 7, 7}));
  EXPECT_THROW(point_cloud(points, Image<std::uint8_t>({2, 1}, 3), {}), Error);
}

TEST(PointCloud, VoxelsHoldTheMeansOfTheirPoints) {
  PointCloud cloud;
  cloud.points = {{0.1F, 0.1F, 1.1F}, {-0.1F, 0.1F, 1.1F}, {0.3F, 0.3F, 1.3F}, {unknown, 0, 0}};
  cloud.colors = {{10, 20, 30}, {1, 2, 3}, {30, 40, 51}, {9, 9, 9}};
  cloud.confidence = {0.25F, 1, 0.75F, 0};
  cloud.normals = {{0, 0, -1}, {1, 0, 0}, {0, -1, 0}, {0, 0, 1}};
  const PointCloud means = voxel_means(cloud, 1);
  ASSERT_EQ(means.points.size(), 2u);  // the point with negative x has a cube of its own, which is the first
  EXPECT_EQ(means.points[0], cloud.points[1]);
  EXPECT_NEAR(means.points[1][0], 0.2, 1e-6);
  EXPECT_NEAR(means.points[1][2], 1.2, 1e-6);
  EXPECT_EQ(means.colors[1], (std::array<std::uint8_t, 3>{20, 30, 41}));
  EXPECT_FLOAT_EQ(means.confidence[1], 0.5F);
  EXPECT_NEAR(means.normals[1][1], -std::sqrt(0.5), 1e-6);
  EXPECT_THROW(voxel_means(cloud, 0), Error);
}

TEST(PointCloud, IsolatedPointsAreOutliers) {
  PointCloud cloud = point_cloud(plane(30, 20, 2), {}, {});
  cloud.points.push_back({0.1F, 0.1F, 3});
  cloud.confidence.assign(cloud.points.size(), 1);
  cloud.confidence.back() = 0;
  for (const int threads : {1, 3}) {
    const PointCloud kept = without_outliers(cloud, 8, 6, threads);
    EXPECT_EQ(kept.points.size(), 600u);
    EXPECT_EQ(kept.confidence, std::vector<float>(600, 1));
  }
  EXPECT_EQ(without_outliers(cloud, 8, 1000).points.size(), 601u);
  EXPECT_TRUE(without_outliers(PointCloud{}, 8, 1).points.empty());
  EXPECT_THROW(without_outliers(cloud, 0, 1), Error);
}

// The distance to the nearest neighbours, by looking at all points.
TEST(PointCloud, OutliersAreThoseOfTheDefinition) {
  PointCloud cloud;
  std::uint32_t state = 7;
  const auto random = [&] {
    state = state * 1664525 + 1013904223;
    return static_cast<float>(state >> 8) / 0x1p24F;
  };
  for (int i = 0; i < 300; ++i) cloud.points.push_back({random(), random() * random(), random()});
  constexpr std::size_t neighbours = 5;
  std::vector<double> distances;
  for (const auto& p : cloud.points) {
    std::vector<double> all;
    for (const auto& q : cloud.points) {
      const double x = double(p[0]) - q[0], y = double(p[1]) - q[1], z = double(p[2]) - q[2];
      all.push_back(std::sqrt(x * x + y * y + z * z));
    }
    std::sort(all.begin(), all.end());
    double sum = 0;
    for (std::size_t k = 1; k <= neighbours; ++k) sum += all[k];
    distances.push_back(sum / neighbours);
  }
  double mean = 0, variance = 0;
  for (const double d : distances) mean += d / 300;
  for (const double d : distances) variance += (d - mean) * (d - mean) / 300;
  std::size_t expected = 0;
  for (const double d : distances) expected += d <= mean + 1.5 * std::sqrt(variance);
  EXPECT_LT(expected, 300u);
  EXPECT_EQ(without_outliers(cloud, neighbours, 1.5).points.size(), expected);
}

TEST(PointCloud, AMeshJoinsNeighboursOnOneSurface) {
  Image<float> points = plane(4, 3, 2);
  const Mesh whole = surface_mesh(points, {}, {});
  EXPECT_EQ(whole.vertices.points.size(), 12u);
  EXPECT_EQ(whole.triangles.size(), 12u);
  for (const auto& [a, b, c] : whole.triangles) {  // counter-clockwise on the screen, where y points down
    const auto &p = whole.vertices.points[a], &q = whole.vertices.points[b], &r = whole.vertices.points[c];
    EXPECT_LT((q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]), 0);
  }
  points(0, 0, 0) = unknown;
  EXPECT_EQ(surface_mesh(points, {}, {}).triangles.size(), 11u);
  for (int y = 0; y < 3; ++y)
    for (int x = 2; x < 4; ++x)
      for (int c = 0; c < 3; ++c) points(x, y, c) *= 2;
  EXPECT_EQ(surface_mesh(points, {}, {}).triangles.size(), 7u) << "no triangle joins the two surfaces";
}

}  // namespace
}  // namespace stereopsis::point_cloud_test
