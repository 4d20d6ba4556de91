// Tests of the library under the limits of the system. Each limit is set in a separate process, which runs a disabled
// test case.
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "stereopsis/matcher.hpp"
#include "stereopsis/synth.hpp"
#include "support/sanitized.hpp"
#include "support/stage_test.hpp"

namespace stereopsis::limits_test {
namespace {

constexpr DisparityRange range{0, 16};

// Limits the address space so that it has room for only a few more thread stacks.
void leave_room_for_few_threads() {
  long long pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit stack{};
  ASSERT_EQ(getrlimit(RLIMIT_STACK, &stack), 0);
  const rlim_t one = stack.rlim_cur == RLIM_INFINITY ? rlim_t{8} << 20 : stack.rlim_cur;
  const rlim_t bytes = static_cast<rlim_t>(pages) * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + 8 * one;
  const rlimit limit{bytes, bytes};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
}

TEST(Limits, DISABLED_ThreadsThatWereAskedForAreRefused) {
  leave_room_for_few_threads();
  const Scene scene = make_scene({.size = {96, 64}, .disparities = 16});
  const Problem problem = Problem::of({scene.left, scene.right, {}, {}}, range);
  try {
    Matcher matcher(Plan(Pipeline("sgm"), problem, {"cpu", 64}));
    FAIL() << "64 threads were taken";
  } catch (const Error& e) {
    EXPECT_EQ(e.category(), ErrorCategory::unsupported);
    EXPECT_NE(std::string(e.what()).find("64 threads"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("ulimit -v"), std::string::npos) << e.what();
  }
}

TEST(Limits, DISABLED_FewerThreadsDoItWhereNoneAreAskedFor) {
  leave_room_for_few_threads();
  const Scene scene = make_scene({.size = {96, 64}, .disparities = 16});
  const StereoPair pair{scene.left, scene.right, {}, {}};
  const Matched result = match(pair, range, Pipeline("sgm"), {"cpu"});
  const Matched alone = match(pair, range, Pipeline("sgm"), {"cpu", 1});
  EXPECT_TRUE(test::same_bits(result.disparity.view(), alone.disparity.view()));
}

// Runs a disabled test case in a separate process. Exits with code 0 if the case ran and passed.
int run_alone(const char* test) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string command = "env -u STEREOPSIS_TEST_RESULTS '" + self +
                              "' --gtest_also_run_disabled_tests --gtest_filter=" + test +
                              " 2>&1 | grep -q 'PASSED.* 1 test'";
  return std::system(command.c_str());
}

TEST(Limits, OfAddressSpaceLeaveFewerThreadsOrASentence) {
#ifndef STEREOPSIS_SIMD
  GTEST_SKIP() << "without SIMD there is one thread";
#endif
  if (sanitized) GTEST_SKIP() << "a sanitizer needs more address space than the limit leaves";
  for (const char* test :
       {"Limits.DISABLED_ThreadsThatWereAskedForAreRefused", "Limits.DISABLED_FewerThreadsDoItWhereNoneAreAskedFor"})
    EXPECT_EQ(run_alone(test), 0) << test;
}

}  // namespace
}  // namespace stereopsis::limits_test
