// stereopsis match LEFT RIGHT -o OUT: one pair, or a sequence of them.
//
// All errors in the call are reported before any matching.
#include "match.hpp"

#include <limits>

#include "commands.hpp"

namespace stereopsis::command {
namespace matching {
namespace {

constexpr double huge = std::numeric_limits<double>::infinity();

void run(const Options& options) {
  MatchJob call(options);
  FrameRecords records;
  const auto conclude = [&] {
    if (!options.report.empty()) write_report(call, records);
  };
  if (options.explain) records.plan = explain(call);
  if (!options.probes.empty()) print_probes(call);
  if (!options.wants(ResultFile::disparity)) return conclude();
  try {
    match_frames(call, records);
  } catch (...) {
    conclude();  // reports the finished frames
    throw;
  }
  if (options.timings) print_timings(call, records);
  print_summary(call, records);
  conclude();
  if (records.count(FrameRecord::State::failed) > 0) throw CheckFailed{};
}

Option add_output(Command& command, Options& o, std::size_t k) {
  const FileKind& kind = file_kinds()[k];
  return command.path(k == ResultFile::disparity ? "-o,--output" : kind.option, o.outputs[k], kind.placeholder,
                      kind.help);
}

void add_inputs(Command& command, Options& o) {
  add_views(command, o.left, o.right, ", a ROS bag");
  add_output(command, o, ResultFile::disparity);
  command.number("--scale", o.scale, 1e-6, 65535, "S", "Store disparity × S in 8-bit images");

  command.group("Images");
  o.pairing.add_to(command);
  o.intensity.add_to(command);
  command.path("--mask-left", o.mask_left, "FILE",
               "Mask of the left image: 255 = usable pixel; 0 and 128 = unusable [all pixels]");
  command.path("--mask-right", o.mask_right, "FILE",
               "Mask of the right image: 255 = usable pixel; 0 and 128 = unusable [all pixels]");
  command.flag(
      "--strict", o.strict,
      "Fail if a pair is not rectified or is swapped, has low contrast, or less than 5 % of the pixels are measured");
}

void add_method(Command& command, Options& o) {
  command.group("Method");
  o.method.add_to(command);
  command.flag("--no-fill", o.no_fill, "Switch all filling stages off");
  command.flag("--measured-only", o.measured_only,
               "Mark filled and repaired pixels as invalid in the disparity map and all other results");
  command.deprecated_flag("--drop-filled", o.measured_only, "use --measured-only");
  command.number("--min-confidence", o.min_confidence, 0, 1, "C",
                 "Mark pixels with a confidence below C, 0 to 1, as invalid in all results [keep all]");
  o.device.add_to(command, true);
  command.text(
      "--memory-limit", o.memory_limit, "BYTES",
      "Limit of the memory for workspace, maps and images, in bytes or as 500M or 2G [half of the host's memory; "
      "the workspace on a GPU: 9/10 of its memory]");
}

void add_range(Command& command, Options& o) {
  command.group("Range and region");
  command.integer("--disparities", o.disparities, 1, 65535, "N",
                  "Number of disparities in the search range [estimated from the images]");
  command.integer("--min-disparity", o.min_disparity, -65535, 65535, "N",
                  "Lowest disparity of the search range; may be negative [0]");
  command.flag("--range-per-frame", o.range_per_frame,
               "Estimate the search range for each frame of a sequence [once for all frames]");
  o.rig.add_files_to(command, "Calibration of the cameras");
  o.rig.add_numbers_to(command);
  command.number("--near", o.near, 0, huge, "Z",
                 "Nearest depth, in the unit of the calibration; --near and --far give the search range in place of "
                 "--disparities");
  command.number("--far", o.far, 0, huge, "Z",
                 "Farthest depth of the search range, in the unit of the calibration [infinity]");
  command.flag("--raw", o.raw, "Rectify the pair, as it comes from the cameras, with --calib before matching");
  command.flag("--vertical", o.vertical,
               "The cameras are above each other, the upper one first: disparities are differences of rows");
  command.text("--roi", o.roi, "X,Y,W,H",
               "Compute only this region of the left image: left column, top row, width and height, in pixels");
  command.flag("--crop", o.crop, "Write only the region of --roi instead of maps of the whole size");
}

void add_results(Command& command, Options& o) {
  command.group("More results");
  for (const ResultFile k :
       {ResultFile::right, ResultFile::confidence, ResultFile::validity_bits, ResultFile::validity_picture,
        ResultFile::colour, ResultFile::depth, ResultFile::uncertainty, ResultFile::cloud})
    add_output(command, o, k);
  for (std::size_t k = own_file_count; k < file_count; ++k) add_output(command, o, k);
  command.text("--frame", o.frame, "NAME",
               "Coordinate frame of the cloud: optical (x right, y down, z forward) or head (x forward, y left, z up) "
               "[optical]");
  command.flag(
      "--organised", o.organised,
      "Write one point per pixel to --cloud, NaN where the disparity is invalid, instead of the valid points only");
  command.text("--register-to", o.register_to, "FILE",
               "Write --depth as another camera sees it: FILE has its lens and its pose relative to the left camera; "
               "raw is the left image before rectification");
  command.number("--disparity-error", o.disparity_error, 0, 1e6, "PX",
                 "Disparity error assumed by --uncertainty, in pixels [0.5]");
  command.flag("--fill-depth", o.fill_depth,
               "Write depth, uncertainty and points of filled and repaired pixels, too [measured pixels only]");
  command.flag("--timings", o.timings, "Print the time of each stage");
  command.path("--report", o.report, "FILE.json", "Write a report: parameters, sizes, times and densities");
  command.flag("--explain", o.explain,
               "Print the steps of the plan, and why no faster implementation applies; without -o nothing is matched");
  command.flag("--json", o.json, "Print the result of --explain as JSON, alone on standard output");

  command.group("Volumes of matching costs, as NPY arrays of (height, width, disparities)");
  command.path("--cost-volume", o.cost_volume, "FILE.npy",
               "Cost volume of the left view, used in place of a matching cost: uint8, uint16 or float32, from "
               "--min-disparity upwards");
  command.list("--save-volume", o.volumes, "STATE=FILE.npy",
               "Write a cost volume; STATE is cost, aggregated or optimised; repeatable");
  command.list("--probe", o.probes, "X,Y",
               "Print the costs of all candidates at a pixel of the left image, in every state; repeatable");

  command.group("Long sequences");
  command.flag("--resume", o.resume, "Skip frames that an earlier run of the same call has completed");
  command.flag(
      "--keep-going", o.keep_going,
      "Continue after a frame that fails, and remove its earlier results; the exit code is then 1. Images without a "
      "partner are skipped and counted");
}

}  // namespace
}  // namespace matching

void add_match(CLI::App& application) {
  using namespace matching;
  Command command(application, "match", "Match a rectified pair, or a sequence of pairs");
  const auto o = std::make_shared<Options>();
  add_inputs(command, *o);
  add_method(command, *o);
  add_range(command, *o);
  add_results(command, *o);
  command.footer(
      "For a sequence, OUT and the files of all other results are patterns (disparity%03d.pfm) or existing "
      "directories.");
  command.callback([o] { run(*o); });
}

}  // namespace stereopsis::command
