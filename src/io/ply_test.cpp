#include "io/codecs.hpp"
#include "io/test_files.hpp"
#include "stereopsis/io.hpp"
#include "support/stage_test.hpp"

namespace stereopsis {
namespace {

using namespace test;

// 2 × 1 points: (1, 2, 3) and an invalid one.
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

}  // namespace
}  // namespace stereopsis
