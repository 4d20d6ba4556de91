// calibrate --from-scenes: from ordinary pairs, a calibration is corrected, and unknown cameras are calibrated.
#include "command.hpp"

namespace stereopsis::test {
namespace {

class Refine : public Command {
 protected:
  // Pairs whose right camera is turned by 4 rows (0.57°) about its x axis and by 3 rows about its z axis.
  static void SetUpTestSuite() {
    Command::SetUpTestSuite();
    for (const char* side : {"left", "right"}) fs::create_directory(folder / side);
    for (const char* seed : {"1", "2", "3"}) {
      const std::string scene = std::string("raw") + seed;
      const Answer made = call({"synth", "-o", scene, "--scene", "room", "--seed", seed, "--width", "400", "--height",
                                "300", "--disparities", "48", "--vertical-offset", "4", "--vertical-slope", "3"});
      ASSERT_EQ(made.code, 0) << made.err;
      for (const char* side : {"left", "right"})
        fs::copy_file(folder / scene / (std::string(side) + ".png"), folder / side / (std::string(seed) + ".png"));
    }
    write(folder / "K.txt", "400 0 199.5 0 400 149.5 0 0 1\n0.12\n");
  }
  static Answer refine(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"calibrate",  "--from-scenes", "left",       "--from-scenes",
                                          "right",      "--calib",       "K.txt",      "-o",
                                          "better.yml", "--report",      "report.json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return call(arguments);
  }
};

TEST_F(Refine, CorrectsARigWhosePairsThenFit) {
  EXPECT_EQ(call({"check", "left/1.png", "right/1.png"}).code, 1);
  const Answer answer = refine({"--ros", "ros"});
  ASSERT_EQ(answer.code, 0) << answer.err;
  const Json report = json("report.json");
  EXPECT_NEAR(report["rows_before"].get<double>(), 4, 0.5);
  EXPECT_LT(report["rows_after"].get<double>(), 0.1);
  EXPECT_NEAR(std::abs(report["corrections"]["pitch"]["correction"].get<double>()), 0.573, 0.02);
  EXPECT_NEAR(std::abs(report["corrections"]["roll"]["correction"].get<double>()), 0.43, 0.02);
  EXPECT_TRUE(report["corrections"]["roll"]["observed"]);
  EXPECT_TRUE(fs::exists(folder / "ros/left.yaml"));
  const Answer rectified = call({"rectify", "left/1.png", "right/1.png", "--calib", "better.yml", "-o", "rectified"});
  ASSERT_EQ(rectified.code, 0) << rectified.err;
  const Answer fits = call({"check", "rectified/left/1.png", "rectified/right/1.png"});
  EXPECT_EQ(fits.code, 0) << fits.out;
  const Answer matched = call({"match", "left/1.png", "right/1.png", "--calib", "better.yml", "--raw", "--disparities",
                               "64", "--align-rows", "off", "-o", "d.pfm"});
  EXPECT_EQ(matched.code, 0);
  EXPECT_EQ(matched.err.find("warning"), std::string::npos) << matched.err;
}

TEST_F(Refine, CalibratesUnknownCamerasWithoutScale) {
  const std::vector<std::string> pair = {"--from-scenes", "left", "--from-scenes", "right"};
  const auto calibrate = [&](std::vector<std::string> more) {
    more.insert(more.begin(), pair.begin(), pair.end());
    more.insert(more.begin(), "calibrate");
    return call(more);
  };
  const Answer found = calibrate({"-o", "found.yml"});
  ASSERT_EQ(found.code, 0) << found.err;
  EXPECT_NE(found.err.find("do not show the focal length"), std::string::npos) << found.err;
  EXPECT_NE(found.out.find("has no scale"), std::string::npos) << found.out;
  const std::vector<std::string> match = {"match", "left/1.png",    "right/1.png", "--calib",      "found.yml",
                                          "--raw", "--disparities", "64",          "--align-rows", "off",
                                          "-o",    "d.pfm"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), match.begin(), match.end());
    return call(more);
  };
  const Answer matched = with({"--depth", "z.pfm"});
  EXPECT_EQ(matched.code, 0) << matched.err;
  EXPECT_NE((matched.out + matched.err).find("multiples of the baseline, because found.yml has no scale"),
            std::string::npos)
      << matched.out << matched.err;
  EXPECT_EQ(matched.err.find("rows"), std::string::npos) << matched.err;
  EXPECT_NE(with({"--depth", "z.png"}).err.find("with the length of the baseline"), std::string::npos);
  EXPECT_NE(with({"--near", "2m", "--far", "9m"}).code, 0);

  ASSERT_EQ(calibrate({"-o", "scaled.yml", "--focal", "400", "--baseline", "12cm", "--ros", "scaled"}).code, 0);
  EXPECT_NE(contents(folder / "scaled.yml").find("unit: \"mm\""), std::string::npos);
  EXPECT_TRUE(fs::exists(folder / "scaled/left.yaml"));
}

TEST_F(Refine, RefusesCallsThatCannotBeMeant) {
  const auto refused = [](const Answer& answer, const char* sentence) {
    EXPECT_EQ(answer.code, 2) << answer.err;
    EXPECT_NE(answer.err.find(sentence), std::string::npos) << answer.err;
  };
  refused(refine({"--board", "chessboard:9x6:25mm"}), "--board is for views of a board");
  refused(refine({"--from-scenes", "left"}), "--from-scenes is given 3 times");
  refused(refine({"--focal", "400"}), "--focal is for cameras without a calibration");
  refused(call({"calibrate", "--from-scenes", "left", "--from-scenes", "right", "-o", "x.yml", "--lens", "radtan"}),
          "--lens describes the calibration of --calib");
  refused(call({"calibrate", "--from-scenes", "left", "--from-scenes", "right", "-o", "x.yml", "--ros", "x"}),
          "--ros requires metres");
  refused(call({"calibrate", "--left", "left", "-o", "x.yml"}), "or --from-scenes");
  write(folder / "small.txt", "400 0 59.5 0 400 49.5 0 0 1\n0.12\n");
  EXPECT_NE(refine({"--raw"}).code, 0);  // the file has no raw cameras
  const Answer black = call(
      {"calibrate", "--from-scenes", "left/1.png", "--from-scenes", "left/1.png", "--calib", "K.txt", "-o", "x.yml"});
  EXPECT_NE(black.code, 0);
  EXPECT_FALSE(fs::exists(folder / "x.yml"));
}

}  // namespace
}  // namespace stereopsis::test
