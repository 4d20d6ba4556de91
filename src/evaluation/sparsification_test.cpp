#include <gtest/gtest.h>

#include <cmath>

#include "stereopsis/error.hpp"
#include "stereopsis/evaluation.hpp"

namespace stereopsis::sparsification_test {
namespace {

// Evaluates a row of 100 pixels, whose first `wrong` pixels are errors and whose confidence is confidence(x).
template <class F>
Sparsification of_row(int wrong, F&& confidence) {
  Image<float> truth({100, 1}, 1, 5), disparity({100, 1}, 1, 5), trust({100, 1}, 1, 0);
  for (int x = 0; x < 100; ++x) {
    if (x < wrong) disparity(x, 0) = x % 2 == 0 ? 9.0f : NAN;
    trust(x, 0) = confidence(x);
  }
  return sparsification(disparity, trust, truth, {}, 1);
}

TEST(Sparsification, APerfectConfidenceIsTheOptimum) {
  const auto s = of_row(20, [](int x) { return static_cast<float>(x); });
  EXPECT_EQ(s.curve, s.optimum);
  EXPECT_EQ(s.auc, s.auc_optimum);
  EXPECT_DOUBLE_EQ(s.curve[0], 20);
  EXPECT_DOUBLE_EQ(s.curve[10], 100 * 10 / 90.0);
  EXPECT_DOUBLE_EQ(s.curve[20], 0);
  EXPECT_NEAR(s.auc, 100 * (0.2 + 0.8 * std::log(0.8)),
              0.15);  // the formula of Hu and Mordohai, which assumes infinitely many pixels
}

TEST(Sparsification, OneThatKnowsNothingIsFlat) {
  const auto s = of_row(20, [](int) { return 0.5f; });
  for (const double share : s.curve) EXPECT_NEAR(share, 20, 1e-9);
  EXPECT_NEAR(s.auc, 20, 1e-9);
}

TEST(Sparsification, AWrongOneIsWorse) {
  const auto s = of_row(20, [](int x) { return -static_cast<float>(x); });
  EXPECT_GT(s.auc, 20);
  EXPECT_DOUBLE_EQ(s.curve[80], 100);
}

TEST(Sparsification, WhatIsNotFiniteGoesFirst) {
  const auto s = of_row(20, [](int x) { return x < 20 ? NAN : 0.0f; });
  EXPECT_DOUBLE_EQ(s.curve[20], 0);
}

TEST(Sparsification, TheMaskCountsAndNothingIsRefused) {
  Image<float> truth({4, 1}, 1, 5), disparity({4, 1}, 1, 5), trust({4, 1}, 1, 1);
  Image<std::uint8_t> mask({4, 1}, 1, 0);
  EXPECT_THROW(sparsification(disparity, trust, truth, mask, 1), Error);
  mask(2, 0) = 255;
  disparity(2, 0) = 7;
  EXPECT_DOUBLE_EQ(sparsification(disparity, trust, truth, mask, 1).curve[0], 100);
  EXPECT_THROW(sparsification(disparity, Image<float>({3, 1}, 1, 1), truth, mask, 1), Error);
}

TEST(Sparsification, IsAPicture) {
  const std::string svg = to_svg(of_row(20, [](int x) { return static_cast<float>(x); }));
  EXPECT_EQ(svg.rfind("<svg ", 0), 0u);
  EXPECT_NE(svg.find("AUC 2."), std::string::npos);
  EXPECT_NE(svg.find("</svg>"), std::string::npos);
}

}  // namespace
}  // namespace stereopsis::sparsification_test
