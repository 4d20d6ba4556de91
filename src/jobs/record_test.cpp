// The record of a run: which frames are complete when the run is resumed, and the results of another call.
#include "jobs/record.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "stereopsis/io.hpp"
#include "support/files.hpp"
#include "support/quiet_front_end.hpp"

namespace stereopsis::record_test {
namespace {

using namespace jobs;
using test::put, test::refuses;

class JobRecord : public testing::Test {
 protected:
  JobRecord() {
    for (const int i : {0, 1}) {
      const std::string number = std::to_string(i);
      frames.push_back({{put(folder / ("input" + number), "x")}, {{folder / ("map" + number + ".pfm"), {4, 2}}}});
    }
  }
  std::vector<bool> there(int method, bool resumes) {
    return record.frames_there({{"call", {{"--method", method}}}, {"estimated", {3, 16}}}, frames, resumes, "maps");
  }

  test::TemporaryFolder folder;
  test::QuietFrontEnd front_end;
  std::vector<FrameFiles> frames;
  const Record record{folder / "record.json", front_end};
};

TEST_F(JobRecord, CompleteFramesOfTheSameCallAreThere) {
  EXPECT_FALSE(record.range_before());
  EXPECT_EQ(there(1, true), (std::vector{false, false}));
  write_disparity(folder / "map0.pfm", Image<float>({4, 2}, 1, 5));
  write_disparity(folder / "map1.pfm", Image<float>({4, 3}, 1, 5));  // another size
  EXPECT_EQ(there(1, true), (std::vector{true, false}));
  EXPECT_EQ(front_end.remarks, (std::vector<std::string>{"1 of 2 frames are complete from an earlier run"}));
  EXPECT_EQ(record.range_before(), (DisparityRange{3, 16}));
  EXPECT_EQ(there(1, false), (std::vector{false, false}));
}

TEST_F(JobRecord, ResultsOfAnotherCallAreNotContinued) {
  there(1, false);
  EXPECT_TRUE(refuses([&] { there(2, true); }, ErrorCategory::call,
                      "<resume>: another call made the results at maps: --method was 1 and is 2"));
  put(folder / "record.json", "[]");
  EXPECT_TRUE(refuses([&] { record.range_before(); }, ErrorCategory::format, "is not a record that <resume> can"));
}

}  // namespace
}  // namespace stereopsis::record_test
