#include "stages/vote_fill/vote_fill.hpp"

#include "support/devices.hpp"
#include "support/map_test.hpp"
#include "support/targets.hpp"

namespace stereopsis::vote_fill_test {
namespace {

using namespace test;
using vote_fill::Parameters;

constexpr float nan = invalid_disparity;

// A complete problem: the map to fill, and the inputs of the filling.
struct Problem {
  test::Map map;
  Image<float> confidence, right;
  Image<std::uint8_t> image;
};

Problem random_problem(Size size, int channels, int low, int high, int invalid_percent) {
  Problem problem{random_map(size, 8, low, high, invalid_percent), Image<float>(size),
                  random_map(size, 9, low, high, 20).disparity,
                  random_image<std::uint8_t>(size, 3, 100, 130, channels)};
  std::mt19937 generator(5);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) problem.confidence(x, y) = static_cast<float>(generator() % 1000) / 1000.0f;
  return problem;
}

struct Filled {
  test::Map map;
  Image<float> confidence;
};

Filled by_oracle(const Parameters& p, const Problem& problem, bool with_confidence) {
  Filled filled{problem.map, problem.confidence};
  vote_fill::oracle(
      p, {problem.right, problem.image},
      {filled.map.disparity, filled.map.validity, with_confidence ? filled.confidence.view() : ImageView<float>()});
  return filled;
}

void expect_equal(const Filled& expected, PitchedImage<float>& disparity, PitchedImage<std::uint8_t>& validity,
                  PitchedImage<float>& confidence) {
  EXPECT_TRUE(same_bits(disparity.view(), expected.map.disparity)) << "disparity";
  EXPECT_TRUE(same_bits(validity.view(), expected.map.validity)) << "validity";
  EXPECT_TRUE(same_bits(confidence.view(), expected.confidence)) << "confidence";
  EXPECT_TRUE(disparity.guard_intact() && validity.guard_intact() && confidence.guard_intact());
}

void expect_all_equal_oracle(const Parameters& p, const Problem& problem, bool with_confidence = true) {
  const Size size = problem.right.size();
  SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", step " << p.step << ", reach " << p.reach
                                  << ", reject " << p.reject);
  const Filled expected = by_oracle(p, problem, with_confidence);
  PitchedImage<float> right(problem.right.view());
  PitchedImage<std::uint8_t> image(problem.image.view());
  for_each_engine([&](Threads& threads) {
    PitchedImage<float> disparity(problem.map.disparity.view()), confidence(problem.confidence.view());
    PitchedImage<std::uint8_t> validity(problem.map.validity.view());
    Image<std::uint8_t> scratch(static_cast<int>(vote_fill::scratch_bytes(p, size)), 1, 1);
    scratch.fill(0xA5);
    vote_fill::cpu(p, {right, image}, {disparity, validity, with_confidence ? confidence.view() : ImageView<float>()},
                   std::as_writable_bytes(std::span(scratch.row(0), scratch.width())), threads);
    expect_equal(expected, disparity, validity, confidence);
  });
  for (gpu::Device* device : gpu::usable_devices()) {
    SCOPED_TRACE(device->name());
    const auto queue = device->make_queue();
    const OnDevice<float> right_there(*device, *queue, right);
    const OnDevice<std::uint8_t> image_there(*device, *queue, image);
    const gpu::Buffer scratch = poisoned(*device, *queue, vote_fill::gpu_scratch_bytes(p, size));
    for (int run = 0; run < 2; ++run) {
      PitchedImage<float> disparity(problem.map.disparity.view()), confidence(problem.confidence.view());
      PitchedImage<std::uint8_t> validity(problem.map.validity.view());
      OnDevice<float> disparity_there(*device, *queue, disparity), confidence_there(*device, *queue, confidence);
      OnDevice<std::uint8_t> validity_there(*device, *queue, validity);
      vote_fill::gpu(p, {right_there, image_there},
                     {disparity_there, validity_there, with_confidence ? confidence_there.view() : gpu::View<float>()},
                     scratch.span(), *queue);
      disparity_there.download();
      validity_there.download();
      confidence_there.download();
      expect_equal(expected, disparity, validity, confidence);
    }
  }
}

TEST(VoteFill, DevicesEqualOracle) {
  for (const Size size : awkward_sizes)
    for (const int invalid_percent : {0, 15, 60, 97, 100})
      expect_all_equal_oracle({}, random_problem(size, 3, -3, 30, invalid_percent));
  expect_all_equal_oracle({}, random_problem({67, 13}, 1, -3, 30, 40), false);
  if (gpu::usable_devices().empty())
    GTEST_SKIP() << "no GPU: " << gpu::cuda_devices().reason << "; " << gpu::opencl_devices().reason;
}

TEST(VoteFill, DevicesEqualOracleWithOtherParameters) {
  const Problem problem = random_problem({70, 41}, 3, 0, 60, 50);
  for (const Parameters& p : {Parameters{.reject = 0.3},
                              {.step = 1, .reach = 1, .distance = 1},
                              {.step = 8, .reach = 7, .distance = 80, .sigma_space = 1000, .sigma_colour = 21},
                              {.step = 5, .reach = 4, .sigma_space = 1, .sigma_colour = 1},
                              {.seen = 15, .hidden = 0, .impossible = 0},
                              {.seen = 15, .hidden = 15, .impossible = 15, .reject = 1}})
    expect_all_equal_oracle(p, problem);
}

// Cases with more bins than are counted at a time, votes far apart, and values that are not disparities.
TEST(VoteFill, DevicesEqualOracleOverWideRanges) {
  Problem problem = random_problem({60, 30}, 3, -20000, 20000, 50);
  expect_all_equal_oracle({}, problem);
  problem = random_problem({60, 30}, 3, -600, 700, 50);
  for (int x = 0; x < 60; x += 7)
    for (int y = 0; y < 30; y += 3)
      problem.map.disparity(x, y) = x % 2 == 0 ? std::numeric_limits<float>::infinity() : -1e9f;
  expect_all_equal_oracle({.sigma_colour = 21}, problem);
}

// An image whose halves differ in colour and disparity. The disparities of both views agree with `low`.
struct Halves {
  float low = 4, high = 9;
  Problem of(int channels = 1) const {
    const Size size{60, 40};
    Problem problem{{Image<float>(size, 1, low), Image<std::uint8_t>(size, 1, std::uint8_t{0})},
                    Image<float>(size, 1, 0.9f),
                    Image<float>(size, 1, nan),
                    Image<std::uint8_t>(size, channels, 50)};
    for (int y = 0; y < size.height; ++y)
      for (int x = 30; x < size.width; ++x) {
        problem.map.disparity(x, y) = high;
        for (int c = 0; c < channels; ++c) problem.image(x, y, c) = 70;
      }
    return problem;
  }
};

void make_hole(Problem& problem, const Rect& r, std::uint8_t reason = validity::left_right) {
  for (int y = r.y; y < r.y + r.height; ++y)
    for (int x = r.x; x < r.x + r.width; ++x) {
      problem.map.disparity(x, y) = nan;
      problem.map.validity(x, y) = reason;
    }
}

// Slots are reused after 64 bins, and each pass counts 62 bins.
TEST(VoteFill, DevicesEqualOracleWhereBinsShareASlot) {
  for (const float high : {61.0f, 62.0f, 63.0f, 64.0f, 128.0f, 1023.0f, 32767.0f})
    for (const float low : {-32767.0f, 0.0f}) {
      Problem problem = Halves{low, low + high}.of(3);
      problem.image.fill(50);
      for (int y = 0; y < 40; y += 2)
        for (int x = y % 3; x < 60; x += 3) problem.map.disparity(x, y) = low + static_cast<float>((7 * x + y) % 3);
      make_hole(problem, {25, 12, 10, 10});
      expect_all_equal_oracle({}, problem);
    }
}

// If two disparities have equally many votes, the lower one wins, even if they are far apart.
TEST(VoteFill, TiesGoToTheLowestEverywhere) {
  for (const float high : {6.0f, 7.0f, 20.0f, 66.0f, 68.0f, 500.0f}) {
    Problem problem = Halves{4, high}.of();
    problem.image.fill(50);
    problem.right.fill(nan);
    make_hole(problem, {30, 0, 1, 40});  // there are as many samples to its left as to its right
    if (high > 7) {                      // otherwise, the plane would include both
      EXPECT_NEAR(by_oracle({.reach = 3}, problem, true).map.disparity(30, 20), 4, 0.01) << high;
    }
    expect_all_equal_oracle({.reach = 3}, problem);
  }
}

TEST(VoteFill, DevicesEqualOracleWithFewHolesAndFewVotes) {
  for (const Rect& only : {Rect{0, 0, 1, 1}, {59, 39, 1, 1}, {31, 7, 2, 1}, {30, 0, 1, 40}}) {
    Problem problem = Halves().of(3);
    make_hole(problem, only);
    expect_all_equal_oracle({}, problem);
    make_hole(problem, {0, 0, 60, 40});
    for (int y = only.y; y < only.y + only.height; ++y)
      for (int x = only.x; x < only.x + only.width; ++x) problem.map.disparity(x, y) = 12.25f;
    expect_all_equal_oracle({.distance = 40}, problem);
  }
}

// There are more pixels than a GPU's groups process at a time.
TEST(VoteFill, DevicesEqualOracleWithManyHoles) {
  expect_all_equal_oracle({.step = 1, .reach = 1, .distance = 2}, random_problem({460, 450}, 1, 0, 30, 75));
}

TEST(VoteFillOracle, FollowsTheColour) {
  Problem problem = Halves().of();
  make_hole(problem, {26, 10, 8, 8});
  const Filled filled = by_oracle({}, problem, true);
  for (int y = 10; y < 18; ++y)
    for (int x = 26; x < 34; ++x) {
      ASSERT_NEAR(filled.map.disparity(x, y), x < 30 ? 4 : 9, 0.02) << x << ", " << y;
      ASSERT_EQ(filled.map.validity(x, y), validity::filled);
      ASSERT_GT(filled.confidence(x, y), 0);
      ASSERT_LE(filled.confidence(x, y), 0.5f);
    }
}

// If colours do not distinguish the disparities, the right view decides: a surface behind a pixel, seen by the right
// view, excludes a near disparity.
TEST(VoteFillOracle, FollowsTheRightView) {
  Problem problem = Halves().of();
  problem.image.fill(50);
  make_hole(problem, {27, 10, 9, 8});
  const auto filled_with = [&](float seen_at_4, float seen_at_9) {
    for (int y = 0; y < 40; ++y) {
      problem.right(31 - 4, y) = seen_at_4;
      problem.right(31 - 9, y) = seen_at_9;
    }
    return by_oracle({}, problem, true).map.disparity(31, 14);
  };
  EXPECT_NEAR(filled_with(4, 4), 4, 0.02);  // a disparity of 4 is visible in the right view, and 9 is impossible
  EXPECT_NEAR(filled_with(9, 9), 9, 0.02);  // a disparity of 4 is hidden in the right view, and 9 is visible
}

TEST(VoteFillOracle, ContinuesASlant) {
  Problem problem = Halves{7, 7}.of();
  problem.image.fill(50);
  for (int y = 0; y < 40; ++y)
    for (int x = 0; x < 60; ++x) problem.map.disparity(x, y) = 10 + 0.125f * static_cast<float>(x - 30);
  make_hole(problem, {22, 0, 12, 40});
  const Filled filled = by_oracle({.distance = 40}, problem, true);
  for (int x = 22; x < 34; ++x) EXPECT_NEAR(filled.map.disparity(x, 20), 10 + 0.125 * (x - 30), 0.3) << x;
}

TEST(VoteFillOracle, LeavesWhatIsFarFromAnyVote) {
  Problem problem = Halves().of();
  make_hole(problem, {5, 5, 29, 29});
  const Filled filled = by_oracle({.distance = 6}, problem, true);
  EXPECT_FALSE(std::isnan(filled.map.disparity(5, 5)));
  EXPECT_TRUE(std::isnan(filled.map.disparity(19, 19)));
  EXPECT_EQ(filled.map.validity(19, 19), validity::left_right);
  EXPECT_EQ(filled.confidence(19, 19), 0);
}

TEST(VoteFillOracle, MaskedAndOutsidePixelsStayInvalidAndDoNotVote) {
  for (const std::uint8_t reason : {validity::masked, validity::outside}) {
    Problem problem = Halves().of();
    make_hole(problem, {26, 10, 8, 8}, reason);
    const Filled filled = by_oracle({}, problem, true);
    EXPECT_TRUE(std::isnan(filled.map.disparity(30, 14)));
    EXPECT_EQ(filled.map.validity(30, 14), reason);
  }
}

TEST(VoteFillOracle, RejectsBeforeItFills) {
  Problem problem = Halves().of();
  problem.map.disparity(10, 10) = 25;
  problem.confidence(10, 10) = 0.1f;
  EXPECT_EQ(by_oracle({}, problem, true).map.disparity(10, 10), 25);
  const Filled filled = by_oracle({.reject = 0.2}, problem, true);
  EXPECT_NEAR(filled.map.disparity(10, 10), 4, 0.02);
  EXPECT_EQ(filled.map.validity(10, 10), validity::filled);
  EXPECT_NEAR(filled.confidence(10, 10), 0.5f, 0.001f);  // nearly all votes agree
}

TEST(VoteFillParameters, EachHasAnEffect) {
  const Problem problem = random_problem({70, 41}, 3, 0, 20, 50);
  const Filled usual = by_oracle({}, problem, true);
  for (const char* setting : {"step=2", "reach=3", "distance=3", "sigma_space=3", "sigma_color=3", "seen=5", "hidden=1",
                              "impossible=0", "reject=0.5"}) {
    Parameters p;
    const std::string text = setting;
    const auto equals = text.find('=');
    ASSERT_TRUE(set_parameter("vote_fill", p, text.substr(0, equals), text.substr(equals + 1)));
    EXPECT_FALSE(by_oracle(p, problem, true).map == usual.map) << setting;
  }
}

TEST(VoteFillParameters, BadOnesAndMissingInputsAreRefused) {
  Problem problem = Halves().of();
  const auto run = [&](const Parameters& p) { by_oracle(p, problem, false); };
  EXPECT_THROW(check_ranges("vote_fill", Parameters{.seen = 0, .hidden = 0, .impossible = 0}), Error);
  EXPECT_THROW(run({.seen = 4}), Error);  // `seen` is below the weight of hidden disparities
  EXPECT_THROW(run({.impossible = 6}), Error);
  EXPECT_THROW(run({.distance = 2}), Error);  // `distance` is below the step
  EXPECT_THROW(run({.reject = 0.2}), Error);  // `reject` requires a confidence map
  EXPECT_THROW(check_ranges("vote_fill", Parameters{.sigma_colour = 30}), Error);
  problem.right = Image<float>(3, 3);
  EXPECT_THROW(run({}), Error);
}

}  // namespace
}  // namespace stereopsis::vote_fill_test
