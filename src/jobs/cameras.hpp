// The cameras of a run: the calibration, the rectification of raw pairs, and the camera to which depths are registered.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "jobs/complaints.hpp"
#include "jobs/inputs.hpp"
#include "jobs/rig_source.hpp"
#include "stereopsis/registration.hpp"
#include "stereopsis/rig_tracking.hpp"

namespace stereopsis::jobs {

struct CameraSettings {
  RigSettings rig;
  bool raw = false;                 // the pairs are rectified with the calibration
  std::string register_to;          // file of a camera, or `raw` for the unrectified left one; empty: no registration
  std::filesystem::path track_rig;  // file for the calibration of a rig that moves; empty: the rig does not move
};

class Cameras {
 public:
  // `ahead`: raw pairs are rectified when they are read, because other steps than matching need them, too. All
  // arguments must outlive the object.
  Cameras(const CameraSettings& settings, const Inputs& inputs, bool vertical, bool ahead, int threads,
          const SettingNames& names);

  // Reads the calibration for pairs like `first`. Throws an Error if it does not suit them.
  void read(const InputFrame& first, const Complaints& complaints);
  // Computes the maps of raw pairs, after their memory was checked.
  void make_maps();

  const RigSource& source() const { return source_; }
  const std::optional<Rig>& rig() const { return rig_; }
  // The calibration of a raw pair.
  const std::optional<StereoCalibration>& raw_cameras() const { return raw_cameras_; }
  // Returns what the user can do if rows do not correspond although there is a calibration of raw cameras; else "".
  const std::string& how_to_rectify() const { return how_to_rectify_; }
  const std::optional<PosedCamera>& target() const { return target_; }

  bool rectifies_ahead() const { return raw_cameras_ && ahead_; }
  // Returns the size of rectified pairs; 0×0 if nothing is rectified.
  Size rectified_size() const;
  // Returns the size of the matched pairs.
  Size matched_size() const;
  // Returns the maps that the matcher rectifies with; null if it does not.
  std::shared_ptr<const RectificationMaps> maps_of_matcher() const { return ahead_ ? nullptr : maps_; }

  // Reads a frame, rectified if that is done ahead, with the maps of the first frame.
  InputFrame read_frame(std::size_t i) const;
  // Corrects a frame of a rig that moves, which read_frame() has not read. Waits for the rows of earlier frames.
  void follow(InputFrame& frame, std::size_t i) const;
  // The tracker of a rig that moves, which needs the rows of each frame; null if it does not move.
  const std::unique_ptr<RigTracker>& tracker() const { return tracker_; }
  void rectify_ahead(InputFrame& frame) const;
  // Calls f(left, right) with the pair as it will be matched.
  template <class F>
  auto with_matched(const InputFrame& frame, F&& f) const {
    if (!maps_ || rectifies_ahead()) return f(frame.left.view(), frame.right.view());
    const auto [left, right] = rectified_pair(frame, frame.maps ? *frame.maps : *maps_);
    return f(left.view(), right.view());
  }
  std::pair<AnyImage, AnyImage> rectified_pair(const InputFrame& frame, const RectificationMaps& maps) const;
  // Returns the depth as the target sees it.
  Image<float> registered(const Image<float>& depth) const;

 private:
  void rectify(AnyImage& image, Image<std::uint8_t>& mask, const Image<std::int32_t>& map, bool complete) const;
  void find_target(const std::optional<StereoCalibration>& cameras);
  Size as_stored(Size matched) const { return vertical_ ? Size{matched.height, matched.width} : matched; }

  const CameraSettings& settings_;
  const Inputs& inputs_;
  const bool vertical_, ahead_;
  const int threads_;
  const SettingNames& names_;
  const RigSource source_;
  std::optional<Rig> rig_;
  std::optional<StereoCalibration> raw_cameras_;
  std::unique_ptr<RigTracker> tracker_;
  std::shared_ptr<const RectificationMaps> maps_;
  std::shared_ptr<const RectificationMaps> unmoved_;  // maps that leave rectified pairs of a rig that moves as they are
  std::optional<PosedCamera> target_;
  std::string how_to_rectify_;
};

}  // namespace stereopsis::jobs
