// The cameras of a run, the problems of its frames and the memory beside matching.
#include "jobs/cameras.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "jobs/problems.hpp"
#include "support/scene.hpp"

namespace stereopsis::cameras_test {
namespace {

using namespace jobs;
using test::contains, test::refuses;

class JobCameras : public test::SceneFolder {
 protected:
  JobCameras() {
    write_pair(0);
    write_pair(1);
    pair.left = folder / "left%d.png", pair.right = folder / "right%d.png";
  }

  // Both cameras have a focal length of 100 px, and are 100 mm apart.
  void calibrate(Size of = size) {
    const std::string k = "[ 100., 0., 100., 0., 100., 70., 0., 0., 1. ]", zeros = "[ 0., 0., 0., 0., 0. ]";
    const auto matrix = [](const char* name, int rows, int columns, const std::string& data) {
      return std::string(name) + ": !!opencv-matrix\n  rows: " + std::to_string(rows) +
             "\n  cols: " + std::to_string(columns) + "\n  dt: d\n  data: " + data + "\n";
    };
    test::put(folder / "cameras.yml",
              "%YAML:1.0\n---\nimage_width: " + std::to_string(of.width) +
                  "\nimage_height: " + std::to_string(of.height) + "\n" + matrix("K1", 3, 3, k) +
                  matrix("D1", 1, 5, zeros) + matrix("K2", 3, 3, k) + matrix("D2", 1, 5, zeros) +
                  matrix("R", 3, 3, "[ 1., 0., 0., 0., 1., 0., 0., 0., 1. ]") + matrix("T", 3, 1, "[ -100., 0., 0. ]"));
    camera.rig.files = {(folder / "cameras.yml").string()};
    camera.raw = true;
  }
  Cameras read(const Inputs& inputs, const InputFrame& first, bool ahead = false) {
    Cameras cameras(camera, inputs, false, ahead, 1, front_end);
    cameras.read(first, Complaints(false, front_end));
    cameras.make_maps();
    return cameras;
  }

  InputSettings pair;
  CameraSettings camera;
};

TEST_F(JobCameras, RawPairsAreRectifiedOnceByTheMatcherOrAhead) {
  calibrate();
  Inputs inputs(pair, front_end);
  const InputFrame first = inputs.read_first();
  const Cameras on_device = read(inputs, first);
  EXPECT_TRUE(on_device.maps_of_matcher());
  EXPECT_FALSE(on_device.rectifies_ahead());
  EXPECT_NEAR(on_device.rig()->baseline, 100, 1e-9);
  const Cameras ahead = read(inputs, first, true);
  EXPECT_FALSE(ahead.maps_of_matcher());
  const InputFrame frame = ahead.read_frame(1);
  EXPECT_EQ(frame.left.size(), ahead.matched_size());
  const auto [left, right] = on_device.rectified_pair(inputs.read(1), *on_device.maps_of_matcher());
  EXPECT_EQ(std::memcmp(frame.left.view().data, left.view().data, static_cast<std::size_t>(size.width)), 0);
}

TEST_F(JobCameras, ACalibrationOfAnotherSizeIsRefused) {
  calibrate({640, 480});
  Inputs inputs(pair, front_end);
  const InputFrame first = inputs.read_first();
  EXPECT_TRUE(refuses([&] { read(inputs, first); }, ErrorCategory::call, "640×480"));
}

TEST_F(JobCameras, DepthIsRegisteredToTheRawLeftImage) {
  calibrate();
  camera.register_to = "raw";
  Inputs inputs(pair, front_end);
  const InputFrame first = inputs.read_first();
  const Cameras cameras = read(inputs, first);
  ASSERT_TRUE(cameras.target());
  EXPECT_EQ(cameras.target()->size, size);
  const Image<float> depth(cameras.matched_size(), 1, 1000.0f);
  EXPECT_EQ(cameras.registered(depth)(100, 70), 1000.0f);
}

// The outputs, the region and the memory of a problem follow from the results.
class JobProblems : public JobCameras {
 protected:
  JobProblems() { matching.devices = {Device{.name = "cpu", .threads = 1}}; }

  Problem problem(bool of_right = false) {
    Inputs inputs(pair, front_end);
    InputFrame first = inputs.read_first();
    first.range = {0, 24};
    const Cameras cameras = read(inputs, first);
    const MemoryBudget memory(limit, inputs, cameras, sinks, false, matching.devices, front_end);
    memory.check();
    in_flight = memory.frames_in_flight();
    return Problems(matching, inputs, cameras, sinks, memory, front_end).of(first, of_right);
  }

  MatchingSettings matching;
  SinkSettings sinks;
  MemoryLimit limit;
  std::size_t in_flight = 0;
};

TEST_F(JobProblems, RequestTheOutputsOfTheResults) {
  calibrate();
  EXPECT_FALSE(problem().want_confidence);
  sinks.files[ResultFile::cloud] = "cloud.ply";
  sinks.files[ResultFile::depth] = "depth.pfm";
  const Problem found = problem();
  EXPECT_TRUE(found.want_confidence && found.geometry.want_points && found.geometry.want_depth &&
              found.geometry.want_rectified);
  EXPECT_FALSE(found.geometry.want_uncertainty);
  EXPECT_EQ(found.batch, 2);
}

TEST_F(JobProblems, OfTheRightViewHaveTheMirroredRegion) {
  matching.region = Rect{10, 20, 50, 60};
  EXPECT_EQ(problem().region, (Rect{10, 20, 50, 60}));
  EXPECT_EQ(problem(true).region, (Rect{size.width - 60, 20, 50, 60}));
}

TEST_F(JobProblems, LeaveTheMemoryOfImagesAndResultsOut) {
  limit = {std::size_t{1} << 30, "1G"};
  const std::size_t of_disparity = problem().memory_limit;
  EXPECT_LT(of_disparity, std::size_t{1} << 30);
  sinks.files[ResultFile::confidence] = "confidence.pfm";
  EXPECT_LT(problem().memory_limit, of_disparity);
  EXPECT_EQ(in_flight, 2U);
  matching.devices = {Device{.name = "cuda:0"}, Device{.name = "cuda:1"}};
  problem();
  EXPECT_EQ(in_flight, 6U);
  matching.devices.resize(1);
  limit.bytes = 1000, limit.text = "1000";
  EXPECT_TRUE(refuses([&] { problem(); }, ErrorCategory::memory, "<memory_limit> 1000"));
}

}  // namespace
}  // namespace stereopsis::cameras_test
