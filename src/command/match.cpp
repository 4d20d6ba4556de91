// stereopsis match LEFT RIGHT -o OUT: one pair, or a sequence of them.
//
// All errors in the call are reported before any matching.
#include "command/match.hpp"

#include <limits>

#include "command/commands.hpp"
#include "command/result_files.hpp"

namespace stereopsis::command {
namespace matching {
namespace {

constexpr double huge = std::numeric_limits<double>::infinity();

void run(Options& options) {
  PipedResult piped;
  for (fs::path* const view : {&options.run.inputs.left, &options.run.inputs.right}) resolve_input(*view);
  CommandFrontEnd front_end;
  for (std::size_t k = 0; k < file_count; ++k)
    piped.resolve(options.run.sinks.files[k], front_end.spelled(file_kinds()[k].name), options.format);
  piped.check_use(options.format);
  options.run.sinks.piped = piped.file();
  check(options);
  Call call{options, front_end, FileRun(options.run, front_end)};
  FrameRecords records;
  std::optional<Explanation> plan;
  const auto conclude = [&] {
    if (!options.run.sinks.report.empty()) write_report(call, records, plan);
  };
  if (options.explain) plan = explain(call);
  if (!options.probes.empty()) print_probes(call);
  if (!options.run.sinks.wants_files()) return conclude();
  try {
    call.run.match([&] { return description_of(call); }, records);
  } catch (...) {
    conclude();  // reports the finished frames
    throw;
  }
  if (options.timings) print_timings(call, records);
  print_summary(call, records);
  call.run.sinks().finish();
  conclude();
  piped.deliver();
  if (records.count(FrameRecord::State::failed) > 0) throw CheckFailed{};
}

const char* help_of(std::size_t file) {
  switch (file) {
    case ResultFile::confidence:
      return "Write the confidence map: 0 to 1 as .pfm, .npy or .tiff, or 0 to 255 as .png or .pgm";
    case ResultFile::validity_bits:
      return "Write the validity map: bits that say why a pixel is invalid, or that it was filled or repaired; 8-bit "
             ".png, .pgm, .npy or .tiff";
    case ResultFile::validity_picture:
      return "Write a picture of the validity map with a legend: .png, .ppm, .jpg, .webp, .jp2 or .tiff";
    case ResultFile::right:
      return "Write the disparity map of the right view, in a format of OUT; it is matched separately, which doubles "
             "the time";
    case ResultFile::colour:
      return "Write a colour picture of the disparity map with a legend: .png, .ppm, .jpg, .webp, .jp2 or .tiff; or "
             "one video of "
             "all frames of a sequence: .mp4 or .avi";
    case ResultFile::depth:
      return "Write the depth map of the measured pixels: .pfm, .npy or .tiff in the unit of the calibration, or "
             "16-bit .png in mm";
    case ResultFile::depth_picture:
      return "Write a colour picture of the depth map, with near points in warm colours, in a format of --color";
    case ResultFile::uncertainty:
      return "Write the uncertainty of the depth, in the unit of the calibration, for the error --disparity-error: "
             ".pfm, .npy or .tiff";
    case ResultFile::cloud:
      return "Write a coloured point cloud of the measured pixels as .ply or .pcd, in the coordinate frame of --frame";
    default:
      return "Disparity map to write: .pfm (invalid = inf), .npy or .tiff (invalid = NaN), 16-bit .png (×256, invalid "
             "= 0), or 8-bit .png or .pgm with --scale";
  }
}

void add_output(Command& command, Options& o, std::size_t k, const char* help) {
  const bool main = k == ResultFile::disparity;
  command.path(main ? "-o,--output" : CommandFrontEnd().spelled(file_kinds()[k].name), o.run.sinks.files[k],
               main ? "OUT" : "FILE", help);
}

void add_inputs(Command& command, Options& o) {
  add_views(command, o.run.inputs.left, o.run.inputs.right, ", a ROS bag");
  add_output(command, o, ResultFile::disparity, help_of(ResultFile::disparity));
  command.text("--format", o.format, "EXT",
               "Format of a result whose name is - and that is written to standard output: pfm, npy, tiff, png, …");
  command.creates_folders();
  command.number("--scale", o.run.sinks.scale, 1e-6, 65535, "S",
                 "Scale of disparities in 8-bit images: stored value = disparity × S");

  command.group("Images");
  o.pairing.add_to(command);
  o.intensity.add_to(command);
  command.path("--mask-left", o.run.inputs.mask_left, "FILE",
               "Mask of the left input image: 255 = usable pixel; 0 and 128 = unusable [all pixels]");
  command.path("--mask-right", o.run.inputs.mask_right, "FILE",
               "Mask of the right input image: 255 = usable pixel; 0 and 128 = unusable [all pixels]");
  o.constant.add_to(command);
  command.text("--align-rows", o.rows, "HOW",
               "Align the rows of the right image before matching: auto (estimated for each pair), off, "
               "OFFSET[,ROLL[,ZOOM[,KEYSTONE]]] in pixels, or a file with such numbers [auto]");
  command.flag("--strict", o.run.strict,
               "Fail instead of warning about a bad pair: not rectified, swapped, low contrast, or less than 5 % of "
               "the pixels measured");
}

void add_seeds(Command& command, SeedSettings& seeds) {
  command.group("Seeds: disparities that are known beforehand, which guide the method and measure no pixel");
  command.path("--seeds", seeds.seeds, "FILE",
               "Disparities of the rectified left image, in a format of OUT; unknown where invalid");
  command.path("--seed-trust", seeds.trust, "FILE", "Trust in each seed, 0 to 1, in a format of confidence maps [1]");
  command.path("--seed-depth", seeds.depth, "FILE",
               "Depth of the rectified left image, in the unit of the calibration: a format of OUT, where 16-bit PNG "
               "has 256 times the depth, as KITTI has it");
  command.path("--seed-points", seeds.points, "FILE",
               "Points of another sensor, such as LiDAR, in the unit of the calibration: .pcd, .ply or KITTI's .bin");
  command.path("--seed-pose", seeds.pose, "FILE",
               "Pose of the sensor, from its coordinates to those of the left camera (x right, y down, z forward): a "
               "text with a 3×4 or 4×4 matrix, or a calib.txt of KITTI odometry [the pose of the camera]");
  command.flag("--seed-previous", seeds.previous,
               "The disparities of the frame before guide each frame of a sequence, which reduces flicker");
  command.path("--seed-poses", seeds.poses, "FILE",
               "Poses of the left camera for --seed-previous: 12 numbers a line for each frame, as KITTI has them [the "
               "camera does not move]");
  command.path("--seed-flow", seeds.flow, "FILES",
               "Optical flow from each left image to the next one for --seed-previous, with the names of the images: "
               ".flo, KITTI's .png, or .npy");
}

void add_method(Command& command, Options& o) {
  command.group("Method");
  o.method.add_to(command);
  command.flag("--no-fill", o.no_fill, "Switch all filling stages off, and mark pixels without contrast as invalid");
  command.flag("--second-pass", o.second_pass,
               "Match a second time, with planes through measured pixels as seeds: fewer errors on slopes with little "
               "texture; for methods with semi-global matching");
  command.text(
      "--budget", o.budget, "TIME",
      "Choose the method and the size of the images with the fewest errors that match a pair within this time, "
      "such as 30ms, on this machine; the options that were chosen are printed, and are in the report. Times "
      "are measured once, without reading and writing files. A method that is given is kept");
  command.flag("--measured-only", o.measured_only,
               "Mark filled and repaired pixels as invalid in the disparity map and all other results");
  command.deprecated_flag("--drop-filled", o.measured_only, "use --measured-only");
  command.number("--min-confidence", o.run.matching.min_confidence, 0, 1, "C",
                 "Mark pixels with a confidence below C, 0 to 1, as invalid in all results [keep all]");
  o.device.add_to(command, true);
  const auto read_limit = [&o](const std::string& text) { o.run.memory = {to_bytes("--memory-limit", text), text}; };
  command.parsed(
      "--memory-limit", read_limit, "BYTES",
      "Memory limit for workspace, maps and images, in bytes or as 500M or 2G [half of the host's memory; for "
      "the workspace on a GPU, 9/10 of its free memory]");
}

void add_range(Command& command, Options& o) {
  command.group("Range and region");
  command.integer("--disparities", o.run.range.disparities, 1, 65535, "N",
                  "Number of disparities in the search range [estimated from the images]");
  command.integer("--min-disparity", o.run.range.min_disparity, -65535, 65535, "N",
                  "Lowest disparity of the search range, which may be negative [0]");
  command.flag("--range-per-frame", o.run.range.per_frame,
               "Estimate the search range for each frame of a sequence [once for all frames]");
  o.rig.add_files_to(command, "Calibration of the cameras");
  o.rig.add_numbers_to(command);
  command.length("--near", o.run.range.near, "Z",
                 "Nearest depth, such as 1m, or a number in the unit of the calibration; --near and --far give the "
                 "search range in place of --disparities");
  command.length("--far", o.run.range.far, "Z",
                 "Farthest depth of the search range, such as 5m, or a number in the unit of the calibration "
                 "[infinity]");
  command.flag("--raw", o.run.cameras.raw, "Rectify the raw pair with the calibration of --calib before matching");
  command.path("--track-rig", o.run.cameras.track_rig, "FILE",
               "Follow the right camera of a rig that moves during a sequence: correct its rotation while the sequence "
               "is matched, and write the corrected calibration to FILE (.yml), which --calib with --raw reads");
  command.flag(
      "--vertical", o.run.inputs.vertical,
      "Match cameras that are above each other, with LEFT from the upper camera; disparities are differences of rows");
  command.text("--roi", o.roi, "X,Y,W,H",
               "Compute only this region of the left image: left column, top row, width and height, in pixels");
  command.flag("--crop", o.run.sinks.crop, "Write only the region of --roi instead of maps of the whole size");
}

void add_results(Command& command, Options& o) {
  command.group("More results");
  for (const ResultFile k :
       {ResultFile::right, ResultFile::confidence, ResultFile::validity_bits, ResultFile::validity_picture,
        ResultFile::colour, ResultFile::depth, ResultFile::depth_picture, ResultFile::uncertainty, ResultFile::cloud})
    add_output(command, o, k, help_of(k));
  for_each_plain_map([&](std::size_t k, const Output& output, auto) { add_output(command, o, k, output.description); });
  o.color.add_to(command);
  command.text("--frame", o.frame, "NAME",
               "Coordinate frame of the cloud: optical (x right, y down, z forward) or head (x forward, y left, z up) "
               "[optical]");
  command.flag("--organised", o.run.sinks.organised,
               "Write a point for every pixel to --cloud, with NaN where the disparity is invalid [valid points only]");
  command.text("--register-to", o.run.cameras.register_to, "FILE",
               "Camera to which --depth is registered: FILE with its lens and its pose relative to the left camera, or "
               "the word raw for the unrectified left camera [rectified left camera]");
  command.number("--disparity-error", o.run.matching.disparity_error, 0, 1e6, "PX",
                 "Disparity error assumed by --uncertainty, in pixels [what the confidence of each pixel implies]");
  command.flag("--fill-depth", o.run.matching.fill_depth,
               "Include filled and repaired pixels in depth, uncertainty and points [measured pixels only]");
  command.flag("--timings", o.timings, "Print the time of each stage");
  command.path("--report", o.run.sinks.report, "FILE.json", "Write a report: parameters, sizes, times and densities");
  command.flag("--explain", o.explain,
               "Print the steps of the plan, and for each step the reason why no faster implementation applies; "
               "without a result such as -o OUT, no pair is matched");
  command.flag("--json", o.json, "Print the result of --explain as JSON, and nothing else on standard output");

  command.group("Volumes of matching costs, as NPY arrays of (height, width, disparities)");
  command.path("--cost-volume", o.run.range.cost_volume, "FILE.npy",
               "Cost volume of the left view (uint8, uint16 or float32), read instead of computing costs; its first "
               "disparity is --min-disparity");
  command.list("--save-volume", o.volumes, "STATE=FILE.npy",
               "Write the cost volume as it is in STATE: cost (matching costs), aggregated or optimised; repeatable");
  command.list(
      "--probe", o.probes, "X,Y",
      "Print the costs of all disparities at a pixel of the left image, in each STATE of --save-volume; repeatable");

  command.group("Long sequences");
  command.flag("--resume", o.run.resume, "Skip frames that an earlier run of the same call has completed");
  command.flag("--keep-going", o.run.inputs.keep_going,
               "Continue after a frame that fails, and remove the results of this frame; the exit code is then 1. "
               "Images without a "
               "partner are skipped and counted");
}

}  // namespace
}  // namespace matching

void add_match(CLI::App& application) {
  using namespace matching;
  Command command(application, "match", "Match a rectified pair, or a sequence of pairs");
  const auto o = std::make_shared<Options>();
  add_inputs(command, *o);
  add_seeds(command, o->run.seeds);
  add_method(command, *o);
  add_range(command, *o);
  add_results(command, *o);
  command.footer(
      "For a sequence, OUT and the files of all other results are patterns (disparity%03d.pfm) or directories. The "
      "name - stands for standard input or, with --format, for standard output.");
  command.callback([o] { run(*o); });
}

}  // namespace stereopsis::command
