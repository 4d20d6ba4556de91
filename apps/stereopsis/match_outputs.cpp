// Writes the outputs of a frame of `match`.
#include <fmt/core.h>

#include <cmath>
#include <tuple>

#include "core/text.hpp"
#include "match.hpp"
#include "stereopsis/evaluation.hpp"
#include "stereopsis/point_cloud_files.hpp"
#include "stereopsis/render.hpp"

namespace stereopsis::command::matching {
namespace {

template <class T>
ImageView<const T> cropped(const MatchJob& call, const Image<T>& image) {
  return call.options.crop ? image.view().crop(*call.region) : image.view();
}

void write_confidence(const fs::path& file, ImageView<const float> pixels) {
  const std::string extension = extension_of(file);
  if (extension == ".png" || extension == ".pgm")
    write_image(file, confidence_8_bits(pixels));
  else
    write_image(file, pixels);
}

// Returns the disparities at the ends of the colours if all pictures share them: those of --color-range, or the search
// range for the frames of a sequence.
std::optional<std::pair<double, double>> shared_limits(const MatchJob& call) {
  const ColorOptions& color = call.options.color;
  if (const auto given = color.limits()) return given;
  if (color.range.empty() ? !call.left.sequence : color.range != "sequence") return std::nullopt;
  return std::pair<double, double>(call.range.min, std::max(call.range.max(), call.range.min + 1));
}

Coloring coloring(const MatchJob& call, const Matched& result) {
  const ColorOptions& color = call.options.color;
  Coloring made{.map = color.map, .legend = !color.no_legend};
  if (color.show_filled) made.validity = cropped(call, result.validity);
  return made;
}

Image<std::uint8_t> disparity_picture(const MatchJob& call, const Matched& result) {
  Coloring how = coloring(call, result);
  std::tie(how.low, how.high) = shared_limits(call).value_or(display_limits(cropped(call, result.disparity)));
  return colour_values(cropped(call, result.disparity), how);
}

// Returns the depths at two disparities. The far end is at most six times the near one, because far points would leave
// no colours for the others.
std::pair<double, double> depth_limits(const Rig& rig, std::pair<double, double> disparities) {
  const double doffs = rig.cx_right - rig.cx_left, largest = std::max(disparities.second + doffs, 1.0);
  return {rig.focal * rig.baseline / largest,
          rig.focal * rig.baseline / std::max(disparities.first + doffs, largest / 6)};
}

Image<std::uint8_t> depth_picture(const MatchJob& call, const Matched& result, ImageView<const float> depth) {
  Coloring how = coloring(call, result);
  if (call.target) how.validity = {};  // seen by another camera
  how.near_is_low = true;
  how.unit = call.rig->unit;
  const auto shared = shared_limits(call);
  std::tie(how.low, how.high) = shared ? depth_limits(*call.rig, *shared) : display_limits(depth, 1e-6);
  return colour_values(depth, how);
}

void write_picture(const std::shared_ptr<VideoFile>& video, const fs::path& file, const Image<std::uint8_t>& picture) {
  if (video)
    video->append(picture);
  else
    write_image(file, picture);
}

// The pixels that are too far for the file.
long long write_depth(const MatchJob& call, const InputFrame& frame, const Matched& result, const ResultFiles& files) {
  long long too_far = 0;
  if (call.options.wants_depth_map()) {
    const Image<float> registered = call.target ? registered_depth(call, result.depth) : Image<float>();
    const ImageView<const float> depth = call.target ? registered.view() : cropped(call, result.depth);
    if (call.options.wants(ResultFile::depth_picture))
      write_picture(call.depth_video, files[ResultFile::depth_picture], depth_picture(call, result, depth));
    if (extension_of(files[ResultFile::depth]) == ".png")
      write_image(files[ResultFile::depth], millimetres(depth, *call.rig, too_far));
    else if (call.options.wants(ResultFile::depth))
      write_disparity(files[ResultFile::depth], depth);
  }
  if (call.options.wants(ResultFile::uncertainty))
    write_disparity(files[ResultFile::uncertainty], cropped(call, result.uncertainty));
  if (call.options.wants(ResultFile::cloud)) {
    const Image<std::uint8_t> colours =
        to_8_bits(result.rectified.view().empty() ? frame.left.view() : result.rectified.view());
    const ImageView<const float> points = cropped(call, result.points);
    write_point_cloud(
        files[ResultFile::cloud],
        point_cloud(points, cropped(call, colours), cropped(call, result.confidence), {}, call.options.organised),
        call.options.organised ? points.size() : Size{});
  }
  return too_far;
}

void drop(const MatchJob& call, Matched& result) {
  const Options& o = call.options;
  const auto least = static_cast<float>(o.min_confidence.value_or(0));
  for (int y = 0; y < result.disparity.height(); ++y)
    for (int x = 0; x < result.disparity.width(); ++x) {
      std::uint8_t& bits = result.validity(x, y);
      const bool valid = (bits & validity::reasons) == 0;
      const bool made_up = o.measured_only && (bits & (validity::filled | validity::repaired)) != 0;
      const bool unsure = o.min_confidence && !(result.confidence(x, y) >= least);
      if (!valid || (!made_up && !unsure)) continue;
      bits |= validity::ambiguous;
      for (Image<float>* image : {&result.disparity, &result.depth, &result.uncertainty})
        if (!image->empty()) (*image)(x, y) = invalid_disparity;
      for (int c = 0; c < 3 && !result.points.empty(); ++c) result.points(x, y, c) = invalid_disparity;
    }
}

}  // namespace

namespace {

std::vector<FileKind> make_file_kinds() {
  std::vector<FileKind> kinds = {
      {"--confidence",
       "FILE",
       "Write the confidence map: 0 to 1 as .pfm, .npy or .tiff, or 0 to 255 as .png or .pgm",
       ".pfm",
       {".pfm", ".npy", ".tif", ".tiff", ".png", ".pgm"}},
      {"--validity",
       "FILE",
       "Write the validity map: bits that say why a pixel is invalid, or that it was filled or repaired; 8-bit .png, "
       ".pgm, .npy or .tiff",
       ".png",
       {".png", ".pgm", ".npy", ".tif", ".tiff"}},
      {"--validity-color",
       "FILE",
       "Write a picture of the validity map with a legend: .png, .ppm, .jpg or .tiff",
       ".png",
       {".png", ".ppm", ".jpg", ".jpeg", ".tif", ".tiff"}},
      {"--right",
       "FILE",
       "Write the disparity map of the right view, in a format of OUT; it is matched separately, which doubles the "
       "time",
       ".pfm",
       {}},
      {"--color",
       "FILE",
       "Write a colour picture of the disparity map with a legend: .png, .ppm, .jpg or .tiff; or one video of all "
       "frames of a sequence: .mp4 or .avi",
       ".png",
       {".png", ".ppm", ".jpg", ".jpeg", ".tif", ".tiff"}},
      {"--depth",
       "FILE",
       "Write the depth map of the measured pixels: .pfm, .npy or .tiff in the unit of the calibration, or 16-bit .png "
       "in mm",
       ".pfm",
       {".pfm", ".npy", ".tif", ".tiff", ".png"}},
      {"--depth-color",
       "FILE",
       "Write a colour picture of the depth map, with near points in warm colours, in a format of --color",
       ".png",
       {".png", ".ppm", ".jpg", ".jpeg", ".tif", ".tiff"}},
      {"--uncertainty",
       "FILE",
       "Write the uncertainty of the depth, in the unit of the calibration, for the error --disparity-error: .pfm, "
       ".npy or .tiff",
       ".pfm",
       {".pfm", ".npy", ".tif", ".tiff"}},
      {"--cloud",
       "FILE",
       "Write a coloured point cloud of the measured pixels as .ply or .pcd, in the coordinate frame of --frame",
       ".ply",
       {".ply", ".pcd"}},
      {"-o",
       "OUT",
       "Disparity map to write: .pfm (invalid = inf), .npy or .tiff (invalid = NaN), 16-bit .png (×256, invalid = 0), "
       "or 8-bit .png or .pgm with --scale",
       ".pfm",
       {}},
  };
  for_each_plain_map([&](std::size_t, const Output& output, auto) {
    const char* const either =
        output.type == PixelType::f32 ? ".pfm" : ".png";  // these hold only floats, only integers
    kinds.push_back(
        {std::string("--") + output.name, "FILE", output.description, ".npy", {either, ".npy", ".tif", ".tiff"}});
  });
  return kinds;
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

std::optional<std::pair<double, double>> ColorOptions::limits() const {
  const auto halves = halves_of(range);
  if (!halves) return std::nullopt;
  return std::pair{to_number("--color-range", halves->first, -1e6, 1e6),
                   to_number("--color-range", halves->second, -1e6, 1e6)};
}

void ColorOptions::check() const {
  if (!map.empty()) color_map(map);
  const auto given = limits();
  if (given ? given->first >= given->second : !range.empty() && range != "auto" && range != "sequence")
    refuse(fmt::format("--color-range {} is not allowed; it must be LOW,HIGH with LOW below HIGH, auto or sequence",
                       range));
}

const std::vector<FileKind>& file_kinds() {
  static const std::vector<FileKind> kinds = make_file_kinds();
  return kinds;
}

std::string name_of(ResultFile file) {
  return file == ResultFile::disparity ? "disparity" : file_kinds()[file].option.substr(2);
}

void drop_unwanted(const MatchJob& call, FrameResult& result) {
  if (!call.options.measured_only && !call.options.min_confidence) return;
  drop(call, result.left);
  if (!result.right.disparity.empty()) drop(call, result.right);
}

namespace {

long long write_as_matched(const MatchJob& call, const InputFrame& frame, const FrameResult& result,
                           const ResultFiles& files) {
  long long too_far = 0;
  const double scale = call.options.scale.value_or(0);
  const Matched& left = result.left;
  if (call.options.wants(ResultFile::confidence))
    write_confidence(files[ResultFile::confidence], cropped(call, left.confidence));
  if (call.options.wants(ResultFile::validity_bits))
    write_image(files[ResultFile::validity_bits], cropped(call, left.validity));
  if (call.options.wants(ResultFile::validity_picture))
    write_image(files[ResultFile::validity_picture], colour_validity(cropped(call, left.validity), true));
  if (call.options.wants(ResultFile::right)) {
    const Image<float> as_seen = command::mirrored(result.right.disparity.view());
    write_disparity(files[ResultFile::right], cropped(call, as_seen), scale);
  }
  if (call.options.wants(ResultFile::colour))
    write_picture(call.color_video, files[ResultFile::colour], disparity_picture(call, left));
  if (call.options.wants_depth()) too_far = write_depth(call, frame, left, files);
  for_each_plain_map([&](std::size_t file, const Output&, auto field) {
    if (call.options.wants(file)) write_image(files[file], cropped(call, field(left)));
  });
  write_volumes(call, left);
  if (call.options.wants(ResultFile::disparity))
    write_disparity(files[ResultFile::disparity], cropped(call, left.disparity), scale);
  return too_far;
}

}  // namespace

long long write(const MatchJob& call, const InputFrame& frame, const FrameResult& result, const ResultFiles& files) {
  if (!call.options.vertical) return write_as_matched(call, frame, result, files);
  InputFrame upright;
  upright.left = transposed(frame.left);
  upright.range = frame.range;
  FrameResult turned;
  turned.left = transposed(result.left, call.point_frame());
  return write_as_matched(call, upright, turned, files);
}

}  // namespace stereopsis::command::matching
