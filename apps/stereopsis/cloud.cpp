// The subcommand: stereopsis cloud DISPARITY --calib FILE -o FILE.ply
#include <fmt/core.h>

#include <array>
#include <cmath>
#include <memory>

#include "call_files.hpp"
#include "commands.hpp"
#include "common.hpp"
#include "diagnosis.hpp"
#include "frames.hpp"
#include "outputs.hpp"
#include "rig_options.hpp"
#include "stereopsis/io.hpp"
#include "stereopsis/triangulation.hpp"
#include "terminal.hpp"

namespace stereopsis::command {
namespace {

namespace fs = std::filesystem;

struct Options {
  fs::path disparity, colour, confidence, validity, output, depth;
  RigOptions rig;
  IntensityOptions intensity;  // for --color
  std::optional<double> scale, farthest, min_confidence;
  std::string frame = "optical";
  bool organised = false, drop_filled = false;  // drop_filled: deprecated
  DeviceOptions device;
};

void check_size(const fs::path& file, Size size, const Options& o, Size disparity) {
  if (size != disparity)
    refuse(fmt::format("{} is {} but {} is {}; both must have the same size", file.string(), size_text(size),
                       o.disparity.string(), size_text(disparity)));
}

void check_call(const Options& o) {
  o.rig.check();
  if (!o.rig.given())
    refuse("a cloud requires a calibration; give it with --calib FILE, or with --focal and --baseline");
  if (o.min_confidence && o.confidence.empty())
    refuse("--min-confidence requires the confidence of each pixel; give --confidence FILE, too");
  if (o.colour.empty() && (o.intensity.bit_depth || o.intensity.white))
    refuse("--bit-depth and --white apply only to --color; give --color FILE, too");
  if (o.drop_filled && o.validity.empty())
    refuse("--drop-filled requires the validity of each pixel; give --validity FILE instead");
  CallFiles files;
  for (const auto& [file, what] : {std::pair{&o.disparity, "the disparity"},
                                   {&o.colour, "--color"},
                                   {&o.confidence, "--confidence"},
                                   {&o.validity, "--validity"}}) {
    if (!file->empty() && !file_exists(*file))
      refuse(fmt::format("the file {} does not exist; check its name", file->string()));
    files.reads(*file, what);
  }
  o.rig.reads(files);
  files.writes(o.output, "-o");
  files.writes(o.depth, "--depth");
  check_output(o.output, std::array{".ply"}, "-o");
  if (!o.depth.empty()) check_output(o.depth, std::array{".pfm", ".npy", ".tif", ".tiff", ".png"}, "--depth");
}

// Removes the pixels whose confidence is below --min-confidence.
void drop_unsure(double least, Image<float>& disparity, const Image<float>& confidence) {
  for (int y = 0; y < disparity.height(); ++y)
    for (int x = 0; x < disparity.width(); ++x)
      if (!(confidence(x, y) >= static_cast<float>(least))) disparity(x, y) = invalid_disparity;
}

void make_cloud(const Options& o) {
  const Frame frame = to_frame(o.frame);
  check_call(o);
  Image<float> disparity = read_disparity(o.disparity, o.scale.value_or(0));
  Image<std::uint8_t> colour;
  if (!o.colour.empty()) colour = to_8_bits(o.intensity.read(o.colour));
  Image<float> confidence;
  if (!o.confidence.empty()) confidence = read_confidence(o.confidence);
  if (!colour.empty()) check_size(o.colour, colour.size(), o, disparity.size());
  if (!confidence.empty()) check_size(o.confidence, confidence.size(), o, disparity.size());
  Image<std::uint8_t> validity;
  if (!o.validity.empty()) {
    validity = read_validity(o.validity);
    check_size(o.validity, validity.size(), o, disparity.size());
  }
  if (o.min_confidence) drop_unsure(*o.min_confidence, disparity, confidence);
  const CalibrationFile calibration = o.rig.rectified(disparity.size(), !colour.empty() && colour.channels() == 1);
  for (const std::string& warning : calibration.warnings) warn("warning: {}", warning);
  const Rig& rig = calibration.rig;
  if (rig.size != Size{}) o.rig.check_size(rig.size, o.disparity, disparity.size());

  Triangulated metric = triangulated(disparity, rig, frame, 0, o.device.threads.value_or(0), validity);
  long long points = 0, too_far = 0;
  for (int y = 0; y < disparity.height(); ++y)
    for (int x = 0; x < disparity.width(); ++x) {
      if (metric.depth(x, y) > o.farthest.value_or(HUGE_VAL))
        for (int c = 0; c < 3; ++c) metric.points(x, y, c) = invalid_disparity;
      points += std::isfinite(metric.points(x, y, 0));
    }
  if (!o.depth.empty()) {
    if (extension_of(o.depth) != ".png")
      write_disparity(o.depth, metric.depth);
    else if (rig.unit == "mm" || rig.unit == "m")
      write_image(o.depth, millimetres(metric.depth, rig, too_far));
    else
      refuse(fmt::format("--depth {} stores millimetres, but {} has no unit; use .pfm, .npy or .tiff", o.depth.string(),
                         o.rig.source()));
  }
  write_point_cloud(o.output, metric.points, colour, confidence, o.organised);
  if (too_far > 0)
    warn(
        "{} pixels are farther than 65.535 m, the largest depth of a 16-bit image, and were written as 0 to --depth; "
        "use .pfm, .npy or .tiff",
        too_far);
  summarise("{}: {} points{}, {} frame\n", o.output.string(), points, rig.unit.empty() ? "" : " in " + rig.unit,
            o.frame);
}

}  // namespace

void add_cloud(CLI::App& application) {
  Command command(application, "cloud", "Compute a point cloud from a disparity map and a calibration");
  const auto o = std::make_shared<Options>();
  command.path("DISPARITY", o->disparity, "", "Disparity map: .pfm, .npy, .tiff, or 16-bit .png (×256, or --scale)")
      .required();
  o->rig.add_files_to(command, "Calibration of the cameras");
  o->rig.add_numbers_to(command);
  command.path("-o,--output", o->output, "FILE.ply", "Point cloud to write, as binary PLY").required();
  command.path("--color", o->colour, "FILE", "Left image, from which the points get their colours");
  o->intensity.add_to(command);
  command.path("--confidence", o->confidence, "FILE",
               "Confidence map, stored with the points: 0 to 1 as .pfm, .npy or .tiff, or 0 to the largest value of an "
               "integer image");
  command.path("--depth", o->depth, "FILE",
               "Write the depth map: .pfm, .npy or .tiff in the unit of the calibration, or 16-bit .png in mm");
  command.text("--frame", o->frame, "NAME",
               "Coordinate frame of the points: optical (x right, y down, z forward) or head (x forward, y left, z up) "
               "[optical]");
  command.number("--far", o->farthest, 0, HUGE_VAL, "Z",
                 "Omit points beyond this depth, in the unit of the calibration [infinity]");
  command.number("--scale", o->scale, 1e-6, 65535, "S",
                 "Factor of integer disparity maps: stored value = disparity × S [256 for 16-bit images]");
  command.number("--min-confidence", o->min_confidence, 0, 1, "C",
                 "Omit points whose value in --confidence is below C, 0 to 1 [keep all]");
  command.path("--validity", o->validity, "FILE",
               "Validity map that `match --validity` wrote: points and depth are those of measured pixels [of all]");
  command.deprecated_flag("--drop-filled", o->drop_filled, "--validity alone omits filled and repaired pixels");
  command.flag("--organised", o->organised,
               "Write one point per pixel, NaN where the disparity is invalid, instead of the valid points only");
  o->device.add_threads_to(command);
  command.callback([o] { make_cloud(*o); });
}

}  // namespace stereopsis::command
