#include "command/group_options.hpp"

#include <fmt/core.h>

#include <limits>

#include "command/front_end.hpp"
#include "stereopsis/rows.hpp"

namespace stereopsis::command {

namespace {

constexpr double huge = std::numeric_limits<double>::infinity();

}  // namespace

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

void ConstantOptions::add_to(Command& command) {
  command.integer("--mask-black", black, 0, 255, "LEVEL",
                  "Largest value of black regions at the border, which are masked, in 8-bit units [0; 2 for JPEG and "
                  "videos]");
  command.flag("--measure-constant", measure,
               "Measure black regions at the border, and pixels without contrast, like all others");
}

void ConstantOptions::check() const {
  if (measure && black)
    refuse("--mask-black applies to regions that --measure-constant does not mask; leave one of the two options out");
}

void IntensityOptions::add_to(Command& command) {
  command.integer("--bit-depth", bit_depth, 9, 16, "BITS",
                  "Number of significant low-order bits in 16-bit images [from the file]");
  command.number("--black", black, -1e9, 1e9, "V",
                 "Value of black in float and 16-bit images, such as 29000 in thermal images [0]");
  command.number("--white", white, 1e-6, 1e9, "V",
                 "Value of white in float and 16-bit images, such as 1 [255; of 16-bit images, the largest value]");
}

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

void RowOptions::add_to(Command& command, const Option& dataset) {
  command
      .text("--align-rows", how, "HOW",
            "Align the rows of the right images, for all methods: auto (estimated for each scene), off, "
            "OFFSET[,ROLL[,ZOOM[,KEYSTONE]]] in pixels, or a file with such numbers [off]")
      .needs(dataset);
}

jobs::RowSettings RowOptions::settings() const { return jobs::row_settings(how, CommandFrontEnd()); }

LoadedScene load_scene(const DatasetScene& scene, const jobs::RowSettings& rows) {
  LoadedScene loaded = stereopsis::load_scene(scene);
  if (rows.is_off) return loaded;
  const auto alignment = rows.fixed ? rows.fixed : estimate_row_alignment(loaded.left, loaded.right).alignment;
  if (alignment) loaded.right = with_aligned_rows(loaded.right, *alignment).image;
  return loaded;
}

}  // namespace stereopsis::command
