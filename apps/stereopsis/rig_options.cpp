#include "rig_options.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "common.hpp"
#include "geometry/exchanged_axes.hpp"

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

Option RigOptions::add_files_to(Command& command, const std::string& use) {
  Option calib = command.list("--calib", files, "FILE",
                              use +
                                  ": file or folder of OpenCV, ROS, Kalibr, EuRoC, KITTI, Middlebury, ZED or another "
                                  "known format (one file per camera: give --calib twice)");
  command.number("--calib-scale", scale, 1e-3, 1e3, "S",
                 "Ratio of the image width to the width for which --calib was computed, if the images were scaled [1]");
  command.text("--lens", lens, "MODEL",
               "Lens model, for a calibration file that does not name one: radtan or equidistant [from the file]");
  return calib;
}

void RigOptions::add_numbers_to(Command& command) {
  command.number("--focal", focal, 1e-3, huge, "PX",
                 "Focal length of the rectified pair, in pixels; --focal and --baseline together replace --calib");
  command.text("--baseline", baseline, "LENGTH",
               "Baseline of the cameras, such as 120mm or 0.12m, or a number without a unit");
  command.number("--doffs", doffs, -huge, huge, "PX",
                 "Offset of the principal points: cx of the right camera − cx of the left camera, in pixels [0]");
}

void RigOptions::check() const {
  if (files.size() > 2)
    refuse(fmt::format("--calib is given {} times; give one file, or two for the two cameras", files.size()));
  if (std::ranges::find(files, "") != files.end())
    refuse("the name after --calib is empty; give a calibration file or a folder");
  if (files.empty() && (scale || !lens.empty()))
    refuse(fmt::format("{} applies to a calibration file; give the file with --calib",
                       scale ? "--calib-scale" : "--lens"));
  if (!lens.empty()) lens_model(lens);
  if (!files.empty() && (focal || !baseline.empty() || doffs))
    refuse(
        "--calib cannot be combined with --focal, --baseline or --doffs; describe the cameras either with --calib or "
        "with the other options");
  if (focal.has_value() != !baseline.empty() || (doffs && !focal))
    refuse(
        "--focal and --baseline require each other, and --doffs requires both; give --focal and --baseline, or a file "
        "with --calib");
  if (focal && !(to_length(baseline).first > 0))
    refuse(fmt::format("--baseline {} is not allowed; it must be a length above 0", baseline));
}

std::string RigOptions::source() const { return files.empty() ? "--focal and --baseline" : files[0]; }

void RigOptions::reads(CallFiles& call) const {
  for (const std::string& given : files)
    for (const fs::path& file : calibration_files(given)) call.reads(file, "--calib");
}

void RigOptions::check_size(Size calibrated, const fs::path& file, Size images) const {
  if (calibrated == images) return;
  const auto hint = calibration_scale(calibrated, images);
  refuse(fmt::format("{} is for images of {}, but {} is {}; give a calibration for this size{}", source(),
                     size_text(calibrated), file.string(), size_text(images),
                     hint ? fmt::format(", or --calib-scale {:.6g} if the images were scaled after calibration",
                                        scale.value_or(1) * *hint)
                          : ""));
}

CalibrationFile RigOptions::read(Size images, bool grey, bool vertical) const {
  CalibrationOptions known{.pair = pair_for(grey),
                           .size = vertical ? axes_exchanged(images) : images,
                           .lens = {},
                           .scale = scale.value_or(1),
                           .vertical = vertical};
  if (!lens.empty()) known.lens = lens_model(lens);
  return read_calibration_file(files[0], files.size() > 1 ? std::optional<fs::path>(files[1]) : std::nullopt, known);
}

CalibrationFile RigOptions::rectified(Size images, bool grey, bool vertical) const {
  if (focal) return {"numbers", rig_of_numbers(images), {}, {}, false, vertical, {}};
  CalibrationFile file = read(images, grey, vertical);
  if (file.rig.size != Size{} && file.rig.size != images) return file;  // check_size() refuses it
  for (const std::string& warning : calibration_warnings(file.rig, images, scale.value_or(1)))
    file.warnings.push_back(fmt::format("{}: {}", source(), warning));
  return file;
}

CalibrationFile RigOptions::raw(Size images, bool grey, bool vertical) const {
  CalibrationFile file = read(images, grey, vertical);
  if (!file.cameras) throw *file.no_cameras;
  for (const std::string& warning : calibration_warnings(*file.cameras, scale.value_or(1)))
    file.warnings.push_back(fmt::format("{}: {}", source(), warning));
  return file;
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

}  // namespace stereopsis::command
