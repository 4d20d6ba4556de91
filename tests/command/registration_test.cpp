// `match --register-to`: the depth map is that of register_depth() for the map without the option.
#include "stereopsis/registration.hpp"
#include "command.hpp"
#include "geometry/test_rigs.hpp"
#include "stereopsis/calibration.hpp"
#include "stereopsis/io.hpp"

namespace stereopsis::test {
namespace {

// A camera 40 mm to the right of the left one, turned a little; R is given as axis and angle.
constexpr const char* third_camera =
    "image_width: 200\nimage_height: 140\nK: [150, 0, 99, 0, 151, 70, 0, 0, 1]\n"
    "D: [-0.1, 0.02, 0.001, 0, 0]\nR: [0.02, -0.03, 0.01]\nT: [-40, 2, 5]\n";

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
