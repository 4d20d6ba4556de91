// stereopsis cloud DISPARITY --calib FILE -o FILE.ply
#include <fmt/core.h>

#include <array>
#include <cmath>
#include <memory>

#include "commands.hpp"
#include "common.hpp"
#include "outputs.hpp"
#include "stereopsis/calibration.hpp"
#include "stereopsis/io.hpp"
#include "stereopsis/triangulation.hpp"

namespace stereopsis::command {
namespace {

namespace fs = std::filesystem;

struct Options {
  fs::path disparity, colour, confidence, output, depth;
  std::vector<std::string> calibration;
  std::optional<double> scale, farthest;
  std::string frame = "optical";
  bool organised = false;
  DeviceOptions device;
};

void check_size(const fs::path& file, Size size, const Options& o, Size disparity) {
  if (size != disparity)
    refuse(fmt::format("{} is {} but {} is {}; they must have one size", file.string(), size_text(size),
                       o.disparity.string(), size_text(disparity)));
}

// A file of two pairs of KITTI's cameras: those of the picture.
Rig rig_of(const Options& o, bool grey) {
  const std::optional<fs::path> second =
      o.calibration.size() > 1 ? std::optional<fs::path>(o.calibration[1]) : std::nullopt;
  if (!grey) return read_rig(o.calibration[0], second);
  try {
    return read_rig(o.calibration[0], second, KittiPair::grey);
  } catch (const Error&) {
    return read_rig(o.calibration[0], second);
  }
}

void make_cloud(const Options& o) {
  if (o.calibration.size() > 2) refuse("--calib is given more than twice; a pair has two cameras");
  const Frame frame = to_frame(o.frame);
  check_output(o.output, std::array{".ply"}, "-o");
  if (!o.depth.empty()) check_output(o.depth, std::array{".pfm", ".npy", ".tif", ".tiff", ".png"}, "--depth");
  for (const fs::path& file : {o.disparity, o.colour, o.confidence})
    if (!file.empty() && !fs::exists(file)) refuse(fmt::format("the file {} does not exist", file.string()));
  const Image<float> disparity = read_disparity(o.disparity, o.scale.value_or(0));
  Image<std::uint8_t> colour;
  if (!o.colour.empty()) colour = to_8_bits(read_image(o.colour));
  Image<float> confidence;
  if (!o.confidence.empty()) confidence = read_disparity(o.confidence, 1);
  if (!colour.empty()) check_size(o.colour, colour.size(), o, disparity.size());
  if (!confidence.empty()) check_size(o.confidence, confidence.size(), o, disparity.size());
  const Rig rig = rig_of(o, !colour.empty() && colour.channels() == 1);
  if (rig.size != Size{}) check_size(o.calibration[0], rig.size, o, disparity.size());

  Triangulated metric = triangulated(disparity, rig, frame, 0, o.device.threads.value_or(0));
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
      refuse(fmt::format("--depth {} needs millimetres, but {} does not say its unit; use .pfm, .npy or .tiff",
                         o.depth.string(), o.calibration[0]));
  }
  write_point_cloud(o.output, metric.points, colour, confidence, o.organised);
  if (too_far > 0)
    fmt::print(stderr, "stereopsis: {} pixels are farther than 65.535 m and were written as 0 to --depth\n", too_far);
  fmt::print("{}: {} points{}, {} frame\n", o.output.string(), points, rig.unit.empty() ? "" : " in " + rig.unit,
             o.frame);
}

}  // namespace

void add_cloud(CLI::App& application) {
  Command command(application, "cloud", "Points from a disparity map and a calibration");
  const auto o = std::make_shared<Options>();
  command.path("DISPARITY", o->disparity, "", "Disparity map: .pfm .npy .tiff, or .png with ×256 or --scale")
      .required();
  command.list("--calib", o->calibration, "FILE", "Calibration: Middlebury, KITTI, OpenCV, or ROS (one per camera)")
      .required();
  command.path("-o,--output", o->output, "FILE.ply", "Binary PLY").required();
  command.path("--color", o->colour, "FILE", "The left image, for the points' colours");
  command.path("--confidence", o->confidence, "FILE", "0 to 1 as .pfm .npy .tiff: a property of the points");
  command.path("--depth", o->depth, "FILE", "In the calibration's unit as .pfm .npy .tiff, or mm as 16-bit .png");
  command.text("--frame", o->frame, "NAME",
               "optical (x right, y down, z forward) or head (x forward, y left, z up) [optical]");
  command.number("--far", o->farthest, 0, HUGE_VAL, "Z", "No points beyond this depth");
  command.number("--scale", o->scale, 1e-6, 65535, "S", "Stored value = disparity × S");
  command.flag("--organised", o->organised, "A point for every pixel, NaN where there is none");
  o->device.add_threads_to(command);
  command.callback([o] { make_cloud(*o); });
}

}  // namespace stereopsis::command
