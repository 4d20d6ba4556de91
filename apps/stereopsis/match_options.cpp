// Checks the options of `match`, before any file is read, and translates them to the settings of a run.
#include <fmt/core.h>

#include <algorithm>

#include "core/text.hpp"
#include "match.hpp"
#include "result_files.hpp"
#include "stereopsis/render.hpp"
#include "video.hpp"

namespace stereopsis::command::matching {
namespace {

void check_colors(const Options& options) {
  if (options.color.given() && !options.sinks.wants(ResultFile::colour) &&
      !options.sinks.wants(ResultFile::depth_picture))
    refuse("--color-map, --color-range, --no-legend and --show-filled apply to pictures; add --color or --depth-color");
  const bool depth_has_filled = options.fill_depth && options.cameras.register_to.empty();
  if (options.color.show_filled && !options.sinks.wants(ResultFile::colour) && !depth_has_filled)
    refuse(
        "--show-filled applies to --color, and to --depth-color with --fill-depth and without --register-to; add "
        "--color "
        "FILE, or leave --show-filled out");
}

void check_vertical(const Options& options) {
  const auto exclude = [](bool given, const char* option, const char* advice) {
    if (given) refuse(fmt::format("--vertical cannot be combined with {}; {}", option, advice));
  };
  exclude(!options.roi.empty(), "--roi", "crop the images");
  exclude(!options.range.cost_volume.empty() || !options.volumes.empty(), "cost volumes",
          "transpose the images yourself");
  exclude(!options.probes.empty(), "--probe", "transpose the images yourself");
  exclude(options.sinks.wants(ResultFile::right), "--right", "leave it out");
}

void check_registration(const Options& options) {
  if (options.cameras.register_to.empty()) return;
  if (!options.sinks.wants_depth_map())
    refuse("--register-to applies to the depth map; add --depth FILE or --depth-color FILE");
  if (options.sinks.crop)
    refuse(
        "--crop writes a region of the left image, and --register-to the image of another camera; leave one of them "
        "out");
}

void check_dependent_options(Options& options) {
  if (options.sinks.organised && !options.sinks.wants(ResultFile::cloud))
    refuse("--organised applies to the point cloud; add --cloud FILE");
  if (options.disparity_error && !options.sinks.wants(ResultFile::uncertainty))
    refuse("--disparity-error applies to --uncertainty; add --uncertainty FILE");
  if (options.fill_depth && !options.sinks.wants_depth())
    refuse("--fill-depth applies to --depth, --depth-color, --uncertainty and --cloud; add one of these options");
  if (options.fill_depth && options.measured_only)
    refuse("--fill-depth and --measured-only exclude each other; leave one of them out");
  if (options.range.far && !options.range.near) refuse("--far requires the nearest depth; add --near");
  if (options.range.near && options.range.disparities)
    refuse("--near and --disparities both give the search range; leave one of them out");
  if (!options.frame.empty() && !options.sinks.wants(ResultFile::cloud))
    refuse("--frame applies to the point cloud; add --cloud FILE");
  if (options.range.near && !options.range.cost_volume.empty())
    refuse("--near and --cost-volume both give the search range; leave one of them out");
  if (options.range.min_disparity && !options.range.disparities && options.range.cost_volume.empty())
    refuse("--min-disparity requires the number of disparities; give it with --disparities");
  if (options.range.per_frame && (options.range.disparities || options.range.near))
    refuse("--range-per-frame estimates the search range, which --disparities or --near give; leave one of them out");
  options.sinks.pictures = options.color.settings();
  check_colors(options);
  if (options.sinks.crop && options.roi.empty()) refuse("--crop requires a region; give it with --roi");
  if (options.input.vertical) check_vertical(options);
  check_registration(options);
}

SavedVolume saved_volume(const std::string& given) {
  const std::size_t equals = given.find('=');
  const auto names_it = [name = given.substr(0, equals)](const Output& output) {
    return output.kind == OutputKind::volume && output.name == name;
  };
  const auto output = std::ranges::find_if(output_table, names_it);
  if (equals == std::string::npos || output == output_table.end())
    refuse(
        fmt::format("--save-volume {} is not allowed; it must be cost=FILE.npy, aggregated=FILE.npy or "
                    "optimised=FILE.npy",
                    given));
  const fs::path file = given.substr(equals + 1);
  static constexpr std::array<const char*, 1> extensions = {".npy"};
  check_output(file, extensions, "--save-volume");
  return {&*output, file};
}

// Fills in the settings that no option sets directly.
void set_sinks(Options& options) {
  SinkSettings& sinks = options.sinks;
  if (!options.frame.empty()) sinks.point_frame = to_frame(options.frame);
  sinks.vertical = options.input.vertical;
  sinks.resumes = options.resume;
  sinks.creates_folders = creates_folders();
  sinks.create_video = create_video;
  options.input.pairing = options.pairing;
  options.input.intensities = options.intensity;
  options.cameras.rig = options.rig;
}

}  // namespace

void ColorOptions::add_to(Command& command) {
  command.text(
      "--color-map", map, "NAME",
      fmt::format("Colours of the pictures: {} [{}]", join(color_map_names(), ", "), color_map_names().front()));
  command.text("--color-range", range, "LOW,HIGH",
               "Disparities at the ends of the colours, also for --depth-color, or auto (percentiles of each picture) "
               "or sequence (the search range, for all frames) [auto for a pair, sequence for sequences]");
  command.flag("--no-legend", no_legend, "Write the pictures without a legend");
  command.flag("--show-filled", show_filled, "Hatch filled and repaired pixels in the pictures");
}

PictureSettings ColorOptions::settings() const {
  PictureSettings made{.map = map, .limits = {}, .shared = {}, .legend = !no_legend, .show_filled = show_filled};
  if (!map.empty()) color_map(map);
  if (const auto halves = halves_of(range))
    made.limits = {to_number("--color-range", halves->first, -1e6, 1e6),
                   to_number("--color-range", halves->second, -1e6, 1e6)};
  else if (!range.empty())
    made.shared = range == "sequence";
  if (made.limits ? made.limits->first >= made.limits->second : made.shared && range != "auto" && range != "sequence")
    refuse(fmt::format("--color-range {} is not allowed; it must be LOW,HIGH with LOW below HIGH, auto or sequence",
                       range));
  return made;
}

void check(Options& options) {
  for (const std::string& given : options.volumes) options.sinks.volumes.push_back(saved_volume(given));
  if (!options.sinks.wants_files() && !options.explain && options.probes.empty())
    refuse(
        "match has no output; give -o OUT to write a disparity map, another result such as --depth FILE, --explain to "
        "show the plan, or --probe to show costs");
  if (options.json && !options.explain)
    refuse("--json prints the result of --explain; give both, or use --report FILE.json");
  if (options.json && (options.timings || !options.probes.empty()))
    refuse("--json must be alone on standard output; leave --timings and --probe out, or use --report FILE.json");
  options.rig.calibration().check();
  options.constant.check();
  if (options.cameras.raw && options.rig.files.empty())
    refuse("--raw requires the calibration of the cameras; give it with --calib FILE");
  if (options.sinks.wants_depth() && !options.rig.given())
    refuse(
        "--depth, --depth-color, --uncertainty and --cloud require a calibration; give it with --calib FILE, or with "
        "--focal and --baseline");
  if (options.range.near && !options.rig.given())
    refuse("--near requires a calibration; give it with --calib FILE, or with --focal and --baseline");
  check_dependent_options(options);
  set_sinks(options);
}

}  // namespace stereopsis::command::matching
