// Files of points, poses and optical flow.
#include "stereopsis/seed_files.hpp"

#include "io/points.hpp"
#include "stereopsis/io.hpp"
#include "stereopsis/point_cloud_files.hpp"
#include "support/files.hpp"
#include "support/stage_test.hpp"

namespace stereopsis::seed_files_test {
namespace {

using namespace test;

std::string bytes(std::initializer_list<float> values) {
  std::string all;
  for (const float value : values) io::append(all, value, std::endian::little);
  return all;
}

class SeedFiles : public ::testing::Test {
 protected:
  std::vector<std::array<float, 3>> points(const std::string& name, const std::string& contents) {
    write_text(folder / name, contents);
    return read_points(folder / name);
  }
  std::string refusal(const std::string& name, const std::string& contents) {
    try {
      points(name, contents);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  const TemporaryFolder folder;
  const std::vector<std::array<float, 3>> two = {{1, 2, 3}, {-4, 5.5F, 6}};
};

TEST_F(SeedFiles, OwnCloudsComeBack) {
  PointCloud cloud{.points = two, .colors = {{1, 2, 3}, {4, 5, 6}}, .confidence = {0.5F, 1}};
  for (const char* name : {"cloud.ply", "cloud.pcd"}) {
    write_point_cloud(folder / name, cloud);
    EXPECT_EQ(read_points(folder / name), two) << name;
  }
}

TEST_F(SeedFiles, PlyOfAllFormats) {
  const std::string elements =
      "element camera 1\nproperty list uchar int a\nelement vertex 3\nproperty double y\nproperty float x\n"
      "property short z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n";
  EXPECT_EQ(points("a.ply", "ply\r\nformat ascii 1.0\r\ncomment no points yet\r\n" + elements +
                                "2 7 8\n2 1 3\n5.5 -4 6\nnan 1 1\n3 0 1 2\n"),
            two);
  std::string big = "ply\nformat binary_big_endian 1.0\n" + elements;
  io::append(big, std::uint8_t{1}, std::endian::big);
  io::append(big, std::int32_t{7}, std::endian::big);
  for (const auto& [x, y, z] : two) {
    io::append(big, static_cast<double>(y), std::endian::big);
    io::append(big, x, std::endian::big);
    io::append(big, static_cast<std::int16_t>(z), std::endian::big);
  }
  EXPECT_NE(refusal("b.ply", big).find("cut off"), std::string::npos);
  EXPECT_EQ(points("b.ply", big + std::string(14, '\0')).size(), 3U);
}

TEST_F(SeedFiles, PcdOfAllFormats) {
  const std::string header =
      "# .PCD v0.7\nVERSION 0.7\nFIELDS x y z i\nSIZE 4 4 4 4\nTYPE F F F F\nCOUNT 1 1 1 1\nWIDTH 2\nHEIGHT 1\n"
      "POINTS 2\nDATA ";
  EXPECT_EQ(points("a.pcd", header + "ascii\n1 2 3 0\n-4 5.5 6 0\n"), two);
  EXPECT_EQ(points("b.pcd", header + "binary\n" + bytes({1, 2, 3, 0, -4, 5.5F, 6, 0})), two);
  // The columns one after the other: 24 bytes as they are, and 8 zeros, of which 7 are copies of the byte before.
  std::string packed = "\x17" + bytes({1, -4, 2, 5.5F, 3, 6}) + std::string("\x00\x00\xa0\x00", 4);
  std::string sizes;
  io::append(sizes, static_cast<std::uint32_t>(packed.size()), std::endian::little);
  io::append(sizes, std::uint32_t{32}, std::endian::little);
  EXPECT_EQ(points("c.pcd", header + "binary_compressed\n" + sizes + packed), two);
  packed[packed.size() - 1] = 99;  // a copy from before the first byte
  EXPECT_NE(refusal("c.pcd", header + "binary_compressed\n" + sizes + packed).find("damaged"), std::string::npos);
}

TEST_F(SeedFiles, PointsOfKitti) {
  EXPECT_EQ(points("a.bin", bytes({1, 2, 3, 0.5F, -4, 5.5F, 6, 0.1F})), two);
  EXPECT_NE(refusal("a.bin", bytes({1, 2, 3})).find("12 bytes"), std::string::npos);
}

TEST_F(SeedFiles, SayWhatIsWrong) {
  EXPECT_NE(refusal("a.ply", "plx\n").find("does not begin with 'ply'"), std::string::npos);
  EXPECT_NE(
      refusal("a.ply", "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n1\n").find("have no y"),
      std::string::npos);
  EXPECT_NE(refusal("a.pcd", "FIELDS x\nSIZE 4\nTYPE F\nCOUNT 99999999\nPOINTS 1\nDATA ascii\n").find("0 to 4096"),
            std::string::npos);
  const auto sized = [](const char* type, const char* size) {
    return text("FIELDS x y z\nSIZE 4 4 ", size, "\nTYPE F F ", type, "\nPOINTS 1\nDATA ascii\n1 2 3\n");
  };
  EXPECT_NE(refusal("a.pcd", sized("F", "268435457")).find("TYPE 'F' and SIZE '268435457'"), std::string::npos);
  EXPECT_NE(refusal("a.pcd", sized("9", "2")).find("TYPE '9' and SIZE '2'"), std::string::npos);
  EXPECT_NE(refusal("a.pcd", "FIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 4096\nPOINTS 1\nDATA ascii\n")
                .find("more than"),
            std::string::npos);
  EXPECT_NE(refusal("a.ply", "ply\nformat ascii 1.0\nelement vertex 1073741824\nend_header\n").find("no element"),
            std::string::npos);
  EXPECT_NE(refusal("a.pcd", "FIELDS x\n").find("no line DATA"), std::string::npos);
  EXPECT_NE(refusal("a.txt", "1 2 3\n").find(".ply, .pcd and .bin"), std::string::npos);
}

TEST_F(SeedFiles, Poses) {
  write_text(folder / "p.txt", "1 0 0 0.5\n0 1 0 0\n0 0 1 -2\n0 0 0 1\n");
  EXPECT_EQ(read_pose(folder / "p.txt").translation, (Vector3{0.5, 0, -2}));
  write_text(folder / "calib.txt",
             "P0: 100 0 50 0 0 100 40 0 0 0 1 0\nP1: 100 0 50 -54 0 100 40 0 0 0 1 0\n"
             "P2: 100 0 50 6 0 100 40 0 0 0 1 0\nP3: 100 0 50 -48 0 100 40 0 0 0 1 0\n"
             "Tr: 0 -1 0 0.1 0 0 -1 0 1 0 0 0\n");
  EXPECT_NEAR(read_pose(folder / "calib.txt").translation[0], 0.16, 1e-12);  // the left colour camera
  EXPECT_NEAR(read_pose(folder / "calib.txt", KittiPair::grey_first).translation[0], 0.1, 1e-12);
  write_text(folder / "poses.txt", "1 0 0 0 0 1 0 0 0 0 1 0\n1 0 0 0 0 1 0 0 0 0 1 1.5\n");
  ASSERT_EQ(read_poses(folder / "poses.txt").size(), 2U);
  EXPECT_EQ(read_poses(folder / "poses.txt")[1].translation[2], 1.5);
  for (const char* wrong : {"1 2 3\n", "2 0 0 0 0 2 0 0 0 0 2 0\n", "R: 1 0 0 0 1 0 0 0 1\n", "a b\n"}) {
    write_text(folder / "wrong.txt", wrong);
    EXPECT_THROW(read_pose(folder / "wrong.txt"), Error) << wrong;
  }
}

TEST_F(SeedFiles, OpticalFlow) {
  std::string flo = "PIEH";
  io::append(flo, std::int32_t{2}, std::endian::little);
  io::append(flo, std::int32_t{1}, std::endian::little);
  write_text(folder / "a.flo", flo + bytes({1.5F, -2, 1e10F, 1e10F}));
  const Image<float> flow = read_flow(folder / "a.flo");
  EXPECT_EQ(flow(0, 0, 0), 1.5F);
  EXPECT_EQ(flow(0, 0, 1), -2);
  EXPECT_TRUE(std::isnan(flow(1, 0, 0)));
  write_text(folder / "a.flo", flo);
  EXPECT_THROW(read_flow(folder / "a.flo"), Error);
  Image<std::uint16_t> kitti({2, 1}, 3, 0);
  kitti(0, 0, 0) = 32768 + 96, kitti(0, 0, 1) = 32768 - 128, kitti(0, 0, 2) = 1;
  write_image(folder / "a.png", kitti.view());
  EXPECT_EQ(read_flow(folder / "a.png")(0, 0, 0), 1.5F);
  EXPECT_EQ(read_flow(folder / "a.png")(0, 0, 1), -2);
  EXPECT_TRUE(std::isnan(read_flow(folder / "a.png")(1, 0, 0)));
}

}  // namespace
}  // namespace stereopsis::seed_files_test
