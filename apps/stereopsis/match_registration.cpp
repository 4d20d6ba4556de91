// Registers the depth to another camera: `match --register-to`.
#include <fmt/core.h>

#include "match.hpp"
#include "stereopsis/calibration.hpp"

namespace stereopsis::command::matching {

void MatchJob::check_registration() const {
  if (options.register_to.empty()) return;
  if (!options.wants(ResultFile::depth)) refuse("--register-to applies to the depth map; give its file with --depth");
  if (options.crop)
    refuse(
        "--crop writes a region of the left image, and --register-to the image of another camera; leave one of them "
        "out");
}

void MatchJob::find_target(const std::optional<StereoCalibration>& cameras) {
  if (options.register_to.empty()) return;
  if (options.register_to != "raw") {
    target = read_posed_camera(options.register_to, rig->unit);
    if (cameras) target = posed_relative_to_raw(*target, *cameras);
  } else if (cameras) {
    target = raw_left_camera(*cameras);
  } else {
    refuse(
        fmt::format("--register-to raw requires the raw cameras, and {} describes rectified images only; give the "
                    "calibration of the raw cameras",
                    options.rig.source()));
  }
  if (!options.raw) bound_memory(given_size, {});  // again, with the camera's image; a raw pair's comes later
}

Image<float> registered_depth(const MatchJob& call, const Image<float>& depth) {
  return register_depth(depth, *call.rig, *call.target, call.options.device.threads.value_or(0)).depth;
}

std::size_t bytes_for_registration(Size depth, Size target) {
  constexpr std::size_t of_left = 72, of_target = 24;  // bytes per pixel
  const auto pixels = [](Size size) { return static_cast<std::size_t>(size.width) * size.height; };
  return of_left * pixels(depth) + of_target * pixels(target);
}

}  // namespace stereopsis::command::matching
