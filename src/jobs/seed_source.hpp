// The seeds of the frames of a run: from files of disparities or depth, from the points of another sensor, and from the result of
// the frame before.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "jobs/cameras.hpp"
#include "stereopsis/pose.hpp"

namespace stereopsis::jobs {

// Seeds, their trust, depth and points are one file for all frames, or one for each frame.
struct SeedSettings {
  std::filesystem::path seeds, trust;  // disparities of the rectified left image, and the trust in them
  std::filesystem::path depth;         // depth of the rectified left image
  std::filesystem::path points, pose;  // points of another sensor, and its pose
  bool previous = false;               // the disparities of the frame before are seeds
  std::filesystem::path poses, flow;   // the motion of the camera, or of each pixel, between frames

  bool given() const { return !seeds.empty() || !depth.empty() || !points.empty() || previous; }
};

// The disparities of the frame before, NaN where invalid.
class FrameBefore {
 public:
  void keep(std::size_t number, const Matched& result);
  bool is_there() const { return !disparity_.empty(); }
  std::size_t number() const { return number_; }
  const Image<float>& disparity() const { return disparity_; }

 private:
  std::size_t number_ = 0;
  Image<float> disparity_;
};

class SeedSource {
 public:
  // Finds the files. Throws an Error for settings that contradict each other. All arguments must outlive the object.
  SeedSource(const SeedSettings& settings, const Inputs& inputs, bool vertical, const SettingNames& names);

  bool gives_any() const { return settings_.given(); }
  // Returns whether a frame depends on the result of the frame before.
  bool needs_frame_before() const { return settings_.previous; }
  void add_to(CallFiles& files) const;
  // Appends the files that a frame depends on.
  void add_files_of(std::size_t i, std::vector<std::filesystem::path>& files) const;
  // Reads the pose of the sensor. Throws an Error if the calibration does not give what the seeds need.
  void read_pose_for(const Cameras& cameras);

  // Reads the seeds of files. Several threads may call it.
  void read(InputFrame& frame, std::size_t i, const Cameras& cameras) const;
  // Sets those of the frame before. The frames come in their order.
  void follow(InputFrame& frame, std::size_t i, const Cameras& cameras) const;
  void keep(std::size_t i, const Matched& result) { before_.keep(i, result); }

 private:
  void check_settings(bool vertical) const;
  void find_flow();
  std::optional<Image<float>> moved(std::size_t i, const Cameras& cameras) const;

  const SeedSettings& settings_;
  const Inputs& inputs_;
  const SettingNames& names_;
  std::optional<sources::Frames> seeds_, trust_, depth_, points_;
  std::vector<std::filesystem::path> flow_;  // the files of the flow from each frame to the next one
  Pose pose_;                                // the way from the sensor to the rectified left camera
  std::vector<Pose> poses_;
  FrameBefore before_;
};

}  // namespace stereopsis::jobs
