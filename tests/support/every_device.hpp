// Every way to run a plan: the CPU fused, stage by stage and by the definitions, and each GPU. Under a sanitizer, methods.methods
// and the tests of stages run the definitions.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "device/gpu/device.hpp"
#include "stereopsis/matcher.hpp"
#include "support/sanitized.hpp"
#include "support/stage_test.hpp"

namespace stereopsis::test {

inline std::vector<Device> every_device() {
  std::vector<Device> list{{.name = "cpu"}, {.name = "cpu", .implementation = Implementation::plain}};
  if (!sanitized) list.push_back({.name = "cpu", .implementation = Implementation::oracle});
  for (gpu::Device* device : gpu::usable_devices()) list.push_back({.name = device->name()});
  return list;
}

// Expects the same disparity, validity and confidence.
inline void expect_same_maps(const Matched& got, const Matched& expected) {
  EXPECT_TRUE(same_bits(got.disparity.view(), expected.disparity));
  EXPECT_TRUE(same_bits(got.validity.view(), expected.validity));
  EXPECT_TRUE(same_bits(got.confidence.view(), expected.confidence));
}

// Expects the same maps in stripes, for limits of memory from nine tenths of the whole image's to the least that suffices.
inline void expect_same_in_stripes(const Pipeline& pipeline, Problem problem, const StereoPair& pair,
                                   const Device& device) {
  const Plan whole(pipeline, problem, device);
  const Matched expected = Matcher(whole).match(pair);
  int rows = pair.left.height;
  try {
    for (problem.memory_limit = whole.workspace_bytes() * 9 / 10;;
         problem.memory_limit = problem.memory_limit * 4 / 5) {
      const Plan plan(pipeline, problem, device);
      rows = plan.stripe_rows();
      SCOPED_TRACE(testing::Message() << "stripes of " << rows << " rows");
      EXPECT_LE(plan.workspace_bytes(), problem.memory_limit);
      expect_same_maps(Matcher(plan).match(pair), expected);
    }
  } catch (const Error& error) {
    EXPECT_EQ(error.category(), ErrorCategory::memory) << error.what();
  }
  EXPECT_LT(rows, pair.left.height);
}

}  // namespace stereopsis::test
