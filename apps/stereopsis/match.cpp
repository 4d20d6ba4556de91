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
  command
      .path("LEFT", o.left, "",
            "Left image; a sequence as a pattern (left%03d.png, 'left*.png') or a directory; for both, a bag of ROS")
      .required();
  command.path("RIGHT", o.right, "", "Right image, or as many of them: paired by frame number, or by name").required();
  add_output(command, o, ResultFile::disparity);
  command.number("--scale", o.scale, 1e-6, 65535, "S", "8-bit output: stored value = disparity × S");

  command.group("Images");
  o.intensity.add_to(command);
  command.path("--mask-left", o.mask_left, "FILE", "255 = usable; 0 and 128 = not");
  command.path("--mask-right", o.mask_right, "FILE", "The same of the right image");
  command.flag("--strict", o.strict, "Fail where a pair does not fit together, or next to nothing is measured");
}

void add_method(Command& command, Options& o) {
  command.group("Method");
  o.method.add_to(command);
  command.flag("--no-fill", o.no_fill, "Switches fill off: nothing but what was measured");
  command.flag("--drop-filled", o.drop_filled, "Fills, but leaves what was filled or repaired out of all results");
  command.number("--min-confidence", o.min_confidence, 0, 1, "C", "Leaves less confident pixels out of all results");
  o.device.add_to(command, true);
  command.text("--memory-limit", o.memory_limit, "BYTES",
               "Of workspace, maps and images; K, M, G [half of the memory, of a GPU 9/10 for the workspace]");
}

void add_range(Command& command, Options& o) {
  command.group("Range and region");
  command.integer("--disparities", o.disparities, 1, 65535, "N", "How many are searched [estimated]");
  command.integer("--min-disparity", o.min_disparity, -65535, 65535, "I", "The lowest, of any sign [0]");
  command.flag("--range-per-frame", o.range_per_frame, "Estimate for each frame of a sequence, not one for all");
  o.rig.add_files_to(command, "Calibration: Middlebury, KITTI, OpenCV, or ROS (one per camera)");
  o.rig.add_numbers_to(command);
  command.number("--near", o.near, 0, huge, "Z", "Range from depths: the nearest, in the calibration's unit");
  command.number("--far", o.far, 0, huge, "Z", "The farthest [infinity]");
  command.flag("--raw", o.raw, "The pair is as the cameras give it: rectified by --calib, before matching");
  command.text("--roi", o.roi, "X,Y,W,H", "Only this region of the left image");
  command.flag("--crop", o.crop, "Write the region alone");
}

void add_results(Command& command, Options& o) {
  command.group("More results");
  for (const ResultFile k :
       {ResultFile::right, ResultFile::confidence, ResultFile::validity_bits, ResultFile::validity_picture,
        ResultFile::colour, ResultFile::depth, ResultFile::uncertainty, ResultFile::cloud})
    add_output(command, o, k);
  for (std::size_t k = own_file_count; k < file_count; ++k) add_output(command, o, k);
  command.text("--frame", o.frame, "NAME", "Of the points: optical (x right, y down, z forward) or head [optical]");
  command.flag("--organised", o.organised, "A cloud with a point for every pixel, NaN where there is none");
  command.number("--disparity-error", o.disparity_error, 0, 1e6, "PX", "What --uncertainty is for [0.5]");
  command.flag("--timings", o.timings, "A line per stage");
  command.path("--report", o.report, "FILE.json", "Parameters, sizes, times and densities");
  command.flag("--explain", o.explain, "What does each step of the plan, and why nothing faster; matches only with -o");
  command.flag("--json", o.json, "--explain for programs, on standard output");

  command.group("Volumes of matching costs, as NPY arrays of (height, width, disparities)");
  command.path(
      "--cost-volume", o.cost_volume, "FILE.npy",
      "Costs of the left view, in place of a matching cost: uint8, uint16 or float32, from --min-disparity on");
  command.list("--save-volume", o.volumes, "STATE=FILE.npy", "Writes the cost, aggregated or optimised volume");
  command.list("--probe", o.probes, "X,Y", "Prints all candidates' costs at a pixel, in every state");

  command.group("Long sequences");
  command.flag("--resume", o.resume, "Pass over frames that an earlier run of this call has left whole");
  command.flag("--keep-going", o.keep_going,
               "Continue after a frame that fails, and remove its earlier results; exit code 1");
}

}  // namespace
}  // namespace matching

void add_match(CLI::App& application) {
  using namespace matching;
  Command command(application, "match", "Matches a rectified pair, or a sequence of pairs");
  const auto o = std::make_shared<Options>();
  add_inputs(command, *o);
  add_method(command, *o);
  add_range(command, *o);
  add_results(command, *o);
  command.footer("For a sequence OUT and the other results are patterns too, or directories that exist.");
  command.callback([o] { run(*o); });
}

}  // namespace stereopsis::command
