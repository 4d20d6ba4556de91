// Reads calibration files: finds the files, parses them, and checks the result of the reader of their format.
#include "stereopsis/calibration.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/text.hpp"
#include "io/calibration_formats.hpp"
#include "io/calibration_kinds.hpp"
#include "io/calibration_parts.hpp"
#include "io/file.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis {
namespace io {
namespace {

namespace fs = std::filesystem;

// The names of the files of a calibration in a folder. The first row whose files all exist is read.
constexpr std::array<const char*, 3> folders[] = {
    {"cam0/sensor.yaml", "cam1/sensor.yaml"},
    {"mav0/cam0/sensor.yaml", "mav0/cam1/sensor.yaml"},
    {"camera_left.yaml", "camera_right.yaml", "extrinsics.yaml"},
    {"left.yaml", "right.yaml"},
    {"extrinsics.yml", "intrinsics.yml"},
    {"cameras.txt", "rigs.txt"},
    {"cameras.txt", "images.txt"},
    {"calib_cam_to_cam.txt"},
    {"camchain.yaml"},
    {"calib.txt"},
    {"rig.yml"},
};

// COLMAP writes binary models by default.
[[noreturn]] void refuse_binary_model(const fs::path& folder) {
  const std::string name = folder.empty() ? "." : folder.string();
  throw Error(ErrorCategory::format,
              text(name,
                   " holds a binary model of COLMAP, which is not read; convert it with `colmap model_converter "
                   "--input_path ",
                   name, " --output_path ", name, " --output_type TXT`, and give the folder"));
}

bool is_binary_model(const fs::path& file) {
  const std::string name = file.filename().string();
  return name == "cameras.bin" || name == "images.bin" || name == "rigs.bin";
}

std::vector<fs::path> files_in(const fs::path& folder) {
  std::string known;
  for (const auto& row : folders) {
    std::vector<fs::path> files;
    for (const char* name : row)
      if (name != nullptr) files.push_back(folder / name);
    if (std::all_of(files.begin(), files.end(), [](const fs::path& file) { return fs::is_regular_file(file); }))
      return files;
    known += text(known.empty() ? "" : ", or ", row[0], row[1] == nullptr ? "" : text(" with ", row[1]));
  }
  if (fs::is_regular_file(folder / "cameras.bin")) refuse_binary_model(folder);
  throw Error(ErrorCategory::file,
              text(folder.string(), ": the folder has no calibration; give a calibration file, or a folder with ",
                   known, "; or give the file"));
}

void add_file(Inputs& inputs, const fs::path& file) {
  if (is_binary_model(file) && fs::is_regular_file(file)) refuse_binary_model(file.parent_path());
  const std::string contents = read_file(file, largest_calibration);
  naming(file, [&] {
    check_kind(contents);
    if (!is_ost(contents)) return inputs.files.push_back(Document::parse(contents));
    for (Document& camera : parse_ost(contents)) inputs.files.push_back(std::move(camera));
  });
  inputs.names.resize(inputs.files.size(), file.string());
}

Inputs inputs_of(const fs::path& file, const std::optional<fs::path>& second, const CalibrationOptions& options) {
  Inputs inputs{{}, options};
  for (const fs::path& one : calibration_files(file)) add_file(inputs, one);
  if (second) add_file(inputs, *second);
  for (const char* name : {"cam0_calib", "cam1_calib"})  // VINS
    if (const std::string camera = inputs.first().word(name); !camera.empty() && inputs.files.size() < 3)
      add_file(inputs, file.parent_path() / camera);
  return inputs;
}

// Returns the error with the name of the last file before its sentence, unless the sentence already begins with the
// name of a file.
Error named(const Inputs& inputs, const Error& error) {
  const std::string_view sentence = error.what();
  const auto begins_with = [&](const std::string& name) { return sentence.starts_with(name + ": "); };
  if (std::any_of(inputs.names.begin(), inputs.names.end(), begins_with)) return error;
  return Error(error.category(), text(inputs.names.back(), ": ", sentence));
}

// Scales a coordinate. The centre of the first pixel is at 0, and its edge is at −½.
double scaled(double coordinate, double scale) { return (coordinate + 0.5) * scale - 0.5; }

Size scaled(Size size, double scale) {
  const auto side = [&](int length) {
    return length == 0 ? 0 : std::max(1, static_cast<int>(std::lround(length * scale)));
  };
  return {side(size.width), side(size.height)};
}

Rig scaled(Rig rig, double scale) {
  rig.focal *= scale;
  for (double* c : {&rig.cx_left, &rig.cx_right, &rig.cy}) *c = scaled(*c, scale);
  rig.size = scaled(rig.size, scale);
  return rig;
}

void scale_by(CalibrationFile& file, double scale) {
  file.rig = scaled(file.rig, scale);
  if (!file.cameras) return;
  StereoCalibration& c = *file.cameras;
  c.size = scaled(c.size, scale);
  c.rig = scaled(c.rig, scale);
  for (Lens* lens : {&c.left.lens, &c.right.lens}) {
    lens->fx *= scale, lens->fy *= scale;
    lens->cx = scaled(lens->cx, scale), lens->cy = scaled(lens->cy, scale);
  }
}

// Returns a warning for a baseline that no pair of cameras has, in the unit that the format defines.
std::vector<std::string> implausible_unit(const Rig& rig) {
  constexpr double least = 1e-3, most = 10;  // metres
  const double metres = rig.baseline * (rig.unit == "mm" ? 1e-3 : 1);
  if ((rig.unit != "m" && rig.unit != "mm") || (metres >= least && metres <= most)) return {};
  return {text("the baseline is ", number_text(std::round(rig.baseline * 1e4) / 1e4), ' ', rig.unit,
               ", but baselines are usually from 1 mm to 10 m; convert the lengths in the file to ", rig.unit,
               ", the unit of this format")};
}

std::string outside(const char* whose, double cx, double cy, Size images, double scale) {
  if (cx >= 0 && cx < images.width && cy >= 0 && cy < images.height) return {};
  const auto rounded = [](double value) { return number_text(std::round(value * 100) / 100); };
  const double more = std::min(images.width / (2 * cx + 1), images.height / (2 * cy + 1));
  return text("the principal point of the ", whose, " camera, (", rounded(cx), ", ", rounded(cy),
              "), is outside images of ", images.width, "×", images.height, "; give the calibration of these images",
              cx < 0 || cy < 0 ? ""
                               : text(", or --calib-scale ", rounded(scale * more),
                                      " or the like if the images were scaled after calibration"));
}

// Returns a warning for a focal length that is not in pixels.
std::string implausible_focal(double focal, Size images) {
  // Smallest and largest focal length, as multiples of the width of the image.
  constexpr double least = 0.05, most = 100;
  if (focal >= least * images.width && focal <= most * images.width) return {};
  return text("the focal length is ", number_text(std::round(focal * 100) / 100), " for images ", images.width,
              " pixels wide, but ", number_text(std::round(least * images.width)), " to ",
              number_text(most * images.width), " pixels are expected; convert it to pixels");
}

// Returns a warning for a rig that is for images of another size; `scale` is the scale by which it was read.
std::string another_size(Size calibrated, Size images, double scale) {
  if (calibrated == Size{} || calibrated == images) return {};
  const auto more = calibration_scale(calibrated, images);
  return text("the calibration is for images of ", calibrated.width, "×", calibrated.height, ", but these have ",
              images.width, "×", images.height, "; give a calibration for this size",
              more ? text(", or --calib-scale ", number_text(std::round(scale * *more * 1e6) / 1e6),
                          " if the images were scaled after calibration")
                   : "");
}

// Returns the shares, 0 to 1, of the left camera's picture that the rectified image shows, and of the rectified image
// that the picture fills.
struct Shown {
  double of_picture, of_rectified;
};

Shown shown_of(const StereoCalibration& c) {
  constexpr int columns = 32, rows = 24;                  // cells of the picture
  constexpr double samples = 256, one_pixel = 1.0 / 256;  // samples per row; unit of the maps
  StereoCalibration coarse = c;
  coarse.rig = scaled(c.rig, std::min(1.0, samples / c.rig.size.width));
  const Image<std::int32_t> map = rectification_maps(coarse).left;
  std::array<bool, static_cast<std::size_t>(columns) * rows> seen{};
  int filled = 0;
  for (int y = 0; y < map.height(); ++y)
    for (int x = 0; x < map.width(); ++x) {
      const double u = map(x, y, 0) * one_pixel, v = map(x, y, 1) * one_pixel;
      if (u < 0 || v < 0 || u > c.size.width - 1 || v > c.size.height - 1) continue;
      ++filled;
      seen[static_cast<std::size_t>(v * rows / c.size.height) * columns +
           static_cast<std::size_t>(u * columns / c.size.width)] = true;
    }
  return {static_cast<double>(std::ranges::count(seen, true)) / seen.size(),
          static_cast<double>(filled) / (static_cast<double>(map.width()) * map.height())};
}

// Returns a warning for rectified images that show a small part of what the camera sees, or are mostly empty.
std::string wrong_rectified_size(const StereoCalibration& c) {
  constexpr double least = 0.75, least_anyway = 0.25;
  if (c.rig.size == Size{}) return {};
  const double width = 2 * c.rig.cx_left + 1, height = 2 * c.rig.cy + 1;
  const bool off = is_for_another_size(c.rig, c.rig.size);
  const Shown shown = shown_of(c);
  const double limit = off ? least : least_anyway;
  if (shown.of_picture >= limit && shown.of_rectified >= limit) return {};
  const auto percent = [](double share) { return text(std::lround(100 * share), " %"); };
  const std::string size = text(c.rig.size.width, "×", c.rig.size.height);
  return text(shown.of_picture < limit ? text("the rectified images of ", size, " show only ",
                                              percent(shown.of_picture), " of the left camera's picture")
                                       : text("the left camera's picture fills only ", percent(shown.of_rectified),
                                              " of the rectified images of ", size),
              off ? text(", because P1 is for images of about ", std::lround(width), "×", std::lround(height),
                         "; add the newImageSize of stereoRectify to the file, such as rectified_size: [ ",
                         std::lround(width), ", ", std::lround(height), " ]")
                  : "; calibrate again with another alpha or newImageSize of stereoRectify");
}

std::vector<std::string> not_empty(std::initializer_list<std::string> sentences) {
  std::vector<std::string> kept;
  std::copy_if(sentences.begin(), sentences.end(), std::back_inserter(kept), [](const auto& s) { return !s.empty(); });
  return kept;
}

}  // namespace
}  // namespace io

std::vector<std::filesystem::path> calibration_files(const std::filesystem::path& given) {
  return std::filesystem::is_directory(given) ? io::files_in(given) : std::vector{given};
}

CalibrationFile read_calibration_file(const std::filesystem::path& file,
                                      const std::optional<std::filesystem::path>& second,
                                      const CalibrationOptions& options) {
  using namespace io;
  if (!(options.scale > 0) || !std::isfinite(options.scale))
    throw Error(ErrorCategory::call, text("the scale of the calibration is ", number_text(options.scale),
                                          "; it must be a number above 0, such as 0.5"));
  const Inputs inputs = inputs_of(file, second, options);
  CalibrationFile read = [&] {
    try {
      CalibrationFile found = calibration_in(inputs);
      check_direction(found.vertical, options.vertical);
      return found;
    } catch (const Error& error) {
      throw named(inputs, error);
    }
  }();
  if (options.scale != 1) scale_by(read, options.scale);
  for (std::string& warning : implausible_unit(read.rig)) read.warnings.push_back(std::move(warning));
  for (std::string& warning : read.warnings) warning = text(join(inputs.names, ", "), ": ", warning);
  if (read.no_cameras) read.no_cameras = named(inputs, *read.no_cameras);
  return read;
}

std::vector<std::string> calibration_warnings(const Rig& rig, Size images, double scale) {
  // The other sentences would follow from the size.
  if (std::string size = io::another_size(rig.size, images, scale); !size.empty()) return {std::move(size)};
  const std::string left = io::outside("left", rig.cx_left, rig.cy, images, scale);
  return io::not_empty({left, left.empty() ? io::outside("right", rig.cx_right, rig.cy, images, scale) : "",
                        io::implausible_focal(rig.focal, images)});
}

std::vector<std::string> calibration_warnings(const StereoCalibration& c, double scale) {
  return io::not_empty({io::outside("left", c.left.lens.cx, c.left.lens.cy, c.size, scale),
                        io::outside("right", c.right.lens.cx, c.right.lens.cy, c.size, scale),
                        io::implausible_focal(std::min(c.left.lens.fx, c.right.lens.fx), c.size),
                        io::wrong_rectified_size(c)});
}

std::optional<double> calibration_scale(Size calibrated, Size images) {
  const double scale = 1.0 * images.width / calibrated.width;
  if (std::abs(scale * calibrated.height - images.height) > 1) return std::nullopt;
  return scale;
}

Rig read_rig(const std::filesystem::path& file, const std::optional<std::filesystem::path>& right, KittiPair pair) {
  return read_calibration_file(file, right, {.pair = pair, .size = {}, .lens = {}}).rig;
}

StereoCalibration read_calibration(const std::filesystem::path& file,
                                   const std::optional<std::filesystem::path>& second, KittiPair pair, Size size) {
  CalibrationFile read = read_calibration_file(file, second, {.pair = pair, .size = size, .lens = {}});
  if (!read.cameras) throw *read.no_cameras;
  return *read.cameras;
}

}  // namespace stereopsis
