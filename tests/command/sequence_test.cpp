// Sequences: by pattern and by directory, every frame the same as matched alone.
#include "command.hpp"

namespace stereopsis::test {
namespace {

class Sequence : public Command {
 protected:
  static constexpr int frames = 4;

  static void SetUpTestSuite() {
    Command::SetUpTestSuite();
    for (const char* name : {"left", "right", "alone"}) fs::create_directory(folder / name);
    for (int i = 0; i < frames; ++i) {
      const std::string n = std::to_string(i + 8);  // 8 to 11: by number, not by name
      ASSERT_EQ(
          call({"synth", "-o", "s" + n, "--width", "90", "--height", "60", "--disparities", "16", "--seed", n}).code,
          0);
      fs::copy_file(folder / ("s" + n) / "left.png", folder / ("left/frame" + n + ".png"));
      fs::copy_file(folder / ("s" + n) / "right.png", folder / ("right/frame" + n + ".png"));
      const Answer alone = call(
          {"match", "s" + n + "/left.png", "s" + n + "/right.png", "-o", "alone/" + n + ".pfm", "--disparities", "16"});
      ASSERT_EQ(alone.code, 0) << alone.err;
    }
  }

  static std::string all_devices() {
    std::string all = "cpu";
    const Json listed = Json::parse(call({"devices", "--json"}).out);
    for (const Json& device : listed["devices"])
      if (device["usable"] && device["name"] != "cpu") all += "," + device["name"].get<std::string>();
    return all;
  }

  void expect_as_alone(const std::string& prefix) {
    for (int i = 8; i < 8 + frames; ++i) {
      const std::string got = contents(folder / (prefix + std::to_string(i) + ".pfm"));
      EXPECT_FALSE(got.empty()) << i;
      EXPECT_TRUE(got == contents(folder / ("alone/" + std::to_string(i) + ".pfm"))) << i;
    }
  }
};

TEST_F(Sequence, ByPattern) {
  fs::create_directory(folder / "out");
  const Answer answer = call({"match", "left/frame%d.png", "right/frame%d.png", "-o", "out/d%d.pfm", "--disparities",
                              "16", "--color", "out/c%03d.png", "--report", "report.json"});
  ASSERT_EQ(answer.code, 0) << answer.err;
  EXPECT_EQ(answer.err.find('\r'), std::string::npos) << "a progress bar is for terminals";
  expect_as_alone("out/d");
  for (const char* picture : {"c008.png", "c009.png", "c010.png", "c011.png"})
    EXPECT_TRUE(fs::exists(folder / "out" / picture)) << picture;
  const Json report = json("report.json");
  ASSERT_EQ(report["frames"].size(), static_cast<std::size_t>(frames));
  EXPECT_EQ(report["frames"][1]["left"], "left/frame9.png");
  EXPECT_EQ(report["frames"][2]["right"], "right/frame10.png");
  EXPECT_EQ(report["frames"][3]["outputs"]["disparity"], "out/d11.pfm");
}

TEST_F(Sequence, DepthAloneIsWrittenAndResumed) {
  std::vector<std::string> arguments = {"match", "left",       "right", "--depth",       "depths", "--focal",
                                        "100",   "--baseline", "1mm",   "--disparities", "16"};
  const Answer first = call(arguments);
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(first.out.rfind("depths: 4 frames", 0), 0U) << first.out;
  for (int i = 8; i < 8 + frames; ++i)
    EXPECT_TRUE(fs::exists(folder / "depths" / ("frame" + std::to_string(i) + ".pfm"))) << i;
  arguments.emplace_back("--resume");
  const Answer again = call(arguments);
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.err.find("4 of 4 frames are complete from an earlier run"), std::string::npos) << again.err;
}

TEST_F(Sequence, OnSeveralDevices) {
  const std::string all = all_devices();
  fs::create_directory(folder / "shared");
  const Answer answer = call(
      {"match", "left", "right", "-o", "shared", "--disparities", "16", "--device", all, "--report", "shared.json"});
  ASSERT_EQ(answer.code, 0) << answer.err;
  expect_as_alone("shared/frame");
  EXPECT_EQ(json("shared.json")["device"], all);
  EXPECT_EQ(call({"match", "left", "right", "-o", "shared", "--device", "cpu,cpu"}).code, 2);
}

// With a GPU, several frames are read and written at the same time. A frame that fails loses no other frame.
TEST_F(Sequence, AFrameThatFailsAmongSeveralThatAreReadAtATime) {
  constexpr int count = 14, broken = 5;
  for (const char* name : {"many_left", "many_right"}) fs::create_directory(folder / name);
  for (const std::string side : {"left", "right"})
    for (int i = 0; i < count; ++i)
      fs::copy_file(folder / side / ("frame" + std::to_string(8 + i % frames) + ".png"),
                    folder / ("many_" + side) / (std::to_string(i) + ".png"));
  write(folder / "many_right/5.png", "not an image");
  const Answer answer = call({"match", "many_left", "many_right", "-o", "many", "--disparities", "16", "--device",
                              all_devices(), "--keep-going", "--report", "many.json"});
  EXPECT_EQ(answer.code, 1) << answer.err;
  for (int i = 0; i < count; ++i) {
    const fs::path made = folder / "many" / (std::to_string(i) + ".pfm");
    EXPECT_EQ(fs::exists(made), i != broken) << i;
    const fs::path alone = folder / ("alone/" + std::to_string(8 + i % frames) + ".pfm");
    EXPECT_TRUE(i == broken || contents(made) == contents(alone)) << i;
  }
  EXPECT_EQ(json("many.json")["frames"].size(), static_cast<std::size_t>(count));
}

TEST_F(Sequence, ByDirectory) {
  fs::create_directory(folder / "results");
  fs::create_directory(folder / "pictures");
  write(folder / "left/notes.txt", "not an image");
  const Answer answer = call({"match", "left", "right", "-o", "results", "--disparities", "16", "--color", "pictures"});
  ASSERT_EQ(answer.code, 0) << answer.err;
  expect_as_alone("results/frame");
  EXPECT_TRUE(fs::exists(folder / "pictures/frame10.png"));
}

// One side is in the order of its numbers, the other in that of its names.
TEST_F(Sequence, NamesPairWhateverTheirOrder) {
  for (const std::string side : {"left", "right"}) {
    fs::create_directory(folder / ("named_" + side));
    for (const std::string n : {"8", "9", "10", "11"})
      fs::copy_file(folder / (side + "/frame" + n + ".png"), folder / ("named_" + side) / (n + "_x1.png"));
  }
  fs::create_directory(folder / "named");
  const Answer answer = call(
      {"match", "named_left/%d_x1.png", "named_right", "-o", "named", "--disparities", "16", "--report", "named.json"});
  ASSERT_EQ(answer.code, 0) << answer.err;
  const Json report = json("named.json");
  ASSERT_EQ(report["frames"].size(), static_cast<std::size_t>(frames));
  for (const Json& frame : report["frames"])
    EXPECT_EQ(fs::path(frame["left"].get<std::string>()).filename(),
              fs::path(frame["right"].get<std::string>()).filename());
}

TEST_F(Sequence, AFrameOfAnotherSizeStopsIt) {
  for (const char* name : {"odd_left", "odd_right", "odd"}) fs::create_directory(folder / name);
  for (const std::string side : {"left", "right"}) {
    fs::copy_file(folder / ("s8/" + side + ".png"), folder / ("odd_" + side + "/0.png"));
    fs::copy_file(folder / ("scene/" + side + ".png"), folder / ("odd_" + side + "/1.png"));
  }
  const Answer answer = call({"match", "odd_left", "odd_right", "-o", "odd", "--disparities", "16"});
  EXPECT_EQ(answer.code, 2);
  EXPECT_NE(answer.err.find("odd_left/1.png is 150×110"), std::string::npos) << answer.err;
  EXPECT_EQ(std::count(answer.err.begin(), answer.err.end(), '\n'), 1) << answer.err;
  EXPECT_FALSE(fs::exists(folder / "odd/1.pfm"));
}

}  // namespace
}  // namespace stereopsis::test
