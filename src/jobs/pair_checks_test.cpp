// The judge of a run of files: faults of single pairs and of frames beside their neighbours.
#include "jobs/pair_checks.hpp"

#include <gtest/gtest.h>

#include "support/scene.hpp"

namespace stereopsis::pair_checks_test {
namespace {

using namespace jobs;
using test::contains, test::refuses;

// A sequence of frames, which are judged as the loop does it.
class JobChecks : public test::SceneFolder {
 protected:
  JobChecks() { searched.disparities = 32; }

  // Writes `count` frames. From frame `late` on, the right image is that of the frame before.
  void write_sequence(int count, int late = 99) {
    for (int i = 0; i < count; ++i) write_pair(i, {320, 240});
    for (int i = count - 1; i >= late; --i)
      std::filesystem::copy_file(file("right", i - 1), file("right", i),
                                 std::filesystem::copy_options::overwrite_existing);
    pair.left = folder / "left%d.png", pair.right = folder / "right%d.png";
  }
  // Returns the complaints about the frames, of which these shares were measured.
  std::vector<std::string> judged(const std::vector<double>& measured) {
    Inputs inputs(pair, front_end);
    const InputFrame first = inputs.read_first();
    Cameras cameras(camera, inputs, false, false, 1, front_end);
    cameras.read(first, complaints());
    SearchRange range(searched, inputs, cameras, false, front_end);
    Neighbours neighbours(cameras);
    PairChecks checks(inputs, cameras, neighbours, range, false, true, complaints(), front_end);
    checks.judge_first(first);
    std::vector<std::string> found;
    for (std::size_t i = 0; i < measured.size(); ++i) {
      const InputFrame frame = inputs.read(i);
      checks.check_strictly(frame, i);
      found.push_back(checks.judge_measured(frame, i, measured[i], checks.sampled_faults(frame, i)));
    }
    checks.summarise();
    return found;
  }
  Complaints complaints() { return Complaints(strict, front_end); }

  InputSettings pair;
  CameraSettings camera;
  RangeSettings searched;
  bool strict = false;
};

TEST_F(JobChecks, SoundFramesHaveNoComplaint) {
  write_sequence(3);
  EXPECT_EQ(judged({0.9, 0.9, 0.9}), (std::vector<std::string>{"", "", ""}));
  EXPECT_TRUE(front_end.warnings.empty());
}

TEST_F(JobChecks, AnEyeThatFallsBehindIsNamedWithItsFrame) {
  write_sequence(4, 2);
  const auto found = judged({0.9, 0.9, 0.3, 0.3});
  EXPECT_EQ(found[1], "");
  EXPECT_TRUE(contains(found[2], "right2.png") && contains(found[2], "left1.png")) << found[2];
  ASSERT_EQ(front_end.warnings.size(), 2U);  // the frame, and how many more
  EXPECT_TRUE(contains(front_end.warnings[1], "1 more frame has the fault of")) << front_end.warnings[1];
}

TEST_F(JobChecks, AStrictRunChecksEveryFrame) {
  write_sequence(3, 2);
  strict = true;
  EXPECT_TRUE(refuses([&] { judged({0.9, 0.9, 0.9}); }, ErrorCategory::format, "(<strict>)"));
}

TEST_F(JobChecks, AFrameOfWhichMuchIsMeasuredIsNotReadAgain) {
  write_sequence(3, 2);
  EXPECT_EQ(judged({0.9, 0.9, 0.9})[2], "");
}

}  // namespace
}  // namespace stereopsis::pair_checks_test
