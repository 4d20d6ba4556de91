// The subcommand: stereopsis calibrate --left 'left*.jpg' --right 'right*.jpg' --board chessboard:9x6:25mm -o rig.yml
#include "command/calibrate.hpp"

#include <fmt/core.h>

#include <array>
#include <memory>

#include "command/commands.hpp"
#include "command/result_files.hpp"

namespace stereopsis::command {
namespace calibrating {

namespace fs = std::filesystem;

Call::Call(const Options& given) : options(given) {
  if (options.left.empty() || options.right.empty() || options.board.empty())
    refuse("calibrate requires --left, --right and --board, or --from-scenes");
  left = find_frames(options.left, "--left");
  right = find_frames(options.right, "--right");
  pair_up(left, options.left, right, options.right);
  CallFiles files;
  files.reads(left, "--left");
  files.reads(right, "--right");
  files.writes(options.output, "-o");
  if (!options.ros.empty())
    for (const char* name : {"left.yaml", "right.yaml"}) files.writes(options.ros / name, "--ros");
  files.writes(options.picture, "--picture");
  files.writes(options.report, "--report");
  check_output(options.output, std::array{".yml", ".yaml", ".xml"}, "-o");
  if (!options.ros.empty() && !is_result_folder(options.ros))
    refuse(fmt::format("--ros {} is not a directory; give the name of a directory", options.ros.string()));
  if (!options.picture.empty())
    check_output(options.picture, std::array{".png", ".ppm", ".jpg", ".jpeg", ".webp", ".jp2", ".tif", ".tiff"},
                 "--picture");
  if (!options.report.empty()) check_result(options.report);
}

void check_errors(double rms, double dy_mean) {
  if (rms <= largest_rms && dy_mean <= largest_dy) return;
  throw Error(
      ErrorCategory::format,
      fmt::format(
          "no calibration fits these views: the reprojection error is {:.1f} px (at most {} is allowed), and "
          "rows differ by {:.1f} px (at most {}); check the pairing of the views and the dimensions of the board",
          rms, largest_rms, dy_mean, largest_dy));
}

}  // namespace calibrating

void add_calibrate(CLI::App& application) {
  Command command(application, "calibrate",
                  "Calibrate two cameras from views of a board, in files or in a ROS bag, or from ordinary pairs");
  const auto o = std::make_shared<calibrating::Options>();
  command.path("--left", o->left, "FILES", "Left images: 'left*.jpg' (in quotes), left%02d.jpg or a directory");
  command.path("--right", o->right, "FILES", "Right images, paired with the left ones by frame number or by name");
  command.text("--board", o->board, "BOARD",
               "Calibration board: chessboard:9x6:25mm (inner corners, square size) or "
               "charuco:8x6:30mm:22mm:DICT_4X4_50 (squares, square size, marker size, dictionary)");
  command
      .path("-o,--output", o->output, "FILE", "File to write: the calibration in OpenCV's format, .yml, .yaml or .xml")
      .required();
  command.creates_folders();
  command.path("--ros", o->ros, "DIR",
               "In addition to FILE, write the calibration as ROS camera_info: DIR/left.yaml and DIR/right.yaml");
  command.path("--picture", o->picture, "FILE", "Write a picture of the first pair, rectified, with epipolar lines");
  command.path("--report", o->report, "FILE.json",
               "Write the reprojection errors of all views and the quality of the calibration as JSON");
  command.number("--zoom", o->zoom, 0, 1, "Z",
                 "Field of view of the rectified images, 0 to 1: 0 crops to pixels with a source, 1 keeps all pixels "
                 "of the raw images [0]");
  command.flag("--keep-outliers", o->keep_outliers, "Keep views with large errors instead of discarding them");
  const Option scenes = command.list(
      "--from-scenes", o->scenes, "PAIRS",
      "Instead of views of a board: pairs of ordinary scenes, with which --calib is corrected, or unknown cameras are "
      "calibrated: a directory or list of pairs as for `match`, or give the left and the right images with "
      "--from-scenes twice");
  o->rig.add_files_to(command, "With --from-scenes, the calibration that is corrected").needs(scenes);
  command.flag("--raw", o->raw, "With --from-scenes, the images are raw; otherwise, --calib has rectified them")
      .needs(scenes);
  command
      .parsed(
          "--focal", [o](const std::string& text) { o->rig.focal = to_focal(text); }, "PX",
          "With --from-scenes and without --calib, the focal length of both cameras, in pixels [from the Exif data, or "
          "estimated]")
      .needs(scenes);
  command
      .length("--baseline", o->rig.baseline, "LENGTH",
              "With --from-scenes and without --calib, the distance between the cameras, such as 120mm; without it, "
              "the calibration has no scale")
      .needs(scenes);
  command.footer(
      "A board requires OpenCV. The command of the Python package uses its module cv2. Scenes do not require OpenCV.");
  command.callback([o] {
    if (o->scenes.empty())
      calibrating::calibrate(calibrating::Call(*o));
    else
      calibrating::calibrate_from_scenes(*o);
  });
}

}  // namespace stereopsis::command
