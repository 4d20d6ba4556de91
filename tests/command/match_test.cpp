// `match` on one pair: what it writes is right, in every format.
#include <cmath>

#include "command.hpp"
#include "stereopsis/disparity.hpp"
#include "stereopsis/evaluation.hpp"
#include "stereopsis/io.hpp"

namespace stereopsis::test {
namespace {

class Match : public Command {
 protected:
  static void expect_done(const Answer& answer) { ASSERT_EQ(answer.code, 0) << answer.err; }
  static Image<float> disparity(const char* file, double scale = 0) { return read_disparity(folder / file, scale); }
  static double bad(const Image<float>& d) {
    return bad_pixels(d, disparity("scene/disp_left.pfm"), read_mask(folder / "scene/mask_nonocc.png"), 2);
  }
};

// Pixels where one has a disparity and the other has none, or where they are further apart than `tolerance`.
int differing(const Image<float>& a, const Image<float>& b, double tolerance) {
  int count = 0;
  for (int y = 0; y < a.height(); ++y)
    for (int x = 0; x < a.width(); ++x) {
      const bool both = std::isfinite(a(x, y)) && std::isfinite(b(x, y));
      count += both ? std::abs(a(x, y) - b(x, y)) > tolerance : std::isfinite(a(x, y)) != std::isfinite(b(x, y));
    }
  return count;
}

TEST_F(Match, EveryFormatHoldsTheSameDisparities) {
  expect_done(match({"-o", "d.pfm"}));
  const Image<float> reference = disparity("d.pfm");
  ASSERT_EQ(reference.size(), (Size{150, 110}));
  EXPECT_LT(bad(reference), 25);
#ifdef STEREOPSIS_TIFF
  const std::vector<const char*> lossless = {"d.npy", "d.tiff", "d.tif"};
#else
  const std::vector<const char*> lossless = {"d.npy"};  // a build without TIFF refuses it
#endif
  for (const char* file : lossless) {
    SCOPED_TRACE(file);
    expect_done(match({"-o", file}));
    EXPECT_EQ(differing(disparity(file), reference, 0), 0);
  }
  expect_done(match({"-o", "d.png"}));
  EXPECT_EQ(differing(disparity("d.png"), reference, 0.5 / 256), 0);
  for (const char* file : {"d8.png", "d8.pgm"}) {
    SCOPED_TRACE(file);
    expect_done(match({"-o", file, "--scale", "4"}));
    EXPECT_EQ(differing(disparity(file, 4), reference, 0.25), 0);  // a valid 0 is written as 1
  }
}

TEST_F(Match, AnyOneResultIsEnough) {
  expect_done(match({"-o", "all.pfm", "--depth", "all_z.pfm", "--focal", "100", "--baseline", "1mm"}));
  for (const char* option :
       {"--depth", "--depth-color", "--uncertainty", "--cloud", "--color", "--confidence", "--validity", "--right"}) {
    SCOPED_TRACE(option);
    const std::string name = std::string("alone_") + (option + 2);
    const std::string result = name + (name == "alone_cloud" ? ".ply" : name == "alone_uncertainty" ? ".pfm" : ".png");
    const Answer answer = match({option, result, "--focal", "100", "--baseline", "1mm"});
    expect_done(answer);
    EXPECT_TRUE(fs::exists(folder / result));
    EXPECT_EQ(answer.out.rfind(result + ": 150×110", 0), 0U) << answer.out;
  }
  expect_done(match({"--depth", "alone_z.pfm", "--focal", "100", "--baseline", "1mm"}));
  EXPECT_TRUE(contents(folder / "alone_z.pfm") == contents(folder / "all_z.pfm"));
  expect_done(match({"--save-volume", "cost=alone.npy"}));
  EXPECT_TRUE(fs::exists(folder / "alone.npy"));
}

TEST_F(Match, AnExistingFileIsReplaced) {
  write(folder / "old.pfm", "old");
  expect_done(match({"-o", "old.pfm"}));
  EXPECT_LT(bad(disparity("old.pfm")), 25);
}

TEST_F(Match, ResultsDoNotDependOnTheThreads) {
  expect_done(match({"-o", "one.pfm", "--threads", "1"}));
  expect_done(match({"-o", "three.pfm", "--threads", "3"}));
  EXPECT_TRUE(contents(folder / "one.pfm") == contents(folder / "three.pfm"));
}

TEST_F(Match, TheRangeIsEstimatedAndSaid) {
  const Answer answer =
      call({"match", "scene/left.png", "scene/right.png", "-o", "estimated.pfm", "--report", "e.json"});
  expect_done(answer);
  const Json report = json("e.json");
  EXPECT_EQ(report["range_from"], "estimate");
  const std::string said = "--min-disparity " + std::to_string(report["min_disparity"].get<int>()) + " --disparities " +
                           std::to_string(report["disparities"].get<int>());
  EXPECT_NE(answer.err.find(said), std::string::npos) << answer.err;
}

TEST_F(Match, TheRangeComesFromTheCalibration) {
  write(folder / "calib.txt",
        "cam0=[200 0 75; 0 200 55; 0 0 1]\ncam1=[200 0 75; 0 200 55; 0 0 "
        "1]\ndoffs=0\nbaseline=100\nwidth=150\nheight=110\n"
        "ndisp=32\n");
  expect_done(call({"match", "scene/left.png", "scene/right.png", "-o", "calibrated.pfm", "--calib", "calib.txt",
                    "--near", "800", "--far", "4000", "--report", "c.json"}));
  EXPECT_EQ(json("c.json")["min_disparity"], 5);  // 200 px · 100 mm / 4000 mm
  EXPECT_EQ(json("c.json")["disparities"], 21);   // to 200 px · 100 mm / 800 mm = 25
  expect_done(call({"match", "scene/left.png", "scene/right.png", "-o", "calibrated.pfm", "--calib", "calib.txt",
                    "--near", "800", "--report", "c.json"}));
  EXPECT_EQ(json("c.json")["min_disparity"], 0);
  const Answer metres = call({"match", "scene/left.png", "scene/right.png", "-o", "calibrated.pfm", "--calib",
                              "calib.txt", "--near", "0.8", "--far", "4"});
  EXPECT_EQ(metres.code, 2);
  EXPECT_NE(
      metres.err.find("the disparity at --near 0.8 is 25000, and the images are only 150 pixels wide; the nearest "
                      "depth that both cameras see is 134.2 mm; a number without a unit is in mm, the unit of "
                      "calib.txt: write --near 0.8m for metres"),
      std::string::npos)
      << metres.err;
}

TEST_F(Match, DepthAndCloudAreInTheUnitOfTheCalibration) {
  write(folder / "calib.txt",
        "cam0=[200 0 75; 0 200 55; 0 0 1]\ncam1=[200 0 77; 0 200 55; 0 0 "
        "1]\ndoffs=2\nbaseline=100\nwidth=150\nheight=110\n"
        "ndisp=32\n");
  expect_done(match({"-o", "d.pfm", "--calib", "calib.txt", "--fill-depth", "--depth", "z.pfm", "--cloud", "c.ply"}));
  expect_done(match({"-o", "d.pfm", "--calib", "calib.txt", "--fill-depth", "--depth", "z.png"}));
  const Image<float> d = disparity("d.pfm"), z = disparity("z.pfm"), mm = disparity("z.png", 1);
  long long points = 0;
  for (int y = 0; y < d.height(); ++y)
    for (int x = 0; x < d.width(); ++x) {
      if (!std::isfinite(d(x, y))) {
        ASSERT_FALSE(std::isfinite(z(x, y)));
        continue;
      }
      ++points;
      ASSERT_NEAR(z(x, y), 200.0 * 100.0 / (d(x, y) + 2), 1e-2);
      ASSERT_NEAR(mm(x, y), z(x, y), 0.51);
    }
  EXPECT_NE(contents(folder / "c.ply").find("element vertex " + std::to_string(points) + "\n"), std::string::npos);
}

TEST_F(Match, ARegionKeepsTheSizeUnlessCropped) {
  expect_done(match({"-o", "region.pfm", "--roi", "40,20,60,50", "--validity", "region.png"}));
  const Image<float> region = disparity("region.pfm");
  const Image<std::uint8_t> validity = read_validity(folder / "region.png");
  ASSERT_EQ(region.size(), (Size{150, 110}));
  int inside = 0;
  for (int y = 0; y < region.height(); ++y)
    for (int x = 0; x < region.width(); ++x) {
      const bool in = x >= 40 && x < 100 && y >= 20 && y < 70;
      inside += in && std::isfinite(region(x, y));
      ASSERT_EQ((validity(x, y) & validity::outside) != 0, !in) << x << ", " << y;
      ASSERT_TRUE(in || !std::isfinite(region(x, y))) << x << ", " << y;
    }
  EXPECT_GT(inside, 60 * 50 / 2);

  expect_done(match({"-o", "cropped.pfm", "--roi", "40,20,60,50", "--crop"}));
  const Image<float> cropped = disparity("cropped.pfm");
  ASSERT_EQ(cropped.size(), (Size{60, 50}));
  EXPECT_EQ(differing(cropped, Image<float>(region.view().crop({40, 20, 60, 50})), 0), 0);
}

TEST_F(Match, MaskedPixelsHaveNoDisparity) {
  Image<std::uint8_t> mask({150, 110}, 1, 255);
  for (int y = 40; y < 60; ++y)
    for (int x = 50; x < 90; ++x) mask(x, y) = 0;
  write_image(folder / "mask.png", mask);
  expect_done(match({"-o", "masked.pfm", "--mask-left", "mask.png", "--validity", "v.png"}));
  const Image<std::uint8_t> validity = read_validity(folder / "v.png");
  EXPECT_TRUE(validity(70, 50) & validity::masked);
  EXPECT_FALSE(validity(20, 50) & validity::masked);
  EXPECT_FALSE(std::isfinite(disparity("masked.pfm")(70, 50)));
}

TEST_F(Match, TheRightViewIsItsOwnMap) {
  expect_done(match({"-o", "d.pfm", "--right", "right.pfm"}));
  EXPECT_LT(bad_pixels(disparity("right.pfm"), disparity("scene/disp_right.pfm"), {}, 2), 35);
}

TEST_F(Match, ThePictureHasALegendBelow) {
  expect_done(match({"-o", "d.pfm", "--color", "colour.png"}));
  const AnyImage picture = read_image(folder / "colour.png");
  EXPECT_EQ(picture.channels(), 3);
  EXPECT_GE(picture.size().width, 150);  // a narrow picture gets a margin for its legend
  EXPECT_GT(picture.size().height, 110);
}

TEST_F(Match, TheReportSaysWhatWasDone) {
  const Answer answer =
      match({"-o", "d.pfm", "--report", "report.json", "--timings", "--device", "cpu", "--threads", "2"});
  expect_done(answer);
  const Json report = json("report.json");
  EXPECT_EQ(report["method"], "sgm");
  EXPECT_EQ(report["device"], "cpu");
  EXPECT_EQ(report["threads"], 2);
  EXPECT_EQ(report["width"], 150);
  EXPECT_EQ(report["height"], 110);
  EXPECT_EQ(report["min_disparity"], 0);
  EXPECT_EQ(report["disparities"], disparities);
  EXPECT_FALSE(report["version"].get<std::string>().empty());
  EXPECT_FALSE(report["parameters"].empty());
  ASSERT_EQ(report["frames"].size(), 1U);
  const Json frame = report["frames"][0];
  for (const char* part : {"reading", "matching", "writing"}) EXPECT_GT(frame["ms"][part].get<double>(), 0) << part;
  EXPECT_FALSE(frame["stages"].empty());
  EXPECT_LE(frame["density"]["before_fill"].get<double>(), frame["density"]["after_fill"].get<double>());
  EXPECT_GT(frame["density"]["before_fill"].get<double>(), 50);
  for (const Json& stage : frame["stages"])
    EXPECT_NE(answer.out.find(stage["name"].get<std::string>()), std::string::npos) << stage["name"];
}

TEST_F(Match, StandardErrorIsQuietWhenAllIsGiven) {
  ASSERT_EQ(call({"synth", "-o", "larger", "--width", "320", "--height", "240", "--disparities", "32"}).code, 0);
  const Answer answer = call({"match", "larger/left.png", "larger/right.png", "--disparities", "32", "-o", "d.pfm"});
  EXPECT_EQ(answer.err, "");
  EXPECT_NE(answer.out.find("d.pfm"), std::string::npos);
}

}  // namespace
}  // namespace stereopsis::test
