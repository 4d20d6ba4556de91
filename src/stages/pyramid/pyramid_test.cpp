#include "stages/pyramid/pyramid.hpp"

#include "support/devices.hpp"
#include "support/stage_test.hpp"
#include "support/targets.hpp"

namespace stereopsis::pyramid_test {
namespace {

using namespace test;
using pyramid::Input;
using pyramid::Output;

struct Case {
  Size size;
  DisparityRange range;
  window_sad::Window window;
  pyramid::Parameters parameters;
  wta::Parameters select;
};

const std::vector<Case> cases = {
    {{1, 1}, {0, 1}, {7, 7}, {}, {.border_candidates = true}},
    {{1, 9}, {0, 4}, {3, 5}, {}, {}},
    {{9, 1}, {-2, 5}, {1, 1}, {.range = 5}, {}},
    {{17, 6}, {-10, 20}, {5, 1}, {.range = 1}, {.border_candidates = true}},
    {{67, 13}, {3, 40}, {7, 3}, {.range = 4, .keep = 2}, {.subpixel = wta::Subpixel::parabola}},
    {{131, 37}, {0, 60}, {7, 7}, {.range = 4}, {.subpixel = wta::Subpixel::equiangular, .border_candidates = true}},
    {{40, 21}, {-7, 33}, {9, 11}, {.range = 9, .keep = 0}, {.border_candidates = true}},
};

// Words with a few similar colours, so that sums tie. The guess has holes.
struct Scene {
  explicit Scene(const Case& c)
      : left(random_image<std::uint32_t>(c.size, 1, 0, 0x7FFFFFFF).view()),
        right(random_image<std::uint32_t>(c.size, 2, 0, 0x7FFFFFFF).view()),
        mask_left(random_image<std::uint8_t>(c.size, 3, 0, 9).view()),
        mask_right(random_image<std::uint8_t>(c.size, 4, 0, 9).view()),
        guess(Size{(c.size.width + 1) / 2, (c.size.height + 1) / 2}) {
    std::mt19937 random(9);
    for (int y = 0; y < c.size.height; ++y)
      for (int x = 0; x < c.size.width; ++x) left.view()(x, y) &= 0x03030303u, right.view()(x, y) &= 0x03030303u;
    for (int y = 0; y < guess.view().height; ++y)
      for (int x = 0; x < guess.view().width; ++x)
        guess.view()(x, y) =
            random() % 10 == 0
                ? invalid_disparity
                : static_cast<float>(c.range.min + static_cast<int>(random() % static_cast<unsigned>(c.range.count))) /
                      2;
    for (int y = 0; y < guess.view().height; ++y)
      for (int x = 0; x < guess.view().width; ++x) guess.view()(x, y) = std::floor(guess.view()(x, y));
  }

  template <template <class> class View, class Words, class Mask, class Map>
  static Input<View> input(const Case& c, bool masked, bool mirrored, const Words& l, const Words& r, const Mask& ml,
                           const Mask& mr, const Map& g) {
    Input<View> in;
    in.reference = mirrored ? r : l;
    in.other = mirrored ? l : r;
    in.direction = mirrored ? 1 : -1;
    if (masked) {
      in.mask_reference = mirrored ? mr : ml;
      in.mask_other = mirrored ? ml : mr;
    }
    in.range = c.range;
    in.guess = g;
    return in;
  }
  Input<ImageView> input(const Case& c, bool masked, bool mirrored) {
    return input<ImageView>(c, masked, mirrored, left.view(), right.view(), mask_left.view(), mask_right.view(),
                            guess.view());
  }

  PitchedImage<std::uint32_t> left, right;
  PitchedImage<std::uint8_t> mask_left, mask_right;
  PitchedImage<float> guess;
};

struct Maps {
  explicit Maps(Size size) : disparity(size), confidence(size), validity(size) {}
  Output<ImageView> view() { return {disparity.view(), validity.view(), confidence.view()}; }

  PitchedImage<float> disparity, confidence;
  PitchedImage<std::uint8_t> validity;
};

void expect_same(Maps& got, Maps& expected, bool all) {
  EXPECT_TRUE(same_bits(got.disparity.view(), expected.disparity.view()));
  EXPECT_TRUE(!all || same_bits(got.validity.view(), expected.validity.view()));
  EXPECT_TRUE(!all || same_bits(got.confidence.view(), expected.confidence.view()));
  EXPECT_TRUE(got.disparity.guard_intact() && got.validity.guard_intact() && got.confidence.guard_intact());
}

template <class F>
void for_each_case(F&& f) {
  for (const Case& c : cases)
    for (const bool masked : {false, true})
      for (const bool mirrored : {false, true}) {
        SCOPED_TRACE(testing::Message() << c.size.width << "x" << c.size.height << ", masked " << masked
                                        << ", mirrored " << mirrored);
        Scene scene(c);
        Maps expected(c.size);
        pyramid::oracle(c.parameters, c.window, c.select, scene.input(c, masked, mirrored), expected.view());
        f(c, scene, masked, mirrored, expected);
      }
}

TEST(Pyramid, CpuEqualsOracle) {
  for_each_case([](const Case& c, Scene& scene, bool masked, bool mirrored, Maps& expected) {
    for_each_engine([&](Threads& threads) {
      for (const bool all : {true, false}) {
        Maps got(c.size);
        Output<ImageView> out = got.view();
        if (!all) out.validity = {}, out.confidence = {};
        pyramid::cpu(c.parameters, c.window, c.select, scene.input(c, masked, mirrored), out, threads);
        expect_same(got, expected, all);
      }
    });
  });
}

TEST(Pyramid, GpuEqualsOracle) {
  for_each_gpu([](gpu::Queue& queue, gpu::Device& device) {
    for_each_case([&](const Case& c, Scene& scene, bool masked, bool mirrored, Maps& expected) {
      const OnDevice<std::uint32_t> left(device, queue, scene.left), right(device, queue, scene.right);
      const OnDevice<std::uint8_t> mask_left(device, queue, scene.mask_left),
          mask_right(device, queue, scene.mask_right);
      const OnDevice<float> guess(device, queue, scene.guess);
      const auto in = Scene::input<gpu::View>(c, masked, mirrored, left.view(), right.view(), mask_left.view(),
                                              mask_right.view(), guess.view());
      for (const bool all : {true, false}) {
        Maps got(c.size);
        OnDevice<float> disparity(device, queue, got.disparity), confidence(device, queue, got.confidence);
        OnDevice<std::uint8_t> validity(device, queue, got.validity);
        Output<gpu::View> out{disparity, validity, confidence};
        if (!all) out.validity = {}, out.confidence = {};
        pyramid::gpu(c.parameters, c.window, c.select, in, out, queue);
        disparity.download();
        confidence.download();
        validity.download();
        expect_same(got, expected, all);
      }
    });
  });
}

TEST(PyramidOracle, LooksAroundTwiceTheDisparityAbove) {
  Image<std::uint32_t> left(Size{40, 1}), right(Size{40, 1});
  for (int x = 0; x < 40; ++x) right(x, 0) = static_cast<std::uint32_t>(x * x % 97) << 24;
  for (int x = 0; x < 40; ++x) left(x, 0) = right.view().clamped(x - 8, 0);
  Image<float> guess(Size{20, 1}), disparity(Size{40, 1});
  const auto refined = [&](float above, int range) {
    guess.fill(above);
    Input<ImageView> in{left, right, -1, {}, {}, {0, 16}, guess};
    pyramid::oracle({.range = range, .keep = 0}, {5, 1}, {}, in, {disparity, {}, {}});
    return disparity(25, 0);
  };
  EXPECT_EQ(refined(4, 1), 8);
  EXPECT_EQ(refined(3, 4), 8);  // searches 5 … 8
  EXPECT_NE(refined(3, 3), 8);  // searches 5 … 7
  EXPECT_EQ(refined(5, 5), 8);  // searches 8 … 12
  EXPECT_NE(refined(5, 4), 8);  // searches 9 … 12
}

// If all candidates have equal costs, the guess is kept.
TEST(PyramidOracle, AFlatDistributionKeepsTheGuess) {
  Image<std::uint32_t> grey({40, 9}, 1, 0x50000000u);
  Image<float> guess({20, 5}, 1, 3), disparity(Size{40, 9});
  const Input<ImageView> in{grey, grey, -1, {}, {}, {0, 16}, guess};
  pyramid::oracle({.keep = 0.3}, {3, 3}, {}, in, {disparity, {}, {}});
  EXPECT_EQ(disparity(20, 4), 6);
  pyramid::oracle({.keep = 0}, {3, 3}, {}, in, {disparity, {}, {}});
  EXPECT_EQ(disparity(20, 4), 5);  // the lowest disparity wins the tie
}

TEST(PyramidParameters, RangesHalveOutwards) {
  EXPECT_EQ(pyramid::above({0, 60}), (DisparityRange{0, 31}));
  EXPECT_EQ(pyramid::above({-3, 5}), (DisparityRange{-2, 4}));
  EXPECT_EQ(pyramid::above({-4, 1}), (DisparityRange{-2, 1}));
  EXPECT_EQ(pyramid::above({5, 1}), (DisparityRange{2, 2}));
  EXPECT_THROW(check_ranges("levels", pyramid::Parameters{.range = 0}), Error);
  EXPECT_THROW(check_ranges("levels", pyramid::Parameters{.levels = 0}), Error);
}

}  // namespace
}  // namespace stereopsis::pyramid_test
