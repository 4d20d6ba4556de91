#include "jobs/cameras.hpp"

#include <fmt/core.h>

#include "geometry/exchanged_axes.hpp"
#include "jobs/pixels.hpp"
#include "jobs/stopwatch.hpp"
#include "stereopsis/rig_refinement.hpp"

namespace stereopsis::jobs {

using sources::refuse;

Cameras::Cameras(const CameraSettings& settings, const Inputs& inputs, bool vertical, bool ahead, int threads,
                 const SettingNames& names)
    : settings_(settings),
      inputs_(inputs),
      vertical_(vertical),
      ahead_(ahead),
      threads_(threads),
      names_(names),
      source_(settings.rig, names) {}

// Chooses among a KITTI file's rigs for grey and for colour images; if it has only one, uses that one.
void Cameras::read(const InputFrame& first, const Complaints& complaints) {
  if (!settings_.rig.given()) return;
  const Size images = inputs_.image_size();
  const std::string name = inputs_.left().name(inputs_.first_index());
  const bool grey = first.left.channels() == 1;
  const CalibrationFile calibration =
      settings_.raw ? source_.raw(images, grey, vertical_) : source_.rectified(images, grey, vertical_);
  for (const std::string& warning : calibration.warnings) complaints.warn_or_fail(warning);
  rig_ = calibration.rig;
  find_target(calibration.cameras);
  if (settings_.raw) {
    raw_cameras_ = calibration.cameras;
    return source_.check_size(as_stored(raw_cameras_->size), name, as_stored(images));
  }
  if (rig_->size != Size{}) source_.check_size(as_stored(rig_->size), name, as_stored(images));
  if (!settings_.track_rig.empty()) {
    rig_->size = images;
  }
  if (calibration.cameras)
    how_to_rectify_ = fmt::format("add {} to rectify the pair with {}", names_.spelled("raw"), source_.name());
  if (calibration.raw_only)
    complaints.warn_or_fail(
        fmt::format("{} describes only raw cameras, but {} is matched as a rectified image; add {} unless `rectify` "
                    "made this image with the same calibration",
                    source_.name(), name, names_.spelled("raw")));
}

void Cameras::make_maps() {
  if (!settings_.track_rig.empty()) {
    tracker_ = std::make_unique<RigTracker>(raw_cameras_ ? *raw_cameras_ : cameras_of(*rig_));
    (raw_cameras_ ? maps_ : unmoved_) = tracker_->maps_for(0);
  } else if (raw_cameras_) {
    maps_ = std::make_shared<const RectificationMaps>(rectification_maps(*raw_cameras_));
  }
}

Size Cameras::rectified_size() const {
  if (maps_) return maps_->size();
  if (!raw_cameras_) return {};
  return rig_->size == Size{} ? inputs_.image_size() : rig_->size;
}

Size Cameras::matched_size() const { return raw_cameras_ ? rectified_size() : inputs_.image_size(); }

void Cameras::find_target(const std::optional<StereoCalibration>& cameras) {
  const std::string& register_to = settings_.register_to;
  if (register_to.empty()) return;
  if (register_to != "raw") {
    target_ = read_posed_camera(register_to, rig_->unit, settings_.rig.files.empty() ? "" : settings_.rig.files[0]);
    if (vertical_) target_ = axes_exchanged(*target_);
    if (cameras) target_ = posed_relative_to_raw(*target_, *cameras);
  } else if (cameras) {
    target_ = raw_left_camera(*cameras);
  } else {
    refuse(
        fmt::format("{} raw requires the raw cameras, and {} describes rectified images only; give the calibration of "
                    "the raw cameras",
                    names_.spelled("register_to"), source_.name()));
  }
}

InputFrame Cameras::read_frame(std::size_t i) const {
  InputFrame frame = inputs_.read(i);
  rectify_ahead(frame);
  return frame;
}

// If every pixel has a source and a value, no mask is needed, and matching without one is faster.
void Cameras::rectify(AnyImage& image, Image<std::uint8_t>& mask, const Image<std::int32_t>& map, bool complete) const {
  const bool masked = !complete || !mask.empty() || image.view().type == PixelType::f32;
  RectifiedView made = rectified(image, map, mask, threads_);
  image = std::move(made.image);
  mask = masked ? std::move(made.usable) : Image<std::uint8_t>();
}

void Cameras::rectify_ahead(InputFrame& frame) const {
  if (!rectifies_ahead()) return;
  const Stopwatch watch;
  const RectificationMaps& maps = frame.maps ? *frame.maps : *maps_;
  rectify(frame.left, frame.mask_left, maps.left, maps.left_complete);
  rectify(frame.right, frame.mask_right, maps.right, maps.right_complete);
  frame.maps.reset();
  frame.rectifying_ms = watch.ms();
}

void Cameras::follow(InputFrame& frame, std::size_t i) const {
  const auto maps = tracker_->maps_for(i);
  if (raw_cameras_) {
    frame.maps = maps;
    rectify_ahead(frame);
  } else if (maps != unmoved_) {
    const Stopwatch watch;
    rectify(frame.right, frame.mask_right, maps->right, maps->right_complete);
    frame.rectifying_ms = watch.ms();
  }
}

std::pair<AnyImage, AnyImage> Cameras::rectified_pair(const InputFrame& frame, const RectificationMaps& maps) const {
  return {rectified(frame.left, maps.left, {}, threads_).image, rectified(frame.right, maps.right, {}, threads_).image};
}

// With `vertical`, the cameras are described with rows and columns of their images exchanged.
Image<float> Cameras::registered(const Image<float>& depth) const {
  const auto registered = [&](const Image<float>& matched) {
    return register_depth(matched, *rig_, *target_, threads_).depth;
  };
  if (!vertical_) return registered(depth);
  return transposed(registered(transposed(depth.view())).view());
}

}  // namespace stereopsis::jobs
