#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <random>

#include "stereopsis/disparity.hpp"
#include "stereopsis/evaluation.hpp"
#include "support/stage_test.hpp"

namespace stereopsis::measures_test {
namespace {

constexpr float none = invalid_disparity;
constexpr float infinite = std::numeric_limits<float>::infinity();

template <class T>
Image<T> image_of(int width, const std::vector<T>& values) {
  Image<T> image(width, static_cast<int>(values.size()) / width);
  for (int y = 0; y < image.height(); ++y) std::copy_n(values.begin() + y * width, width, image.row(y));
  return image;
}

bool refused(const std::function<void()>& f, const std::string& words) {
  try {
    f();
  } catch (const Error& error) {
    return error.category() == ErrorCategory::call && std::string(error.what()).find(words) != std::string::npos;
  }
  return false;
}

class HandMade : public testing::Test {
 protected:
  // The errors are 0, 0.5, 4 (4 % of the truth), invalid and not counted in the first row, and 3.5, 0.75, 1, 2, 8 in
  // the second.
  const Image<float> truth = image_of<float>(5, {10, 20, 100, 30, none, 40, 8, 50, 60, 70});
  const Image<float> disparity = image_of<float>(5, {10, 20.5, 104, none, 5, 43.5, 8.75, 51, 58, 78});
};

TEST_F(HandMade, InvalidPixelsCountAsErrors) {
  const Measures m = evaluate(disparity, truth).all;
  EXPECT_EQ(m.counted, 9);
  EXPECT_DOUBLE_EQ(m.bad05, 700.0 / 9);
  EXPECT_DOUBLE_EQ(m.bad10, 500.0 / 9);  // an error of exactly 1 px does not exceed 1 px
  EXPECT_DOUBLE_EQ(m.bad20, 400.0 / 9);
  EXPECT_DOUBLE_EQ(m.bad40, 200.0 / 9);
  EXPECT_DOUBLE_EQ(m.out3, 400.0 / 9);
  // An error of 4 px at a disparity of 100 px is not an error by the definition of KITTI 2015.
  EXPECT_DOUBLE_EQ(m.d1, 300.0 / 9);
  EXPECT_DOUBLE_EQ(m.density, 800.0 / 9);
  EXPECT_DOUBLE_EQ(m.avgerr, 19.75 / 8);
  EXPECT_DOUBLE_EQ(m.rms, std::sqrt(98.0625 / 8));
  EXPECT_EQ(m.a90, 8);
}

TEST_F(HandMade, OverValidPixelsTheInvalidOneIsGone) {
  const Measures m = evaluate(disparity, truth).valid;
  EXPECT_EQ(m.counted, 8);
  EXPECT_DOUBLE_EQ(m.bad05, 75);
  EXPECT_DOUBLE_EQ(m.bad10, 50);
  EXPECT_DOUBLE_EQ(m.bad20, 37.5);
  EXPECT_DOUBLE_EQ(m.bad40, 12.5);
  EXPECT_DOUBLE_EQ(m.out3, 37.5);
  EXPECT_DOUBLE_EQ(m.d1, 25);
  EXPECT_DOUBLE_EQ(m.density, 100);
  EXPECT_DOUBLE_EQ(m.avgerr, 19.75 / 8);
  EXPECT_DOUBLE_EQ(m.rms, std::sqrt(98.0625 / 8));
}

TEST_F(HandMade, APixelCountsWhereTheMaskIs255) {
  const auto mask = image_of<std::uint8_t>(5, {255, 255, 0, 255, 255, 255, 0, 128, 128, 0});
  const Evaluation e = evaluate(disparity, truth, mask);  // the mask leaves the errors 0, 0.5, 3.5 and an invalid pixel
  EXPECT_EQ(e.all.counted, 4);
  EXPECT_DOUBLE_EQ(e.all.bad05, 50);
  EXPECT_DOUBLE_EQ(e.all.density, 75);
  EXPECT_DOUBLE_EQ(e.valid.avgerr, 4.0 / 3);
  EXPECT_DOUBLE_EQ(e.valid.a90, 3.5);
}

TEST_F(HandMade, BadPixelsTakesAnyThreshold) {
  EXPECT_DOUBLE_EQ(bad_pixels(disparity, truth, {}, 0.75), 600.0 / 9);
  EXPECT_DOUBLE_EQ(bad_pixels(disparity, truth, {}, 0), 800.0 / 9);
  EXPECT_DOUBLE_EQ(bad_pixels(disparity, truth, {}, 8), 100.0 / 9);
  for (const double threshold : {0.5, 1.0, 2.0, 4.0}) {
    const Measures m = evaluate(disparity, truth).all;
    const double expected = threshold == 0.5 ? m.bad05 : threshold == 1 ? m.bad10 : threshold == 2 ? m.bad20 : m.bad40;
    EXPECT_EQ(bad_pixels(disparity, truth, {}, threshold), expected);
  }
}

TEST_F(HandMade, PitchChangesNothing) {
  test::PitchedImage<float> d(disparity.view()), t(truth.view());
  EXPECT_EQ(evaluate(d.view(), t.view()).all.rms, evaluate(disparity, truth).all.rms);
  EXPECT_EQ(evaluate(d.view(), t.view()).all.counted, 9);
}

TEST_F(HandMade, WhatDoesNotFitIsRefused) {
  const Image<float> small({4, 2}, 1, 1.0f), colour({5, 2}, 3, 1.0f);
  const Image<std::uint8_t> mask({5, 1}, 1, std::uint8_t{1});
  EXPECT_TRUE(refused([&] { evaluate(disparity, small); }, "the truth image is 4×2, not 5×2"));
  EXPECT_TRUE(refused([&] { evaluate(disparity, truth, mask); }, "the mask image is 5×1"));
  EXPECT_TRUE(refused([&] { evaluate(colour, truth); }, "one channel"));
  const Image<std::uint8_t> ones({5, 2}, 1, 1), sevens({5, 2}, 1, 7);
  EXPECT_TRUE(refused([&] { evaluate(disparity, truth, ones); }, "multiply the mask by 255"));
  EXPECT_TRUE(refused([&] { evaluate(disparity, truth, sevens); }, "the mask is 7 at 0,0"));
  EXPECT_TRUE(refused([&] { bad_pixels(disparity, truth, sevens, 1); }, "the mask is 7"));
  EXPECT_TRUE(refused([&] { evaluate(ImageView<const float>(), truth); }, "at least one pixel"));
  EXPECT_TRUE(refused([&] { bad_pixels(disparity, truth, {}, -1); }, "-1 px is not allowed"));
  EXPECT_TRUE(refused([&] { bad_pixels(disparity, truth, {}, std::nan("")); }, "nan px is not allowed"));
  EXPECT_TRUE(refused([&] { nonoccluded(truth, small); }, "the right truth image is 4×2"));
}

TEST(Measures, AQuantileIsTheSmallestErrorThatTheShareDoesNotExceed) {
  std::vector<float> hundred(100), ten(10);
  std::iota(hundred.begin(), hundred.end(), 1.0f);
  std::iota(ten.begin(), ten.end(), 1.0f);
  std::shuffle(hundred.begin(), hundred.end(), std::mt19937(3));
  std::shuffle(ten.begin(), ten.end(), std::mt19937(3));
  Measures m = evaluate(image_of(10, hundred), Image<float>({10, 10}, 1, 0.0f)).all;
  EXPECT_EQ(m.a90, 90);
  EXPECT_EQ(m.a95, 95);
  EXPECT_EQ(m.a99, 99);
  m = evaluate(image_of(10, ten), Image<float>({10, 1}, 1, 0.0f)).all;
  EXPECT_EQ(m.a90, 9);  // nine of ten pixels are exactly 90 %
  EXPECT_EQ(m.a95, 10);
}

TEST(Measures, D1TakesFivePercentOfTheTruthsSize) {
  const Image<float> truth = image_of<float>(4, {80, 80, -80, -80});
  const Image<float> disparity = image_of<float>(4, {84, 84.25, -84, -84.25});
  EXPECT_EQ(evaluate(disparity, truth).all.d1, 50);  // an error of exactly 5 % does not exceed 5 %
  EXPECT_EQ(evaluate(disparity, truth).all.out3, 100);
}

TEST(Measures, ErrorsAreNotRoundedToFloat) {
  // In single precision, 1 + 2e-8 is equal to 1.
  const Image<float> truth = image_of<float>(1, {-2e-8f}), disparity = image_of<float>(1, {1.0f});
  EXPECT_EQ(evaluate(disparity, truth).all.bad10, 100);
}

TEST(Measures, OnePixel) {
  const Image<float> truth = image_of<float>(1, {7}), disparity = image_of<float>(1, {9});
  const Measures m = evaluate(disparity, truth).all;
  EXPECT_EQ(m.counted, 1);
  EXPECT_EQ(m.bad10, 100);
  EXPECT_EQ(m.bad20, 0);
  EXPECT_EQ(m.a90, 2);
  EXPECT_EQ(m.a99, 2);
}

TEST(Measures, AllInvalidIsAllBadAndHasNoErrors) {
  for (const float value : {none, infinite, -infinite}) {
    const Evaluation e = evaluate(Image<float>({3, 2}, 1, value), Image<float>({3, 2}, 1, 5.0f));
    EXPECT_EQ(e.all.counted, 6);
    for (const double share : {e.all.bad05, e.all.bad40, e.all.d1, e.all.out3}) EXPECT_EQ(share, 100);
    EXPECT_EQ(e.all.density, 0);
    for (const double figure : {e.all.avgerr, e.all.rms, e.all.a90, e.all.a99}) EXPECT_TRUE(std::isnan(figure));
    EXPECT_EQ(e.valid.counted, 0);
    for (const double figure : {e.valid.bad10, e.valid.density, e.valid.rms}) EXPECT_TRUE(std::isnan(figure));
  }
}

TEST(Measures, NothingCountedHasNoFigures) {
  const Image<float> disparity({3, 2}, 1, 5.0f);
  for (const float unknown : {none, infinite}) {
    const Measures m = evaluate(disparity, Image<float>({3, 2}, 1, unknown)).all;
    EXPECT_EQ(m.counted, 0);
    for (const double figure : {m.bad05, m.bad10, m.bad20, m.bad40, m.d1, m.out3, m.avgerr, m.rms, m.a90, m.density})
      EXPECT_TRUE(std::isnan(figure));
  }
  const Image<std::uint8_t> mask({3, 2}, 1, std::uint8_t{0});
  EXPECT_EQ(evaluate(disparity, disparity, mask).all.counted, 0);
  EXPECT_TRUE(std::isnan(bad_pixels(disparity, disparity, mask, 1)));
}

TEST(Nonoccluded, BothTruthsMustBeKnownAndAgree) {
  const auto left = image_of<float>(7, {2, 2, 1.25f, 2, 2, none, 0.5f});
  const auto right = image_of<float>(7, {9, 2.25f, 3.5f, none, 3, 1.5f, 9});
  // Left pixels 0 and 1 match no right pixel. Left pixel 2 matches right pixel 1 (1.25 is rounded to 1), and both
  // disparities differ by 1. Left pixel 3 matches right pixel 1, and both disparities differ by 0.25. Left pixel 4
  // matches right pixel 2, and both disparities differ by 1.5. The disparity of left pixel 5 is unknown. Left pixel 6
  // matches right pixel 5 (0.5 is rounded to 1), and both disparities differ by 1.
  const Image<std::uint8_t> mask = nonoccluded(left, right);
  EXPECT_TRUE(test::same_bits(mask.view(), image_of<std::uint8_t>(7, {0, 0, 255, 255, 0, 0, 255}).view()));
}

TEST(Nonoccluded, UnknownOnTheRightAndBeyondTheRightEdge) {
  const auto left = image_of<float>(3, {-3, 0, 1e30f});
  const auto right = image_of<float>(3, {0, none, 0});
  EXPECT_TRUE(test::same_bits(nonoccluded(left, right).view(), image_of<std::uint8_t>(3, {0, 0, 0}).view()));
}

}  // namespace
}  // namespace stereopsis::measures_test
