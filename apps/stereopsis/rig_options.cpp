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

// Parses --focal, which is in pixels.
double to_focal(const std::string& text) {
  const std::size_t digits = text.find_last_of("0123456789.") + 1;
  const std::string unit = text.substr(digits);
  if (unit == "mm" || unit == "cm" || unit == "m" || unit == "in" || unit == "um")
    refuse(
        fmt::format("--focal {} is a length, and the focal length must be in pixels: divide the length by the size of "
                    "a pixel, such as 4 mm / 0.003 mm = 1333, or multiply it by the width of the image in pixels and "
                    "divide by the width of the sensor",
                    text));
  constexpr double least = 1e-3;
  return to_number("--focal", unit == "px" ? text.substr(0, digits) : text, least, huge);
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
  command.text("--focal", focal, "PX",
               "Focal length of the rectified pair, in pixels; --focal and --baseline together replace --calib");
  command.length("--baseline", baseline, "LENGTH",
                 "Baseline of the cameras, such as 120mm, 12cm or 0.12m, or a number without a unit");
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
  if (!files.empty() && (!focal.empty() || baseline || doffs))
    refuse(
        "--calib cannot be combined with --focal, --baseline or --doffs; describe the cameras either with --calib or "
        "with the other options");
  if (focal.empty() == baseline.has_value() || (doffs && focal.empty()))
    refuse(
        "--focal and --baseline require each other, and --doffs requires both; give --focal and --baseline, or a file "
        "with --calib");
  if (!focal.empty()) to_focal(focal);
  if (baseline && !(baseline->value > 0))
    refuse(fmt::format("--baseline {} is not allowed; it must be a length above 0", baseline->text()));
}

std::string RigOptions::source() const { return files.empty() ? "--baseline " + baseline->text() : files[0]; }

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
  const bool of_numbers = !focal.empty();
  CalibrationFile file = of_numbers ? CalibrationFile{"numbers", rig_of_numbers(images), {}, {}, false, vertical, {}}
                                    : read(images, grey, vertical);
  if (file.rig.size != Size{} && file.rig.size != images) return file;  // check_size() refuses it
  Rig judged = file.rig;
  if (of_numbers) judged.cx_right = judged.cx_left;  // --doffs may place the principal point outside the image
  for (const std::string& warning : calibration_warnings(judged, images, scale.value_or(1)))
    file.warnings.push_back(fmt::format("{}: {}", of_numbers ? "--focal " + focal : source(), warning));
  return file;
}

CalibrationFile RigOptions::raw(Size images, bool grey, bool vertical) const {
  CalibrationFile file = read(images, grey, vertical);
  if (!file.cameras) throw *file.no_cameras;
  for (const std::string& warning : calibration_warnings(*file.cameras, scale.value_or(1)))
    file.warnings.push_back(fmt::format("{}: {}", source(), warning));
  return file;
}

double RigOptions::in_unit_of(const Rig& rig, const std::string& option, const Length& length) const {
  const std::string other = baseline && baseline->unit != rig.unit ? baseline->unit : "";
  if (length.unit.empty() && !other.empty())
    refuse(fmt::format("{0} {1} has no unit, and --baseline {2} is in {3}; write {0} {1}{3} or {0} {1}{4}", option,
                       length.text(), baseline->text(), other, rig.unit));
  if (rig.unit.empty() && !length.unit.empty())
    refuse(fmt::format("{0} {1} has a unit, but {2} has none; {3}, or give {0} as a number in the unit of {2}", option,
                       length.text(), source(), how_to_name_the_unit(rig)));
  return length.in(rig.unit);
}

std::string RigOptions::how_to_name_the_unit(const Rig& rig) const {
  if (!rig.unit.empty()) return "";
  if (!baseline) return "if the file is OpenCV's, add a line such as `unit: mm` to it";
  // Baselines are usually from 1 mm to 10 m.
  constexpr double most_metres = 10, least_millimetres = 10;
  std::string ways;
  if (baseline->value <= most_metres) ways = fmt::format("--baseline {}m", baseline->text());
  if (baseline->value >= least_millimetres)
    ways += fmt::format("{}--baseline {}mm", ways.empty() ? "" : " or ", baseline->text());
  return "write " + ways;
}

// Places the principal point, which affects only points, in the middle of the left image.
Rig RigOptions::rig_of_numbers(Size images) const {
  const Length length = baseline->as_of_rig();
  Rig rig;
  rig.focal = to_focal(focal);
  rig.cx_left = (images.width - 1) / 2.0;
  rig.cx_right = rig.cx_left + doffs.value_or(0);
  rig.cy = (images.height - 1) / 2.0;
  rig.baseline = length.value;
  rig.unit = length.unit;
  return rig;
}

}  // namespace stereopsis::command
