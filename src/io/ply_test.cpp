#include "io/codecs.hpp"
#include "stereopsis/io.hpp"
#include "stereopsis/point_cloud_files.hpp"
#include "support/files.hpp"
#include "support/stage_test.hpp"

namespace stereopsis::ply_test {
namespace {

using namespace test;

// 2 × 1 points: the point (1, 2, 3), and an invalid point.
Image<float> two_points() {
  Image<float> points({2, 1}, 3, invalid_disparity);
  for (int c = 0; c < 3; ++c) points(0, 0, c) = static_cast<float>(c + 1);
  return points;
}

const std::string first("\x00\x00\x80\x3f\x00\x00\x00\x40\x00\x00\x40\x40", 12);

TEST(PointClouds, ValidPointsOnly) {
  const TemporaryFolder folder;
  write_point_cloud(folder / "a.ply", two_points(), {}, {}, false);
  EXPECT_EQ(get(folder / "a.ply"),
            "ply\nformat binary_little_endian 1.0\nelement vertex 1\nproperty float x\nproperty float y\n"
            "property float z\nend_header\n" +
                first);
}

TEST(PointClouds, OrganisedWithColourAndConfidence) {
  const TemporaryFolder folder;
  Image<std::uint8_t> colour({2, 1}, 3, 9);
  colour(0, 0, 2) = 200;
  write_point_cloud(folder / "a.ply", two_points(), colour, Image<float>({2, 1}, 1, 1.0F), true);
  const std::string file = get(folder / "a.ply");
  const std::size_t end = file.find("end_header\n") + 11;
  EXPECT_EQ(file.substr(0, end),
            "ply\nformat binary_little_endian 1.0\nobj_info num_cols 2\nobj_info num_rows 1\nelement vertex 2\n"
            "property float x\nproperty float y\nproperty float z\nproperty uchar red\nproperty uchar green\n"
            "property uchar blue\nproperty float confidence\nend_header\n");
  ASSERT_EQ(file.size() - end, 2U * 19);
  EXPECT_EQ(file.substr(end, 19), first + std::string("\x09\x09\xc8\x00\x00\x80\x3f", 7));
  EXPECT_TRUE(std::isnan(io::load<float>(io::bytes_of(file).data() + end + 19, std::endian::little)));
}

TEST(PointClouds, GreyIsWrittenAsColour) {
  const TemporaryFolder folder;
  write_point_cloud(folder / "a.ply", two_points(), Image<std::uint8_t>({2, 1}, 1, 65), {}, false);
  EXPECT_TRUE(get(folder / "a.ply").ends_with(first + "AAA"));
}

TEST(PointClouds, ImagesThatDoNotFitAreRefused) {
  const TemporaryFolder folder;
  const auto points = two_points();
  const auto call = ErrorCategory::call;
  EXPECT_TRUE(
      refuses([&] { write_point_cloud(folder / "a.ply", Image<float>(2, 1), {}, {}, false); }, call, "3 channels"));
  EXPECT_TRUE(refuses([&] { write_point_cloud(folder / "a.ply", points, Image<std::uint8_t>(1, 1), {}, false); }, call,
                      "colour"));
  EXPECT_TRUE(
      refuses([&] { write_point_cloud(folder / "a.ply", points, {}, Image<float>(2, 2), false); }, call, "confidence"));
  EXPECT_EQ(folder.files(), 0U);
}

PointCloud one_point() {
  PointCloud cloud;
  cloud.points = {{1, 2, 3}};
  cloud.normals = {{0, 0, -1}};
  cloud.colors = {{9, 8, 200}};
  cloud.confidence = {1};
  return cloud;
}

TEST(PointClouds, NormalsStandBehindThePoint) {
  const TemporaryFolder folder;
  write_point_cloud(folder / "a.ply", one_point());
  EXPECT_EQ(get(folder / "a.ply"),
            "ply\nformat binary_little_endian 1.0\nelement vertex 1\nproperty float x\nproperty float y\n"
            "property float z\nproperty float nx\nproperty float ny\nproperty float nz\nproperty uchar red\n"
            "property uchar green\nproperty uchar blue\nproperty float confidence\nend_header\n" +
                first + std::string("\0\0\0\0\0\0\0\0\0\0\x80\xbf\x09\x08\xc8\0\0\x80\x3f", 19));
}

TEST(PointClouds, PcdHasTheSameFields) {
  const TemporaryFolder folder;
  write_point_cloud(folder / "a.pcd", one_point());
  EXPECT_EQ(get(folder / "a.pcd"),
            "# .PCD v0.7 - Point Cloud Data file format\nVERSION 0.7\n"
            "FIELDS x y z normal_x normal_y normal_z rgb confidence\nSIZE 4 4 4 4 4 4 4 4\nTYPE F F F F F F U F\n"
            "COUNT 1 1 1 1 1 1 1 1\nWIDTH 1\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS 1\nDATA binary\n" +
                first + std::string("\0\0\0\0\0\0\0\0\0\0\x80\xbf\xc8\x08\x09\0\0\0\x80\x3f", 20));
  EXPECT_TRUE(is_whole(folder / "a.pcd"));
  put(folder / "cut.pcd", get(folder / "a.pcd").substr(0, 260));
  EXPECT_FALSE(is_whole(folder / "cut.pcd"));
  PointCloud wrong = one_point();
  wrong.confidence.push_back(0);
  EXPECT_TRUE(refuses([&] { write_point_cloud(folder / "b.pcd", wrong); }, ErrorCategory::call, "one value per point"));
}

TEST(PointClouds, AMeshListsItsTriangles) {
  const TemporaryFolder folder;
  Mesh mesh;
  mesh.vertices.points = {{1, 2, 3}, {0, 0, 0}, {0, 0, 0}};
  mesh.triangles = {{0, 2, 1}};
  write_mesh(folder / "a.ply", mesh);
  EXPECT_EQ(get(folder / "a.ply"),
            "ply\nformat binary_little_endian 1.0\nelement vertex 3\nproperty float x\nproperty float y\n"
            "property float z\nelement face 1\nproperty list uchar uint vertex_indices\nend_header\n" +
                first + std::string(24, '\0') + std::string("\x03\0\0\0\0\x02\0\0\0\x01\0\0\0", 13));
}

}  // namespace
}  // namespace stereopsis::ply_test
