// A whole run: what is checked before the first pair, the files of a sequence, and a run that is resumed.
#include "jobs/file_run.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

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

}  // namespace
}  // namespace stereopsis::file_run_test
