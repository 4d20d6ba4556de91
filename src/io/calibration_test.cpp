#include "stereopsis/calibration.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

#include "io/calibration_formats.hpp"
#include "stereopsis/error.hpp"
#include "support/files.hpp"

namespace stereopsis::calibration_test {
namespace {

using namespace test;
namespace fs = std::filesystem;

Rig rig_from(const std::string& contents, KittiPair pair = KittiPair::any) {
  return io::calibration_in({{io::Document::parse(contents)}, {.pair = pair, .size = {}, .lens = {}}}).rig;
}

std::string refusal(const std::string& contents) {
  try {
    rig_from(contents);
  } catch (const Error& error) {
    EXPECT_EQ(error.category(), ErrorCategory::format) << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    return error.what();
  }
  return "(accepted)";
}

const std::string middlebury =
    "cam0=[999.421 0 294.182; 0 999.421 252.932; 0 0 1]\n"
    "cam1=[999.421 0 326.96; 0 999.421 252.932; 0 0 1]\n"
    "doffs=32.778\nbaseline=193.001\nwidth=741\nheight=497\nndisp=70\nisint=0\n";

const std::string kitti =
    "P0: 700 0 600 0 0 700 180 0 0 0 1 0\n"
    "P1: 700 0 600 -385 0 700 180 0 0 0 1 0\n"
    "P2: 7.0e+02 0 6.0e+02 4.2e+01 0 700 180 0 0 0 1 0\n"
    "P3: 700 0 600 -329 0 700 180 0 0 0 1 0\n"
    "Tr: 0 -1 0 0 0 0 -1 0 1 0 0 0\n";

const std::string opencv_yaml =
    "%YAML:1.0\n---\n"
    "P1: !!opencv-matrix\n   rows: 3\n   cols: 4\n   dt: d\n"
    "   data: [ 4.5e+02, 0., 320., 0., 0.,\n       450., 240.5, 0., 0., 0., 1., 0. ]\n"
    "P2: !!opencv-matrix\n   rows: 3\n   cols: 4\n   dt: d\n"
    "   data: [ 450., 0., 310., -1.35e+03, 0., 450., 240.5, 0., 0., 0., 1., 0. ]\n";

// The same rig, described by Q: baseline 3, principal points 320 and 310.
const std::string opencv_q =
    "%YAML:1.0\n---\n"
    "Q: !!opencv-matrix\n   rows: 4\n   cols: 4\n   dt: d\n"
    "   data: [ 1., 0., 0., -320., 0., 1., 0., -240.5, 0., 0., 0., 450., 0.,\n"
    "       0., 3.3333333333333331e-01, -3.3333333333333335e+00 ]\n";

const std::string opencv_xml =
    "<?xml version=\"1.0\"?>\n<!-- written by <hand> -->\n<opencv_storage>\n"
    "<imageSize>\n  640 480</imageSize>\n"
    "<P1 type_id=\"opencv-matrix\">\n  <rows>3</rows>\n  <cols>4</cols>\n  <dt>d</dt>\n"
    "  <data>\n    4.5e+02 0. 320. 0. 0. 450. 240.5 0. 0. 0.\n    1. 0.</data></P1>\n"
    "<P2 type_id=\"opencv-matrix\">\n  <rows>3</rows>\n  <cols>4</cols>\n  <dt>d</dt>\n"
    "  <data>\n    450. 0. 310. -1.35e+03 0. 450. 240.5 0. 0. 0. 1. 0.</data></P2>\n"
    "</opencv_storage>\n";

std::string ros(const std::string& tx, const std::string& width = "640") {
  return "image_width: " + width +
         "\nimage_height: 480\ncamera_name: narrow_stereo/left\n"
         "camera_matrix:\n  rows: 3\n  cols: 3\n  data: [410, 0, 318, 0, 412, 242, 0, 0, 1]\n"
         "distortion_model: plumb_bob\n"
         "projection_matrix:\n  rows: 3\n  cols: 4\n  data: [400, 0, 320, " +
         tx + ", 0, 400, 240, 0, 0, 0, 1, 0]\n";
}

class CalibrationFiles : public testing::Test {
 protected:
  fs::path file(const std::string& name, const std::string& contents) const { return put(folder_ / name, contents); }

  TemporaryFolder folder_;
};

TEST(Calibration, MiddleburyHasOffsetsOfThePrincipalPoints) {
  const Rig rig = rig_from(middlebury);
  EXPECT_EQ(rig.focal, 999.421);
  EXPECT_EQ(rig.baseline, 193.001);
  EXPECT_EQ(rig.unit, "mm");
  EXPECT_EQ(rig.size, (Size{741, 497}));
  EXPECT_EQ(rig.cx_left, 294.182);
  EXPECT_NEAR(rig.cx_right, 326.96, 1e-9);
  EXPECT_EQ(rig.cy, 252.932);
  for (const double d : {9.2, 31.0, 62.9}) EXPECT_NEAR(rig.depth(d), 999.421 * 193.001 / (d + 32.778), 1e-6);
  EXPECT_NEAR(rig.disparity(rig.depth(20.5)), 20.5, 1e-9);
}

TEST(Calibration, KittiPairIsColourWhereTheFileHasItUnlessTheCallerChooses) {
  EXPECT_DOUBLE_EQ(rig_from(kitti).baseline, 0.53);
  EXPECT_DOUBLE_EQ(rig_from(kitti, KittiPair::colour).baseline, 0.53);
  const Rig grey = rig_from(kitti, KittiPair::grey);
  EXPECT_DOUBLE_EQ(grey.baseline, 0.55);
  EXPECT_EQ(grey.unit, "m");
  EXPECT_EQ(grey.size, (Size{0, 0}));
  EXPECT_DOUBLE_EQ(grey.depth(70), 5.5);
  const std::string only_grey = kitti.substr(0, kitti.find("P2"));
  EXPECT_DOUBLE_EQ(rig_from(only_grey).baseline, 0.55);
  EXPECT_THROW(rig_from(only_grey, KittiPair::colour), Error);
  EXPECT_DOUBLE_EQ(rig_from(kitti, KittiPair::grey_first).baseline, 0.55);
  const std::string only_colour = kitti.substr(kitti.find("P2"));
  EXPECT_DOUBLE_EQ(rig_from(only_colour, KittiPair::grey_first).baseline, 0.53);
  EXPECT_THROW(rig_from(only_colour, KittiPair::grey), Error);
}

TEST(Calibration, KittiRawHasSizes) {
  const Rig rig = rig_from(
      "calib_time: 09-Jan-2012 13:57:47\ncorner_dist: 9.950000e-02\n"
      "S_02: 1.392e+03 5.12e+02\nS_rect_02: 1.242000e+03 3.750000e+02\n"
      "P_rect_02: 700 0 600 42 0 700 180 0 0 0 1 0\nP_rect_03: 700 0 600 -329 0 700 180 0 0 0 1 0\n");
  EXPECT_DOUBLE_EQ(rig.baseline, 0.53);
  EXPECT_EQ(rig.size, (Size{1242, 375}));
}

TEST(Calibration, KittiRowsWithoutNames) {
  EXPECT_DOUBLE_EQ(rig_from("700 0 600 0 0 700 180 0 0 0 1 0\n700 0 600 -385 0 700 180 0 0 0 1 0").baseline, 0.55);
  EXPECT_TRUE(contains(refusal("1 2 3\n4 5 6\n7 8 9\n"), "3 rows"));
}

// A point on the axis of the left camera, projected by both matrices, is triangulated at its depth. The depth is right
// even if the camera planes differ slightly from the reference plane.
TEST(Calibration, ProjectionsWithAnOffsetInDepthGiveTheDepthOfAProjectedPoint) {
  const Rig rig =
      rig_from("P2: 700 0 600 45 0 700 180 -0.1 0 0 1 0.004\nP3: 700 0 600 -335 0 700 180 2.3 0 0 1 0.005\n");
  const double x = -(45 - 600 * 0.004) / 700;
  for (const double z : {4.0, 20.0, 80.0}) {
    const double left = (700 * x + 600 * z + 45) / (z + 0.004), right = (700 * x + 600 * z - 335) / (z + 0.005);
    EXPECT_NEAR(left, 600, 1e-9);
    EXPECT_NEAR(rig.depth(left - right), z + 0.005, 1e-9 * z);
  }
}

TEST(Calibration, OpenCvYamlXmlAndQAgree) {
  for (const std::string& file : {opencv_yaml, opencv_q, opencv_xml}) {
    SCOPED_TRACE(file);
    const Rig rig = rig_from(file);
    EXPECT_EQ(rig.focal, 450);
    EXPECT_NEAR(rig.baseline, 3, 1e-12);
    EXPECT_EQ(rig.cx_left, 320);
    EXPECT_NEAR(rig.cx_right, 310, 1e-9);
    EXPECT_EQ(rig.cy, 240.5);
    EXPECT_EQ(rig.unit, "");
    EXPECT_NEAR(rig.depth(100), 450 * 3 / (100 - 10.0), 1e-9);
  }
  EXPECT_EQ(rig_from(opencv_yaml).size, (Size{0, 0}));
  EXPECT_EQ(rig_from(opencv_xml).size, (Size{640, 480}));
  EXPECT_EQ(rig_from(opencv_yaml + "image_width: 640\nimage_height: 480\n").size, (Size{640, 480}));
  EXPECT_EQ(rig_from(opencv_yaml + "imageSize: [ 640, 480 ]\n").size, (Size{640, 480}));
}

TEST(Calibration, SwappedCamerasAreRefused) {
  EXPECT_TRUE(contains(refusal(replaced(opencv_q, "0., 3.3", "0., -3.3")), "Q(3, 2)"));
  EXPECT_TRUE(contains(refusal(replaced(opencv_yaml, "-1.35", "1.35")), "swap"));
  EXPECT_TRUE(contains(refusal(replaced(middlebury, "193.001", "-193.001")), "swap"));
}

TEST(Calibration, CamerasThatAreNotSideBySideAreRefused) {
  EXPECT_TRUE(contains(refusal(replaced(opencv_yaml, "-1.35e+03, 0., 450., 240.5, 0.", "0., 0., 450., 240.5, -1350.")),
                       "side by side"));
  EXPECT_TRUE(contains(refusal(replaced(kitti, "-329 0 700 180", "-329 0 700 190")), "principal point"));
  EXPECT_TRUE(contains(refusal(replaced(kitti, "-329 0 700", "-329 0 720")), "focal"));
  EXPECT_TRUE(contains(refusal(replaced(middlebury, "326.96", "336.96")), "doffs"));
  EXPECT_TRUE(contains(refusal(replaced(kitti, "700 0 600 -329", "700 5 600 -329")), "(0, 1)"));
}

TEST(Calibration, TextIsReadAsEditorsLeaveIt) {
  std::string windows;
  for (const char c : middlebury) windows += c == '\n' ? std::string("\r\n") : std::string(1, c);
  EXPECT_EQ(rig_from("\xEF\xBB\xBF" + windows).baseline, 193.001);
  EXPECT_EQ(rig_from("# our rig\n\n" + replaced(middlebury, "baseline=193.001", "baseline = 193.001 # mm")).baseline,
            193.001);
  std::string listed = "%YAML:1.0\nP1:\n  data:\n";
  for (const char* n : {"450", "0", "320", "0", "0", "450", "240", "0", "0", "0", "1", "0"})
    listed += std::string("  - ") + n + "\n";
  EXPECT_NEAR(rig_from(listed + "P2:\n  data: [450, 0, 320, -90, 0, 450, 240, 0, 0, 0, 1, 0]\n").baseline, 0.2, 1e-12);
  EXPECT_NEAR(rig_from(listed + "P2:\n\tdata:[450, 0, 320, -90, 0, 450, 240, 0, 0, 0, 1, 0]\n").baseline, 0.2, 1e-12);
}

TEST(Calibration, BrokenFilesGetOneSentence) {
  EXPECT_TRUE(contains(refusal(""), "empty"));
  EXPECT_TRUE(contains(refusal("\n\n"), "empty"));
  EXPECT_TRUE(contains(refusal("\x89PNG\r\n\x1a\n"), "begins with '?PNG'"));
  EXPECT_TRUE(contains(refusal("name: x\n"), "no stereo calibration"));
  EXPECT_TRUE(contains(refusal(replaced(middlebury, "baseline=193.001\n", "")), "no baseline"));
  EXPECT_TRUE(contains(refusal(replaced(middlebury, "193.001", "wide")), "'wide'"));
  EXPECT_TRUE(contains(refusal(replaced(middlebury, "193.001", "nan")), "not a finite number"));
  EXPECT_TRUE(contains(refusal(replaced(middlebury, "193.001", "1e999")), "not a finite number"));
  EXPECT_TRUE(contains(refusal(replaced(middlebury, "193.001", "1e30")), "baseline"));
  EXPECT_TRUE(contains(refusal(replaced(middlebury, "193.001", "0")), "baseline"));
  EXPECT_TRUE(contains(refusal(replaced(middlebury, "193.001", "193.001\nbaseline=200")), "more than once"));
  EXPECT_TRUE(contains(refusal(replaced(middlebury, "cam0=[999.421", "cam0=[-999.421")), "focal"));
  EXPECT_TRUE(contains(refusal(replaced(middlebury, "cam0=[999.421", "cam0=[0")), "focal"));
  EXPECT_TRUE(contains(refusal(replaced(middlebury, " 0 0 1]\nd", "\nd")), "no end"));
  EXPECT_TRUE(contains(refusal(replaced(middlebury, "width=741", "width=-741")), "size"));
  EXPECT_TRUE(contains(refusal(replaced(middlebury, "width=741", "width=7e8")), "size"));
  EXPECT_TRUE(contains(refusal(replaced(kitti, " -329", "")), "P3 holds 11 values; it must have 12"));
  EXPECT_TRUE(contains(refusal(kitti.substr(0, kitti.find("P3"))), "(accepted)"));  // the grey pair is complete
  EXPECT_TRUE(contains(refusal(kitti.substr(0, kitti.find("P1"))), "no P1"));
  EXPECT_TRUE(contains(refusal(opencv_yaml.substr(0, opencv_yaml.find("P2"))), "no P2"));
  EXPECT_TRUE(contains(refusal(opencv_xml.substr(0, opencv_xml.size() - 20)), "cut off"));
  EXPECT_TRUE(contains(refusal(replaced(opencv_xml, "</P1>", "</P3>")), "damaged"));
  EXPECT_TRUE(contains(refusal(std::string(100000, '<')), "line 1 is not valid XML"));
  EXPECT_TRUE(contains(refusal("{\"M1\": [1, 2"), "line 1 is not valid JSON"));
}

TEST(Calibration, EveryTruncationIsReadOrRefused) {
  for (const std::string& file : {middlebury, kitti, opencv_yaml, opencv_q, opencv_xml})
    for (std::size_t length = 0; length < file.size(); ++length) {
      try {
        const Rig rig = rig_from(file.substr(0, length));
        EXPECT_GT(rig.focal, 0);
        EXPECT_GT(rig.baseline, 0);
        EXPECT_TRUE(std::isfinite(rig.depth(1000)));
      } catch (const Error& error) {
        EXPECT_EQ(error.category(), ErrorCategory::format) << error.what();
      }
    }
}

// Time and memory are bounded by the size of the file, for any contents.
TEST(Calibration, NestingAndLongNamesAreBounded) {
  std::string nested, elements;
  for (int i = 0; i < 20000; ++i) {
    nested += std::string(static_cast<std::size_t>(std::min(i, 200)), ' ') + "a:\n";
    elements = "<a>" + elements + "</a>";
  }
  EXPECT_TRUE(contains(refusal(nested), "nested too deeply"));
  EXPECT_TRUE(contains(refusal(elements), "nested too deeply"));
  EXPECT_TRUE(contains(refusal(std::string(1 << 20, 'a') + ": 1\n"), "begins with 'aaa"));
  EXPECT_TRUE(contains(refusal("P0: " + std::string(1 << 21, '1') + "\n"), "not a finite number"));
  std::string numbers = "P0: 1\nP1: ";
  for (int i = 0; i < 500000; ++i) numbers += "1 ";
  EXPECT_TRUE(
      contains(refusal(replaced(numbers, "P0: 1\n", "P0: 700 0 600 0 0 700 180 0 0 0 1 0\n")), "500000 values"));
}

TEST(RigRange, CoversTheDepthsAndNoMoreThanAPixelAround) {
  const Rig rig = rig_from(middlebury);
  const DisparityRange range = rig.range(2000, 5000);
  const double low = 999.421 * 193.001 / 5000 - 32.778, high = 999.421 * 193.001 / 2000 - 32.778;
  EXPECT_LE(range.min, low);
  EXPECT_GT(range.min, low - 1);
  EXPECT_GE(range.max(), high);
  EXPECT_LT(range.max(), high + 1);
  // The disparity of points at infinity is −doffs.
  EXPECT_EQ(rig.range(3000, std::numeric_limits<double>::infinity()).min, -33);
  const Rig simple{100, 0, 0, 0, 1, "m", {}};
  EXPECT_EQ(simple.range(10, 50), (DisparityRange{2, 9}));
  EXPECT_EQ(simple.range(10, 10), (DisparityRange{10, 1}));
}

TEST(RigRange, ImpossibleDepthsAreRefused) {
  const Rig rig = rig_from(middlebury);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const auto& [near, far] : {std::pair{0.0, 1.0}, {-1.0, 1.0}, {2.0, 1.0}, {nan, 1.0}, {1.0, nan}, {1e-9, 1.0}})
    try {
      rig.range(near, far);
      ADD_FAILURE() << near << " to " << far;
    } catch (const Error& error) {
      EXPECT_EQ(error.category(), ErrorCategory::call);
    }
  EXPECT_THROW(Rig{}.range(1, 2), Error);
}

TEST_F(CalibrationFiles, RosIsAPairOfFiles) {
  const fs::path left = file("left.yaml", ros("0")), right = file("right.yaml", ros("-48.0"));
  const Rig rig = read_rig(left, right);
  EXPECT_EQ(rig.focal, 400);
  EXPECT_DOUBLE_EQ(rig.baseline, 0.12);
  EXPECT_EQ(rig.unit, "m");
  EXPECT_EQ(rig.size, (Size{640, 480}));
  EXPECT_DOUBLE_EQ(rig.depth(48), 1);
}

TEST_F(CalibrationFiles, ErrorsNameTheFileToLookAt) {
  const fs::path left = file("left.yaml", ros("0")), right = file("right.yaml", ros("-48.0"));
  const auto message = [](const fs::path& first, const std::optional<fs::path>& second, ErrorCategory category) {
    try {
      read_rig(first, second);
    } catch (const Error& error) {
      EXPECT_EQ(error.category(), category) << error.what();
      return std::string(error.what());
    }
    return std::string("(accepted)");
  };
  constexpr auto call = ErrorCategory::call, format = ErrorCategory::format;
  EXPECT_TRUE(contains(message(left, std::nullopt, call), "left.yaml"));
  EXPECT_TRUE(contains(message(right, left, format), "swap"));
  EXPECT_TRUE(contains(message(left, left, format), "have the baseline 0"));
  EXPECT_TRUE(contains(message(left, file("small.yaml", ros("-48", "320")), format), "small.yaml"));
  EXPECT_TRUE(contains(message(left, file("broken.yaml", "projection_matrix:\n  data: [1"), format), "broken.yaml"));
  EXPECT_TRUE(contains(message(left, file("kitti.txt", kitti), call), "kitti.txt"));
  EXPECT_TRUE(contains(message(file("m.txt", middlebury), right, call), "leave"));
  EXPECT_TRUE(contains(message(folder_ / "absent.txt", std::nullopt, ErrorCategory::file), "absent.txt"));
  EXPECT_TRUE(contains(message(file("big.txt", std::string(5 << 20, ' ')), std::nullopt, format), "big.txt"));
}

class CalibrationData : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::getenv("STEREOPSIS_DATA")) GTEST_SKIP() << "STEREOPSIS_DATA does not name the folder of real scenes";
    data_ = std::getenv("STEREOPSIS_DATA");
  }
  fs::path data_;
};

TEST_F(CalibrationData, Middlebury) {
  const Rig rig = read_rig(data_ / "middlebury_2014q/motorcycle/calib.txt");
  EXPECT_EQ(rig.size, (Size{741, 497}));
  EXPECT_NEAR(rig.depth(40), 999.421 * 193.001 / (40 + 32.778), 1e-6);
  EXPECT_NEAR(read_rig(data_ / "middlebury_2014q/adirondack/calib.txt").depth(30), 1038.018 * 176.252 / (30 + 53.271),
              1e-6);
}

TEST_F(CalibrationData, NothingIsWarnedOf) {
  for (const auto& [file, size] : {std::pair{"middlebury_2014q/motorcycle/calib.txt", Size{741, 497}},
                                   {"middlebury_2014q/adirondack/calib.txt", Size{718, 496}},
                                   {"kitti2012/000070/calib.txt", Size{1226, 370}},
                                   {"kitti_odometry/sequence_2/calib.txt", Size{1241, 376}},
                                   {"calibration/opencv_chessboard/extrinsics.yml", Size{640, 480}}}) {
    const CalibrationFile read = read_calibration_file(data_ / file);
    EXPECT_TRUE(read.warnings.empty()) << read.warnings[0];
    EXPECT_TRUE(calibration_warnings(read.rig, size).empty()) << file;
  }
  const fs::path folder = data_ / "calibration/opencv_chessboard";
  const CalibrationFile pair =
      read_calibration_file(folder, {}, {.pair = KittiPair::any, .size = {640, 480}, .lens = {}});
  EXPECT_TRUE(pair.cameras.has_value() && pair.warnings.empty() && calibration_warnings(*pair.cameras).empty());
}

TEST_F(CalibrationData, Kitti) {
  const fs::path file = data_ / "kitti2012/000070/calib.txt";
  EXPECT_NEAR(read_rig(file, {}, KittiPair::grey).baseline, 386.1448 / 718.856, 1e-9);
  // Without the offsets of the cameras in depth, the baseline would be 0.5323.
  EXPECT_NEAR(read_rig(file, {}, KittiPair::colour).baseline, 0.53329, 1e-5);
  EXPECT_NEAR(read_rig(data_ / "kitti_odometry/sequence_2/calib.txt").baseline, 0.53717, 1e-5);
  EXPECT_THROW(read_rig(data_ / "kitti_odometry/sequence_2/poses.txt"), Error);
}

TEST_F(CalibrationData, OpenCv) {
  const fs::path folder = data_ / "calibration/opencv_chessboard";
  const Rig rig = read_rig(folder / "extrinsics.yml");
  EXPECT_NEAR(rig.focal, 439.6486, 1e-4);
  EXPECT_NEAR(rig.baseline, 3.34304, 1e-5);
  EXPECT_NEAR(rig.cx_left, 319.32437, 1e-5);
  EXPECT_EQ(rig.cx_left, rig.cx_right);
  EXPECT_THROW(read_rig(folder / "intrinsics.yml"), Error);    // the file describes two cameras, but no rig
  EXPECT_THROW(read_rig(folder / "stereo_calib.xml"), Error);  // the file is a list of images
}

}  // namespace
}  // namespace stereopsis::calibration_test
