// The subcommand: stereopsis cloud DISPARITY --calib FILE -o FILE.ply
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "command/commands.hpp"
#include "command/common.hpp"
#include "command/frames.hpp"
#include "command/front_end.hpp"
#include "command/group_options.hpp"
#include "command/result_files.hpp"
#include "command/terminal.hpp"
#include "jobs/folders.hpp"
#include "jobs/pixels.hpp"
#include "stereopsis/io.hpp"
#include "stereopsis/obstacles.hpp"
#include "stereopsis/point_cloud_files.hpp"
#include "stereopsis/triangulation.hpp"

namespace stereopsis::command {
namespace {

namespace fs = std::filesystem;

struct CloudOptions {
  fs::path disparity, colour, confidence, validity, output, depth, mesh;
  RigOptions rig;
  IntensityOptions intensity;  // for --color
  std::optional<double> scale, min_confidence;
  std::optional<Length> nearest, farthest, voxel, depth_input, above_ground;
  std::string frame = "optical", format, outliers;
  bool normals = false, organised = false, drop_filled = false;  // drop_filled: deprecated
  DeviceOptions device;
};

void check_size(const fs::path& file, Size size, const CloudOptions& o, Size disparity) {
  if (size != disparity)
    refuse(fmt::format("{} is {} but {} is {}; both must have the same size", file.string(), size_text(size),
                       o.disparity.string(), size_text(disparity)));
}

void check_call(const CloudOptions& o) {
  if (o.output.empty() && o.mesh.empty() && o.depth.empty())
    refuse("cloud has no output; give -o FILE for the points, --mesh FILE.ply or --depth FILE");
  o.rig.calibration().check();
  if (!o.rig.given())
    refuse("a cloud requires a calibration; give it with --calib FILE, or with --focal and --baseline");
  if (o.min_confidence && o.confidence.empty())
    refuse("--min-confidence requires the confidence of each pixel; add --confidence FILE");
  if (o.colour.empty() && o.intensity.given())
    refuse("--bit-depth, --black and --white apply only to --color; add --color FILE");
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
  o.rig.calibration().reads(files);
  files.writes(o.output, "-o");
  files.writes(o.depth, "--depth");
  files.writes(o.mesh, "--mesh");
  if (!o.output.empty()) check_output(o.output, std::array{".ply", ".pcd"}, "-o");
  if (!o.mesh.empty()) check_output(o.mesh, std::array{".ply"}, "--mesh");
  if (o.organised && (o.voxel || !o.outliers.empty()))
    refuse(
        "--organised writes a point for every pixel, and --voxel and --outliers remove points; leave one of them out");
  if (o.voxel && !(o.voxel->value > 0))
    refuse(fmt::format("--voxel {} is not allowed; it must be a length above 0", o.voxel->text()));
  if (o.above_ground && !(o.above_ground->value >= 0))
    refuse(fmt::format("--above-ground {} is not allowed; it must be a length of at least 0, such as 0.3m",
                       o.above_ground->text()));
  if (o.depth_input && !(o.depth_input->value > 0))
    refuse(fmt::format("--depth-input {} is not allowed; it must be a length above 0, such as 1mm",
                       o.depth_input->text()));
  if (!o.depth.empty()) check_output(o.depth, std::array{".pfm", ".npy", ".tif", ".tiff", ".png"}, "--depth");
}

// Rejects a map whose values cannot be disparities, because most exceed the width of the image.
void check_disparities(const CloudOptions& o, const Image<float>& disparity) {
  long long valid = 0, beyond = 0;
  float largest = 0;
  for (int y = 0; y < disparity.height(); ++y)
    for (int x = 0; x < disparity.width(); ++x) {
      const float d = disparity(x, y);
      if (!std::isfinite(d)) continue;
      ++valid;
      beyond += std::abs(d) >= static_cast<float>(disparity.width());
      largest = std::max(largest, std::abs(d));
    }
  if (beyond > valid / 2)
    refuse(fmt::format(
        "{} has values up to {:.6g} in {} columns, so most of them are no disparities; if it is a depth map, "
        "give the length of the value 1 with --depth-input, such as 1mm or 1m; else give its scale with "
        "--scale",
        o.disparity.string(), largest, disparity.width()));
}

// Removes the pixels whose confidence is below --min-confidence.
void drop_unsure(double least, Image<float>& disparity, const Image<float>& confidence) {
  for (int y = 0; y < disparity.height(); ++y)
    for (int x = 0; x < disparity.width(); ++x)
      if (!(confidence(x, y) >= static_cast<float>(least))) disparity(x, y) = invalid_disparity;
}

// Removes the points that are nearer than --near or farther than --far.
void drop_beyond_limits(const CloudOptions& o, const Rig& rig, Triangulated& metric) {
  const double nearest = o.nearest ? o.rig.calibration().in_unit_of(rig, "near", *o.nearest) : 0,
               farthest = o.farthest ? o.rig.calibration().in_unit_of(rig, "far", *o.farthest) : HUGE_VAL;
  if (nearest >= farthest)
    refuse(
        fmt::format("--near {} is not below --far {}; no point would remain", o.nearest->text(), o.farthest->text()));
  for (int y = 0; y < metric.depth.height(); ++y)
    for (int x = 0; x < metric.depth.width(); ++x)
      if (metric.depth(x, y) < nearest || metric.depth(x, y) > farthest)
        for (int c = 0; c < 3; ++c) metric.points(x, y, c) = invalid_disparity;
}

// Removes the points that are no obstacles above the ground. Returns the nearest obstacle as text.
std::string keep_obstacles(const CloudOptions& o, const Rig& rig, Triangulated& metric) {
  if (!o.above_ground) return "";
  ObstacleOptions options = obstacle_options(rig);
  options.lowest = o.rig.calibration().in_unit_of(rig, "above_ground", *o.above_ground);
  options.highest = HUGE_VAL;
  options.nearer_than = o.farthest ? o.rig.calibration().in_unit_of(rig, "far", *o.farthest) : HUGE_VAL;
  const Obstacles found = find_obstacles(metric.depth, rig, options);
  if (!found.ground.doubt.empty())
    warn("warning: the fitted plane may not be the ground: {}; check the points", found.ground.doubt);
  for (int y = 0; y < found.labels.height(); ++y)
    for (int x = 0; x < found.labels.width(); ++x)
      if (found.labels(x, y) == 0)
        for (int c = 0; c < 3; ++c) metric.points(x, y, c) = invalid_disparity;
  const std::string height =
      fmt::format("; the camera is {:.3g} {} above the ground, ", found.ground.camera_height, rig.unit);
  return height + (found.list.empty() ? "without obstacles"
                                      : fmt::format("{} obstacles, the nearest at {:.3g} {}", found.list.size(),
                                                    found.list.front().distance, rig.unit));
}

struct Outliers {
  int neighbours = 0;
  double deviations = 0;
};

// Parses "K,D".
Outliers to_outliers(const std::string& text) {
  const auto halves = halves_of(text);
  if (!halves) refuse(fmt::format("--outliers {} is not allowed; it must be K,D, such as 16,2", text));
  return {to_integer("--outliers", halves->first, 1, 1000), to_number("--outliers", halves->second, 0, 1e6)};
}

// Returns the points that are written, and how many of them are valid.
std::pair<PointCloud, std::size_t> cloud_of(const CloudOptions& o, const Rig& rig, const Image<float>& points,
                                            const Image<std::uint8_t>& colour, const Image<float>& confidence) {
  const Image<float> normals = o.normals ? surface_normals(points) : Image<float>();
  PointCloud cloud = point_cloud(points, colour, confidence, normals, o.organised);
  if (!o.outliers.empty()) {
    const auto [neighbours, deviations] = to_outliers(o.outliers);
    cloud = without_outliers(cloud, neighbours, deviations, o.device.threads.value_or(0));
  }
  if (o.voxel) cloud = voxel_means(cloud, o.rig.calibration().in_unit_of(rig, "voxel", *o.voxel));
  const auto valid = std::ranges::count_if(cloud.points, [](const auto& point) { return std::isfinite(point[0]); });
  return {std::move(cloud), static_cast<std::size_t>(valid)};
}

Image<float> disparity_of(const CloudOptions& o) try {
  return read_disparity(o.disparity, o.depth_input ? o.scale.value_or(1) : o.scale.value_or(0));
} catch (const Error& error) {
  if (error.category() != ErrorCategory::call || o.scale) throw;
  refuse(fmt::format("{} (--scale S). The input of `cloud` is a disparity map, not an image", error.what()));
}

void make_cloud(CloudOptions& o) {
  resolve_input(o.disparity);
  PipedResult piped;
  piped.resolve(o.output, "-o", o.format);
  piped.resolve(o.depth, "--depth", o.format);
  piped.check_use(o.format);
  const Frame frame = to_frame(o.frame);
  check_call(o);
  if (!o.outliers.empty()) to_outliers(o.outliers);
  Image<float> disparity = disparity_of(o);
  Image<std::uint8_t> colour;
  if (!o.colour.empty()) {
    const AnyImage picture = o.intensity.applied(read_masked_image(o.colour), o.colour, option_names()).image;
    const AnyImageView pixels = picture;
    const auto remark = o.intensity.low_contrast(pixels, o.colour, option_names());
    if (remark && pixels.type != PixelType::u8) warn("warning: {}", *remark);
    colour = jobs::to_8_bits(pixels);
  }
  Image<float> confidence;
  if (!o.confidence.empty()) confidence = read_confidence(o.confidence);
  if (!colour.empty()) check_size(o.colour, colour.size(), o, disparity.size());
  if (!confidence.empty()) check_size(o.confidence, confidence.size(), o, disparity.size());
  Image<std::uint8_t> validity;
  if (!o.validity.empty()) {
    validity = read_validity(o.validity);
    check_size(o.validity, validity.size(), o, disparity.size());
  }
  const CalibrationFile calibration =
      o.rig.calibration().rectified(disparity.size(), !colour.empty() && colour.channels() == 1);
  for (const std::string& warning : calibration.warnings) warn("warning: {}", warning);
  const Rig& rig = calibration.rig;
  if (rig.size != Size{}) o.rig.calibration().check_size(rig.size, o.disparity, disparity.size());

  if (o.depth_input)
    disparity = disparity_of_depth(disparity, rig, o.rig.calibration().in_unit_of(rig, "depth_input", *o.depth_input));
  else
    check_disparities(o, disparity);
  if (o.min_confidence) drop_unsure(*o.min_confidence, disparity, confidence);
  Triangulated metric = triangulated(disparity, rig, frame, 0, o.device.threads.value_or(0), validity);
  drop_beyond_limits(o, rig, metric);
  const std::string nearest = keep_obstacles(o, rig, metric);
  long long too_far = 0;
  for (const fs::path& file : {o.output, o.depth, o.mesh}) create_folder_of(file);
  if (!o.depth.empty()) {
    if (jobs::extension_of(o.depth) != ".png")
      write_disparity(o.depth, metric.depth);
    else if (rig.unit == "mm" || rig.unit == "m")
      write_image(o.depth, jobs::millimetres(metric.depth, rig, too_far));
    else
      refuse(fmt::format("--depth {} stores millimetres, but {} has no unit; {}, or use .pfm, .npy or .tiff",
                         o.depth.string(), o.rig.calibration().name(), o.rig.calibration().how_to_name_the_unit(rig)));
  }
  const auto [cloud, points] = cloud_of(o, rig, metric.points, colour, confidence);
  if (!o.output.empty()) write_point_cloud(o.output, cloud, o.organised ? disparity.size() : Size{});
  if (!o.mesh.empty()) write_mesh(o.mesh, surface_mesh(metric.points, colour, confidence));
  if (too_far > 0)
    warn(
        "{} pixels are farther than 65.535 m, the largest depth of a 16-bit image, and were written as 0 to --depth; "
        "use .pfm, .npy or .tiff",
        too_far);
  const fs::path& main = !o.output.empty() ? o.output : !o.mesh.empty() ? o.mesh : o.depth;
  summarise("{}: {} points{}, {} frame{}{}\n", shown_name(main), points, rig.unit.empty() ? "" : " in " + rig.unit,
            o.frame, colour.empty() && &main != &o.depth ? ", without colours (--color LEFT adds them)" : "", nearest);
  piped.deliver();
}

}  // namespace

void add_cloud(CLI::App& application) {
  Command command(application, "cloud", "Compute a point cloud from a disparity map and a calibration");
  const auto o = std::make_shared<CloudOptions>();
  command
      .path("DISPARITY", o->disparity, "",
            "Disparity map: .pfm, .npy, .tiff, or 16-bit .png with values of disparity × 256 (or × --scale)")
      .required();
  o->rig.add_files_to(command, "Calibration of the cameras");
  o->rig.add_numbers_to(command);
  command.path("-o,--output", o->output, "FILE", "Point cloud to write, as binary .ply or .pcd");
  command.text("--format", o->format, "EXT",
               "Format of a result whose name is - and that is written to standard output: ply, pfm, npy, tiff or png");
  command.creates_folders();
  command.path("--color", o->colour, "FILE",
               "Rectified left image, from which points and mesh get their colours [no colours]");
  o->intensity.add_to(command);
  command.path("--confidence", o->confidence, "FILE",
               "Confidence map to store with the points: values 0 to 1 in .pfm, .npy or .tiff, or the full range of an "
               "integer image");
  command.path("--depth", o->depth, "FILE",
               "Write the depth map: .pfm, .npy or .tiff in the unit of the calibration, or 16-bit .png in mm");
  command.text("--frame", o->frame, "NAME",
               "Coordinate frame of the points: optical (x right, y down, z forward) or head (x forward, y left, z up) "
               "[optical]");
  command.length("--depth-input", o->depth_input, "LENGTH",
                 "DISPARITY is a depth map, in which the value 1 is this length, such as 1m or 1mm [disparities]");
  command.length("--near", o->nearest, "Z",
                 "Omit points nearer than this depth, such as 0.5m, or a number in the unit of the calibration [0]");
  command.length("--far", o->farthest, "Z",
                 "Omit points beyond this depth, such as 5m, or a number in the unit of the calibration [infinity]");
  command.length("--above-ground", o->above_ground, "H",
                 "Omit the ground, which is fitted to the map, all points lower than H above it, such as 0.3m, and "
                 "single pixels [all points]");
  command.number("--scale", o->scale, 1e-6, 65535, "S",
                 "Factor of integer disparity maps: stored value = disparity × S [256 for 16-bit images]");
  command.number("--min-confidence", o->min_confidence, 0, 1, "C",
                 "Omit points whose value in --confidence is below C, 0 to 1 [keep all]");
  command.path("--validity", o->validity, "FILE",
               "Validity map written by `match --validity`, which restricts points and depth to measured pixels [all "
               "valid pixels]");
  command.deprecated_flag("--drop-filled", o->drop_filled, "--validity alone omits filled and repaired pixels");
  command.flag("--organised", o->organised,
               "Write a point for every pixel, with NaN where the disparity is invalid [valid points only]");
  command.length(
      "--voxel", o->voxel, "SIZE",
      "Replace the points in each cube of this size, such as 5mm, or a number in the unit of the calibration, "
      "by their mean [all points]");
  command.text("--outliers", o->outliers, "K,D",
               "Omit isolated points: those whose mean distance to their K nearest neighbours is more than D standard "
               "deviations above the mean, such as 16,2 [keep all]");
  command.flag("--normals", o->normals, "Store the normals of the surface with the points");
  command.path("--mesh", o->mesh, "FILE.ply",
               "Mesh to write: triangles between neighbouring pixels, with the colours of --color");
  o->device.add_threads_to(command);
  command.callback([o] { make_cloud(*o); });
}

}  // namespace stereopsis::command
