// Tests the way from raw cameras to metric clouds, as a user calls it.
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "command.hpp"
#include "stereopsis/calibration.hpp"
#include "stereopsis/io.hpp"
#include "support/rigs.hpp"

namespace stereopsis::test {
namespace {

class Geometry : public Command {
 protected:
  // The scene's images count as raw ones of cameras with distortion.
  static void SetUpTestSuite() {
    Command::SetUpTestSuite();
    write_calibration(folder / "rig.yml", calibration_for({150, 110}));
  }

  static void expect_done(const Answer& answer) { ASSERT_EQ(answer.code, 0) << answer.err; }
  static Answer match_raw(std::vector<std::string> more) {
    more.insert(more.begin(), {"--calib", "rig.yml", "--raw"});
    return match(more);
  }
  static bool same(const fs::path& a, const fs::path& b) {
    const std::string contents_of_a = contents(folder / a);
    return !contents_of_a.empty() && contents_of_a == contents(folder / b);
  }
};

TEST_F(Geometry, RawIsRectifyAndThenMatch) {
  fs::create_directory(folder / "rectified");
  expect_done(call({"rectify", "scene/left.png", "scene/right.png", "--calib", "rig.yml", "-o", "rectified"}));
  expect_done(match_raw({"-o", "raw.pfm", "--depth", "raw_z.pfm", "--cloud", "raw.ply", "--uncertainty", "raw_u.npy",
                         "--frame", "head", "--align-rows", "off"}));
  expect_done(call({"match",
                    "rectified/left/left.png",
                    "rectified/right/right.png",
                    "--disparities",
                    "32",
                    "--align-rows",
                    "off",
                    "-o",
                    "two.pfm",
                    "--mask-left",
                    "rectified/mask_left.png",
                    "--mask-right",
                    "rectified/mask_right.png",
                    "--calib",
                    "rectified/rig.yml",
                    "--depth",
                    "two_z.pfm",
                    "--cloud",
                    "two.ply",
                    "--uncertainty",
                    "two_u.npy",
                    "--frame",
                    "head",
                    "--confidence",
                    "two_c.pfm",
                    "--validity",
                    "two_v.png"}));
  EXPECT_EQ(read_disparity(folder / "raw.pfm").size(), (Size{153, 108}));
  for (const auto& [raw, two] : {std::pair{"raw.pfm", "two.pfm"},
                                 {"raw_z.pfm", "two_z.pfm"},
                                 {"raw.ply", "two.ply"},
                                 {"raw_u.npy", "two_u.npy"}})
    EXPECT_TRUE(same(raw, two)) << raw;

  expect_done(
      call({"cloud", "two.pfm", "--calib", "rectified/rig.yml", "-o", "three.ply", "--color", "rectified/left/left.png",
            "--confidence", "two_c.pfm", "--validity", "two_v.png", "--depth", "three_z.pfm", "--frame", "head"}));
  EXPECT_TRUE(same("raw.ply", "three.ply"));
  EXPECT_TRUE(same("raw_z.pfm", "three_z.pfm"));
}

// Aligned rows go into the maps, in both programs.
TEST_F(Geometry, RawWithAlignedRowsIsRectifyAndThenMatch) {
  for (const char* rows : {"auto", "0.5,-0.25"}) {
    SCOPED_TRACE(rows);
    const std::string how = std::string("--align-rows=") + rows;
    fs::remove_all(folder / "aligned");
    fs::create_directory(folder / "aligned");
    const Answer answer =
        call({"rectify", "scene/left.png", "scene/right.png", "--calib", "rig.yml", "-o", "aligned", how});
    expect_done(answer);
    expect_done(match_raw({"-o", "raw.pfm", how}));
    expect_done(call({"match", "aligned/left/left.png", "aligned/right/right.png", "--disparities", "32", "-o",
                      "two.pfm", "--align-rows", "off", "--mask-left", "aligned/mask_left.png", "--mask-right",
                      "aligned/mask_right.png"}));
    EXPECT_TRUE(same("raw.pfm", "two.pfm"));
    EXPECT_TRUE(std::string(rows) == "auto" || answer.out.find("of which 1 with aligned rows") != std::string::npos);
  }
}

TEST_F(Geometry, RectificationHasItsTimeAndItsRegion) {
  const Answer answer = match_raw({"-o", "d.pfm", "--depth", "z.png", "--timings"});
  expect_done(answer);
  EXPECT_NE(answer.out.find("rectification"), std::string::npos) << answer.out;
  EXPECT_NE(answer.out.find("depth and points"), std::string::npos) << answer.out;
  expect_done(match_raw({"-o", "part.pfm", "--roi", "100,50,53,58", "--crop", "--cloud", "part.ply", "--organised"}));
  EXPECT_EQ(read_disparity(folder / "part.pfm").size(), (Size{53, 58}));
  EXPECT_NE(contents(folder / "part.ply").find("num_cols 53"), std::string::npos);
}

TEST_F(Geometry, SequencesHaveADepthAndACloudForEachFrame) {
  for (const char* name : {"l", "r", "z", "c", "d"}) fs::create_directory(folder / name);
  for (const char* seed : {"1", "2", "3"}) {
    const std::string made = std::string("made") + seed;
    expect_done(
        call({"synth", "-o", made, "--width", "150", "--height", "110", "--disparities", "32", "--seed", seed}));
    fs::copy_file(folder / made / "left.png", folder / "l" / (made + ".png"));
    fs::copy_file(folder / made / "right.png", folder / "r" / (made + ".png"));
  }
  expect_done(call({"match", "l", "r", "--disparities", "32", "--calib", "rig.yml", "--raw", "-o", "d", "--depth", "z",
                    "--cloud", "c", "--align-rows", "off"}));
  for (const char* made : {"made1", "made2", "made3"}) {
    const std::string name = made;
    expect_done(
        call({"match", "l/" + name + ".png", "r/" + name + ".png", "--disparities", "32", "--calib", "rig.yml", "--raw",
              "-o", "alone.pfm", "--depth", "alone_z.pfm", "--cloud", "alone.ply", "--align-rows", "off"}));
    EXPECT_TRUE(same("alone.pfm", "d/" + name + ".pfm"));
    EXPECT_TRUE(same("alone_z.pfm", "z/" + name + ".pfm"));
    EXPECT_TRUE(same("alone.ply", "c/" + name + ".ply"));
  }
}

TEST_F(Geometry, NearAndFarChooseTheRange) {
  const Answer answer = call({"match", "scene/left.png", "scene/right.png", "--calib", "rig.yml", "--raw", "--near",
                              "500", "--far", "2000", "-o", "d.pfm"});
  expect_done(answer);
  const Rig rig = read_rig(folder / "rig.yml");
  const DisparityRange range = rig.range(500, 2000);
  EXPECT_NE(answer.err.find("disparities " + std::to_string(range.min) + " to " + std::to_string(range.max())),
            std::string::npos)
      << answer.err;
}

TEST_F(Geometry, BadCallsAreRefused) {
  const auto refused = [](const std::vector<std::string>& arguments, const std::string& part, int code = 2) {
    const auto before = snapshot();
    const Answer answer = call(arguments);
    EXPECT_EQ(answer.code, code) << answer.err;
    EXPECT_NE(answer.err.find(part), std::string::npos) << answer.err;
    EXPECT_EQ(std::count(answer.err.begin(), answer.err.end(), '\n'), 1) << answer.err;
    EXPECT_TRUE(snapshot() == before);
  };
  const std::vector<std::string> pair = {"match", "scene/left.png", "scene/right.png", "--disparities", "16",
                                         "-o",    "bad.pfm"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), pair.begin(), pair.end());
    return more;
  };
  write(folder / "calib.txt",
        "cam0=[100 0 75; 0 100 55; 0 0 1]\ncam1=[100 0 75; 0 100 55; 0 0 "
        "1]\ndoffs=0\nbaseline=100\nwidth=150\nheight=110\nndisp=32\n");
  refused(with({"--raw"}), "--calib");
  refused(with({"--raw", "--calib", "calib.txt"}), "Middlebury", 1);
  refused(with({"--depth", "z.pfm"}), "--calib");
  refused(with({"--calib", "rig.yml", "--cloud", "c.ply", "--frame", "wheel"}), "--frame wheel");
  refused(with({"--calib", "rig.yml", "--organised"}), "--cloud");
  refused(with({"--calib", "rig.yml", "--disparity-error", "1"}), "--uncertainty");
  write_calibration(folder / "other.yml", calibration_for({160, 110}));
  refused(with({"--calib", "other.yml", "--raw"}), "160×110");
  refused({"cloud", "nowhere.pfm", "--calib", "rig.yml", "-o", "c.ply"}, "nowhere.pfm");
  refused({"cloud", "scene/disp_left.pfm", "--calib", "calib.txt", "-o", "c.obj"}, ".ply");
  refused({"rectify", "scene/left.png", "scene/right.png", "--calib", "rig.yml", "-o", "nowhere", "--no-create"},
          "nowhere");
}

// The cameras of rig.yml without their rectification, as Kalibr writes them.
std::string camchain(const std::string& distortion = "[-0.25, 0.07, 0.001, -0.0005]") {
  const StereoCalibration c = calibration_for({150, 110});
  std::string out;
  for (const auto& [name, lens] : {std::pair{"cam0", &c.left.lens}, {"cam1", &c.right.lens}}) {
    out += std::string(name) + ":\n  camera_model: pinhole\n  distortion_coeffs: " + distortion +
           "\n  distortion_model: radtan\n  resolution: [150, 110]\n  intrinsics: [" + std::to_string(lens->fx) + ", " +
           std::to_string(lens->fy) + ", " + std::to_string(lens->cx) + ", " + std::to_string(lens->cy) + "]\n";
  }
  out += "  T_cn_cnm1:\n";
  for (std::size_t row = 0; row < 3; ++row) {
    out += "  - [";
    for (std::size_t i = 0; i < 3; ++i) out += std::to_string(c.rotation[3 * row + i]) + ", ";
    out += std::to_string(c.translation[row] / 1000) + "]\n";
  }
  return out + "  - [0, 0, 0, 1]\n";
}

TEST_F(Geometry, AFileWithoutARectificationHasItComputed) {
  write(folder / "camchain.yaml", camchain());
  const std::vector<std::string> call_of = {"--calib", "camchain.yaml", "-o", "d.pfm", "--depth", "z.pfm"};
  auto raw = call_of;
  raw.push_back("--raw");
  const Answer answer = match(raw);
  expect_done(answer);
  EXPECT_EQ(answer.err.find("add --raw"), std::string::npos) << answer.err;
  // Without --raw, the file does not tell how the images were rectified.
  const Answer without = match(call_of);
  expect_done(without);
  EXPECT_NE(without.err.find("add --raw"), std::string::npos) << without.err;
  fs::create_directory(folder / "computed");
  expect_done(call({"rectify", "scene/left.png", "scene/right.png", "--calib", "camchain.yaml", "-o", "computed"}));
  EXPECT_NEAR(read_rig(folder / "computed/rig.yml").baseline, 0.12, 1e-5);
  // The disparities of `match --raw` become points with the same file.
  const Answer cloud = call({"cloud", "d.pfm", "--calib", "camchain.yaml", "-o", "c.ply"});
  expect_done(cloud);
  EXPECT_EQ(cloud.err, "");
}

TEST_F(Geometry, ACalibrationOfOtherImagesIsRefusedOrWarnedOf) {
  const std::string numbers =
      "cam0=[400 0 299.5; 0 400 219.5; 0 0 1]\ncam1=[400 0 309.5; 0 400 219.5; 0 0 1]\nbaseline=100\n";
  write(folder / "large.txt", numbers + "width=600\nheight=440\n");
  write(folder / "nosize.txt", numbers);
  const Answer large = match({"--calib", "large.txt", "-o", "d.pfm", "--depth", "z.pfm"});
  EXPECT_EQ(large.code, 2);
  EXPECT_NE(large.err.find("600×440"), std::string::npos) << large.err;
  EXPECT_NE(large.err.find("--calib-scale 0.25"), std::string::npos) << large.err;
  const Answer nosize = match({"--calib", "nosize.txt", "-o", "d.pfm", "--depth", "z.pfm"});
  expect_done(nosize);
  EXPECT_NE(nosize.err.find("principal point"), std::string::npos) << nosize.err;
  EXPECT_EQ(match({"--calib", "nosize.txt", "-o", "e.pfm", "--strict"}).code, 1);
  const Answer scaled =
      match({"--calib", "large.txt", "--calib-scale", "0.25", "-o", "d.pfm", "--depth", "scaled.pfm"});
  expect_done(scaled);
  EXPECT_EQ(scaled.err.find("warning"), std::string::npos) << scaled.err;
  const Image<float> disparity = read_disparity(folder / "d.pfm"), depth = read_disparity(folder / "scaled.pfm");
  EXPECT_NEAR(depth(75, 55), 100.0 * 100 / (static_cast<double>(disparity(75, 55)) + 2.5), 1e-3);
}

TEST_F(Geometry, ALensModelIsAskedForAndCheckedAgainstTheFile) {
  write(folder / "named.yaml", camchain());
  const Answer named = match({"--calib", "named.yaml", "--raw", "--lens", "equidistant", "-o", "d.pfm"});
  EXPECT_EQ(named.code, 2);
  EXPECT_NE(named.err.find("leave --lens out"), std::string::npos) << named.err;
  std::string unnamed = camchain();
  for (std::size_t at; (at = unnamed.find("  distortion_model: radtan\n")) != std::string::npos;)
    unnamed.erase(at, std::string("  distortion_model: radtan\n").size());
  write(folder / "unnamed.yaml", unnamed);
  const Answer asked = match({"--calib", "unnamed.yaml", "--raw", "-o", "d.pfm"});
  EXPECT_EQ(asked.code, 2);
  EXPECT_NE(asked.err.find("--lens radtan"), std::string::npos) << asked.err;
  expect_done(match({"--calib", "unnamed.yaml", "--raw", "--lens", "radtan", "-o", "d.pfm"}));
  EXPECT_NE(match({"--calib", "named.yaml", "--raw", "--lens", "round", "-o", "d.pfm"}).err.find("'round'"),
            std::string::npos);
  EXPECT_NE(match({"--lens", "radtan", "-o", "d.pfm"}).err.find("--calib"), std::string::npos);
}

// assimp reads the cloud that `match` writes: as many points, in the same box.
TEST_F(Geometry, TheCloudOpensInAReaderOfOthers) {
  if (std::system("assimp version >/dev/null 2>&1") != 0) GTEST_SKIP() << "assimp is not installed (assimp-utils)";
  expect_done(match_raw({"-o", "d.pfm", "--cloud", "cloud.ply", "--measured-only"}));
  const std::string call_assimp = "assimp info '" + (folder / "cloud.ply").string() + "' -r 2>&1";
  std::string text;
  FILE* pipe = popen(call_assimp.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  for (char buffer[4096]; std::size_t n = std::fread(buffer, 1, sizeof(buffer), pipe);) text.append(buffer, n);
  pclose(pipe);
  const auto numbers_after = [&](const std::string& name, int count) {
    const std::size_t at = text.find(name);
    EXPECT_NE(at, std::string::npos) << text;
    std::vector<double> numbers;
    const char* next = text.c_str() + at + name.size();
    while (*next == ' ' || *next == '(' || *next == ':') ++next;
    for (int i = 0; i < count; ++i) {
      char* end = nullptr;
      numbers.push_back(std::strtod(next, &end));
      next = end;
    }
    return numbers;
  };
  const Rig rig = read_rig(folder / "rig.yml");
  const Image<float> d = read_disparity(folder / "d.pfm");
  double count = 0;
  std::array<double, 3> low = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
  for (int y = 0; y < d.height(); ++y)
    for (int x = 0; x < d.width(); ++x) {
      if (std::isnan(d(x, y)) || rig.depth(static_cast<double>(d(x, y))) < 0) continue;
      ++count;
      const auto point = rig.point(x, y, static_cast<double>(d(x, y)));
      for (std::size_t i = 0; i < 3; ++i) low[i] = std::min(low[i], point[i]), high[i] = std::max(high[i], point[i]);
    }
  EXPECT_EQ(numbers_after("Vertices", 1)[0], count);
  const auto got_low = numbers_after("Minimum point", 3), got_high = numbers_after("Maximum point", 3);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(got_low[i], low[i], 1e-5 * std::abs(low[i]) + 1e-3);
    EXPECT_NEAR(got_high[i], high[i], 1e-5 * std::abs(high[i]) + 1e-3);
  }
}

TEST_F(Geometry, CalibrateWithoutOpenCvSaysWhatIsMissing) {
  const Answer answer = call({"calibrate", "--left", "scene/left.png", "--right", "scene/right.png", "--board",
                              "chessboard:9x6:25mm", "-o", "x.yml"});
  EXPECT_NE(answer.code, 0);
  EXPECT_TRUE(answer.err.find("OpenCV") != std::string::npos || answer.err.find("pairs") != std::string::npos)
      << answer.err;
  EXPECT_FALSE(fs::exists(folder / "x.yml"));
}

// Right views one place further on, under the numbers of the left ones: no rig is written.
TEST_F(Geometry, CalibrateRefusesViewsThatArePairedWrongly) {
  const char* data = std::getenv("STEREOPSIS_DATA");
  if (data == nullptr) GTEST_SKIP() << "set STEREOPSIS_DATA to the data folder";
  std::vector<fs::path> views;
  for (const auto& entry : fs::directory_iterator(fs::path(data) / "calibration/opencv_chessboard"))
    if (entry.path().filename().string().starts_with("right")) views.push_back(entry.path());
  std::sort(views.begin(), views.end());
  fs::create_directory(folder / "shifted");
  for (std::size_t i = 0; i < views.size(); ++i)
    fs::copy_file(views[(i + 1) % views.size()], folder / "shifted" / views[i].filename());
  const Answer answer = call({"calibrate", "--left", (views[0].parent_path() / "left*.jpg").string(), "--right",
                              "shifted/right*.jpg", "--board", "chessboard:9x6:25mm", "-o", "wrong.yml"});
  if (answer.err.find("OpenCV") != std::string::npos) GTEST_SKIP() << "a build without OpenCV";
  EXPECT_EQ(answer.code, 1) << answer.out << answer.err;
  EXPECT_FALSE(fs::exists(folder / "wrong.yml"));
}

TEST_F(Geometry, CalibrateOnTheThirteenPairs) {
  const char* data = std::getenv("STEREOPSIS_DATA");
  if (data == nullptr) GTEST_SKIP() << "set STEREOPSIS_DATA to the data folder";
  const fs::path set = fs::path(data) / "calibration/opencv_chessboard";
  fs::create_directory(folder / "ros");
  const Answer answer = call({"calibrate", "--left", (set / "left*.jpg").string(), "--right",
                              (set / "right*.jpg").string(), "--board", "chessboard:9x6:25mm", "-o", "chess.yml",
                              "--ros", "ros", "--picture", "lines.png", "--report", "chess.json"});
  if (answer.err.find("OpenCV") != std::string::npos) GTEST_SKIP() << "a build without OpenCV";
  expect_done(answer);
  EXPECT_NE(answer.out.find("13 of 13 views"), std::string::npos) << answer.out;
  const Json report = json("chess.json");
  EXPECT_LE(report["rms"], 0.25);
  EXPECT_LE(report["dy_mean"], 0.2);
  EXPECT_EQ(read_image(folder / "lines.png").size(), (Size{1280, 480}));
  const StereoCalibration yaml = read_calibration(folder / "chess.yml"),
                          ros = read_calibration(folder / "ros/left.yaml", folder / "ros/right.yaml");
  EXPECT_EQ(yaml.rig.unit, "mm");
  EXPECT_NEAR(ros.rig.baseline, yaml.rig.baseline / 1000, 1e-9);
  // A pair of the set becomes rectified enough for matching.
  expect_done(call({"match", (set / "left01.jpg").string(), (set / "right01.jpg").string(), "--calib", "chess.yml",
                    "--raw", "--near", "200", "--far", "2000", "-o", "d.pfm", "--depth", "z.pfm"}));
}

}  // namespace
}  // namespace stereopsis::test
