#include "stereopsis/simd.hpp"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>

#include "stereopsis/device.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis::simd_test {
namespace {

// Restores the best target.
struct Simd : testing::Test {
  void TearDown() override { use_simd("auto"); }
};

// Returns the target that `devices` reports.
std::string reported() {
  const DeviceDescription cpu = devices()[0];
  for (const auto& [name, value] : cpu.properties)
    if (name == "SIMD") return value;
  return "";
}

TEST_F(Simd, EachTargetOfThisMachineCanBeSelectedAndLeftAgain) {
  const std::string best = reported();
  const std::vector<std::string> targets = simd_targets();
  ASSERT_FALSE(targets.empty());
  for (const std::string& target : targets) {
    use_simd(target);
    EXPECT_EQ(reported() == best, target == targets.front()) << target;
    EXPECT_EQ(simd_targets(), targets) << "a selected target hides no other one";
  }
  use_simd("auto");
  EXPECT_EQ(reported(), best);
}

TEST_F(Simd, TargetsThatAreUnknownOrMissingAreErrors) {
  try {
    use_simd("avx3");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.category(), ErrorCategory::call);
    EXPECT_NE(std::string(error.what()).find("avx3"), std::string::npos);
  }
  const std::string best = reported();
  for (const char* target : {"sse4", "avx2", "avx512", "neon"}) {
    if (std::ranges::count(simd_targets(), target) > 0) continue;
    try {
      use_simd(target);
      ADD_FAILURE() << target;
    } catch (const Error& error) {
      EXPECT_EQ(error.category(), ErrorCategory::unsupported);
      EXPECT_NE(std::string(error.what()).find(simd_targets().front()), std::string::npos) << error.what();
    }
    EXPECT_EQ(reported(), best) << "a failed call changes nothing";
  }
}

}  // namespace
}  // namespace stereopsis::simd_test
