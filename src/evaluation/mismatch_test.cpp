#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>

#include "stereopsis/disparity.hpp"
#include "stereopsis/error.hpp"
#include "stereopsis/evaluation.hpp"

namespace stereopsis::mismatch_test {
namespace {

// A ground truth with a wavy ramp of 5 to 60 pixels, without symmetry, and a map with errors in a tenth of the pixels.
class Maps : public testing::Test {
 protected:
  void SetUp() override {
    std::mt19937 random(3);
    for (int y = 0; y < truth.height(); ++y)
      for (int x = 0; x < truth.width(); ++x) {
        truth(x, y) = 5 + 0.4F * static_cast<float>(y) + 8 * (1 + std::sin(0.1F * static_cast<float>(x)));
        disparity(x, y) = truth(x, y) + 0.01F * static_cast<float>(random() % 100);
        if (random() % 10 == 0) disparity(x, y) = static_cast<float>(random() % 60);
        if (random() % 20 == 0) disparity(x, y) = invalid_disparity;
        if (random() % 20 == 0) truth(x, y) = invalid_disparity;
      }
  }

  template <class F>
  Image<float> changed(F&& f) const {
    Image<float> out(truth.view());
    for (int y = 0; y < out.height(); ++y)
      for (int x = 0; x < out.width(); ++x) out(x, y) = f(out(x, y));
    return out;
  }

  Image<float> truth{120, 90}, disparity{120, 90};
};

TEST_F(Maps, AFittingTruthHasNoMismatch) {
  const Mismatch found = find_mismatch(disparity, truth);
  EXPECT_EQ(found.factor, 1);
  EXPECT_FALSE(found.upside_down || found.reversed_bytes || found.zeros_unknown);
}

TEST_F(Maps, FactorsAreFound) {
  for (const float factor : {4.0F, 16.0F, 64.0F, 100.0F, 256.0F, 0.25F, -1.0F, -16.0F}) {
    SCOPED_TRACE(factor);
    const Mismatch found = find_mismatch(disparity, changed([=](float t) { return t * factor; }));
    EXPECT_NEAR(found.factor, factor, 0.03 * std::abs(factor));
    EXPECT_FALSE(found.upside_down || found.reversed_bytes || found.zeros_unknown);
  }
}

// Depth is inversely proportional to disparity, in any unit, and either map may be the depth map.
TEST_F(Maps, DepthIsFound) {
  for (const float product : {36.0F, 3600.0F, 36000.0F}) {
    SCOPED_TRACE(product);
    const Image<float> depth = changed([=](float t) { return product / t; });
    const Mismatch found = find_mismatch(disparity, depth);
    EXPECT_NEAR(found.product, product, 0.05 * product);
    EXPECT_EQ(found.factor, 1);
    EXPECT_NEAR(find_mismatch(depth, disparity).product, product, 0.05 * product);
  }
  EXPECT_EQ(find_mismatch(disparity, truth).product, 0);
  EXPECT_EQ(find_mismatch(disparity, changed([](float t) { return 4 * t; })).product, 0);
}

// An error of the disparities that resembles a factor of nearly 1 is not a wrong scale.
TEST_F(Maps, AnOffsetIsNoFactor) {
  const Image<float> nearly = changed([](float t) { return 0.8F * t; });
  EXPECT_EQ(find_mismatch(disparity, nearly).factor, 1);
}

TEST_F(Maps, ReversedRowsAreFound) {
  const Mismatch found = find_mismatch(disparity, upside_down(truth));
  EXPECT_TRUE(found.upside_down);
  EXPECT_FALSE(found.reversed_bytes);
  EXPECT_NEAR(found.factor, 1, 0.03);
}

TEST_F(Maps, ReversedBytesOfFloatsAndOfIntegersAreFound) {
  const Mismatch floats = find_mismatch(disparity, with_reversed_bytes(truth));
  EXPECT_TRUE(floats.reversed_bytes);
  EXPECT_FALSE(floats.upside_down);
  EXPECT_NEAR(floats.factor, 1, 0.03);
  const Image<float> stored = changed([](float t) { return std::round(t * 256) / 256; });
  const Mismatch integers = find_mismatch(disparity, with_reversed_bytes(stored, 256), {}, 256);
  EXPECT_TRUE(integers.reversed_bytes);
  EXPECT_NEAR(integers.factor, 1, 0.03);
}

TEST_F(Maps, ZerosThatMeanUnknownAreFound) {
  std::mt19937 random(4);
  const Image<float> sparse = changed([&](float t) { return random() % 3 == 0 ? 0 : t; });
  EXPECT_TRUE(find_mismatch(disparity, sparse).zeros_unknown);
  EXPECT_EQ(find_mismatch(disparity, sparse).factor, 1);
  // A disparity of 0, at infinity, is a valid measurement.
  const Image<float> far = changed([](float t) { return t < 20 ? 0 : t; });
  Image<float> near_zero(disparity.view());
  for (int y = 0; y < far.height(); ++y)
    for (int x = 0; x < far.width(); ++x)
      if (far(x, y) == 0) near_zero(x, y) = 0.2F;
  EXPECT_FALSE(find_mismatch(near_zero, far).zeros_unknown);
}

TEST_F(Maps, AnUnrelatedTruthHasNoReason) {
  std::mt19937 random(5);
  const Image<float> noise = changed([&](float) { return static_cast<float>(1 + random() % 60); });
  const Mismatch found = find_mismatch(disparity, noise);
  EXPECT_EQ(found.factor, 1);
  EXPECT_FALSE(found.upside_down || found.reversed_bytes || found.zeros_unknown);
}

TEST_F(Maps, OnlyPixelsThatCountAreCompared) {
  Image<std::uint8_t> mask({120, 90}, 1, 0);
  for (int y = 0; y < 30; ++y)
    for (int x = 0; x < 120; ++x) mask(x, y) = 255;
  Image<float> part(truth.view());
  for (int y = 0; y < 30; ++y)
    for (int x = 0; x < 120; ++x) part(x, y) *= 4;
  EXPECT_EQ(find_mismatch(disparity, part).factor, 1);
  EXPECT_NEAR(find_mismatch(disparity, part, mask).factor, 4, 0.12);
}

TEST_F(Maps, ValuesThatCannotBeDisparitiesAreRejected) {
  const auto rejected = [](const Image<float>& d, const Image<float>& t) {
    try {
      evaluate(d, t);
    } catch (const Error& error) {
      return error.category() == ErrorCategory::call;
    }
    return false;
  };
  Image<float> large(truth.view());
  large(7, 9) = 2e6F;
  EXPECT_TRUE(rejected(disparity, large));
  EXPECT_TRUE(rejected(large, truth));
  large(7, 9) = 9e5F;
  EXPECT_FALSE(rejected(disparity, large));
}

}  // namespace
}  // namespace stereopsis::mismatch_test
