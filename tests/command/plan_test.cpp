// Tests the plan that `match` makes and shows, and that no work is done twice.
#include <sys/stat.h>

#include "command.hpp"
#include "stereopsis/calibration.hpp"

namespace stereopsis::test {
namespace {

class ShownPlan : public Command {
 protected:
  static Answer explain(std::vector<std::string> more) {
    more.insert(more.begin(), "--explain");
    return match(more);
  }
  static Json explained(std::vector<std::string> more) {
    more.push_back("--json");
    const Answer answer = explain(more);
    EXPECT_EQ(answer.code, 0) << answer.err;
    return Json::parse(answer.out);
  }
  static bool any_fused(const Json& plan) {
    return std::any_of(plan["steps"].begin(), plan["steps"].end(),
                       [](const Json& step) { return step["fused"] == true; });
  }
};

TEST_F(ShownPlan, EveryStepWithItsWorkAndNothingIsWritten) {
  const auto before = snapshot();
  const Answer answer = explain({});
  EXPECT_EQ(answer.code, 0) << answer.err;
  for (const char* part : {"semi-global matching", "sgm_wta", "fused", "roof ms", "memory", "iB of workspace"})
    EXPECT_NE(answer.out.find(part), std::string::npos) << part << "\n" << answer.out;
  EXPECT_TRUE(snapshot() == before);

  const Json plan = explained({});
  EXPECT_EQ(plan["implementation"], "fused");
  EXPECT_GT(plan["workspace_bytes"], 150 * 110);
  bool found = false;
  for (const Json& step : plan["steps"]) {
    EXPECT_GT(step["bytes"], 0) << step;
    EXPECT_GT(step["roof_ms"], 0) << step;
    if (!step["done_by"].get<std::string>().starts_with("sgm_wta")) continue;  // on NVIDIA GPUs, sgm_wta_cuda
    found = true;
    EXPECT_EQ(step["fused"], true);
    EXPECT_GT(step["path_operations"], 150 * 110 * disparities);
  }
  EXPECT_TRUE(found) << plan;
}

TEST_F(ShownPlan, StepsThatAreAlikeAreOneLine) {
  const Json plan = explained({});  // named: a loop over a part of a temporary would outlive it
  for (const Json& step : plan["steps"]) {
    EXPECT_EQ(step["times"], step["done_by"] == "grey" || step["done_by"] == "median" ? 2 : 1) << step;
  }
}

TEST_F(ShownPlan, WithAnOutputItMatchesToo) {
  const Answer answer = explain({"-o", "explained.pfm", "--report", "explained.json"});
  EXPECT_EQ(answer.code, 0) << answer.err;
  EXPECT_NE(answer.out.find("semi-global matching"), std::string::npos) << answer.out;
  EXPECT_TRUE(fs::exists(folder / "explained.pfm"));
  EXPECT_EQ(explain({"--color", "explained.png"}).code, 0);
  EXPECT_TRUE(fs::exists(folder / "explained.png"));
  const Json report = json("explained.json");
  EXPECT_EQ(report["plan"]["steps"].size(), explained({})["steps"].size());
  EXPECT_EQ(report["frames"].size(), 1);
  EXPECT_EQ(explained({"-o", "explained.pfm"})["implementation"], "fused") << "all of standard output is JSON";
}

TEST_F(ShownPlan, SaysWhyNothingFasterDoesAStep) {
  const Json listed = Json::parse(call({"devices", "--json"}).out);
  for (const Json& device : listed["devices"]) {
    const std::string name = device["name"];
    if (!name.starts_with("opencl:") || device["usable"] != true) continue;
    const Answer answer = explain({"--device", name});
    EXPECT_EQ(answer.code, 0) << answer.err;
    if (answer.out.find("sgm_wta_cuda") == std::string::npos)
      continue;  // a build without CUDA has nothing to pass over
    EXPECT_NE(answer.out.find("sgm_wta: not by sgm_wta_cuda: the tuned kernels need"), std::string::npos) << answer.out;
  }
}

TEST_F(ShownPlan, ImplementationsDifferInStepsAndNotInBits) {
  ASSERT_EQ(match({"-o", "fused.pfm"}).code, 0);
  for (const char* name : {"plain", "oracle"}) {
    SCOPED_TRACE(name);
    EXPECT_FALSE(any_fused(explained({"--implementation", name})));
    ASSERT_EQ(match({"-o", "other.pfm", "--implementation", name, "--report", "other.json"}).code, 0);
    EXPECT_TRUE(contents(folder / "other.pfm") == contents(folder / "fused.pfm"));
    EXPECT_EQ(json("other.json")["implementation"], name);
  }
#ifdef STEREOPSIS_SIMD
  EXPECT_TRUE(any_fused(explained({})));
#endif
}

TEST_F(ShownPlan, BadCallsAreRefused) {
  const auto refused = [](const Answer& answer, const std::string& part) {
    EXPECT_EQ(answer.code, 2);
    EXPECT_EQ(answer.out, "");
    EXPECT_NE(answer.err.find(part), std::string::npos) << answer.err;
  };
  refused(match({}), "-o OUT");
  refused(match({"-o", ""}), "is empty; write `--output OUT`");
  refused(match({"-o", "d.pfm", "--json"}), "--explain");
  refused(match({"-o", "d.pfm", "--implementation", "fast"}), "fused, plain or oracle");
}

// The scene's images count as raw ones of cameras that look a little past one another's middle.
StereoCalibration shifted_cameras() {
  StereoCalibration c;
  c.size = {150, 110};
  c.rig = {.focal = 100, .cx_left = 79, .cx_right = 79, .cy = 57, .baseline = 120, .unit = "mm", .size = c.size};
  for (CalibratedCamera* camera : {&c.left, &c.right}) camera->lens = {.fx = 100, .fy = 100, .cx = 75, .cy = 55};
  c.rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  c.translation = {-120, 0, 0};
  return c;
}

// A pipe can be read only once.
TEST_F(ShownPlan, ACalibrationIsReadOnce) {
  write_calibration(folder / "rig.yml", shifted_cameras());
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  for (const char* raw : {"", " --raw --right right.pfm"}) {
    const Answer answer = shell(std::string("cat rig.yml > pipe & timeout 60 $S match scene/left.png scene/right.png "
                                            "--disparities 32 -o d.pfm --depth z.pfm --calib pipe") +
                                raw);
    EXPECT_EQ(answer.code, 0) << answer.err;
    EXPECT_TRUE(fs::exists(folder / "z.pfm"));
  }
}

// Where the right view, or the range, needs the rectified pair too, it is made once, on the CPU; the result is that of files.
TEST_F(ShownPlan, ARawPairIsRectifiedOnce) {
  write_calibration(folder / "rig.yml", shifted_cameras());
  fs::create_directory(folder / "rectified");
  ASSERT_EQ(call({"rectify", "scene/left.png", "scene/right.png", "--calib", "rig.yml", "-o", "rectified"}).code, 0);
  const std::vector<std::string> raw = {"match", "scene/left.png", "scene/right.png", "--calib", "rig.yml", "--raw"};
  const std::vector<std::string> ready = {"match",
                                          "rectified/left/left.png",
                                          "rectified/right/right.png",
                                          "--calib",
                                          "rectified/rig.yml",
                                          "--mask-left",
                                          "rectified/mask_left.png",
                                          "--mask-right",
                                          "rectified/mask_right.png"};
  const auto with = [](std::vector<std::string> arguments, const std::vector<std::string>& more) {
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Answer answer = call(arguments);
    EXPECT_EQ(answer.code, 0) << answer.err;
    return answer;
  };
  for (const std::vector<std::string>& range : {std::vector<std::string>{"--disparities", "32"}, {}}) {
    auto a = range, b = range;
    a.insert(a.end(), {"-o", "a.pfm", "--right", "ar.pfm", "--cloud", "a.ply", "--timings"});
    b.insert(b.end(), {"-o", "b.pfm", "--right", "br.pfm", "--cloud", "b.ply"});
    const Answer said = with(raw, a);
    with(ready, b);
    EXPECT_TRUE(contents(folder / "a.pfm") == contents(folder / "b.pfm"));
    EXPECT_TRUE(contents(folder / "ar.pfm") == contents(folder / "br.pfm"));
    EXPECT_TRUE(contents(folder / "a.ply") == contents(folder / "b.ply"));
    EXPECT_NE(said.out.find("rectifying"), std::string::npos) << said.out;
    EXPECT_EQ(said.out.find("rectification"), std::string::npos) << "the matcher did it again:\n" << said.out;
  }
}

}  // namespace
}  // namespace stereopsis::test
