// The search range, the cameras and the checks of pairs, which work on the same inputs.
#include "jobs/search_range.hpp"

#include <gtest/gtest.h>

#include "jobs/pair_checks.hpp"
#include "support/scene.hpp"

namespace stereopsis::search_range_test {
namespace {

using namespace jobs;
using test::contains, test::refuses;

class JobRange : public test::SceneFolder {
 protected:
  JobRange() {
    write_pair(0);
    pair.left = file("left", 0), pair.right = file("right", 0);
  }

  // Chooses the range of the pair with these settings.
  DisparityRange chosen(bool without_sign = false) {
    Inputs inputs(pair, front_end);
    const InputFrame first = inputs.read_first();
    Cameras cameras(camera, inputs, false, false, 1, front_end);
    cameras.read(first, Complaints(strict, front_end));
    cameras.make_maps();
    SearchRange found(range, inputs, cameras, without_sign, front_end);
    Neighbours neighbours(cameras);
    PairChecks checks(inputs, cameras, neighbours, found, false, true, Complaints(strict, front_end), front_end);
    checks.judge_first(first);
    found.choose(first, {}, strict, [](const InputFrame&, std::size_t) {});
    found.check();
    return found.whole();
  }

  InputSettings pair;
  CameraSettings camera;
  RangeSettings range;
  bool strict = false;
};

TEST_F(JobRange, AGivenRangeStaysAsItIs) {
  range.disparities = 40, range.min_disparity = -3;
  EXPECT_EQ(chosen(), (DisparityRange{-3, 40}));
  range.min_disparity = 500;
  EXPECT_TRUE(refuses([&] { chosen(); }, ErrorCategory::call, "outside the image"));
}

TEST_F(JobRange, AnEstimatedRangeHoldsTheDisparityOfTheScene) {
  const DisparityRange found = chosen();
  EXPECT_LE(found.min, disparity);
  EXPECT_GE(found.max(), disparity);
  ASSERT_FALSE(front_end.remarks.empty());
  EXPECT_TRUE(contains(front_end.remarks.back(), "<disparities>")) << front_end.remarks.back();
}

TEST_F(JobRange, DepthsGiveARangeInTheUnitOfTheCalibration) {
  camera.rig.focal = 100, camera.rig.baseline = Length{100, "mm"};
  range.near = Length{1, "m"}, range.far = Length{2, "m"};  // 100 px · 100 mm / 1000 mm
  const DisparityRange found = chosen();
  EXPECT_LE(found.min, 5);
  EXPECT_GE(found.max(), 10);
  EXPECT_LT(found.max(), 14);
  range.near = Length{1, ""};  // 1 mm
  EXPECT_TRUE(refuses([&] { chosen(); }, ErrorCategory::call, "write <near> 1m for metres"));
}

TEST_F(JobRange, ACalibrationOfAnotherSizeIsRefusedWithTheScale) {
  test::put(folder / "calib.txt",
            "cam0=[100 0 200; 0 100 140; 0 0 1]\ncam1=[100 0 200; 0 100 140; 0 0 1]\ndoffs=0\nbaseline=100\nwidth=400\n"
            "height=280\nndisp=64\n");
  camera.rig.files = {(folder / "calib.txt").string()};
  EXPECT_TRUE(refuses([&] { chosen(); }, ErrorCategory::call, "<calib_scale> 0.5"));
}

TEST_F(JobRange, SwappedImagesAreWarnedOfAndFailAStrictRun) {
  std::swap(pair.left, pair.right);
  range.disparities = 32;
  chosen();
  ASSERT_EQ(front_end.warnings.size(), 1U);
  EXPECT_TRUE(contains(front_end.warnings[0], "left0.png as the left one")) << front_end.warnings[0];
  strict = true;
  EXPECT_TRUE(refuses([&] { chosen(); }, ErrorCategory::format, "(<strict>)"));
}

}  // namespace
}  // namespace stereopsis::search_range_test
