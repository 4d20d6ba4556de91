// Tests that results that share memory with the pair, or with one another, are rejected on every device.
#include "stereopsis/matcher.hpp"
#include "stereopsis/synth.hpp"
#include "support/devices.hpp"
#include "support/stage_test.hpp"

namespace stereopsis::overlaps_test {
namespace {

using namespace test;

constexpr Size size{48, 32};
constexpr DisparityRange range{0, 16};

template <class F>
void expect_overlap(const std::string& first, const std::string& second, F&& f) {
  try {
    f();
    ADD_FAILURE() << "not rejected: " << first << ", " << second;
  } catch (const Error& error) {
    const std::string said = error.what();
    EXPECT_EQ(error.category(), ErrorCategory::call) << said;
    EXPECT_NE(said.find(first), std::string::npos) << said;
    EXPECT_NE(said.find(second), std::string::npos) << said;
    EXPECT_NE(said.find("overlaps"), std::string::npos) << said;
  }
}

class Overlaps : public testing::Test {
 protected:
  Overlaps() {
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        left(x, y) = static_cast<float>(scene.left(x, y, 0));
        right(x, y) = static_cast<float>(scene.right(x, y, 0));
      }
    problem.want_right = problem.want_confidence = true;
  }

  StereoPair pair() const { return {left, right, mask, mask}; }
  MatchedViews views() {
    MatchedViews v;
    v.disparity = disparity;
    v.validity = validity;
    v.right = other;
    v.confidence = confidence;
    return v;
  }

  const Scene scene = make_scene({.size = size, .disparities = range.count});
  Image<float> left{size}, right{size};
  Image<std::uint8_t> mask{size, 1, 255};
  Image<float> disparity{size}, other{size}, confidence{size};
  Image<std::uint8_t> validity{size};
  Problem problem = Problem::of({left, right, {}, {}}, range);
};

TEST_F(Overlaps, AreRejectedAndChangeNothing) {
  Matcher matcher(Plan(Pipeline("sgm"), problem, {.name = "cpu"}));
  const Image<float> left_before(left), right_before(right);
  const auto rejected = [&](const std::string& first, const std::string& second, auto&& change) {
    MatchedViews v = views();
    change(v);
    expect_overlap(first, second, [&] { matcher.match(pair(), v); });
    expect_overlap(first, second, [&] { matcher.enqueue(pair(), v); });
  };
  rejected("'disparity'", "the left image", [&](MatchedViews& v) { v.disparity = left; });
  rejected("'disparity'", "the right image", [&](MatchedViews& v) { v.disparity = right; });
  rejected("'right'", "the right image", [&](MatchedViews& v) { v.right = right; });
  rejected("'confidence'", "the left image", [&](MatchedViews& v) { v.confidence = left; });
  rejected("'validity'", "the left mask", [&](MatchedViews& v) { v.validity = mask; });
  rejected("'confidence'", "'disparity'", [&](MatchedViews& v) { v.confidence = disparity; });
  rejected("'right'", "'disparity'", [&](MatchedViews& v) { v.disparity = v.right; });
  // The validity map uses the memory of rows of the disparity map.
  const auto bytes = reinterpret_cast<std::uint8_t*>(disparity.row(0));
  rejected("'validity'", "'disparity'", [&](MatchedViews& v) {
    v.validity = {bytes + 7, size.width, size.height, 1, size.width};
  });
  // The two images share only one element of the last row.
  Image<float> large(size.width, 2 * size.height - 1);
  rejected("'confidence'", "'disparity'", [&](MatchedViews& v) {
    v.disparity = large.view().crop({0, 0, size.width, size.height});
    v.confidence = large.view().crop({0, size.height - 1, size.width, size.height});
  });
  EXPECT_TRUE(same_bits(left.view(), left_before.view()));
  EXPECT_TRUE(same_bits(right.view(), right_before.view()));
  EXPECT_NO_THROW(matcher.match(pair(), views()));
}

// Crops of one image whose rows alternate have no byte in common.
TEST_F(Overlaps, CropsSideBySideAreAllowed) {
  Matcher matcher(Plan(Pipeline("sgm"), problem, {.name = "cpu"}));
  Image<float> large(3 * size.width, size.height);
  MatchedViews v = views();
  const auto crop = [&](int x) { return large.view().crop({x, 0, size.width, size.height}); };
  v.disparity = crop(0), v.right = crop(size.width), v.confidence = crop(2 * size.width);
  ASSERT_NO_THROW(matcher.match(pair(), v));
  const Matched expected = matcher.match(pair());
  EXPECT_TRUE(same_bits(crop(0), expected.disparity.view()));
  EXPECT_TRUE(same_bits(crop(size.width), expected.right.view()));
  EXPECT_TRUE(same_bits(crop(2 * size.width), expected.confidence.view()));
  v.right = crop(size.width - 1);  // the crops overlap by one column
  expect_overlap("'right'", "'disparity'", [&] { matcher.match(pair(), v); });
  // The two images have different pitches and share every second row.
  Image<float> tall(size.width, 2 * size.height);
  const std::ptrdiff_t pitch = 2 * (tall.row(1) - tall.row(0));
  v = views();
  v.disparity = {tall.row(0), size.width, size.height, 1, pitch};
  v.right = {tall.row(1), size.width, size.height, 1, pitch};
  ASSERT_NO_THROW(matcher.match(pair(), v));
  EXPECT_TRUE(same_bits(v.disparity, expected.disparity.view()));
  EXPECT_TRUE(same_bits(v.right, expected.right.view()));
}

// Resizing or freeing the images of the result would affect the images of the pair.
TEST_F(Overlaps, OfAResultThatOwnsItsImages) {
  const Matched maps = match({left, right, {}, {}}, range, Pipeline("sgm"), {.name = "cpu"});
  Pipeline refinement("sgm");
  Problem refining = Problem::of({left, right, {}, {}}, range);
  refining.refine_only = true;
  Matcher matcher(Plan(refinement, refining, {.name = "cpu"}));
  Matched result = maps;
  StereoPair given{left, right, {}, {}};
  given.maps.disparity = result.disparity;
  given.maps.validity = result.validity;
  given.maps.right = result.disparity;
  expect_overlap("'disparity'", "the given disparity", [&] { matcher.match(given, result); });
  expect_overlap("'disparity'", "the given disparity", [&] { matcher.enqueue(given, result); });
  EXPECT_TRUE(same_bits(result.disparity.view(), maps.disparity.view()));
  // An image that is not requested would be freed.
  Matched left_over;
  left_over.right = maps.disparity;
  given.maps.disparity = left_over.right;
  given.maps.validity = maps.validity;
  given.maps.right = maps.disparity;
  expect_overlap("'right'", "the given disparity", [&] { matcher.match(given, left_over); });
}

TEST_F(Overlaps, OfVolumes) {
  problem.want_right = problem.want_confidence = false;
  problem.volumes.want_cost = problem.volumes.want_optimised = true;
  const Plan plan(Pipeline("sgm"), problem, {.name = "cpu"});
  const VolumeShape cost = plan.volume(CostState::cost), sums = plan.volume(CostState::optimised);
  ASSERT_EQ(cost.type, PixelType::u8);
  ASSERT_EQ(sums.type, PixelType::u16);
  Image<std::uint16_t> memory(sums.size, sums.disparities);
  MatchedViews v;
  v.disparity = disparity;
  v.optimised = AnyOutputView(memory.view());
  v.cost =
      AnyOutputView(ImageView<std::uint8_t>(reinterpret_cast<std::uint8_t*>(memory.row(3)), size.width, size.height,
                                            cost.disparities, std::ptrdiff_t{size.width} * cost.disparities));
  Matcher matcher(plan);
  expect_overlap("'optimised'", "'cost'", [&] { matcher.match({left, right, {}, {}}, v); });
}

TEST_F(Overlaps, OnADevice) {
  for_each_gpu([&](gpu::Queue&, gpu::Device& device) {
    const std::string& name = device.name();
    const DeviceImage l(name, AnyImageView(left)), r(name, AnyImageView(right)), d(name, size, PixelType::f32),
        o(name, size, PixelType::f32), c(name, size, PixelType::f32), bits(name, size),
        large(name, {2 * size.width, size.height}, PixelType::f32);
    Matcher matcher(Plan(Pipeline("sgm"), problem, {name}));
    const DevicePair in{l, r, {}, {}};
    const DeviceMatched good{d, bits, o, c};
    const auto rejected = [&](const std::string& first, const std::string& second, auto&& change) {
      DeviceMatched out = good;
      change(out);
      expect_overlap(first, second, [&] { matcher.enqueue(in, out); });
    };
    rejected("'disparity'", "the left image", [&](DeviceMatched& out) { out.disparity = l; });
    rejected("'confidence'", "the right image", [&](DeviceMatched& out) { out.confidence = r; });
    rejected("'right'", "'disparity'", [&](DeviceMatched& out) { out.right = d; });
    const auto crop = [&](int x) { return large.view().crop({x, 0, size.width, size.height}); };
    rejected("'right'", "'disparity'", [&](DeviceMatched& out) {
      out.disparity = crop(0);
      out.right = crop(size.width - 1);
    });
    DeviceMatched beside = good;
    beside.disparity = crop(0);
    beside.right = crop(size.width);
    EXPECT_NO_THROW(matcher.wait(matcher.enqueue(in, beside)));
  });
}

}  // namespace
}  // namespace stereopsis::overlaps_test
