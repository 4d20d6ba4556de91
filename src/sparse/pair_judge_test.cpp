// Tests which pairs of a sequence are checked, and what is said about those that do not fit.
#include "stereopsis/pair_judge.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "stereopsis/error.hpp"
#include "stereopsis/synth.hpp"

namespace stereopsis::pair_judge_test {
namespace {

Scene scene(const char* name) { return make_scene({.scene = name, .size = {320, 240}, .disparities = 16, .noise = 1}); }

std::vector<PairFault> faults(const AnyImageView& left, const AnyImageView& right) {
  return faults_of(check_pair(left, right, CheckEffort::quick));
}

TEST(PairFaults, ArePartOfAWholeSentence) {
  const Scene one = scene("table"), other = scene("clutter");
  EXPECT_TRUE(faults(one.left, one.right).empty());
  const auto swapped = faults(one.right, one.left);
  ASSERT_EQ(swapped.size(), 1U);
  EXPECT_EQ(swapped[0].kind, PairFaultKind::negative);
  EXPECT_TRUE(swapped[0].swapped);
  EXPECT_TRUE(swapped[0].sentence.starts_with("the images seem to be swapped, or the cameras converge"));
  const auto twice = faults(one.left, one.left);
  ASSERT_EQ(twice.size(), 1U);
  EXPECT_EQ(twice[0].sentence, "both images have the same pixels");
  const auto unrelated = faults(one.left, other.right);
  ASSERT_EQ(unrelated.size(), 1U);
  EXPECT_EQ(unrelated[0].kind, PairFaultKind::unrelated);
  EXPECT_STREQ(to_string(unrelated[0].kind), "not one scene");
}

PairReport report_of(int matches) {
  PairReport report;
  report.matches = matches;
  report.size = {640, 480};
  return report;
}

TEST(PairFaults, StatePixelsInTenths) {
  PairReport report = report_of(200);
  report.median_dy = 3.96;
  report.rows = {-0.04, 4, -0.51, 2.26, 0.02};
  report.median_disparity = -0.04;
  report.swapped = true;
  const auto found = faults_of(report);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].sentence,
            "rows do not correspond: they differ by up to 4.0 px, and at most 1.0 px is allowed (offset 0.0 px, roll "
            "4.0 px from the left border to the right one, zoom -0.5 px from the upper border to the lower one)");
  EXPECT_TRUE(found[1].sentence.ends_with("(median 0.0 px)")) << found[1].sentence;
  report.median_disparity = -12.34;
  EXPECT_TRUE(faults_of(report)[1].sentence.ends_with("(median -12.3 px)"));
}

TEST(PairFaults, OfFewMatchesSaySo) {
  PairReport report = report_of(65);
  report.median_dy = 11;
  EXPECT_TRUE(faults_of(report)[0].sentence.ends_with("(judged by only 65 points)"));
  EXPECT_EQ(why_not_judged(report), "");
  report.matches = 0;
  EXPECT_TRUE(faults_of(report).empty());
  EXPECT_TRUE(why_not_judged(report).starts_with("not judged: no point"));
  report = report_of(65);
  report.size = {150, 110};
  report.median_dy = 11;
  EXPECT_TRUE(faults_of(report).empty());
  EXPECT_EQ(why_not_judged(report),
            "not judged: images of 150×110 pixels are too small; a pair is judged from 160×120 pixels on");
}

TEST(PairFaults, NameThePatternAndTheRange) {
  PairReport report = report_of(200);
  report.outside = {0.04, 0.04};
  EXPECT_TRUE(faults_of(report).empty());
  report.outside = {0.123, 0.04};
  ASSERT_EQ(faults_of(report).size(), 1U);
  EXPECT_TRUE(faults_of(report)[0].sentence.starts_with("12 % of the points are beyond the lower end of the"));
  report.outside = {0, 0.3};
  EXPECT_TRUE(faults_of(report)[0].sentence.starts_with("30 % of the points are beyond the upper end of the"));
  report.shared_pattern = true;
  EXPECT_EQ(faults_of(report)[0].kind, PairFaultKind::shared_pattern);
}

TEST(LateEye, IsTheImageOfTheFrameBefore) {
  const Scene first = scene("table"), second = scene("clutter"), third = scene("room");
  // Frame 1 is second.left with first.right: the right eye is late.
  EXPECT_EQ(late_eye(second.left, first.right, first.left, first.right, true), Eye::right);
  EXPECT_EQ(late_eye(first.left, second.right, first.left, first.right, true), Eye::left);
  // The frame after it is third.left with second.right, or second.left with third.right.
  EXPECT_EQ(late_eye(second.left, first.right, third.left, second.right, false), Eye::right);
  EXPECT_EQ(late_eye(first.left, second.right, second.left, third.right, false), Eye::left);
  EXPECT_EQ(late_eye(second.left, first.right, third.left, third.right, true), std::nullopt);
  EXPECT_THROW(late_eye(second.left, first.right, make_scene({.size = {80, 60}}).left, first.right, true), Error);
  EXPECT_EQ(late_fault("b.png", "a.png").sentence, "b.png is a frame late: it fits a.png");
}

TEST(PairJudge, ChecksASampleAndPairsOfWhichLittleIsMeasured) {
  PairJudge judge;
  EXPECT_TRUE(judge.checks(0, 0.9));
  judge.record_sound(0.96);
  EXPECT_FALSE(judge.checks(1, 0.9));
  EXPECT_TRUE(judge.checks(1, 0.56));  // a camera out of step
  EXPECT_TRUE(judge.checks(32, 0.9));
  judge.record_sound(0.45);  // a dark sequence
  EXPECT_FALSE(judge.checks(2, 0.4));
  EXPECT_TRUE(judge.checks(2, 0.3));
}

TEST(PairJudge, TellsEachKindOnceAndGivesUp) {
  PairJudge judge;
  const PairFault rows{PairFaultKind::rows, "rows"}, late{PairFaultKind::late, "late"};
  EXPECT_EQ(judge.record({rows, late}, 0).size(), 2U);
  EXPECT_TRUE(judge.record({rows}, 3).empty());
  ASSERT_EQ(judge.known().size(), 2U);
  EXPECT_EQ(judge.known()[0].first, 0U);
  EXPECT_EQ(judge.known()[0].pairs, 2U);
  EXPECT_EQ(judge.known()[1].pairs, 1U);
  for (std::size_t i = 4; i < 11; ++i) {
    EXPECT_FALSE(judge.has_given_up());
    EXPECT_TRUE(judge.record({rows}, i).empty());
  }
  EXPECT_TRUE(judge.has_given_up());
  EXPECT_FALSE(judge.checks(32, 0));
}

}  // namespace
}  // namespace stereopsis::pair_judge_test
