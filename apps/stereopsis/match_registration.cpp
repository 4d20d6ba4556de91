// Registers the depth to another camera: `match --register-to`.
#include <fmt/core.h>

#include "geometry/exchanged_axes.hpp"
#include "match.hpp"
#include "stereopsis/calibration.hpp"

namespace stereopsis::command::matching {

void MatchJob::find_target(const std::optional<StereoCalibration>& cameras) {
  if (options.register_to.empty()) return;
  if (options.register_to != "raw") {
    target = read_posed_camera(options.register_to, rig->unit, options.rig.files.empty() ? "" : options.rig.files[0]);
    if (options.vertical) target = axes_exchanged(*target);
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

// With --vertical, the cameras are described with rows and columns of their images exchanged.
Image<float> registered_depth(const MatchJob& call, const Image<float>& depth) {
  const auto registered = [&](const Image<float>& matched) {
    return register_depth(matched, *call.rig, *call.target, call.options.device.threads.value_or(0)).depth;
  };
  if (!call.options.vertical) return registered(depth);
  return jobs::transposed(registered(jobs::transposed(depth.view())).view());
}

std::size_t bytes_for_registration(Size depth, Size target) {
  constexpr std::size_t of_left = 72, of_target = 24;  // bytes per pixel
  const auto pixels = [](Size size) { return static_cast<std::size_t>(size.width) * size.height; };
  return of_left * pixels(depth) + of_target * pixels(target);
}

}  // namespace stereopsis::command::matching
