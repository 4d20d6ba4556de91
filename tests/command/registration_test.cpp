// `match --register-to`: the depth map is that of register_depth() for the map without the option.
#include "stereopsis/registration.hpp"
#include "command.hpp"
#include "core/text.hpp"
#include "stereopsis/calibration.hpp"
#include "stereopsis/io.hpp"
#include "support/rigs.hpp"

namespace stereopsis::test {
namespace {

// A camera 40 mm to the right of the left one, turned a little; R is given as axis and angle.
constexpr const char* third_camera =
    "image_width: 200\nimage_height: 140\nK: [150, 0, 99, 0, 151, 70, 0, 0, 1]\n"
    "D: [-0.1, 0.02, 0.001, 0, 0]\nR: [0.02, -0.03, 0.01]\nT: [-40, 2, 5]\nunit: mm\n";

class RegisterTo : public Command {
 protected:
  static void SetUpTestSuite() {
    Command::SetUpTestSuite();
    write_calibration(folder / "cameras.yml", calibration_for({150, 110}));
    write(folder / "third.yml", third_camera);
    const Answer plain = match_raw({"-o", "d.pfm", "--depth", "z.pfm"});
    ASSERT_EQ(plain.code, 0) << plain.err;
  }

  static Answer match_raw(std::vector<std::string> more) {
    more.insert(more.begin(), {"--calib", "cameras.yml", "--raw", "--fill-depth"});
    return match(more);
  }

  static void expect_same(const fs::path& file, const Image<float>& expected) {
    const Image<float> got = read_disparity(folder / file);
    ASSERT_EQ(got.size(), expected.size());
    int valid = 0;
    for (int y = 0; y < got.height(); ++y)
      for (int x = 0; x < got.width(); ++x) {
        ASSERT_EQ(std::isfinite(got(x, y)), std::isfinite(expected(x, y))) << x << ", " << y;
        if (!std::isfinite(got(x, y))) continue;
        ASSERT_EQ(got(x, y), expected(x, y)) << x << ", " << y;
        ++valid;
      }
    EXPECT_GT(valid, 5000);
  }

  static void expect_refused(const std::vector<std::string>& more, const std::string& part) {
    const Answer answer = match_raw(more);
    EXPECT_EQ(answer.code, 2) << part;
    EXPECT_NE(answer.err.find(part), std::string::npos) << answer.err;
  }
};

TEST_F(RegisterTo, TheRawLeftImageOrAThirdCamera) {
  const StereoCalibration cameras = read_calibration(folder / "cameras.yml");
  const Image<float> depth = read_disparity(folder / "z.pfm");
  Answer answer = match_raw({"-o", "d2.pfm", "--depth", "raw.pfm", "--register-to", "raw"});
  ASSERT_EQ(answer.code, 0) << answer.err;
  expect_same("raw.pfm", register_depth(depth, cameras.rig, raw_left_camera(cameras)).depth);
  EXPECT_TRUE(contents(folder / "d.pfm") == contents(folder / "d2.pfm")) << "the disparity is of the left image";

  answer = match_raw({"-o", "d.pfm", "--depth", "third.pfm", "--register-to", "third.yml"});
  ASSERT_EQ(answer.code, 0) << answer.err;
  const PosedCamera third = posed_relative_to_raw(read_posed_camera(folder / "third.yml"), cameras);
  const Image<float> expected = register_depth(depth, cameras.rig, third).depth;
  ASSERT_EQ(expected.size(), (Size{200, 140}));
  expect_same("third.pfm", expected);

  answer = match_raw({"-o", "d.pfm", "--depth", "third.png", "--register-to", "third.yml"});
  ASSERT_EQ(answer.code, 0) << answer.err;
  const auto millimetres = std::get<Image<std::uint16_t>>(read_image(folder / "third.png").pixels);
  EXPECT_EQ(millimetres(100, 70), static_cast<std::uint16_t>(std::lround(expected(100, 70))));
}

TEST_F(RegisterTo, ARectifiedPairIsRegisteredFromItsLeftCamera) {
  const std::vector<std::string> numbers = {"--focal", "140", "--baseline", "120mm", "-o", "flat.pfm", "--depth"};
  const auto call_with = [&](const std::string& file, std::vector<std::string> more) {
    more.insert(more.begin(), file);
    more.insert(more.begin(), numbers.begin(), numbers.end());
    return match(more);
  };
  ASSERT_EQ(call_with("flat_z.pfm", {}).code, 0);
  const Answer answer = call_with("flat_third.pfm", {"--register-to", "third.yml"});
  ASSERT_EQ(answer.code, 0) << answer.err;
  Rig rig;
  rig.focal = 140, rig.baseline = 120, rig.cx_left = rig.cx_right = 74.5, rig.cy = 54.5;
  expect_same(
      "flat_third.pfm",
      register_depth(read_disparity(folder / "flat_z.pfm"), rig, read_posed_camera(folder / "third.yml")).depth);

  const Answer raw = call_with("flat_raw.pfm", {"--register-to", "raw"});
  EXPECT_EQ(raw.code, 2);
  EXPECT_NE(raw.err.find("rectified images only"), std::string::npos) << raw.err;
}

// ---- Cameras above each other ----

std::string yaml(const std::string& name, int rows, int columns, std::initializer_list<double> numbers) {
  std::string data;
  for (const double number : numbers) data += (data.empty() ? "" : ", ") + number_text(number);
  return name + ": !!opencv-matrix\n   rows: " + std::to_string(rows) + "\n   cols: " + std::to_string(columns) +
         "\n   dt: d\n   data: [ " + data + " ]\n";
}

std::string size_lines(Size size) {
  return "image_width: " + std::to_string(size.width) + "\nimage_height: " + std::to_string(size.height) + "\n";
}

// Returns the lines of a camera, a rotation and a translation whose x and y are exchanged.
std::string exchanged(const std::string& number, const Lens& lens) {
  const auto& d = lens.distortion;
  return yaml("M" + number, 3, 3, {lens.fy, 0, lens.cy, 0, lens.fx, lens.cx, 0, 0, 1}) +
         yaml("D" + number, 1, 12, {d[0], d[1], d[3], d[2], d[4], d[5], d[6], d[7], d[10], d[11], d[8], d[9]});
}
std::string exchanged(const std::string& name, const Matrix3& r) {
  return yaml(name, 3, 3, {r[4], r[3], r[5], r[1], r[0], r[2], r[7], r[6], r[8]});
}
std::string exchanged(const std::string& name, const Vector3& t) { return yaml(name, 3, 1, {t[1], t[0], t[2]}); }

template <class T>
Image<T> exchanged(const Image<T>& image) {
  Image<T> out({image.height(), image.width()}, image.channels());
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x)
      for (int c = 0; c < image.channels(); ++c) out(y, x, c) = image(x, y, c);
  return out;
}

// All results are those of the same cameras side by side, with rows and columns exchanged.
TEST_F(RegisterTo, CamerasAboveEachOther) {
  const StereoCalibration c = read_calibration(folder / "cameras.yml");
  const PosedCamera third = read_posed_camera(folder / "third.yml");
  const double f = c.rig.focal;
  write(folder / "vertical.yml",
        "%YAML:1.0\n---\n" + size_lines({c.size.height, c.size.width}) + "unit: mm\nrectified_size: [ " +
            std::to_string(c.rig.size.height) + ", " + std::to_string(c.rig.size.width) + " ]\n" +
            exchanged("1", c.left.lens) + exchanged("2", c.right.lens) + exchanged("R", c.rotation) +
            exchanged("T", c.translation) + exchanged("R1", c.left.rectification) +
            exchanged("R2", c.right.rectification) +
            yaml("P1", 3, 4, {f, 0, c.rig.cy, 0, 0, f, c.rig.cx_left, 0, 0, 0, 1, 0}) +
            yaml("P2", 3, 4, {f, 0, c.rig.cy, 0, 0, f, c.rig.cx_right, -f * c.rig.baseline, 0, 0, 1, 0}));
  write(folder / "third_v.yml",
        "%YAML:1.0\n---\n" + size_lines({third.size.height, third.size.width}) + "unit: mm\n" +
            yaml("K", 3, 3, {third.lens.fy, 0, third.lens.cy, 0, third.lens.fx, third.lens.cx, 0, 0, 1}) +
            yaml("D", 1, 5,
                 {third.lens.distortion[0], third.lens.distortion[1], third.lens.distortion[3],
                  third.lens.distortion[2], third.lens.distortion[4]}) +
            exchanged("R", third.rotation) + exchanged("T", third.translation));
  for (const std::string side : {"left", "right"})
    write_image(folder / (side + "_v.png"),
                exchanged(std::get<Image<std::uint8_t>>(read_image(folder / "scene" / (side + ".png")).pixels)));
  const auto vertical = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"match", "left_v.png", "right_v.png", "--disparities", "32", "--vertical", "--raw",
                               "--fill-depth", "-o", "d_v.pfm", "--depth", "z_v.pfm"});
    const Answer answer = call(more);
    EXPECT_EQ(answer.code, 0) << answer.err;
    return exchanged(read_disparity(folder / "z_v.pfm"));
  };
  expect_same("z.pfm", vertical({"--calib", "vertical.yml"}));
  for (const auto& [horizontal, turned] : {std::pair{"third.yml", "third_v.yml"}, {"raw", "raw"}}) {
    ASSERT_EQ(match_raw({"-o", "d.pfm", "--depth", "z_h.pfm", "--register-to", horizontal}).code, 0);
    expect_same("z_h.pfm", vertical({"--calib", "vertical.yml", "--register-to", turned}));
  }
  const Answer beside = call({"match", "left_v.png", "right_v.png", "--disparities", "32", "--vertical", "--calib",
                              "cameras.yml", "-o", "d_v.pfm"});
  EXPECT_EQ(beside.code, 1);
  EXPECT_NE(beside.err.find("leave --vertical out"), std::string::npos) << beside.err;
  const Answer above = match({"--calib", "vertical.yml", "-o", "d_v.pfm"});
  EXPECT_EQ(above.code, 1);
  EXPECT_NE(above.err.find("`match --vertical`"), std::string::npos) << above.err;
}

TEST_F(RegisterTo, ASequenceIsResumed) {
  for (const char* name : {"l", "r", "out"}) fs::create_directory(folder / name);
  for (const char* frame : {"0.png", "1.png"}) {
    fs::copy_file(folder / "scene/left.png", folder / "l" / frame);
    fs::copy_file(folder / "scene/right.png", folder / "r" / frame);
  }
  fs::create_directory(folder / "z");
  std::vector<std::string> words = {"match", "l",  "r",   "--disparities", "32", "--calib",       "cameras.yml",
                                    "--raw", "-o", "out", "--depth",       "z",  "--register-to", "third.yml"};
  ASSERT_EQ(call(words).code, 0);
  EXPECT_EQ(read_disparity(folder / "z/1.pfm").size(), (Size{200, 140}));
  words.push_back("--resume");
  const Answer resumed = call(words);
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_NE(resumed.out.find("2 from an earlier run"), std::string::npos) << resumed.out << resumed.err;
  words[13] = "raw";
  const Answer other = call(words);
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.err.find("--register-to"), std::string::npos) << other.err;
}

TEST_F(RegisterTo, WrongCallsAreRejected) {
  expect_refused({"-o", "d.pfm", "--register-to", "raw"}, "--depth");
  expect_refused({"-o", "d.pfm", "--depth", "z.pfm", "--register-to", "raw", "--roi", "0,0,50,50", "--crop"}, "--crop");
  const Answer absent = match_raw({"-o", "d.pfm", "--depth", "z2.pfm", "--register-to", "absent.yml"});
  EXPECT_EQ(absent.code, 1);
  EXPECT_NE(absent.err.find("absent.yml"), std::string::npos) << absent.err;
  expect_refused({"-o", "d.pfm", "--depth", "third.yml", "--register-to", "third.yml"}, "third.yml");
  EXPECT_EQ(contents(folder / "third.yml"), third_camera);
}

}  // namespace
}  // namespace stereopsis::test
