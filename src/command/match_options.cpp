// Checks the options of `match`, before any file is read, and translates them to the settings of a run.
#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <sstream>

#include "command/match.hpp"
#include "command/outside_methods.hpp"
#include "command/result_files.hpp"
#include "command/video.hpp"
#include "core/text.hpp"
#include "stereopsis/render.hpp"

namespace stereopsis::command::matching {
namespace {

void check_colors(const Options& options) {
  if (options.color.given() && !options.run.sinks.wants(ResultFile::colour) &&
      !options.run.sinks.wants(ResultFile::depth_picture))
    refuse("--color-map, --color-range, --no-legend and --show-filled apply to pictures; add --color or --depth-color");
  if (options.run.sinks.pictures.depth_limits && !options.run.sinks.wants(ResultFile::depth_picture))
    refuse(fmt::format("--color-range {} is a range of depths; add --depth-color FILE, or give disparities",
                       options.color.range));
  const bool depth_has_filled = options.run.matching.fill_depth && options.run.cameras.register_to.empty();
  if (options.color.show_filled && !options.run.sinks.wants(ResultFile::colour) && !depth_has_filled)
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
  exclude(!options.run.range.cost_volume.empty() || !options.volumes.empty(), "cost volumes",
          "transpose the images yourself");
  exclude(!options.probes.empty(), "--probe", "transpose the images yourself");
  exclude(options.run.sinks.wants(ResultFile::right), "--right", "leave it out");
}

void check_registration(const Options& options) {
  if (options.run.cameras.register_to.empty()) return;
  if (!options.run.sinks.wants_depth_map())
    refuse("--register-to applies to the depth map; add --depth FILE or --depth-color FILE");
  if (options.run.sinks.crop)
    refuse(
        "--crop writes a region of the left image, and --register-to the image of another camera; leave one of them "
        "out");
}

void check_dependent_options(Options& options) {
  if (options.run.sinks.organised && !options.run.sinks.wants(ResultFile::cloud))
    refuse("--organised applies to the point cloud; add --cloud FILE");
  if (options.run.matching.disparity_error && !options.run.sinks.wants(ResultFile::uncertainty))
    refuse("--disparity-error applies to --uncertainty; add --uncertainty FILE");
  if (options.run.matching.fill_depth && !options.run.sinks.wants_depth())
    refuse("--fill-depth applies to --depth, --depth-color, --uncertainty and --cloud; add one of these options");
  if (options.run.matching.fill_depth && options.measured_only)
    refuse("--fill-depth and --measured-only exclude each other; leave one of them out");
  if (options.run.range.far && !options.run.range.near) refuse("--far requires the nearest depth; add --near");
  if (options.run.range.near && options.run.range.disparities)
    refuse("--near and --disparities both give the search range; leave one of them out");
  if (!options.frame.empty() && !options.run.sinks.wants(ResultFile::cloud))
    refuse("--frame applies to the point cloud; add --cloud FILE");
  if (options.run.range.near && !options.run.range.cost_volume.empty())
    refuse("--near and --cost-volume both give the search range; leave one of them out");
  if (options.run.range.min_disparity && !options.run.range.disparities && options.run.range.cost_volume.empty())
    refuse("--min-disparity requires the number of disparities; give it with --disparities");
  if (options.run.range.per_frame && (options.run.range.disparities || options.run.range.near))
    refuse("--range-per-frame estimates the search range, which --disparities or --near give; leave one of them out");
  options.run.sinks.pictures = options.color.settings();
  check_colors(options);
  if (options.run.sinks.crop && options.roi.empty()) refuse("--crop requires a region; give it with --roi");
  if (options.run.inputs.vertical) check_vertical(options);
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

// Switches all filling off, for --no-fill.
void switch_filling_off(Pipeline& pipeline, const std::vector<std::string>& settings) {
  for (const PipelineSlot& slot : pipeline.slots()) {
    if (!slot.fills) continue;
    for (const std::string& setting : settings) {
      const std::string stage = setting.substr(0, setting.find('.'));
      if ((stage == slot.slot || stage == slot.kind) && !setting.ends_with(".enabled=false"))
        refuse(fmt::format("--no-fill switches off the stage of --set {}; leave one of them out", setting));
    }
    pipeline.set(slot.slot + ".enabled", "false");
  }
}

// The method with its settings, without filling if that is switched off.
Pipeline pipeline_of(Options& options) {
  auto& settings = options.method.settings;
  if (options.second_pass)
    settings.insert(settings.begin(), "second_pass.stage=planes");  // so that --set may change it
  auto [pipeline, own_device] = options.method.chosen(options.device, !options.run.range.cost_volume.empty());
  options.own_device = own_device;
  if (options.no_fill) switch_filling_off(pipeline, settings);
  return pipeline;
}

// The pipelines that --budget chooses from: all methods, or sizes of the method that the call names.
void set_budget(Options& options) {
  if (options.budget.empty()) return;
  FileRunSettings& run = options.run;
  run.budget = to_budget(options.budget, "--budget " + options.budget);
  run.candidates = candidates_of(run.budget, options.method.given() ? &run.matching.pipeline : nullptr);
  if (options.no_fill && !options.method.given())
    for (BudgetCandidate& one : run.candidates) switch_filling_off(one.pipeline, {});
}

std::pair<int, int> probed_pixel(const std::string& given) {
  const std::size_t comma = given.find(',');
  if (comma == std::string::npos)
    refuse(fmt::format("--probe {} is not allowed; it must be a pixel of the left image as X,Y", given));
  const auto number = [&](const std::string& part) { return to_integer("--probe", part, 0, 1 << 28); };
  return {number(given.substr(0, comma)), number(given.substr(comma + 1))};
}

// Returns the region of --roi.
Rect to_region(const std::string& given) {
  std::vector<int> numbers;
  std::istringstream parts(given);
  for (std::string part; std::getline(parts, part, ',');) {
    const std::size_t begin = std::min(part.find_first_not_of(' '), part.size());
    numbers.push_back(to_integer("--roi", part.substr(begin, part.find_last_not_of(' ') + 1 - begin), 0,
                                 std::numeric_limits<int>::max()));
  }
  if (numbers.size() != 4 || numbers[2] == 0 || numbers[3] == 0)
    refuse(fmt::format("--roi {} is not allowed; it must be X,Y,WIDTH,HEIGHT with a width and height of at least 1",
                       given));
  return {numbers[0], numbers[1], numbers[2], numbers[3]};
}

void set_matching(Options& options) {
  MatchingSettings& matching = options.run.matching;
  matching.pipeline = pipeline_of(options);
  set_budget(options);
  matching.devices = library_device(matching.pipeline, options.device).devices();
  if (!options.roi.empty()) matching.region = to_region(options.roi);
  // With --no-fill, only pixels without contrast are filled.
  matching.without = options.measured_only ? validity::filled | validity::repaired
                     : options.no_fill     ? validity::filled
                                           : 0;
  matching.want_times = options.timings || !options.run.sinks.report.empty();
}

void set_sinks(const Options& options, SinkSettings& sinks) {
  if (!options.frame.empty()) sinks.point_frame = to_frame(options.frame);
  sinks.vertical = options.run.inputs.vertical;
  sinks.resumes = options.run.resume;
  sinks.creates_folders = creates_folders();
  sinks.create_video = create_video;
}

// Fills in the settings that no option sets directly.
void set_run(Options& options) {
  set_sinks(options, options.run.sinks);
  set_matching(options);
  options.run.inputs.pairing = options.pairing;
  options.run.inputs.intensities = options.intensity;
  options.run.cameras.rig = options.rig;
  options.run.constant = options.constant;
  options.run.rows = row_settings(options.rows, CommandFrontEnd());
  options.run.read = {{options.method.pipeline_file, "pipeline"}};
  for (const fs::path& file : files_of_method(options.method.method)) options.run.read.emplace_back(file, "method");
  for (const std::string& given : options.probes) options.run.probes.push_back(probed_pixel(given));
}

}  // namespace

void ColorOptions::add_to(Command& command) {
  command.text(
      "--color-map", map, "NAME",
      fmt::format("Colours of the pictures: {} [{}]", join(color_map_names(), ", "), color_map_names().front()));
  command.text(
      "--color-range", range, "LOW,HIGH",
      "Disparities at the ends of the colours, or depths for --depth-color (1m,5m), or auto (percentiles of each "
      "picture) or sequence (the search range, for all frames) [auto for a pair, sequence for sequences]");
  command.flag("--no-legend", no_legend, "Write the pictures without a legend");
  command.flag("--show-filled", show_filled, "Hatch filled and repaired pixels in the pictures");
}

PictureSettings ColorOptions::settings() const {
  PictureSettings made;
  made.map = map;
  made.legend = !no_legend;
  made.show_filled = show_filled;
  if (!map.empty()) color_map(map);
  const auto halves = halves_of(range);
  if (halves && std::isalpha(static_cast<unsigned char>(halves->first.empty() ? '0' : halves->first.back())) != 0) {
    made.depth_limits = {to_length("--color-range", halves->first), to_length("--color-range", halves->second)};
    if (!(made.depth_limits->first.in("mm") < made.depth_limits->second.in("mm")))
      refuse(
          fmt::format("--color-range {} is not allowed; the depth LOW must be below HIGH, and both need a unit, as in "
                      "1m,5m",
                      range));
    return made;
  }
  if (halves)
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
  for (const std::string& given : options.volumes) options.run.sinks.volumes.push_back(saved_volume(given));
  if (!options.run.sinks.wants_files() && !options.explain && options.probes.empty())
    refuse(
        "match has no output; give -o OUT to write a disparity map, another result such as --depth FILE, --explain to "
        "show the plan, or --probe to show costs");
  if (options.json && !options.explain)
    refuse("--json prints the result of --explain; give both, or use --report FILE.json");
  if (options.json && (options.timings || !options.probes.empty()))
    refuse("--json must be alone on standard output; leave --timings and --probe out, or use --report FILE.json");
  options.rig.calibration().check();
  options.constant.check();
  if (options.run.cameras.raw && options.rig.files.empty())
    refuse("--raw requires the calibration of the cameras; give it with --calib FILE");
  if (options.run.sinks.wants_depth() && !options.rig.given())
    refuse(
        "--depth, --depth-color, --uncertainty and --cloud require a calibration; give it with --calib FILE, or with "
        "--focal and --baseline");
  if (options.run.range.near && !options.rig.given())
    refuse("--near requires a calibration; give it with --calib FILE, or with --focal and --baseline");
  check_dependent_options(options);
  set_run(options);
}

}  // namespace stereopsis::command::matching
