// The choice within a budget: order, cache, and what a call says that cannot be met.
#include "jobs/budget.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "stereopsis/io.hpp"
#include "stereopsis/version.h"
#include "support/scene.hpp"

namespace stereopsis::budget_test {
namespace {

using namespace jobs;
using test::contains, test::refuses;

// Pipelines whose time is stated: each pretends to match for so many milliseconds.
class JobBudget : public test::SceneFolder {
 protected:
  JobBudget() { use_cache(folder / "cache"); }
  ~JobBudget() override { ::unsetenv("XDG_CACHE_HOME"); }

  static void use_cache(const std::filesystem::path& place) { ::setenv("XDG_CACHE_HOME", place.c_str(), 1); }
  std::filesystem::path cache() const { return folder / "cache/stereopsis/times.json"; }

  // Candidates of 80, 30 and 1 ms.
  static std::vector<BudgetCandidate> candidates() {
    std::vector<BudgetCandidate> all;
    for (const char* method : {"sgm-learned", "sgm", "banz-sgm"}) all.push_back({method, {}, Pipeline(method)});
    return all;
  }
  BudgetChoice chosen(double ms) {
    const MakeMatch make = [this](const Pipeline& pipeline) {
      if (pipeline.method() == broken) throw Error(ErrorCategory::memory, "there is not enough memory");
      const int pause = pipeline.method() == "sgm-learned" ? 80 : pipeline.method() == "sgm" ? 30 : 1;
      return [this, pause] {
        ++runs;
        std::this_thread::sleep_for(std::chrono::milliseconds(pause));
      };
    };
    const auto warn = [this](const std::string& sentence) { warnings.push_back(sentence); };
    return choose_within({ms, "--budget " + std::to_string(ms) + "ms"}, candidates(), pairs, Device{"cpu", 1}, make,
                         warn);
  }

  int runs = 0;
  std::string pairs = "64x48x16", broken;
  std::vector<std::string> warnings;
};

TEST_F(JobBudget, ChoosesTheFirstCandidateThatIsFastEnough) {
  EXPECT_EQ(chosen(1000).candidate, 0U);
  EXPECT_EQ(chosen(60).candidate, 1U);
  EXPECT_EQ(chosen(20).candidate, 2U);
}

TEST_F(JobBudget, ThatNoCandidateMeetsStatesTheLeastTime) {
  EXPECT_TRUE(
      refuses([&] { chosen(0.5); }, ErrorCategory::unsupported, "cannot be met: the least possible time of a pair is"));
  std::string least;
  try {
    chosen(0.5);
  } catch (const Error& error) {
    const std::string sentence = error.what(), before = "of a pair is ";
    least = sentence.substr(sentence.find(before) + before.size());
  }
  EXPECT_EQ(chosen(std::stod(least)).candidate, 2U) << least;  // the stated time can be met
}

TEST_F(JobBudget, MeasuresOncePerKindOfPair) {
  EXPECT_TRUE(chosen(20).is_measured);
  const int measured = std::exchange(runs, 0);
  EXPECT_GT(measured, 0);
  EXPECT_FALSE(chosen(20).is_measured);
  EXPECT_FALSE(chosen(60).is_measured);  // another budget needs the same times
  EXPECT_EQ(runs, 0);
  pairs = "64x48x32";
  EXPECT_TRUE(chosen(20).is_measured);
}

TEST_F(JobBudget, IgnoresTheTimesOfAnotherVersion) {
  chosen(1000);
  std::string contents = read_text(cache());
  contents.replace(contents.find(STEREOPSIS_VERSION), std::string(STEREOPSIS_VERSION).size(), "0.0.9");
  write_text(cache(), contents);
  EXPECT_TRUE(chosen(1000).is_measured);
  EXPECT_TRUE(warnings.empty());
  EXPECT_FALSE(chosen(1000).is_measured);
}

TEST_F(JobBudget, IgnoresACorruptCacheWithAWarning) {
  const std::string version = STEREOPSIS_VERSION;
  for (const std::string& contents :
       {std::string("{\"version\": "), std::string("[]"), "{\"version\": \"" + version + "\", \"times\": {\"a\": -1}}",
        "{\"version\": \"" + version + "\", \"times\": [1]}", std::string(100000, '[')}) {
    chosen(1000);
    write_text(cache(), contents);
    warnings.clear();
    EXPECT_TRUE(chosen(1000).is_measured) << contents.substr(0, 40);
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_TRUE(contains(warnings[0], cache().string() + " does not hold times"));
    EXPECT_FALSE(chosen(1000).is_measured);
  }
}

TEST_F(JobBudget, WithoutAWritableCacheMeasuresEachTimeAndWarns) {
  write_text(folder / "file", "no folder");
  use_cache(folder / "file");
  EXPECT_TRUE(chosen(20).is_measured);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_TRUE(contains(warnings[0], "the measured times cannot be kept"));
  EXPECT_TRUE(chosen(20).is_measured);
}

TEST_F(JobBudget, LeavesOutACandidateThatCannotRun) {
  broken = "sgm-learned";
  EXPECT_EQ(chosen(1000).candidate, 1U);
}

TEST_F(JobBudget, IsATimeWithAUnit) {
  EXPECT_EQ(to_budget("30ms", "--budget 30ms").ms, 30);
  EXPECT_EQ(to_budget("0.5s", "budget=0.5").ms, 500);
  for (const char* given : {"30", "ms", "-3ms", "0ms", "30 fps", "1e999s", ""})
    EXPECT_TRUE(refuses([&] { to_budget(given, "--budget"); }, ErrorCategory::call, "30ms or 0.5s")) << given;
}

TEST(JobBudgetCandidates, AreInTheOrderOfTheirErrorsAndKeepTheSizeOfTheMap) {
  const auto all = budget_candidates();
  ASSERT_GT(all.size(), 3U);
  for (const BudgetCandidate& one : all) {
    const bool is_reduced = one.pipeline.get("prepare.stage") == "reduce";
    EXPECT_TRUE(!is_reduced || one.pipeline.get("prepare.upsample") == "true") << one.method;
  }
}

TEST(JobBudgetCandidates, LeaveAChoice) {
  const Budget budget{30, "--budget 30ms"};
  EXPECT_EQ(candidates_of(budget, nullptr).size(), budget_candidates().size());
  Pipeline pipeline("sgm");
  EXPECT_EQ(candidates_of(budget, &pipeline).size(), 3U);
  pipeline.set("prepare.stage", "reduce");
  pipeline.set("prepare.factor", 2);
  EXPECT_TRUE(
      refuses([&] { candidates_of(budget, &pipeline); }, ErrorCategory::call,
              "--budget 30ms chooses the method or the size of the images, and sgm with prepare.factor=2 gives"));
}

TEST(JobBudgetCandidates, OfAMethodDifferInSizeOnly) {
  Pipeline pipeline("sgm");
  pipeline.set("optimisation.p1", 12);
  const auto sizes = sizes_of(pipeline);
  ASSERT_EQ(sizes.size(), 3U);
  for (const BudgetCandidate& one : sizes) EXPECT_EQ(one.pipeline.get("optimisation.p1"), "12");
  EXPECT_TRUE(sizes[0].settings.empty());
  EXPECT_EQ(sizes[1].pipeline.get("prepare.factor"), "2");
  EXPECT_EQ(sizes_of(sizes[2].pipeline).size(), 1U);  // its size is given
  EXPECT_EQ(sizes_of(Pipeline("zncc")).size(), 3U);
}

}  // namespace
}  // namespace stereopsis::budget_test
