#include "stages/triangulate/triangulate.hpp"

#include <cmath>
#include <limits>

#include "support/devices.hpp"
#include "support/map_test.hpp"
#include "support/targets.hpp"

namespace stereopsis::triangulate_test {
namespace {

using namespace test;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

Rig some_rig() {
  Rig rig;
  rig.focal = 999.421;
  rig.cx_left = 294.182;
  rig.cx_right = 326.96;
  rig.cy = 252.932;
  rig.baseline = 193.001;
  return rig;
}

Image<float> some_disparity(Size size) {
  Image<float> disparity = random_map(size, 11, -40, 90, 15).disparity;
  const float special[] = {nan, infinity, -infinity, -32.778f, -32.7779f, 1e30f, 1e-30f, 0.0f, -0.0f};
  for (int i = 0; i < std::min(9, size.width); ++i) disparity(size.width - 1 - i, size.height - 1) = special[i];
  return disparity;
}

const triangulate::Parameters parameter_sets[] = {
    {some_rig(), Frame::optical, 0.5},
    {some_rig(), Frame::head, 0.25, 17, 40},
    {some_rig(), Frame::optical, 1, 0, 0, 4},
};

struct Outputs3 {
  explicit Outputs3(Size size) : depth(size), points(size, 3), uncertainty(size) {}
  PitchedImage<float> depth, points, uncertainty;
};

void expect_same(Outputs3& got, Outputs3& expected) {
  EXPECT_TRUE(same_bits(got.depth.view(), expected.depth.view()));
  EXPECT_TRUE(same_bits(got.points.view(), expected.points.view()));
  EXPECT_TRUE(same_bits(got.uncertainty.view(), expected.uncertainty.view()));
  EXPECT_TRUE(got.depth.guard_intact() && got.points.guard_intact() && got.uncertainty.guard_intact());
}

// Marks a third of the pixels as measured, and the others as filled, repaired or invalid, independently of their
// disparities.
Image<std::uint8_t> some_validity(Size size) {
  constexpr std::uint8_t bits[] = {
      0, validity::filled, 0, validity::repaired, validity::filled | validity::repaired, validity::left_right};
  Image<std::uint8_t> some(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) some(x, y) = bits[(x + 5 * y) % 6];
  return some;
}

Image<float> some_confidence(Size size) {
  Image<float> some(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) some(x, y) = static_cast<float>((x * 7 + y * 13) % 101) / 100;
  return some;
}

TEST(Triangulate, CpuEqualsOracle) {
  for (const Size size : awkward_sizes)
    for (const auto& p : parameter_sets) {
      PitchedImage<float> disparity(some_disparity(size).view());
      PitchedImage<std::uint8_t> validity(some_validity(size).view());
      PitchedImage<float> confidence(some_confidence(size).view());
      for (const triangulate::Input& in : {triangulate::Input{disparity}, triangulate::Input{disparity, validity},
                                           triangulate::Input{disparity, validity, confidence}}) {
        Outputs3 expected(size);
        triangulate::oracle(p, in, {expected.depth, expected.points, expected.uncertainty});
        for_each_engine([&](Threads& threads) {
          Outputs3 got(size);
          for (int run = 0; run < 2; ++run) {
            triangulate::cpu(p, in, {got.depth, got.points, got.uncertainty}, threads);
            expect_same(got, expected);
          }
        });
      }
    }
}

TEST(Triangulate, GpuEqualsOracle) {
  for_each_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    for (const Size size : awkward_sizes)
      for (const auto& p : parameter_sets)
        for (const int maps : {0, 1, 2}) {
          PitchedImage<float> confidence(some_confidence(size).view());
          PitchedImage<float> disparity(some_disparity(size).view());
          PitchedImage<std::uint8_t> validity(some_validity(size).view());
          Outputs3 expected(size), got(size);
          triangulate::Input in{disparity};
          if (maps > 0) in.validity = validity;
          if (maps > 1) in.confidence = confidence;
          triangulate::oracle(p, in, {expected.depth, expected.points, expected.uncertainty});
          const OnDevice<float> there(device, queue, disparity);
          const OnDevice<std::uint8_t> validity_there(device, queue, validity);
          const OnDevice<float> confidence_there(device, queue, confidence);
          triangulate::InputOf<gpu::View> in_there{there};
          if (maps > 0) in_there.validity = validity_there;
          if (maps > 1) in_there.confidence = confidence_there;
          OnDevice<float> depth(device, queue, got.depth), points(device, queue, got.points),
              uncertainty(device, queue, got.uncertainty);
          for (int run = 0; run < 2; ++run) {
            triangulate::gpu(p, in_there, {depth, points, uncertainty}, queue);
            for (auto* image : {&depth, &points, &uncertainty}) image->download();
            expect_same(got, expected);
          }
        }
  });
}

TEST(TriangulateOracle, WithAValidityMapOnlyMeasuredPixelsHaveDepth) {
  const Size size{67, 13};
  const Image<float> disparity(size, 1, 20.5f);
  const Image<std::uint8_t> validity = some_validity(size);
  Image<float> depth(size), points(size, 3), uncertainty(size);
  triangulate::oracle({some_rig()}, {disparity, validity}, {depth, points, uncertainty});
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const bool measured = validity(x, y) == 0;
      EXPECT_EQ(std::isfinite(depth(x, y)), measured);
      EXPECT_EQ(std::isfinite(uncertainty(x, y)), measured);
      for (int c = 0; c < 3; ++c) EXPECT_EQ(std::isfinite(points(x, y, c)), measured);
    }
}

TEST(Triangulate, OutputsThatAreNotWantedAreLeftOut) {
  const Size size{67, 13};
  const Image<float> disparity = some_disparity(size);
  Outputs3 expected(size);
  triangulate::oracle(parameter_sets[0], {disparity}, {expected.depth, expected.points, expected.uncertainty});
  for_each_engine([&](Threads& threads) {
    Outputs3 got(size);
    triangulate::cpu(parameter_sets[0], {disparity}, {got.depth, {}, {}}, threads);
    triangulate::cpu(parameter_sets[0], {disparity}, {{}, got.points, {}}, threads);
    triangulate::cpu(parameter_sets[0], {disparity}, {{}, {}, got.uncertainty}, threads);
    expect_same(got, expected);
  });
}

// Computes equations 2.5, 2.8 and 2.9 of Prehn 2007 in double precision, with image coordinates relative to the
// principal points and y upwards.
TEST(TriangulateOracle, HeadFrameFollowsTheThesis) {
  const Rig rig = some_rig();
  const Size size{40, 30};
  Image<float> disparity(size, 1, 20.5f), points(size, 3);
  triangulate::oracle({rig, Frame::head}, {disparity}, {{}, points, {}});
  for (const auto& [u, v] : {std::pair{0, 0}, {39, 29}, {20, 3}}) {
    const double x_l = u - rig.cx_left, x_r = (u - 20.5) - rig.cx_right, y_l = rig.cy - v, b = rig.baseline;
    const double x = b * rig.focal / (x_l - x_r);
    EXPECT_NEAR(points(u, v, 0), x, 1e-6 * x);
    EXPECT_NEAR(points(u, v, 1), -b / 2 * (x_l + x_r) / (x_l - x_r), 1e-6 * x);
    EXPECT_NEAR(points(u, v, 2), y_l * b / (x_l - x_r), 1e-6 * x);
  }
}

TEST(TriangulateOracle, FramesAgree) {
  const Rig rig = some_rig();
  const Image<float> disparity = some_disparity({67, 13});
  Image<float> optical({67, 13}, 3), head({67, 13}, 3);
  triangulate::oracle({rig, Frame::optical}, {disparity}, {{}, optical, {}});
  triangulate::oracle({rig, Frame::head}, {disparity}, {{}, head, {}});
  for (int y = 0; y < 13; ++y)
    for (int x = 0; x < 67; ++x) {
      if (std::isnan(optical(x, y, 2))) {
        EXPECT_TRUE(std::isnan(head(x, y, 0)) && std::isnan(head(x, y, 1)) && std::isnan(head(x, y, 2)));
        continue;
      }
      EXPECT_EQ(head(x, y, 0), optical(x, y, 2));
      EXPECT_FLOAT_EQ(head(x, y, 1), static_cast<float>(rig.baseline / 2) - optical(x, y, 0));
      EXPECT_EQ(head(x, y, 2), -optical(x, y, 1));
    }
}

TEST(TriangulateOracle, UncertaintyIsTheDepthsChangeWithTheDisparity) {
  const Rig rig = some_rig();
  const Image<float> disparity({1, 1}, 1, 20.0f);
  Image<float> depth(1, 1), uncertainty(1, 1);
  triangulate::oracle({rig, Frame::optical, 0.1}, {disparity}, {depth, {}, uncertainty});
  EXPECT_NEAR(depth(0, 0), rig.depth(20), 1e-6 * rig.depth(20));
  EXPECT_NEAR(uncertainty(0, 0), (rig.depth(19.9) - rig.depth(20.1)) / 2, 1e-4 * uncertainty(0, 0));
}

// A confidence of ½ implies a median error of 1 pixel, one of 0.8 half a pixel, and one of 0.2 two pixels.
TEST(TriangulateOracle, UncertaintyGrowsAsTheConfidenceFalls) {
  const Rig rig = some_rig();
  const Image<float> disparity({3, 1}, 1, 20.0f);
  Image<float> confidence(3, 1), uncertainty(3, 1);
  const float values[] = {0.5f, 0.8f, 0.2f};
  std::copy_n(values, 3, confidence.row(0));
  triangulate::oracle({rig}, {disparity, {}, confidence}, {{}, {}, uncertainty});
  const double one = rig.depth_uncertainty(rig.depth(20), 1);
  EXPECT_NEAR(uncertainty(0, 0), one, 1e-5 * one);
  EXPECT_NEAR(uncertainty(1, 0), 0.5 * one, 1e-5 * one);
  EXPECT_NEAR(uncertainty(2, 0), 2 * one, 1e-5 * one);
}

TEST(TriangulateOracle, PixelsOfAReducedImageLieInTheMiddleOfTheirs) {
  const Rig rig = some_rig();
  const Image<float> disparity({2, 2}, 1, 20.0f);
  Image<float> points({2, 2}, 3);
  triangulate::oracle({rig, Frame::optical, 0, 100, 50, 4}, {disparity}, {{}, points, {}});
  EXPECT_NEAR(points(1, 1, 0), (105.5 - rig.cx_left) * rig.depth(20) / rig.focal, 1e-3);
  EXPECT_NEAR(points(1, 1, 1), (55.5 - rig.cy) * rig.depth(20) / rig.focal, 1e-3);
}

TEST(TriangulateRefusals, RigsWithoutABaselineAndOutputsThatDoNotFit) {
  const Image<float> disparity(3, 2);
  const Image<std::uint8_t> validity(2, 2);
  Image<float> depth(3, 2), flat(3, 2), other(2, 2);
  EXPECT_THROW(triangulate::oracle({}, {disparity}, {depth, {}, {}}), Error);
  for (double Rig::*number : {&Rig::focal, &Rig::baseline, &Rig::cx_left, &Rig::cx_right, &Rig::cy}) {
    triangulate::Parameters infinite{some_rig()};
    infinite.rig.*number = std::numeric_limits<double>::infinity();
    EXPECT_THROW(triangulate::oracle(infinite, {disparity}, {depth, {}, {}}), Error);
  }
  EXPECT_THROW(triangulate::oracle({some_rig()}, {disparity}, {other, {}, {}}), Error);
  EXPECT_THROW(triangulate::oracle({some_rig()}, {disparity}, {depth, flat, {}}), Error);
  EXPECT_THROW(triangulate::oracle({some_rig()}, {disparity, validity}, {depth, {}, {}}), Error);
}

}  // namespace
}  // namespace stereopsis::triangulate_test
