// A whole run: what is checked before the first pair, the files of a sequence, and a run that is resumed.
#include "jobs/file_run.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "stereopsis/calibration.hpp"
#include "stereopsis/synth.hpp"
#include "support/rigs.hpp"
#include "support/scene.hpp"

namespace stereopsis::file_run_test {
namespace {

using namespace jobs;
using test::contains, test::refuses;

class JobFileRun : public test::SceneFolder {
 protected:
  JobFileRun() {
    for (int i = 0; i < 3; ++i) write_pair(i);
    settings.inputs.left = folder / "left%d.png";
    settings.inputs.right = folder / "right%d.png";
    settings.range.disparities = 24;
    settings.matching.devices = {Device{.name = "cpu", .threads = 1}};
    settings.sinks.files[ResultFile::disparity] = folder / "map%d.pfm";
  }

  FrameRecords matched() {
    FrameRecords records;
    FileRun(settings, front_end).match([] { return Json{{"method", "sgm"}}; }, records);
    return records;
  }

  FileRunSettings settings;
};

TEST_F(JobFileRun, OfASequenceWritesOneFileForEachPairWithTheDisparityOfTheScene) {
  EXPECT_EQ(matched().count(FrameRecord::State::done), 3U);
  for (int i = 0; i < 3; ++i) {
    const Image<float> map = read_disparity(folder / ("map" + std::to_string(i) + ".pfm"));
    ASSERT_EQ(map.size(), size);
    EXPECT_NEAR(map(size.width / 2, size.height / 2), disparity, 0.1);
  }
  EXPECT_EQ(front_end.done, 3U);
}

TEST_F(JobFileRun, ThatIsResumedLeavesWhatIsComplete) {
  matched();
  std::filesystem::remove(folder / "map1.pfm");
  settings.resume = settings.sinks.resumes = true;
  const FrameRecords records = matched();
  EXPECT_EQ(records.count(FrameRecord::State::there), 2U);
  EXPECT_EQ(records.count(FrameRecord::State::done), 1U);
}

TEST_F(JobFileRun, WithSettingsThatDoNotSuitTheInputWritesNothing) {
  settings.inputs.left = file("left", 0), settings.inputs.right = file("right", 0);
  settings.sinks.files[ResultFile::disparity] = folder / "map.pfm";
  settings.resume = true;
  EXPECT_TRUE(refuses([&] { FileRun(settings, front_end); }, ErrorCategory::call, "<resume> applies to sequences"));
  settings.resume = false;
  settings.matching.region = Rect{190, 0, 20, 20};
  EXPECT_TRUE(refuses([&] { FileRun(settings, front_end); }, ErrorCategory::call, "not inside the image of 200×140"));
  settings.matching.region.reset();
  settings.sinks.files[ResultFile::disparity] = file("left", 0);
  EXPECT_TRUE(refuses([&] { FileRun(settings, front_end); }, ErrorCategory::call, "choose another file name"));
  EXPECT_FALSE(std::filesystem::exists(folder / "map.pfm"));
}

TEST_F(JobFileRun, WithoutMemoryForItsImagesIsRefused) {
  settings.memory = {1000, "1K"};
  EXPECT_TRUE(refuses([&] { FileRun(settings, front_end); }, ErrorCategory::memory, "<memory_limit> 1K"));
}

// Writes pairs whose right camera is hit at the tenth pair.
void write_moving(const std::filesystem::path& folder, const Rig& rig, const RigTurn& bump) {
  std::array<Scene, 3> scenes;
  std::array<AnyImage, 3> moved;
  for (std::size_t i = 0; i < scenes.size(); ++i) {
    scenes[i] = make_scene({.size = rig.size, .disparities = 24, .seed = 1 + i, .noise = 2});
    moved[i] = test::seen_after(scenes[i].right.view(), rig, bump);
  }
  for (std::size_t k = 0; k < 30; ++k) {
    const std::size_t i = k % scenes.size();
    write_image(folder / ("left" + std::to_string(k) + ".png"), scenes[i].left.view());
    write_image(folder / ("right" + std::to_string(k) + ".png"), k < 10 ? scenes[i].right.view() : moved[i].view());
  }
}

TEST_F(JobFileRun, FollowsARigThatMoves) {
  const Rig rig = {
      .focal = 300, .cx_left = 160, .cx_right = 160, .cy = 120, .baseline = 1, .unit = "m", .size = {320, 240}};
  const RigTurn bump = {0.3, 0, -0.2};
  write_moving(folder.path(), rig, bump);
  write_rig(folder / "rig.yml", rig);
  settings.cameras.rig.files = {(folder / "rig.yml").string()};
  settings.cameras.track_rig = folder / "corrected.yml";
  for (const bool has_raw_cameras : {false, true}) {  // rectified pairs are raw pairs of cameras without distortion
    if (has_raw_cameras) {
      write_calibration(folder / "cameras.yml", cameras_of(rig));
      settings.cameras.rig.files = {(folder / "cameras.yml").string()};
      settings.cameras.raw = true;
    }
    const FrameRecords records = matched();
    EXPECT_EQ(records.count(FrameRecord::State::done), 30U);
    EXPECT_GT(records.frames[12].rows->plane.rms(), 1);
    EXPECT_LT(records.frames[29].rows->plane.rms(), 0.2);
    const StereoCalibration found = read_calibration(folder / "corrected.yml");
    const Vector3 turn = axis_and_angle_of(found.rotation);
    EXPECT_NEAR(turn[0] * 180 / 3.14159265, bump.pitch, 0.02);
    EXPECT_NEAR(turn[2] * 180 / 3.14159265, bump.roll, 0.02);
  }
  EXPECT_EQ(front_end.warnings.size(), 2U);
}

TEST_F(JobFileRun, FollowsOnlyRigsThatAreKnown) {
  settings.cameras.track_rig = folder / "corrected.yml";
  EXPECT_TRUE(
      refuses([&] { FileRun(settings, front_end); }, ErrorCategory::call, "<track_rig> requires the calibration"));
  settings.cameras.rig.focal = 300, settings.cameras.rig.baseline = Length{1, "m"};
  settings.resume = settings.sinks.resumes = true;
  EXPECT_TRUE(refuses([&] { FileRun(settings, front_end); }, ErrorCategory::call, "leave one of them out"));
  settings.resume = settings.sinks.resumes = false;
  settings.cameras.track_rig = folder / "corrected.txt";
  EXPECT_TRUE(refuses([&] { FileRun(settings, front_end); }, ErrorCategory::call, "as .yml, .yaml or .xml"));
}

}  // namespace
}  // namespace stereopsis::file_run_test
