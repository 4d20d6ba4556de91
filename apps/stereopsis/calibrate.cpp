// The subcommand: stereopsis calibrate --left 'left*.jpg' --right 'right*.jpg' --board chessboard:9x6:25mm -o rig.yml
#include "calibrate.hpp"

#include <fmt/core.h>

#include <array>
#include <memory>

#include "commands.hpp"
#include "outputs.hpp"
#include "stereopsis/io.hpp"

namespace stereopsis::command {
namespace calibrating {

namespace fs = std::filesystem;

Call::Call(const Options& given) : options(given) {
  left = find_frames(options.left, "--left");
  right = find_frames(options.right, "--right");
  pair_up(left, options.left, right, options.right);
  CallFiles files;
  reads(files, left, "--left");
  reads(files, right, "--right");
  files.writes(options.output, "-o");
  if (!options.ros.empty())
    for (const char* name : {"left.yaml", "right.yaml"}) files.writes(options.ros / name, "--ros");
  files.writes(options.picture, "--picture");
  files.writes(options.report, "--report");
  check_output(options.output, std::array{".yml", ".yaml", ".xml"}, "-o");
  if (!options.ros.empty() && !fs::is_directory(options.ros))
    refuse(fmt::format("--ros {} is not a directory; create it first", options.ros.string()));
  if (!options.picture.empty())
    check_output(options.picture, std::array{".png", ".ppm", ".jpg", ".jpeg", ".tif", ".tiff"}, "--picture");
  if (!options.report.empty()) check_writable(options.report);
}

void check_errors(double rms, double dy_mean) {
  if (rms <= largest_rms && dy_mean <= largest_dy) return;
  throw Error(
      ErrorCategory::format,
      fmt::format("no calibration fits these views: the reprojection error is {:.1f} px (at most {} is allowed), and "
                  "rows differ by {:.1f} px (at most {}); check the pairing of the views and the measures of the board",
                  rms, largest_rms, dy_mean, largest_dy));
}

}  // namespace calibrating

void add_calibrate(CLI::App& application) {
  Command command(application, "calibrate", "Calibrate two cameras from views of a board, in files or in a ROS bag");
  const auto o = std::make_shared<calibrating::Options>();
  command.path("--left", o->left, "FILES", "Left images: 'left*.jpg' (in quotes), left%02d.jpg or a directory")
      .required();
  command.path("--right", o->right, "FILES", "Right images, paired with the left ones by frame number or by name")
      .required();
  command
      .text("--board", o->board, "BOARD",
            "Calibration board: chessboard:9x6:25mm (inner corners, square) or charuco:8x6:30mm:22mm:DICT_4X4_50 "
            "(squares, square, marker)")
      .required();
  command
      .path("-o,--output", o->output, "FILE", "File to write: the calibration in OpenCV's format, .yml, .yaml or .xml")
      .required();
  command.path("--ros", o->ros, "DIR",
               "Write the calibration as ROS camera_info, too: DIR/left.yaml and DIR/right.yaml");
  command.path("--picture", o->picture, "FILE", "Write a picture of the first pair, rectified, with epipolar lines");
  command.path("--report", o->report, "FILE.json",
               "Write the errors of all views and the calibration's figures as JSON");
  command.number("--zoom", o->zoom, 0, 1, "Z",
                 "Field of view of the rectified images, 0 to 1: 0 shows only pixels with a source, 1 shows all pixels "
                 "of the cameras [0]");
  command.flag("--keep-outliers", o->keep_outliers, "Use views with large errors, too");
  command.footer(
      "This command requires a build with OpenCV: apt-get install libopencv-dev (and libopencv-contrib-dev for charuco "
      "boards), then ./dev build.");
  command.callback([o] { calibrating::calibrate(calibrating::Call(*o)); });
}

}  // namespace stereopsis::command
