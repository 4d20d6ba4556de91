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
    refuse(fmt::format("--ros {} is not a directory; make it first", options.ros.string()));
  if (!options.picture.empty())
    check_output(options.picture, std::array{".png", ".ppm", ".jpg", ".jpeg", ".tif", ".tiff"}, "--picture");
  if (!options.report.empty()) check_writable(options.report);
}

void check_errors(double rms, double dy_mean) {
  if (rms <= largest_rms && dy_mean <= largest_dy) return;
  throw Error(
      ErrorCategory::format,
      fmt::format("no rig fits these views: the reprojection error is {:.1f} px (at most {} is taken), rows differ by "
                  "{:.1f} px (at most {}); check that the views are paired rightly and the board's measures are right",
                  rms, largest_rms, dy_mean, largest_dy));
}

}  // namespace calibrating

void add_calibrate(CLI::App& application) {
  Command command(application, "calibrate", "Two cameras from views of a board, in files or in a bag of ROS");
  const auto o = std::make_shared<calibrating::Options>();
  command.path("--left", o->left, "FILES", "Left images: 'left*.jpg' (in quotes), left%02d.jpg or a directory")
      .required();
  command.path("--right", o->right, "FILES", "Right images, paired by frame number or by name").required();
  command
      .text("--board", o->board, "BOARD",
            "chessboard:9x6:25mm (inner corners, square), charuco:8x6:30mm:22mm:DICT_4X4_50 (squares, square, marker)")
      .required();
  command.path("-o,--output", o->output, "FILE", "Calibration as OpenCV's .yml, .yaml or .xml").required();
  command.path("--ros", o->ros, "DIR", "ROS camera_info too: DIR/left.yaml and DIR/right.yaml");
  command.path("--picture", o->picture, "FILE", "The first pair, rectified, with epipolar lines");
  command.path("--report", o->report, "FILE.json", "All figures");
  command.number("--zoom", o->zoom, 0, 1, "Z",
                 "Rectified images: 0 no pixels without a source, 1 all pixels of the cameras [0]");
  command.flag("--keep-outliers", o->keep_outliers, "Use views of large errors too");
  command.footer(
      "Needs OpenCV: apt-get install libopencv-dev (for charuco boards libopencv-contrib-dev too), and ./dev build.");
  command.callback([o] { calibrating::calibrate(calibrating::Call(*o)); });
}

}  // namespace stereopsis::command
