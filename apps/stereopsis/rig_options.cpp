#include "rig_options.hpp"

#include <fmt/core.h>

#include <limits>

namespace stereopsis::command {
namespace {

namespace fs = std::filesystem;
constexpr double huge = std::numeric_limits<double>::infinity();

// Selects, from a file with grey and colour cameras, those that took the images, or the ones that exist.
KittiPair pair_for(bool grey) { return grey ? KittiPair::grey_first : KittiPair::any; }

// Parses "120mm", "0.12m", or a number without a unit.
std::pair<double, std::string> to_length(const std::string& text) {
  for (const std::string unit : {"mm", "m"})
    if (text.ends_with(unit))
      return {to_number("--baseline", text.substr(0, text.size() - unit.size()), 0, huge), unit};
  return {to_number("--baseline", text, 0, huge), ""};
}

}  // namespace

Option RigOptions::add_files_to(Command& command, const std::string& help) {
  return command.list("--calib", files, "FILE", help);
}

void RigOptions::add_numbers_to(Command& command) {
  command.number("--focal", focal, 1e-3, huge, "PX",
                 "Focal length of the rectified pair, in pixels; replaces --calib, together with --baseline");
  command.text("--baseline", baseline, "LENGTH",
               "Baseline of the cameras: 120mm, 0.12m, or a number in any other unit");
  command.number("--doffs", doffs, -huge, huge, "PX",
                 "Offset of the principal points: cx of the right camera − cx of the left camera, in pixels [0]");
}

void RigOptions::check() const {
  if (files.size() > 2)
    refuse(fmt::format("--calib is given {} times; give one file, or two for the two cameras", files.size()));
  if (!files.empty() && (focal || !baseline.empty() || doffs))
    refuse(
        "--calib cannot be given with --focal, --baseline or --doffs, because both describe the cameras; leave one of "
        "them out");
  if (focal.has_value() != !baseline.empty() || (doffs && !focal))
    refuse(
        "--focal and --baseline must be given together, and --doffs only with them; give both, or a file with --calib");
  if (focal && !(to_length(baseline).first > 0))
    refuse(fmt::format("--baseline {} is not allowed; it must be a length above 0", baseline));
}

std::string RigOptions::source() const { return files.empty() ? "--focal and --baseline" : files[0]; }

void RigOptions::reads(CallFiles& call) const {
  for (const std::string& file : files) call.reads(file, "--calib");
}

std::optional<fs::path> RigOptions::second() const {
  return files.size() > 1 ? std::optional<fs::path>(files[1]) : std::nullopt;
}

Rig RigOptions::rig(Size images, bool grey) const {
  if (focal) return rig_of_numbers(images);
  return read_rig(files[0], second(), pair_for(grey));
}

// Places the principal point, which affects only points, in the middle of the left image.
Rig RigOptions::rig_of_numbers(Size images) const {
  const auto [length, unit] = to_length(baseline);
  Rig rig;
  rig.focal = *focal;
  rig.cx_left = (images.width - 1) / 2.0;
  rig.cx_right = rig.cx_left + doffs.value_or(0);
  rig.cy = (images.height - 1) / 2.0;
  rig.baseline = length;
  rig.unit = unit;
  return rig;
}

StereoCalibration RigOptions::cameras(Size images, bool grey) const {
  return read_calibration(files[0], second(), pair_for(grey), images);
}

}  // namespace stereopsis::command
