#include <gtest/gtest.h>

#include <array>

#include "stereopsis/disparity.hpp"
#include "stereopsis/evaluation.hpp"

namespace stereopsis::error_image_test {
namespace {

using Colour = std::array<int, 3>;

// Returns the colour of one pixel.
Colour colour_of(float disparity, float truth, double threshold, int mask = 255) {
  const Image<std::uint8_t> picture =
      error_image(Image<float>({1, 1}, 1, disparity), Image<float>({1, 1}, 1, truth),
                  Image<std::uint8_t>({1, 1}, 1, static_cast<std::uint8_t>(mask)), threshold);
  EXPECT_EQ(picture.channels(), 3);
  return {picture(0, 0, 0), picture(0, 0, 1), picture(0, 0, 2)};
}

constexpr Colour white = {255, 255, 255}, black = {0, 0, 0};

TEST(ErrorImage, RightPixelsAreWhiteToGrey) {
  EXPECT_EQ(colour_of(10, 10, 1), white);
  const Colour half = colour_of(10.5f, 10, 1), full = colour_of(11, 10, 1);
  for (const Colour& c : {half, full}) EXPECT_TRUE(c[0] == c[1] && c[1] == c[2]);
  EXPECT_LT(half[0], 255);
  EXPECT_LT(full[0], half[0]);
  EXPECT_GT(full[0], 100);
}

TEST(ErrorImage, BadPixelsAreRedAndDarkenUpToEightTimesTheThreshold) {
  Colour last = white;
  for (const float error : {2.01f, 4.0f, 8.0f, 16.0f}) {
    const Colour c = colour_of(10 + error, 10, 2);
    EXPECT_GT(c[0], c[1]);
    EXPECT_GT(c[0], c[2] + 60);
    EXPECT_LT(c[0] + c[1] + c[2], last[0] + last[1] + last[2]);
    last = c;
  }
  EXPECT_EQ(colour_of(1000, 10, 2), last);
  EXPECT_EQ(colour_of(-6, 10, 2), last);  // the sign of the error has no effect
}

TEST(ErrorImage, InvalidIsBlueAndUnknownIsBlack) {
  const Colour c = colour_of(invalid_disparity, 10, 1);
  EXPECT_GT(c[2], c[0] + 100);
  EXPECT_GT(c[2], c[1] + 100);
  EXPECT_EQ(colour_of(10, invalid_disparity, 1), black);
  EXPECT_EQ(colour_of(invalid_disparity, invalid_disparity, 1), black);
}

TEST(ErrorImage, LeftOutPixelsAreDimmed) {
  EXPECT_EQ(colour_of(10, 10, 1, 0), (Colour{85, 85, 85}));
  EXPECT_EQ(colour_of(10, invalid_disparity, 1, 0), black);
}

TEST(ErrorImage, AThresholdOfZeroKnowsRightAndWrong) {
  EXPECT_EQ(colour_of(10, 10, 0), white);
  EXPECT_EQ(colour_of(10.01f, 10, 0), colour_of(99, 10, 1));
}

TEST(ErrorImage, WhatDoesNotFitIsRefused) {
  const Image<float> a({2, 2}, 1, 1.0f), b({2, 3}, 1, 1.0f);
  EXPECT_THROW(error_image(a, b, {}, 1), Error);
  EXPECT_THROW(error_image(a, a, {}, -1), Error);
  EXPECT_NO_THROW(error_image(a, a, {}, 1));
}

}  // namespace
}  // namespace stereopsis::error_image_test
