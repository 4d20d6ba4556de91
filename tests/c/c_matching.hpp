// The fixture of tests that match a small pair through the C interface.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "stereopsis.h"
#include "support/stage_test.hpp"

namespace stereopsis::test {

class CMatching : public testing::Test {
 protected:
  static constexpr int width = 40, height = 30;

  void SetUp() override { ASSERT_EQ(sp_pipeline_create("banz-sgm", &pipeline), SP_OK); }
  void TearDown() override { EXPECT_EQ(sp_pipeline_destroy(pipeline), SP_OK); }

  static void expect_refused(sp_status status, sp_status expected, const std::string& said) {
    EXPECT_EQ(status, expected) << sp_last_error();
    EXPECT_NE(std::string(sp_last_error()).find(said), std::string::npos) << sp_last_error();
  }
  sp_status make(const char* device, int threads, sp_matcher** matcher) const {
    const sp_problem problem{.struct_size = sizeof problem,
                             .width = width,
                             .height = height,
                             .channels = 1,
                             .disparities = 16,
                             .device = device,
                             .threads = threads};
    return sp_matcher_create(pipeline, &problem, matcher);
  }
  sp_status match(sp_matcher* matcher) {
    const sp_image disparity = image(map.view().data, SP_F32);
    const sp_image l = image(left.view().data, SP_U8), r = image(right.view().data, SP_U8);
    const sp_pair pair{.struct_size = sizeof pair, .left = &l, .right = &r};
    const sp_result result{.struct_size = sizeof result, .disparity = &disparity};
    return sp_matcher_match(matcher, &pair, &result);
  }

  sp_pipeline* pipeline = nullptr;
  Image<std::uint8_t> left = random_image<std::uint8_t>({width, height}, 1, 0, 255);
  Image<std::uint8_t> right = random_image<std::uint8_t>({width, height}, 2, 0, 255);
  Image<float> map{width, height};

 private:
  static sp_image image(const void* pixels, int type) {
    return {.struct_size = sizeof(sp_image),
            .data = const_cast<void*>(pixels),
            .width = width,
            .height = height,
            .channels = 1,
            .type = type};
  }
};

}  // namespace stereopsis::test
