// --align-rows: pairs whose rows differ are aligned before they are matched.
#include "command.hpp"

namespace stereopsis::test {
namespace {

class AlignRows : public Command {
 protected:
  static constexpr int frames = 3;

  // Frames whose rows differ by 1, 1.25 and 0.75 px, and a pair whose rows agree.
  static void SetUpTestSuite() {
    Command::SetUpTestSuite();
    for (const char* name : {"left", "right"}) fs::create_directory(folder / name);
    for (int i = 0; i < frames; ++i) {
      const std::string n = std::to_string(i), offset = i == 0 ? "1" : i == 1 ? "1.25" : "0.75";
      make("s" + n, offset);
      for (const std::string view : {"left", "right"})
        fs::copy_file(folder / ("s" + n) / (view + ".png"), folder / view / (n + ".png"));
    }
    make("right_rows", "0");
  }
  static void make(const std::string& name, const std::string& offset) {
    ASSERT_EQ(call({"synth", "-o", name, "--width", "320", "--height", "240", "--disparities", "32", "--noise", "2",
                    "--vertical-offset", offset})
                  .code,
              0);
  }
  static Answer match(const std::string& scene, const std::string& out, std::vector<std::string> more) {
    more.insert(more.begin(), {"match", scene + "/left.png", scene + "/right.png", "-o", out, "--disparities", "32"});
    return call(more);
  }
  static double wrong(const std::string& map, const std::string& scene) {
    EXPECT_EQ(call({"evaluate", map, "--truth", scene + "/disp_left.pfm", "--json", "score.json"}).code, 0);
    return json("score.json")["measures"]["bad1.0"];
  }
};

TEST_F(AlignRows, ByDefault) {
  const Answer aligned = match("s0", "aligned.pfm", {"--report", "report.json"});
  ASSERT_EQ(aligned.code, 0) << aligned.err;
  EXPECT_NE(aligned.out.find("rows aligned (1.0"), std::string::npos) << aligned.out;
  const Json rows = json("report.json")["frames"][0]["rows"];
  EXPECT_EQ(rows["aligned"], true);
  EXPECT_EQ(rows["reason"], "");
  EXPECT_NEAR(rows["offset"].get<double>(), -1, 0.03);
  EXPECT_GT(rows["points"].get<int>(), 300);
  const Answer off = match("s0", "off.pfm", {"--align-rows", "off"});
  ASSERT_EQ(off.code, 0) << off.err;
  EXPECT_NE(off.err.find("leave --align-rows out"), std::string::npos) << off.err;
  EXPECT_EQ(off.out.find("rows aligned"), std::string::npos) << off.out;
  EXPECT_NE(match("s0", "strict.pfm", {"--align-rows", "off", "--strict"}).code, 0);
  EXPECT_EQ(match("s0", "strict.pfm", {"--strict"}).code, 0);
  EXPECT_LT(wrong("aligned.pfm", "s0"), wrong("off.pfm", "s0") / 2);
}

TEST_F(AlignRows, ByGivenNumbers) {
  ASSERT_EQ(match("s0", "given.pfm", {"--align-rows=-1", "--report", "report.json"}).code, 0);
  EXPECT_EQ(json("report.json")["frames"][0]["rows"]["offset"], -1);
  const Answer refused = match("s0", "given.pfm", {"--align-rows", "on"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("--align-rows on is not allowed; it must be auto, off,"), std::string::npos)
      << refused.err;
}

TEST_F(AlignRows, NotIfTheyAgree) {
  ASSERT_EQ(match("right_rows", "auto.pfm", {"--report", "report.json"}).code, 0);
  EXPECT_EQ(json("report.json")["frames"][0]["rows"]["reason"], "rows_agree");
  ASSERT_EQ(match("right_rows", "off.pfm", {"--align-rows", "off"}).code, 0);
  EXPECT_TRUE(contents(folder / "auto.pfm") == contents(folder / "off.pfm"));
}

TEST_F(AlignRows, OfTheRightView) {
  ASSERT_EQ(match("s0", "left.pfm", {"--right", "right.pfm"}).code, 0);
  ASSERT_EQ(match("s0", "left.pfm", {"--right", "unaligned.pfm", "--align-rows", "off"}).code, 0);
  const auto wrong_right = [](const std::string& map) {
    EXPECT_EQ(call({"evaluate", map, "--truth", "s0/disp_right.pfm", "--json", "score.json"}).code, 0);
    return json("score.json")["measures"]["bad1.0"].get<double>();
  };
  EXPECT_LT(wrong_right("right.pfm"), wrong_right("unaligned.pfm") / 2);
}

TEST_F(AlignRows, OfTheScenesOfADataset) {
  const auto wrong_scene = [](const std::string& rows) {
    EXPECT_EQ(call({"evaluate", "--dataset", "s0", "--align-rows", rows, "--json", "score.json"}).code, 0);
    EXPECT_EQ(json("score.json")["align_rows"], rows);
    return json("score.json")["scenes"][0]["measures"]["nonocc"]["bad1.0"].get<double>();
  };
  EXPECT_LT(wrong_scene("auto"), wrong_scene("off") / 2);
  const Answer several = call({"bench", "--dataset", "s0", "--no-peers", "--method", "sgm", "--repeat", "1",
                               "--align-rows", "auto", "--json", "bench.json"});
  ASSERT_EQ(several.code, 0) << several.err;
  EXPECT_EQ(call({"bench", "--size", "64x48x16", "--align-rows", "auto"}).code, 2);
}

// A run that continues has the same rows as one that was not interrupted.
TEST_F(AlignRows, OfASequenceThatIsResumed) {
  std::vector<std::string> arguments = {"match",         "left", "right",    "-o",         "maps",
                                        "--disparities", "32",   "--report", "report.json"};
  const Answer whole = call(arguments);
  ASSERT_EQ(whole.code, 0) << whole.err;
  EXPECT_NE(whole.out.find("rows of 3 frames aligned"), std::string::npos) << whole.out;
  const Json before = json("report.json")["frames"];
  constexpr double offsets[] = {-1, -1.25, -0.75};
  for (std::size_t i = 0; i < frames; ++i)
    EXPECT_NEAR(before[i]["rows"]["offset"].get<double>(), offsets[i], 0.05) << i;
  const std::string last = contents(folder / "maps/2.pfm");
  fs::remove(folder / "maps/2.pfm");
  arguments.emplace_back("--resume");
  const Answer again = call(arguments);
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_TRUE(contents(folder / "maps/2.pfm") == last);
  EXPECT_EQ(json("report.json")["frames"][2]["rows"], before[2]["rows"]);
}

}  // namespace
}  // namespace stereopsis::test
