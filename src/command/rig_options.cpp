#include "command/rig_options.hpp"

#include <fmt/core.h>

#include <limits>

#include "command/front_end.hpp"

namespace stereopsis::command {
namespace {

constexpr double huge = std::numeric_limits<double>::infinity();

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
  command.parsed(
      "--focal", [this](const std::string& text) { focal = to_focal(text); }, "PX",
      "Focal length of the rectified pair, in pixels; --focal and --baseline together replace --calib");
  command.length("--baseline", baseline, "LENGTH",
                 "Baseline of the cameras, such as 120mm, 12cm or 0.12m, or a number without a unit");
  command.number("--doffs", doffs, -huge, huge, "PX",
                 "Offset of the principal points: cx of the right camera − cx of the left camera, in pixels [0]");
}

jobs::RigSource RigOptions::calibration() const { return {*this, option_names()}; }

}  // namespace stereopsis::command
