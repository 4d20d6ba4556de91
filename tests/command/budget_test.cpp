// Tests `match --budget`: the printed options reproduce the result, and what is rejected.
#include <cstdlib>

#include "command.hpp"

namespace stereopsis::test {
namespace {

class WithinABudget : public Command {
 protected:
  WithinABudget() { ::setenv("XDG_CACHE_HOME", (folder / "cache").c_str(), 1); }
  ~WithinABudget() override { ::unsetenv("XDG_CACHE_HOME"); }

  // `match` on the scene, with a report; without a range.
  static Answer chosen(std::vector<std::string> more) {
    more.insert(more.begin(), {"match", "scene/left.png", "scene/right.png", "-o", "chosen.pfm", "--report",
                               "chosen.json", "--device", "cpu"});
    return call(more);
  }
  static std::vector<std::string> options() { return json("chosen.json")["budget"]["options"]; }
};

TEST_F(WithinABudget, ThePrintedOptionsGiveTheSameBits) {
  ASSERT_EQ(chosen({"--budget", "100s"}).code, 0);
  const auto generous = options();
  EXPECT_EQ(generous[0], "--method");
  EXPECT_EQ(generous[1], "accurate");  // the pipeline with the fewest measured errors
  for (const char* kept : {"100s", "2ms"}) {
    const Answer answer = chosen({"--budget", kept});
    if (answer.code != 0) continue;  // a slow machine
    std::string list;
    for (const std::string& option : options()) list += " " + option;
    EXPECT_NE(answer.err.find(list + " give the same result"), std::string::npos) << answer.err << list;
    std::vector<std::string> again = options();
    again.insert(again.end(), {"match", "scene/left.png", "scene/right.png", "-o", "again.pfm", "--device", "cpu"});
    std::rotate(again.begin(), again.end() - 7, again.end());
    ASSERT_EQ(call(again).code, 0);
    EXPECT_TRUE(contents(folder / "again.pfm") == contents(folder / "chosen.pfm")) << list;
  }
}

TEST_F(WithinABudget, TimesAreMeasuredOnce) {
  ASSERT_EQ(chosen({"--budget", "100s", "--min-disparity", "-1", "--disparities", "20"}).code, 0);
  EXPECT_EQ(json("chosen.json")["budget"]["measured_now"], true);
  const Answer second = chosen({"--budget", "100s", "--min-disparity", "-1", "--disparities", "20"});
  EXPECT_EQ(json("chosen.json")["budget"]["measured_now"], false);
  EXPECT_NE(second.err.find("measured by an earlier call"), std::string::npos) << second.err;
  for (const char* other : {"--threads", "--simd"}) {  // the time depends on both
    const std::string value = std::string(other) == "--threads" ? "1" : "sse4";
    if (chosen({"--budget", "100s", "--min-disparity", "-1", "--disparities", "20", other, value}).code != 0) continue;
    EXPECT_EQ(json("chosen.json")["budget"]["measured_now"], true) << other;
  }
}

TEST_F(WithinABudget, OptionsThatAreGivenAreKept) {
  ASSERT_EQ(chosen({"--budget", "100s", "--method", "banz-sgm", "--disparities", "24"}).code, 0);
  const Json report = json("chosen.json");
  EXPECT_EQ(report["method"], "banz-sgm");
  EXPECT_EQ(report["disparities"], 24);
  EXPECT_TRUE(options().empty());
  ASSERT_EQ(chosen({"--budget", "100s", "--set", "optimisation.p1=11"}).code, 0);
  EXPECT_EQ(json("chosen.json")["parameters"]["optimisation.p1"], 11);
}

TEST_F(WithinABudget, ThatCannotBeMetFailsWithTheLeastTime) {
  const Answer answer = chosen({"--budget", "0.0001ms"});
  EXPECT_EQ(answer.code, 1);
  EXPECT_NE(answer.err.find("--budget 0.0001ms cannot be met: the least possible time of a pair is "),
            std::string::npos)
      << answer.err;
}

TEST_F(WithinABudget, ASequenceHasTheChoiceOfItsFirstFrame) {
  for (const char* frame : {"0", "1"})
    for (const char* side : {"left", "right"})
      fs::copy_file(folder / "scene" / (std::string(side) + ".png"), folder / (side + std::string(frame) + ".png"),
                    fs::copy_options::overwrite_existing);
  const std::vector<std::string> sequence = {"match", "left%d.png", "right%d.png", "--report", "chosen.json"};
  std::vector<std::string> first = sequence, again = sequence;
  first.insert(first.end(), {"-o", "a%d.pfm", "--budget", "100s"});
  ASSERT_EQ(call(first).code, 0);
  for (const std::string& option : options()) again.push_back(option);
  again.insert(again.end(), {"-o", "b%d.pfm"});
  ASSERT_EQ(call(again).code, 0);
  for (const char* frame : {"0.pfm", "1.pfm"})
    EXPECT_TRUE(contents(folder / (std::string("a") + frame)) == contents(folder / (std::string("b") + frame)));
  for (const char* rejected : {"--resume", "--range-per-frame"}) {
    std::vector<std::string> wrong = first;
    wrong.emplace_back(rejected);
    const Answer answer = call(wrong);
    EXPECT_EQ(answer.code, 2) << rejected;
    EXPECT_NE(answer.err.find("--budget 100s cannot be combined with " + std::string(rejected)), std::string::npos)
        << answer.err;
  }
}

TEST_F(WithinABudget, ThatLeavesNoChoiceIsRejected) {
  const Answer answer =
      chosen({"--budget", "30ms", "--method", "sgm", "--set", "prepare.stage=reduce", "--set", "prepare.factor=2"});
  EXPECT_EQ(answer.code, 2);
  EXPECT_NE(answer.err.find("--budget 30ms chooses the method or the size of the images, and sgm with prepare.factor=2 "
                            "gives both"),
            std::string::npos)
      << answer.err;
}

TEST_F(WithinABudget, IsATimeWithAUnit) {
  const Answer answer = chosen({"--budget", "30"});
  EXPECT_EQ(answer.code, 2);
  EXPECT_NE(answer.err.find("--budget 30 is not allowed; it must be"), std::string::npos) << answer.err;
}

}  // namespace
}  // namespace stereopsis::test
