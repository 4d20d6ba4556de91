// The loop of a run, with frames that the test makes: failures, frames that are there, and frames in flight.
#include "jobs/loop.hpp"

#include <gtest/gtest.h>

#include "stereopsis/io.hpp"
#include "support/files.hpp"
#include "support/quiet_front_end.hpp"

namespace stereopsis::loop_test {
namespace {

using namespace jobs;
using State = FrameRecord::State;

constexpr Size size = {48, 16};
constexpr DisparityRange range = {0, 8};

// Frames of one scene, in which all disparities are 3.
class Frames : public LoopFrames {
 public:
  Frames(const Pipeline& pipeline, std::vector<bool> there, std::size_t unreadable)
      : pipeline_(pipeline), there_(std::move(there)), unreadable_(unreadable) {}

  std::string name(std::size_t i) const override { return "frame" + std::to_string(i); }
  Plan first_plan() const override { return {pipeline_, problem(made(), false), Device{.name = "cpu"}}; }
  std::vector<bool> there(Size result) const override {
    EXPECT_EQ(result, size);
    return there_;
  }
  InputFrame take(std::size_t i) override {
    if (i == unreadable_) throw Error(ErrorCategory::file, "cannot be read");
    return made();
  }
  Problem problem(const InputFrame& frame, bool) const override { return Problem::of(frame.pair(), frame.range); }
  std::optional<std::vector<PairFault>> sampled_faults(const InputFrame&, std::size_t) const override { return {}; }
  std::string judge_measured(const InputFrame&, std::size_t i, double measured,
                             const std::optional<std::vector<PairFault>>&) override {
    EXPECT_GT(measured, 0.5);
    return i == 1 ? "doubtful" : "";
  }

 private:
  static InputFrame made() {
    Image<std::uint8_t> left(size), right(size);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        const auto value = [y](int column) { return static_cast<std::uint8_t>((column * column * 7 + y * 31) % 251); };
        left(x, y) = value(x);
        right(x, y) = value(x + 3);
      }
    InputFrame frame;
    frame.left = std::move(left);
    frame.right = std::move(right);
    frame.range = range;
    return frame;
  }

  const Pipeline& pipeline_;
  const std::vector<bool> there_;
  const std::size_t unreadable_;
};

class JobLoop : public testing::Test {
 protected:
  void run(std::size_t count, std::vector<bool> there, std::size_t unreadable = 99) {
    for (std::size_t i = 0; i < count; ++i) left.files.push_back(folder / ("left" + std::to_string(i) + ".png"));
    left.sequence = count > 1;
    left.stems = {"0", "1", "2", "3"};
    sinks.files[ResultFile::disparity] = count > 1 ? folder / "maps" : folder / "map.pfm";
    const Sinks files(sinks, left, taken, front_end);
    records.frames.resize(count);
    Frames frames(pipeline, std::move(there), unreadable);
    Loop(settings, frames, pipeline, devices, files, facts, front_end, records).run();
  }

  test::TemporaryFolder folder;
  test::QuietFrontEnd front_end;
  CallFiles taken;
  sources::Frames left;
  SinkSettings sinks;
  LoopSettings settings;
  const ResultFacts facts{.region = {}, .range = range, .rig = {}, .registered = {}};
  const Pipeline pipeline{"sgm"};
  const std::vector<Device> devices = {{.name = "cpu", .threads = 1}};
  FrameRecords records;
};

TEST_F(JobLoop, ASinglePairAndASequenceHaveTheSameBits) {
  run(1, {false});
  EXPECT_EQ(records.count(State::done), 1U);
  EXPECT_EQ(records.result_size, size);
  const std::string single = test::get(folder / "map.pfm");
  settings.in_flight = 2;
  records = {};
  left = {};
  run(3, {false, true, false});
  EXPECT_EQ(front_end.done, 3U);
  EXPECT_EQ(records.frames[1].state, State::there);
  EXPECT_EQ(test::get(folder / "maps" / "2.pfm"), single);
}

TEST_F(JobLoop, AFrameThatFailsEndsTheRunOrIsRecorded) {
  settings.in_flight = 2;
  EXPECT_TRUE(test::refuses(
      [&] {
        run(4, {false, false, false, false}, 2);
      },
      ErrorCategory::file, "cannot be read; 2 of 4 frames are done; skip such frames with <keep_going>"));
  EXPECT_EQ(records.frames[1].complaint, "doubtful");
  EXPECT_EQ(records.frames[2].problem, "cannot be read");
  EXPECT_EQ(records.frames[3].state, State::waiting);
  settings.keep_going = true;
  records = {};
  left = {};
  taken = {};
  test::put(folder / "maps" / "2.pfm", "of an earlier run");
  run(4, {false, false, false, false}, 2);
  EXPECT_EQ(records.count(State::done), 3U);
  EXPECT_EQ(records.frames[2].removed, std::vector{folder / "maps" / "2.pfm"});
  EXPECT_EQ(front_end.failures.front(), "frame frame2: cannot be read");
}

}  // namespace
}  // namespace stereopsis::loop_test
