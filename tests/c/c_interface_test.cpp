// Compares the C interface with the C++ one: equal results, error statuses instead of exceptions, and structs of other
// versions.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <future>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "stereopsis.h"
#include "stereopsis/matcher.hpp"
#include "stereopsis/synth.hpp"
#include "support/stage_test.hpp"

namespace stereopsis {
namespace {

using namespace test;

constexpr int width = 93, height = 61, disparities = 20;

const Scene& scene() {
  static const Scene made = make_scene({.size = {width, height}, .disparities = disparities, .noise = 2});
  return made;
}

template <class T>
sp_image image_of(ImageView<T> v) {
  sp_image i{};
  i.struct_size = sizeof i;
  i.data = const_cast<std::remove_const_t<T>*>(v.data);
  i.pitch = static_cast<std::int64_t>(v.pitch * sizeof(T));
  i.width = v.width;
  i.height = v.height;
  i.channels = v.channels;
  i.type = static_cast<std::int32_t>(pixel_type_of<T>);
  return i;
}

template <class S>
S sized(S s) {
  s.struct_size = sizeof s;
  return s;
}

// Expects the status `expected` and a sentence that contains `said`.
void expect_refused(sp_status status, const std::string& said, sp_status expected = SP_ERROR_CALL) {
  EXPECT_EQ(status, expected) << sp_last_error();
  EXPECT_NE(std::string(sp_last_error()).find(said), std::string::npos) << sp_last_error();
}
void expect_ok(sp_status status) { ASSERT_EQ(status, SP_OK) << sp_last_error(); }

class CInterface : public testing::Test {
 protected:
  void SetUp() override { expect_ok(sp_pipeline_create("sgm", &pipeline)); }
  void TearDown() override {
    expect_ok(sp_pipeline_destroy(pipeline));
    expect_ok(sp_matcher_destroy(matcher));
  }
  void plan() { expect_ok(sp_matcher_create(pipeline, &problem, &matcher)); }

  sp_pipeline* pipeline = nullptr;
  sp_matcher* matcher = nullptr;
  sp_image left = image_of(scene().left.view()), right = image_of(scene().right.view());
  Image<float> map{width, height};
  Image<std::uint8_t> bits{width, height};
  sp_image disparity = image_of(map.view()), validity = image_of(bits.view());
  sp_problem problem = sized(sp_problem{
      .width = width, .height = height, .channels = 3, .type = SP_U8, .disparities = disparities, .device = "cpu"});
  sp_pair pair = sized(sp_pair{.left = &left, .right = &right});
  sp_result result = sized(sp_result{.disparity = &disparity, .validity = &validity});
  const Matched expected =
      match({scene().left, scene().right, {}, {}}, {0, disparities}, Pipeline("sgm"), {.name = "cpu"});
};

TEST_F(CInterface, VersionsOfHeaderAndLibraryAreTold) {
  EXPECT_EQ(sp_version_number(), STEREOPSIS_VERSION_NUMBER);
  EXPECT_STREQ(sp_version(), STEREOPSIS_VERSION);
  EXPECT_STREQ(sp_status_name(SP_ERROR_UNSUPPORTED), "SP_ERROR_UNSUPPORTED");
  EXPECT_STREQ(sp_status_name(-1), "unknown");
}

TEST_F(CInterface, WritesIntoTheCallersMemory) {
  plan();
  expect_ok(sp_matcher_match(matcher, &pair, &result));
  EXPECT_TRUE(same_bits(map.view(), expected.disparity.view()));
  EXPECT_TRUE(same_bits(bits.view(), expected.validity.view()));
  map.fill(0);
  result.validity = nullptr;
  expect_ok(sp_matcher_match(matcher, &pair, &result));
  EXPECT_TRUE(same_bits(map.view(), expected.disparity.view()));
}

TEST_F(CInterface, PitchesAndOffsetsAreInBytes) {
  Image<float> wide(Size{width + 9, height + 2}, 1, -1.0f);
  disparity = image_of(wide.view());
  disparity.width = width;
  disparity.height = height;
  disparity.offset = disparity.pitch + 4 * static_cast<std::int64_t>(sizeof(float));
  plan();
  expect_ok(sp_matcher_match(matcher, &pair, &result));
  EXPECT_TRUE(same_bits(wide.view().crop({4, 1, width, height}), expected.disparity.view()));
  EXPECT_EQ(wide(3, 1), -1);
  EXPECT_EQ(wide(width + 4, height), -1);
  disparity.pitch += 2;
  expect_refused(sp_matcher_match(matcher, &pair, &result), "multiples of 4");
  disparity.pitch = 4 * width - 4;
  expect_refused(sp_matcher_match(matcher, &pair, &result), "at least 372");
}

// The images are read as BGR: red and blue change places, as in the images that are expected.
TEST_F(CInterface, FormatsOfTheViews) {
  const auto turned = [](const Image<std::uint8_t>& rgb) {
    Image<std::uint8_t> bgr(rgb);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) std::swap(bgr(x, y, 0), bgr(x, y, 2));
    return bgr;
  };
  const Image<std::uint8_t> left_bgr = turned(scene().left), right_bgr = turned(scene().right);
  left = image_of(left_bgr.view()), right = image_of(right_bgr.view());
  problem.format = left.format = right.format = SP_FORMAT_BGR;
  plan();
  expect_ok(sp_matcher_match(matcher, &pair, &result));
  EXPECT_TRUE(same_bits(map.view(), expected.disparity.view()));
  right.format = SP_FORMAT_RGB;
  expect_refused(sp_matcher_match(matcher, &pair, &result), "different formats");
  left.format = SP_FORMAT_RGB;
  expect_refused(sp_matcher_match(matcher, &pair, &result), "BGR");
  left.format = right.format = 9;
  expect_refused(sp_matcher_match(matcher, &pair, &result), "0 to 8");
  left.format = right.format = SP_FORMAT_BGR;
  disparity.format = SP_FORMAT_BGR;
  expect_refused(sp_matcher_match(matcher, &pair, &result), "result.disparity");
  // An older program's image has no format, whatever bytes follow the struct.
  disparity.format = SP_FORMAT_RGB;
  left.struct_size = right.struct_size = 56;
  expect_refused(sp_matcher_match(matcher, &pair, &result), "BGR");
}

TEST_F(CInterface, PairsInWorkHaveTickets) {
  problem.batch = 2;
  plan();
  Image<float> maps[3];
  sp_image images[3];
  sp_ticket tickets[3];
  for (int i = 0; i < 3; ++i) {
    maps[i] = Image<float>(width, height);
    images[i] = image_of(maps[i].view());
    result.disparity = &images[i];
    expect_ok(sp_matcher_enqueue(matcher, &pair, &result, &tickets[i]));
  }
  std::int32_t done = 0;
  for (int i = 0; i < 3; ++i) {
    expect_ok(sp_matcher_wait(matcher, tickets[i]));
    expect_ok(sp_matcher_is_done(matcher, tickets[i], &done));
    EXPECT_EQ(done, 1);
    EXPECT_TRUE(same_bits(maps[i].view(), expected.disparity.view()));
  }
  expect_refused(sp_matcher_wait(matcher, tickets[2] + 1), "ticket");
  expect_refused(sp_matcher_wait(matcher, ~sp_ticket{0}), "ticket");
  expect_ok(sp_matcher_wait(matcher, 0));  // 0 is the ticket of no pair
  expect_refused(sp_matcher_enqueue_in_stream(matcher, &pair, &result, nullptr, nullptr), "stream");
}

TEST_F(CInterface, HandlesThatAreNotThereAreRefused) {
  plan();
  sp_plan told = sized(sp_plan{});
  expect_refused(sp_matcher_plan(nullptr, &told), "matcher");
  expect_refused(sp_matcher_plan(reinterpret_cast<sp_matcher*>(pipeline), &told), "matcher");
  expect_refused(sp_matcher_plan(reinterpret_cast<sp_matcher*>(&told), &told), "matcher");
  expect_ok(sp_matcher_plan(matcher, &told));
  EXPECT_STREQ(told.device, "cpu");
  sp_matcher* old = matcher;
  expect_ok(sp_matcher_destroy(matcher));
  matcher = nullptr;
  expect_refused(sp_matcher_destroy(old), "destroyed");
  expect_refused(sp_matcher_match(old, &pair, &result), "destroyed");
  plan();
  EXPECT_NE(matcher, old) << "numbers come but once";
}

TEST_F(CInterface, StructsOfOtherVersions) {
  const auto with_size = [&](std::size_t size) {
    problem.struct_size = size;
    sp_matcher* made = nullptr;
    const sp_status status = sp_matcher_create(pipeline, &problem, &made);
    sp_matcher_destroy(made);
    return status;
  };
  const std::size_t first_version = offsetof(sp_problem, fill_depth);
  for (const std::size_t size : {std::size_t{0}, std::size_t{8}, first_version - 1})
    expect_refused(with_size(size), "sizeof");
  expect_ok(with_size(first_version));
  expect_refused(with_size(sizeof problem + 8), "as new as the header", SP_ERROR_UNSUPPORTED);
  expect_refused(with_size(SIZE_MAX), "as new as the header", SP_ERROR_UNSUPPORTED);
  expect_ok(with_size(sizeof problem));
  // The library writes no more bytes than the caller's struct has.
  struct {
    sp_device device;
    std::uint64_t behind;
  } room{sized(sp_device{}), 7};
  expect_ok(sp_device_get(0, &room.device));
  EXPECT_EQ(room.behind, 7u);
  EXPECT_EQ(room.device.struct_size, sizeof(sp_device));
}

TEST_F(CInterface, NullsAreRefused) {
  plan();
  expect_refused(sp_pipeline_create(nullptr, &pipeline), "method is null");
  expect_ok(sp_pipeline_create("sgm", &pipeline));
  expect_refused(sp_pipeline_create("sgm", nullptr), "null");
  expect_refused(sp_pipeline_set(pipeline, nullptr, "1"), "name is null");
  expect_refused(sp_pipeline_set(pipeline, "sgm.p1", nullptr), "value is null");
  expect_refused(sp_matcher_match(matcher, nullptr, &result), "pair is null");
  expect_refused(sp_matcher_match(matcher, &pair, nullptr), "result is null");
  left.data = nullptr;
  expect_refused(sp_matcher_match(matcher, &pair, &result), "no pixels");
  pair.left = nullptr;
  expect_refused(sp_matcher_match(matcher, &pair, &result), "pair.left and pair.costs are both null");
}

TEST_F(CInterface, ParametersAreTheDescriptions) {
  std::size_t count = 0;
  expect_ok(sp_pipeline_parameter_count(pipeline, &count));
  const std::vector<ParameterInfo> due = Pipeline("sgm").parameters();
  ASSERT_EQ(count, due.size());
  for (std::size_t i = 0; i < count; ++i) {
    sp_parameter p = sized(sp_parameter{});
    expect_ok(sp_pipeline_parameter(pipeline, i, &p));
    EXPECT_EQ(p.name, due[i].name);
    EXPECT_EQ(p.value, due[i].value);
    EXPECT_EQ(p.allowed, due[i].allowed);
    EXPECT_EQ(std::isnan(p.minimum), !due[i].minimum);
    EXPECT_EQ(std::vector<std::string>(p.choices, p.choices + p.choice_count), due[i].choices);
    char value[200];
    std::size_t length = 0;
    expect_ok(sp_pipeline_get(pipeline, p.name, nullptr, 0, &length));
    expect_ok(sp_pipeline_get(pipeline, p.name, value, sizeof value, nullptr));
    EXPECT_EQ(value, due[i].value);
    EXPECT_EQ(std::strlen(value), length);
    expect_ok(sp_pipeline_set(pipeline, p.name, value));
    if (length > 0) expect_refused(sp_pipeline_get(pipeline, p.name, value, length, nullptr), "capacity");
  }
  expect_refused(sp_pipeline_set(pipeline, "sgm.p11", "1"), "did you mean 'sgm.p1'");
  sp_pipeline* copy = nullptr;
  expect_ok(sp_pipeline_set(pipeline, "sgm.paths", "4"));
  expect_ok(sp_pipeline_set(pipeline, "vote_fill.sigma_colour", "21"));  // the spelling of earlier versions
  char paths[8], sigma[8];
  expect_ok(sp_pipeline_get(pipeline, "vote_fill.sigma_color", sigma, sizeof sigma, nullptr));
  EXPECT_STREQ(sigma, "21");
  expect_ok(sp_pipeline_copy(pipeline, &copy));
  expect_ok(sp_pipeline_get(copy, "sgm.paths", paths, sizeof paths, nullptr));
  EXPECT_STREQ(paths, "4");
  expect_ok(sp_pipeline_destroy(copy));
}

TEST_F(CInterface, FilledPixelsHaveDepthOnlyOnRequest) {
  const sp_rig rig =
      sized(sp_rig{.focal = 80, .cx_left = width / 2.0, .cx_right = width / 2.0, .cy = height / 2.0, .baseline = 0.2});
  problem.rig = &rig;
  problem.want = SP_WANT_DEPTH;
  Image<float> depth_map(width, height);
  const sp_image depth = image_of(depth_map.view());
  result.depth = &depth;
  constexpr std::size_t before_fill_depth = offsetof(sp_problem, fill_depth);  // the struct of an older header
  for (const auto& [size, fill] : {std::pair{sizeof problem, 0}, {sizeof problem, 1}, {before_fill_depth, 7}}) {
    problem.struct_size = size;
    problem.fill_depth = fill;
    plan();
    expect_ok(sp_matcher_match(matcher, &pair, &result));
    int filled = 0;
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        if (!(map(x, y) > 0)) continue;
        EXPECT_EQ(std::isfinite(depth_map(x, y)), bits(x, y) == 0 || fill == 1);
        filled += bits(x, y) != 0;
      }
    EXPECT_GT(filled, 20);
    expect_ok(sp_matcher_destroy(matcher));
    matcher = nullptr;
  }
  problem.struct_size = sizeof problem;
  expect_refused(sp_matcher_create(pipeline, &problem, &matcher), "problem.fill_depth is 7");
}

TEST_F(CInterface, ConstantRegionsAreSkippedOnRequest) {
  Image<std::uint8_t> black(width, height, 3), white(width, height, 3);
  for (int y = 0; y < height; ++y) {
    std::fill_n(black.row(y), 3 * width, std::uint8_t{2});
    std::fill_n(white.row(y), 3 * width, std::uint8_t{200});
  }
  const sp_image dark = image_of(black.view()), bright = image_of(white.view());
  problem.skip_constant = 1;
  problem.black = 2;
  plan();
  for (const auto& [image, bit] : {std::pair{&dark, SP_INVALID_MASKED}, {&bright, SP_FILLED}}) {
    pair.left = pair.right = image;
    expect_ok(sp_matcher_match(matcher, &pair, &result));
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        if (bit == SP_INVALID_MASKED) {
          ASSERT_EQ(bits(x, y), SP_INVALID_MASKED) << x << "," << y;
        }
        ASSERT_NE(bits(x, y), 0) << x << "," << y;
      }
  }
  expect_ok(sp_matcher_destroy(matcher));
  matcher = nullptr;
  problem.skip_constant = 0;
  expect_refused(sp_matcher_create(pipeline, &problem, &matcher), "problem.black is 2");
  problem.skip_constant = 7;
  expect_refused(sp_matcher_create(pipeline, &problem, &matcher), "problem.skip_constant is 7");
  problem.skip_constant = 1;
  problem.black = -1;
  expect_refused(sp_matcher_create(pipeline, &problem, &matcher), "black is -1");
}

TEST_F(CInterface, RowsAreAlignedOnRequest) {
  const Scene moved = make_scene({.size = {320, 240}, .disparities = 32, .noise = 2, .vertical_offset = 1});
  const sp_image first = image_of(moved.left.view()), second = image_of(moved.right.view());
  sp_row_estimate estimate{};
  expect_refused(sp_estimate_row_alignment(&first, &second, &estimate), "estimate.struct_size is 0");
  estimate.struct_size = sizeof estimate;
  expect_refused(sp_estimate_row_alignment(&first, nullptr, &estimate), "pass both images");
  expect_ok(sp_estimate_row_alignment(&first, &second, &estimate));
  EXPECT_EQ(estimate.reason, SP_ROWS_ALIGNED);
  EXPECT_NEAR(estimate.plane.offset, -1, 0.03);
  EXPECT_GT(estimate.tracks, 300);
  EXPECT_LT(estimate.deviation.offset, 0.01);
  expect_ok(sp_estimate_row_alignment(&first, &first, &estimate));
  EXPECT_EQ(estimate.reason, SP_ROWS_AGREE);

  sp_row_alignment rows{};
  rows.struct_size = sizeof rows;
  problem.row_alignment = &rows;
  plan();
  expect_ok(sp_matcher_match(matcher, &pair, &result));
  sp_row_alignment of_pair{};
  of_pair.struct_size = sizeof of_pair;
  of_pair.offset = 1;
  pair.row_alignment = &of_pair;
  expect_ok(sp_matcher_match(matcher, &pair, &result));
  of_pair.field_columns = 3;
  expect_refused(sp_matcher_match(matcher, &pair, &result), "a field of rows with 3×0 knots is not allowed");
  of_pair.field_columns = 1;
  of_pair.field_rows = 4;
  of_pair.knots[0] = 0.5;
  expect_ok(sp_matcher_match(matcher, &pair, &result));
  of_pair.offset = 33;
  expect_refused(sp_matcher_match(matcher, &pair, &result), "rows must move by at most 32 pixels");
  expect_ok(sp_matcher_destroy(matcher));
  matcher = nullptr;
  problem.row_alignment = nullptr;
  of_pair.offset = 1;
  plan();
  expect_refused(sp_matcher_match(matcher, &pair, &result), "the matcher was not planned for alignments");
  expect_ok(sp_matcher_destroy(matcher));
  matcher = nullptr;
  problem.row_alignment = &rows;
  rows.offset = 33;
  expect_refused(sp_matcher_create(pipeline, &problem, &matcher), "rows must move by at most 32 pixels");
  rows.struct_size = 8;
  expect_refused(sp_matcher_create(pipeline, &problem, &matcher), "problem.row_alignment.struct_size is 8");
}

TEST_F(CInterface, DepthByARigAndCameras) {
  sp_rig rig =
      sized(sp_rig{.focal = 80, .cx_left = width / 2.0, .cx_right = width / 2.0, .cy = height / 2.0, .baseline = 0.2});
  problem.rig = &rig;
  problem.want = SP_WANT_DEPTH | SP_WANT_POINTS;
  problem.fill_depth = 1;
  plan();
  Image<float> depth_map(width, height), point_map(width, height, 3);
  const sp_image depth = image_of(depth_map.view()), points = image_of(point_map.view());
  result.depth = &depth;
  expect_refused(sp_matcher_match(matcher, &pair, &result), "points");
  result.points = &points;
  expect_ok(sp_matcher_match(matcher, &pair, &result));
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      if (!std::isnan(map(x, y)) && map(x, y) > 0) {
        EXPECT_FLOAT_EQ(depth_map(x, y), static_cast<float>(80 * 0.2 / map(x, y)));
        EXPECT_EQ(point_map(x, y, 2), depth_map(x, y));
      }
  // Cameras that are already as the rig describes are rectified to themselves.
  expect_ok(sp_matcher_destroy(matcher));
  sp_camera camera = sized(sp_camera{.fx = 80, .fy = 80, .cx = width / 2.0, .cy = height / 2.0});
  for (const int i : {0, 4, 8}) camera.rectification[i] = 1;
  problem.left_camera = &camera;
  matcher = nullptr;
  expect_refused(sp_matcher_create(pipeline, &problem, &matcher), "both");
  problem.right_camera = &camera;
  problem.want = SP_WANT_RECTIFIED;
  plan();
  Image<std::uint8_t> seen(width, height, 3);
  const sp_image rectified = image_of(seen.view());
  result.depth = result.points = nullptr;
  result.rectified = &rectified;
  expect_ok(sp_matcher_match(matcher, &pair, &result));
  EXPECT_TRUE(same_bits(seen.view(), scene().left.view()));
  EXPECT_TRUE(same_bits(map.view(), expected.disparity.view()));
}

// A user stage that computes the costs of a grey difference.
std::int32_t differ(const sp_stage_call* call, void* user) {
  ++*static_cast<int*>(user);
  const auto* const reference = static_cast<const std::uint8_t*>(call->reference->data) + call->reference->offset;
  const auto* const other = static_cast<const std::uint8_t*>(call->other->data) + call->other->offset;
  auto* const made = static_cast<std::uint8_t*>(call->made->data) + call->made->offset;
  for (int y = 0; y < call->made->height; ++y)
    for (int x = 0; x < call->made->width; ++x)
      for (int k = 0; k < call->disparities; ++k) {
        const int from = std::clamp(x - call->min_disparity - k, 0, call->made->width - 1);
        made[y * call->made->pitch + x * call->made->channels + k] =
            static_cast<std::uint8_t>(std::abs(reference[y * call->reference->pitch + x * call->reference->channels] -
                                               other[y * call->other->pitch + from * call->other->channels]));
      }
  return 0;
}

TEST_F(CInterface, AStageOfTheCallers) {
  int calls = 0;
  sp_stage stage = sized(sp_stage{.name = "difference", .cpu = differ, .user = &calls, .takes = -1});
  expect_refused(sp_pipeline_set_stage(pipeline, "selection", &stage), "slot");
  expect_ok(sp_pipeline_set_stage(pipeline, "cost", &stage));
  plan();
  expect_ok(sp_matcher_match(matcher, &pair, &result));
  EXPECT_GE(calls, 1);
  Pipeline same("sgm");
  same.set_stage("cost", {.name = "difference", .cpu = [](const UserCall& call) {
                            for (int y = 0; y < call.made.height; ++y)
                              for (int x = 0; x < call.made.width; ++x)
                                for (int k = 0; k < call.range.count; ++k)
                                  on_host<std::uint8_t>(call.made)(x, y, k) = static_cast<std::uint8_t>(
                                      std::abs(on_host<std::uint8_t>(call.reference)(x, y) -
                                               on_host<std::uint8_t>(call.other).clamped(x - call.range.min - k, y)));
                          }});
  const Matched due = match({scene().left, scene().right, {}, {}}, {0, disparities}, same, {.name = "cpu"});
  EXPECT_TRUE(same_bits(map.view(), due.disparity.view()));
  std::size_t count = 0;
  expect_ok(sp_matcher_time_count(matcher, &count));
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) {
    sp_stage_time time = sized(sp_stage_time{});
    expect_ok(sp_matcher_time(matcher, i, &time));
    names.push_back(time.name);
  }
  EXPECT_NE(std::find(names.begin(), names.end(), "difference"), names.end());

  stage.cpu = [](const sp_stage_call*, void*) { return 5; };
  expect_ok(sp_pipeline_set_stage(pipeline, "cost", &stage));
  sp_matcher* failing = nullptr;
  expect_ok(sp_matcher_create(pipeline, &problem, &failing));
  expect_refused(sp_matcher_match(failing, &pair, &result), "returned 5");
  expect_ok(sp_matcher_destroy(failing));
}

// The pair that fails, by its number, of those that a stage sees.
struct Failing {
  int fails = -1, seen = 0;
};
std::int32_t fail_once(const sp_stage_call* call, void* user) {
  auto& failing = *static_cast<Failing*>(user);
  int calls = 0;
  return failing.seen++ == failing.fails ? 5 : differ(call, &calls);
}

TEST_F(CInterface, EachPairHasItsOwnError) {
  constexpr int frames = 5;
  for (const int batch : {1, 2, 3})
    for (int fails = 0; fails < frames; ++fails) {
      SCOPED_TRACE(testing::Message() << "batch " << batch << ", frame " << fails);
      Failing failing;
      const sp_stage stage = sized(sp_stage{.name = "failing", .cpu = fail_once, .user = &failing, .takes = -1});
      expect_ok(sp_pipeline_set_stage(pipeline, "cost", &stage));
      problem.batch = batch;
      plan();
      expect_ok(sp_matcher_match(matcher, &pair, &result));
      const Image<float> due(map);
      failing = {.fails = fails};
      Image<float> maps[frames];
      sp_image images[frames];
      sp_ticket tickets[frames];
      for (int i = 0; i < frames; ++i) {
        maps[i] = Image<float>({width, height}, 1, -77.0f);
        images[i] = image_of(maps[i].view());
        const sp_result own = sized(sp_result{.disparity = &images[i]});
        expect_ok(sp_matcher_enqueue(matcher, &pair, &own, &tickets[i]));
      }
      for (int i = 0; i < frames; ++i)
        for (int again = 0; again < 2; ++again)
          if (i == fails)
            expect_refused(sp_matcher_wait(matcher, tickets[i]), "returned 5");
          else
            expect_ok(sp_matcher_wait(matcher, tickets[i]));
      for (int i = 0; i < frames; ++i)
        if (i != fails) {
          EXPECT_TRUE(same_bits(maps[i].view(), due.view())) << i;
        }
      expect_ok(sp_matcher_wait(matcher, 0));
      expect_ok(sp_matcher_destroy(matcher));
      matcher = nullptr;
    }
}

// The arguments of a user stage that calls its own matcher.
struct Inside {
  sp_matcher* matcher = nullptr;
  const sp_pair* pair = nullptr;
  const sp_result* result = nullptr;
  int calls = 0;
};
std::int32_t use_own_matcher(const sp_stage_call* call, void* user) {
  auto& inside = *static_cast<Inside*>(user);
  sp_ticket ticket = 0;
  std::int32_t done = 0;
  std::size_t count = 0;
  sp_stage_time time = sized(sp_stage_time{});
  expect_refused(sp_matcher_match(inside.matcher, inside.pair, inside.result), "inside a stage");
  expect_refused(sp_matcher_enqueue(inside.matcher, inside.pair, inside.result, &ticket), "inside a stage");
  expect_refused(sp_matcher_wait(inside.matcher, 0), "inside a stage");
  expect_refused(sp_matcher_is_done(inside.matcher, 0, &done), "inside a stage");
  expect_refused(sp_matcher_time_count(inside.matcher, &count), "inside a stage");
  expect_refused(sp_matcher_time(inside.matcher, 0, &time), "inside a stage");
  expect_refused(sp_matcher_destroy(inside.matcher), "inside a stage");
  sp_plan plan = sized(sp_plan{});
  EXPECT_EQ(sp_matcher_plan(inside.matcher, &plan), SP_OK);
  return differ(call, &inside.calls);
}

TEST_F(CInterface, AStageDoesNotUseItsOwnMatcher) {
  Image<float> other_map(width, height);
  const sp_image other_image = image_of(other_map.view());
  const sp_result other = sized(sp_result{.disparity = &other_image});
  Inside inside{.pair = &pair, .result = &other};
  const sp_stage stage = sized(sp_stage{.name = "inside", .cpu = use_own_matcher, .user = &inside, .takes = -1});
  expect_ok(sp_pipeline_set_stage(pipeline, "cost", &stage));
  plan();
  inside.matcher = matcher;
  expect_ok(sp_matcher_match(matcher, &pair, &result));
  const Image<float> matched(map);
  map.fill(0);
  sp_ticket ticket = 0;
  expect_ok(sp_matcher_enqueue(matcher, &pair, &result, &ticket));
  expect_ok(sp_matcher_wait(matcher, ticket));
  EXPECT_TRUE(same_bits(map.view(), matched.view()));
  EXPECT_GE(inside.calls, 2);
}

// A user stage that waits in its second call until the test lets it go on.
struct Held {
  std::promise<void> entered, released;
  std::shared_future<void> release{released.get_future()};
  int pairs = 0, calls = 0;
};
std::int32_t hold(const sp_stage_call* call, void* user) {
  auto& held = *static_cast<Held*>(user);
  if (++held.pairs == 2) {
    held.entered.set_value();
    held.release.wait();
  }
  return differ(call, &held.calls);
}

TEST_F(CInterface, AskingForAPairDoesNotWaitForAThreadThatWaits) {
  Held held;
  const sp_stage stage = sized(sp_stage{.name = "hold", .cpu = hold, .user = &held, .takes = -1});
  expect_ok(sp_pipeline_set_stage(pipeline, "cost", &stage));
  problem.batch = 2;
  plan();
  Image<float> other_map(width, height);
  const sp_image other_image = image_of(other_map.view());
  const sp_result other = sized(sp_result{.disparity = &other_image});
  sp_ticket first = 0, second = 0;
  expect_ok(sp_matcher_enqueue(matcher, &pair, &result, &first));
  expect_ok(sp_matcher_wait(matcher, first));
  expect_ok(sp_matcher_enqueue(matcher, &pair, &other, &second));
  held.entered.get_future().wait();
  std::thread waiting([&] { expect_ok(sp_matcher_wait(matcher, second)); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // the other thread has its turn now
  auto asked = std::async(std::launch::async, [&] {
    std::array<std::int32_t, 3> done{-1, -1, -1};
    expect_ok(sp_matcher_is_done(matcher, first, &done[0]));
    expect_ok(sp_matcher_is_done(matcher, second, &done[1]));
    expect_ok(sp_matcher_is_done(matcher, 0, &done[2]));
    expect_refused(sp_matcher_is_done(matcher, second + 1, &done[2]), "ticket");
    return done;
  });
  EXPECT_EQ(asked.wait_for(std::chrono::seconds(20)), std::future_status::ready) << "it waits for the pair";
  held.released.set_value();
  EXPECT_EQ(asked.get(), (std::array<std::int32_t, 3>{1, 0, 1}));
  waiting.join();
  std::int32_t done = 0;
  expect_ok(sp_matcher_is_done(matcher, second, &done));
  EXPECT_EQ(done, 1);
}

TEST_F(CInterface, ThrownThingsBecomeSentences) {
  const sp_stage stage = sized(
      sp_stage{.name = "thrower", .cpu = [](const sp_stage_call*, void*) -> std::int32_t { throw 1; }, .takes = -1});
  expect_ok(sp_pipeline_set_stage(pipeline, "cost", &stage));
  plan();
  expect_refused(sp_matcher_match(matcher, &pair, &result), "'thrower' threw an object");
  sp_ticket ticket = 0;
  expect_ok(sp_matcher_enqueue(matcher, &pair, &result, &ticket));
  expect_refused(sp_matcher_wait(matcher, ticket), "'thrower' threw an object");
}

TEST_F(CInterface, ResultsDoNotShareMemory) {
  problem.want = SP_WANT_CONFIDENCE;
  plan();
  Image<float> confident(width, height);
  sp_image confidence = image_of(confident.view());
  result.confidence = &confidence;
  expect_ok(sp_matcher_match(matcher, &pair, &result));
  sp_ticket ticket = 0;
  const auto rejected = [&](const std::string& said) {
    expect_refused(sp_matcher_match(matcher, &pair, &result), said);
    expect_refused(sp_matcher_enqueue(matcher, &pair, &result, &ticket), said);
  };
  confidence.data = disparity.data;
  rejected("overlaps the output 'disparity'");
  confidence = image_of(confident.view());
  validity.data = left.data;
  validity.pitch = 0;
  rejected("overlaps the left image");
  validity.data = disparity.data;
  validity.offset = 5;
  rejected("overlaps the output 'disparity'");
}

TEST_F(CInterface, ARegionIsAllZeroOrNotEmpty) {
  for (const sp_rect& empty : {sp_rect{10, 10, 0, 0}, sp_rect{1, 0, 0, 0}, sp_rect{0, 1, 0, 0}, sp_rect{10, 10, 5, 0},
                               sp_rect{10, 10, 0, 5}, sp_rect{-1, 0, 0, 0}, sp_rect{0, 0, -1, 0}}) {
    problem.region = empty;
    expect_refused(sp_matcher_create(pipeline, &problem, &matcher), "region");
    EXPECT_EQ(matcher, nullptr);
  }
  problem.region = {};
  plan();
  sp_plan told = sized(sp_plan{});
  expect_ok(sp_matcher_plan(matcher, &told));
  EXPECT_EQ(told.required_input.width, width);
}

TEST_F(CInterface, TicketsOfOthersAreRejected) {
  plan();
  sp_matcher* other = nullptr;
  expect_ok(sp_matcher_create(pipeline, &problem, &other));
  sp_ticket ticket = 0;
  std::int32_t done = 0;
  expect_ok(sp_matcher_enqueue(matcher, &pair, &result, &ticket));
  // `other` has enqueued nothing yet, and then something.
  for (int i = 0; i < 2; ++i) {
    for (const sp_ticket foreign : {ticket, sp_ticket{1}, sp_ticket{2}, ~sp_ticket{0}}) {
      expect_refused(sp_matcher_wait(other, foreign), "ticket");
      expect_refused(sp_matcher_is_done(other, foreign, &done), "ticket");
    }
    expect_ok(sp_matcher_wait(other, 0));
    expect_ok(sp_matcher_is_done(other, 0, &done));
    EXPECT_EQ(done, 1);
    expect_ok(sp_matcher_match(other, &pair, &result));
  }
  expect_ok(sp_matcher_wait(matcher, ticket));
  expect_ok(sp_matcher_destroy(other));
}

TEST_F(CInterface, ExtremeIntegersAreRejected) {
  constexpr std::int32_t low = std::numeric_limits<std::int32_t>::min(),
                         high = std::numeric_limits<std::int32_t>::max();
  const sp_problem good = problem;
  for (std::int32_t sp_problem::*const member :
       {&sp_problem::width, &sp_problem::height, &sp_problem::channels, &sp_problem::bit_depth,
        &sp_problem::min_disparity, &sp_problem::disparities, &sp_problem::batch})
    for (const std::int32_t extreme : {low, low + 1, high - 1, high}) {
      problem = good;
      problem.*member = extreme;
      EXPECT_NE(sp_matcher_create(pipeline, &problem, &matcher), SP_OK) << extreme;
    }
  problem = good;
  plan();
  const sp_image good_left = left;
  for (const std::int64_t extreme :
       {std::numeric_limits<std::int64_t>::min(), std::int64_t{-3}, std::numeric_limits<std::int64_t>::max() / 3 * 3}) {
    left = good_left;
    left.pitch = extreme;
    expect_refused(sp_matcher_match(matcher, &pair, &result), "pitch");
    left = good_left;
    left.offset = extreme;
    expect_refused(sp_matcher_match(matcher, &pair, &result), "offset");
  }
  for (std::int32_t sp_image::*const member : {&sp_image::width, &sp_image::height, &sp_image::channels})
    for (const std::int32_t extreme : {low, -1, 0, high}) {
      left = good_left;
      left.pitch = 0;
      left.*member = extreme;
      EXPECT_EQ(sp_matcher_match(matcher, &pair, &result), SP_ERROR_CALL) << extreme;
    }
}

TEST_F(CInterface, SentencesAreTheThreads) {
  expect_refused(sp_pipeline_set(pipeline, "nonsense", "1"), "nonsense");
  expect_refused(sp_pipeline_set(pipeline, "\xFFnonsense\n", "1"), "'\\xffnonsense '");  // in UTF-8, and one line
  std::thread([&] {
    EXPECT_STREQ(sp_last_error(), "");
    expect_refused(sp_pipeline_set(pipeline, "other", "1"), "other");
  }).join();
  EXPECT_NE(std::string(sp_last_error()).find("nonsense"), std::string::npos);
}

TEST_F(CInterface, ThreadsShareAMatcher) {
  plan();
  std::vector<std::thread> threads;
  std::vector<Image<float>> maps(4);
  for (auto& own : maps)
    threads.emplace_back([&] {
      own = Image<float>(width, height);
      const sp_image place = image_of(own.view());
      const sp_result to = sized(sp_result{.disparity = &place});
      for (int i = 0; i < 3; ++i) EXPECT_EQ(sp_matcher_match(matcher, &pair, &to), SP_OK);
    });
  for (std::thread& thread : threads) thread.join();
  for (const auto& own : maps) EXPECT_TRUE(same_bits(own.view(), expected.disparity.view()));
}

TEST_F(CInterface, MemoryOfADevice) {
  sp_buffer* buffer = nullptr;
  expect_ok(sp_buffer_create("cpu", SP_HOST, &left, &buffer));
  sp_image inside = sized(sp_image{});
  expect_ok(sp_buffer_image(buffer, &inside));
  EXPECT_EQ(inside.width, width);
  EXPECT_EQ(inside.channels, 3);
  expect_refused(sp_buffer_upload(buffer, &left), "SP_HOST");
  expect_ok(sp_buffer_destroy(buffer));
  std::size_t count = 0;
  expect_ok(sp_device_count(&count));
  bool matched = false;
  for (std::size_t i = 0; i < count; ++i) {
    sp_device device = sized(sp_device{});
    expect_ok(sp_device_get(i, &device));
    if (device.usable == 0 || std::string(device.name) == "cpu") continue;
    SCOPED_TRACE(device.name);
    matched = true;
    problem.device = device.name;
    plan();
    sp_buffer* buffers[4] = {};
    sp_image images[4];
    const sp_image* shapes[4] = {&left, &right, &disparity, &validity};
    for (int k = 0; k < 4; ++k) {
      expect_ok(sp_buffer_create(device.name, SP_DEVICE, shapes[k], &buffers[k]));
      images[k] = sized(sp_image{});
      expect_ok(sp_buffer_image(buffers[k], &images[k]));
    }
    expect_ok(sp_buffer_upload(buffers[0], &left));
    expect_ok(sp_buffer_upload(buffers[1], &right));
    const sp_pair there = sized(sp_pair{.left = &images[0], .right = &images[1]});
    const sp_result made = sized(sp_result{.disparity = &images[2], .validity = &images[3]});
    expect_refused(sp_matcher_match(matcher, &there, &result), "place");
    expect_ok(sp_matcher_match(matcher, &there, &made));
    map.fill(0);
    expect_ok(sp_buffer_download(buffers[2], &disparity));
    EXPECT_TRUE(same_bits(map.view(), expected.disparity.view()));
    for (sp_buffer* b : buffers) expect_ok(sp_buffer_destroy(b));
    expect_ok(sp_matcher_destroy(matcher));
    matcher = nullptr;
  }
  if (!matched) GTEST_SKIP() << "no GPU, nor a device of OpenCL";
}

}  // namespace
}  // namespace stereopsis
