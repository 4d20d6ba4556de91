// Tests of the tracker of a rig, on points of generated scenes that turned cameras see.
#include "stereopsis/rig_tracking.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <future>
#include <numbers>
#include <random>
#include <thread>

#include "geometry/rig_filter.hpp"
#include "geometry/rotations.hpp"
#include "sparse/rows.hpp"
#include "stereopsis/error.hpp"
#include "stereopsis/rig_refinement.hpp"
#include "support/rigs.hpp"

namespace stereopsis::rig_tracking_test {
namespace {

using enum RigNews::Kind;

constexpr double degree = std::numbers::pi / 180;
const Rig rig = {
    .focal = 700, .cx_left = 600, .cx_right = 605, .cy = 180, .baseline = 0.5, .unit = "m", .size = {1240, 376}};

RigTurn operator-(const RigTurn& a, const RigTurn& b) { return {a.pitch - b.pitch, a.yaw - b.yaw, a.roll - b.roll}; }

Matrix3 rotation_of(const RigTurn& t) { return rotation_by({t.pitch * degree, t.yaw * degree, t.roll * degree}); }

// The points of a pair: their number, depths in baselines, errors of their rows, and a jump of all rows, in pixels.
struct Scene {
  int points = 400;
  double near = 8, far = 120, noise = 0.1, offset = 0;
};

// Returns the rows of random points that a camera sees which is turned by `turn`.
RowMeasurement seen(const RigTurn& turn, std::mt19937& random, const Scene& scene = {}) {
  std::uniform_real_distribution<double> part(0, 1);
  std::normal_distribution<double> noise(0, scene.noise);
  const Matrix3 rotation = rotation_of(turn);
  std::vector<sparse::RowPoint> points;
  std::vector<double> disparities;
  for (int i = 0; i < scene.points; ++i) {
    const double x = rig.size.width * part(random), y = rig.size.height * part(random);
    const double parallax = rig.focal / scene.far + part(random) * (rig.focal / scene.near - rig.focal / scene.far);
    const Vector3 ray = turned(rotation, {(x - rig.cx_left - parallax) / rig.focal, (y - rig.cy) / rig.focal, 1});
    const double right = rig.focal * ray[0] / ray[2] + rig.cx_right, row = rig.focal * ray[1] / ray[2] + rig.cy;
    points.push_back({(right + 0.5) / rig.size.width - 0.5, (y + 0.5) / rig.size.height - 0.5,
                      row - y + scene.offset + noise(random), 0.1, (x - right) / rig.size.width});
    disparities.push_back(points.back().disparity);
  }
  const auto [terms, information] = sparse::fit_terms(points, 0.25);
  std::ranges::sort(disparities);
  return {.size = rig.size,
          .tracks = scene.points,
          .remaining = scene.noise,
          .terms = terms,
          .information = information,
          .far = disparities[disparities.size() / 50]};
}

// A run whose corrections act at once.
struct Sequence {
  RigFilter filter{rig};
  std::mt19937 random{1};
  std::vector<RigNews> news;

  void pair(const RigTurn& truth, const Scene& scene = {}) {
    for (const RigNews& one : filter.next(seen(truth - filter.turn(), random, scene), filter.turn()))
      news.push_back(one);
  }
  int count(RigNews::Kind kind) const { return static_cast<int>(std::ranges::count(news, kind, &RigNews::kind)); }
};

// Returns the root mean square, over the image, of the differences between rows that a turn causes.
double rows_of(const RigTurn& turn) {
  constexpr int steps = 20;
  double sum = 0;
  for (int j = 0; j < steps; ++j)
    for (int i = 0; i < steps; ++i) {
      const double x = (i + 0.5) * rig.size.width / steps, y = (j + 0.5) * rig.size.height / steps;
      const Vector3 ray = turned(rotation_of(turn), {(x - rig.cx_right) / rig.focal, (y - rig.cy) / rig.focal, 1});
      const double apart = rig.focal * ray[1] / ray[2] + rig.cy - y;
      sum += apart * apart / (steps * steps);
    }
  return std::sqrt(sum);
}

TEST(RigFilter, FollowsDrift) {
  Sequence run;
  double most = 0;
  for (int i = 0; i < 200; ++i) {
    const RigTurn truth = {0.0005 * i, 0.0002 * i, -0.0005 * i};
    run.pair(truth);
    if (i > 20) most = std::max(most, rows_of(truth - run.filter.turn()));
  }
  EXPECT_LT(most, 0.2);
  EXPECT_NEAR(run.filter.turn().yaw, 0.04, 0.02);
  EXPECT_EQ(run.count(jumped), 0);
  EXPECT_EQ(run.news.size(), static_cast<std::size_t>(run.count(corrected)));
}

TEST(RigFilter, CorrectsABump) {
  for (const RigTurn bump : {RigTurn{0.3, 0, 0}, RigTurn{0, 0.3, 0}, RigTurn{0, 0, -0.3}, RigTurn{-0.2, 0.15, 0.2}}) {
    Sequence run;
    for (int i = 0; i < 30; ++i) run.pair({});
    EXPECT_EQ(run.count(corrected), 0);
    run.pair(bump);
    ASSERT_EQ(run.count(jumped), 1) << "yaw " << bump.yaw;
    EXPECT_LT((run.news.back().turn - bump).most(), 0.02);
    for (int i = 0; i < 21; ++i) run.pair(bump);  // and RigTracker::delay pairs follow
    EXPECT_LT((run.filter.turn() - bump).most(), 0.01) << "yaw " << bump.yaw;
    EXPECT_LT(rows_of(run.filter.turn() - bump), 0.2);
    EXPECT_EQ(run.count(jumped), 1);
  }
}

TEST(RigFilter, StaysWhereNothingMoves) {
  std::mt19937 random(5);
  std::normal_distribution<double> shake(0, 0.2);
  for (const bool shakes : {false, true}) {
    Sequence run;
    for (int i = 0; i < 300; ++i) {
      run.pair({}, {.noise = 0.15, .offset = shakes ? shake(random) : 0});
      ASSERT_LT(run.filter.turn().most(), 0.01) << i;
    }
    EXPECT_EQ(run.count(jumped), 0);
  }
}

// A yaw at the start may be an error of the lenses, and small differences of rows are those of the alignment.
TEST(RigFilter, CorrectsClearErrorsOfTheGivenRows) {
  Sequence small, large;
  for (int i = 0; i < 40; ++i) {
    small.pair({0.01, 0.3, -0.02});
    large.pair({0.1, 0.3, -0.02});
  }
  EXPECT_EQ(small.filter.turn(), RigTurn());
  EXPECT_EQ(large.filter.turn().yaw, 0);
  EXPECT_NEAR(large.filter.turn().pitch, 0.1, 0.01);
  EXPECT_NEAR(large.filter.turn().roll, -0.02, 0.01);
}

TEST(RigFilter, SinglePairsChangeNothing) {
  Sequence run;
  for (int i = 0; i < 60; ++i) run.pair(i % 10 == 9 ? RigTurn{0.3, 0.2, 0.1 * i} : RigTurn());
  EXPECT_EQ(run.filter.turn(), RigTurn());
  EXPECT_EQ(run.count(jumped), 6);
}

TEST(RigFilter, SaysThatTheRigIsLost) {
  Sequence run;
  for (int i = 0; i < 10; ++i) run.pair({});
  for (int i = 0; i < 40; ++i) run.pair({0.5, 0, 0}, {.points = 50});  // too few
  ASSERT_EQ(run.news.size(), 1U);
  EXPECT_EQ(run.news[0].kind, lost);
  EXPECT_EQ(run.news[0].pair, 10 + RigTracker::pairs_to_lose - 1);
  EXPECT_EQ(run.filter.turn(), RigTurn());
  run.pair({});
  EXPECT_EQ(run.news.back().kind, found);
}

// Rows that contradict each other from pair to pair belong to moving objects or to other faults.
TEST(RigFilter, ContradictionsChangeNothing) {
  Sequence run;
  for (int i = 0; i < 10; ++i) run.pair({});
  for (int i = 0; i < 40; ++i)
    run.pair({0.3 * std::sin(i * 2.1) + 0.5, 0.2 * std::cos(i * 1.3), 0.3 * std::sin(i * 1.7)});
  EXPECT_EQ(run.filter.turn(), RigTurn());
  EXPECT_EQ(run.count(lost), 1);
}

TEST(RigFilter, YawsNeedPointsInFrontOfInfinity) {
  Sequence run;
  const RigTurn bump = {0.1, -0.3, 0};
  for (int i = 0; i < 20; ++i) run.pair({});
  // Rows show a yaw, but the disparities of far points are those without it.
  for (int i = 0; i < 30; ++i) {
    RowMeasurement rows = seen(bump - run.filter.turn(), run.random);
    rows.far = (rig.focal / 120 + rig.cx_left - rig.cx_right) / rig.size.width - 0.012;
    for (const RigNews& one : run.filter.next(rows, run.filter.turn())) run.news.push_back(one);
  }
  EXPECT_EQ(run.filter.turn().yaw, 0);
  EXPECT_NEAR(run.filter.turn().pitch, bump.pitch, 0.01);
  EXPECT_EQ(run.count(unconfirmed), 1);
}

TEST(RigTracker, MapsFollowAFixedNumberOfPairsLater) {
  const StereoCalibration cameras = cameras_of(rig);
  const RigTurn bump = {0.3, 0, 0.1};
  std::vector<std::size_t> changes;
  RigTurn turn;
  for (const bool backwards : {false, true}) {  // the order of the measurements does not matter
    RigTracker tracker(cameras);
    std::mt19937 random(3);
    auto maps = tracker.maps_for(0);
    std::vector<std::size_t> now;
    for (std::size_t i = 0; i < 40; i += 4) {
      std::array<RowMeasurement, 4> rows;
      for (std::size_t k = 0; k < 4; ++k) {
        if (const auto next = tracker.maps_for(i + k); next != std::exchange(maps, next)) now.push_back(i + k);
        rows[k] = seen(now.empty() ? bump : RigTurn(), random);
      }
      for (std::size_t k = 0; k < 4; ++k) {
        const std::size_t which = backwards ? 3 - k : k;
        tracker.add(i + which, rows[which]);
      }
    }
    EXPECT_EQ(tracker.pairs(), 40U);
    if (backwards) {
      EXPECT_EQ(now, changes);
      EXPECT_EQ(tracker.turn(), turn);
    }
    changes = now, turn = tracker.turn();
  }
  ASSERT_GE(changes.size(), 1U);
  EXPECT_EQ(changes[0], 10 + RigTracker::delay);
  EXPECT_LT((turn - bump).most(), 0.01);
}

TEST(RigTracker, WaitsForTheRowsOfEarlierPairs) {
  RigTracker tracker(cameras_of(rig));
  std::mt19937 random(3);
  for (std::size_t i = 0; i < RigTracker::delay; ++i) EXPECT_TRUE(tracker.maps_for(i));
  std::future<bool> waiting = std::async(std::launch::async, [&] { return !!tracker.maps_for(RigTracker::delay); });
  EXPECT_EQ(waiting.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  tracker.add(1, {});
  EXPECT_EQ(waiting.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  tracker.add(0, seen({}, random));
  EXPECT_TRUE(waiting.get());
}

// A pair that was added twice would otherwise block all later pairs.
TEST(RigTracker, RefusesPairsThatWereAdded) {
  RigTracker tracker(cameras_of(rig));
  tracker.add(0, {});
  EXPECT_THROW(tracker.add(0, {}), Error);
  tracker.add(2, {});
  EXPECT_THROW(tracker.add(2, {}), Error);
  tracker.add(1, {});
  EXPECT_EQ(tracker.pairs(), 3U);
}

// Their plane depends on the waves.
TEST(RigTracker, RowsWithAFieldDoNotShowTheRig) {
  RigTracker tracker(cameras_of(rig));
  std::mt19937 random(3);
  for (std::size_t i = 0; i < 40; ++i) {
    RowMeasurement rows = seen({0.2, 0, 0}, random);
    rows.field.columns = 1, rows.field.rows = 7;
    tracker.add(i, rows);
  }
  EXPECT_EQ(tracker.turn(), RigTurn());
}

// The left image, the rig and the rays of points stay as they are.
TEST(RigTracker, TurnsOnlyTheRightCamera) {
  const StereoCalibration before = test::calibration_for({640, 480});
  const RigTurn turn = {0.4, -0.3, 0.7};
  const StereoCalibration after = stereopsis::turned(before, turn);
  EXPECT_EQ(after.left.rectification, before.left.rectification);
  EXPECT_EQ(after.rig.focal, before.rig.focal);
  const Vector3 point = {300, -200, 2500};  // in the left camera's frame
  const auto in_right = [&](const StereoCalibration& c) {
    Vector3 at = turned(c.rotation, point);
    for (std::size_t i = 0; i < 3; ++i) at[i] += c.translation[i];
    return at;
  };
  const Vector3 a = turned(before.right.rectification, in_right(before)),
                b = turned(after.right.rectification, in_right(after));
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(a[i], b[i], 1e-9);
  // The camera has turned: in the rectified frame that it had, rows move down for a positive pitch.
  const Vector3 moved = turned(before.right.rectification, in_right(after));
  EXPECT_NEAR(std::acos(std::clamp((a[0] * moved[0] + a[1] * moved[1] + a[2] * moved[2]) / (length(a) * length(moved)),
                                   -1.0, 1.0)) /
                  degree,
              0.5, 0.1);
}

TEST(RigTracker, SaysWhatHappened) {
  const RigNews correction{corrected, 7, {0.3, 0, -0.01}, {0.001, 0.01, 0.001}};
  EXPECT_EQ(correction.sentence(),
            "the right camera has turned and is corrected by pitch 0.3°, yaw 0°, roll -0.01° (standard deviations: "
            "pitch 0.001°, yaw 0.01°, roll 0.001°)");
  EXPECT_FALSE(correction.is_warning());
  EXPECT_TRUE((RigNews{lost, 40}).is_warning());
}

}  // namespace
}  // namespace stereopsis::rig_tracking_test
