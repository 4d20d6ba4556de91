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

// Expects the same maps with nine tenths of the memory, or an error that the memory does not suffice.
inline void expect_same_with_less_memory(const Pipeline& pipeline, Problem problem, const StereoPair& pair,
                                         const Device& device) {
  const Plan whole(pipeline, problem, device);
  const Matched expected = Matcher(whole).match(pair);
  problem.memory_limit = whole.workspace_bytes() * 9 / 10;
  try {
    expect_same_maps(Matcher(Plan(pipeline, problem, device)).match(pair), expected);
  } catch (const Error& error) {
    EXPECT_EQ(error.category(), ErrorCategory::memory) << error.what();
  }
}

}  // namespace stereopsis::test
