// Whatever can be wrong with a call of `match` is refused here, before any matching.
#include <fmt/core.h>

#include <limits>
#include <map>
#include <sstream>

#include "match.hpp"
#include "stereopsis/pair_check.hpp"

namespace stereopsis::command::matching {
namespace {

// What `read` finds of the grey cameras or, where there is none, of the others.
template <class F>
auto in_either(F&& read) {
  try {
    return read(KittiPair::grey);
  } catch (const Error&) {
    return read(KittiPair::any);
  }
}

void require_size(const fs::path& file, Size size, const fs::path& other, Size other_size) {
  if (size != other_size)
    refuse(fmt::format("{} is {} but {} is {}; they must have one size", file.string(), size_text(size), other.string(),
                       size_text(other_size)));
}

}  // namespace

const std::array<OutputKind, output_count>& output_kinds() {
  static const std::array<OutputKind, output_count> kinds = {{
      {"--confidence",
       "FILE",
       "0 to 1 as .pfm .npy .tiff, or 0 to 255 as .png .pgm",
       ".pfm",
       {".pfm", ".npy", ".tif", ".tiff", ".png", ".pgm"}},
      {"--validity", "FILE", "8-bit reasons: .png .pgm .npy .tiff", ".png", {".png", ".pgm", ".npy", ".tif", ".tiff"}},
      {"--right", "FILE", "Disparity of the right view, in the formats of OUT", ".pfm", {}},
      {"--color",
       "FILE",
       "Picture with a legend: .png .ppm .jpg .tiff",
       ".png",
       {".png", ".ppm", ".jpg", ".jpeg", ".tif", ".tiff"}},
      {"--depth",
       "FILE",
       "In the calibration's unit as .pfm .npy .tiff, or mm as 16-bit .png",
       ".pfm",
       {".pfm", ".npy", ".tif", ".tiff", ".png"}},
      {"--uncertainty",
       "FILE",
       "Of the depth, for --disparity-error: .pfm .npy .tiff",
       ".pfm",
       {".pfm", ".npy", ".tif", ".tiff"}},
      {"--cloud", "FILE", "Coloured points as .ply, in --frame", ".ply", {".ply"}},
      {"-o", "OUT", ".pfm .npy .tiff; .png (16-bit, ×256, 0 = invalid); 8-bit .png .pgm with --scale", ".pfm", {}},
  }};
  return kinds;
}

std::string kind_of(const AnyImageView& image) {
  return fmt::format("{} {}", to_string(image.type), image.channels == 1 ? "grey" : "RGB");
}

Call::Call(const Options& given) : options(given), pipeline(given.method.pipeline()), device(given.device.device()) {
  check_options();
  find_inputs();
  name_outputs();
  check_outputs({0, 1});
  first = read(0);
  given_size = first.left.size();
  kind = kind_of(first.left);
  choose_cameras();
  size = maps ? maps->size() : given_size;
  check_size_dependent_options();
  choose_range();
  check_outputs(range);  // again, for its sign
}

void Call::check_options() {
  if (options.outputs[Output::disparity].empty()) refuse("-o has an empty name; name the file to write");
  if (options.raw && options.calibration.empty())
    refuse("--raw needs the calibration of the cameras; give it with --calib FILE");
  if (options.wants_depth() && options.calibration.empty())
    refuse("--depth, --uncertainty and --cloud need the calibration; give it with --calib FILE");
  if (options.organised && !options.wants(Output::cloud))
    refuse("--organised is of a cloud; give its file with --cloud");
  if (options.disparity_error && !options.wants(Output::uncertainty))
    refuse("--disparity-error is for --uncertainty; give its file too");
  to_frame(options.frame);
  if (options.near && options.calibration.empty()) refuse("--near needs the calibration; give it with --calib FILE");
  if (options.far && !options.near) refuse("--far needs --near, the depth of the nearest point");
  if (options.near && options.disparities)
    refuse("--near and --disparities both give the range; leave one of them out");
  if (options.min_disparity && !options.disparities)
    refuse("--min-disparity needs --disparities, the number of disparities to search from there");
  if (options.crop && options.roi.empty()) refuse("--crop needs --roi, the region to keep");
  if (options.calibration.size() > 2) refuse("--calib is given more than twice; a pair has two cameras");
  if (!options.memory_limit.empty()) to_bytes("--memory-limit", options.memory_limit);
  if (!options.calibration.empty())
    rig = options.raw ? read_cameras(KittiPair::any, {1, 1}).rig : read_rig_of(KittiPair::any);
  if (extension_of(options.outputs[Output::depth]) == ".png" && rig->unit != "mm" && rig->unit != "m")
    refuse(fmt::format("--depth {} needs millimetres, but {} does not say its unit; use .pfm, .npy or .tiff",
                       options.outputs[Output::depth].string(), options.calibration[0]));
}

Rig Call::read_rig_of(KittiPair cameras) const {
  const std::vector<std::string>& given = options.calibration;
  return read_rig(given[0], given.size() > 1 ? std::optional<fs::path>(given[1]) : std::nullopt, cameras);
}

// OpenCV's files may leave out the size, which is then the images'.
StereoCalibration Call::read_cameras(KittiPair pair, Size images) const {
  const std::vector<std::string>& given = options.calibration;
  return read_calibration(given[0], given.size() > 1 ? std::optional<fs::path>(given[1]) : std::nullopt, pair, images);
}

// A KITTI file has rigs for grey and for colour images; of the other, where it has only that one.
void Call::choose_cameras() {
  if (!rig) return;
  const bool grey = first.left.channels() == 1;
  if (!options.raw) {
    if (grey) rig = in_either([&](KittiPair pair) { return read_rig_of(pair); });
    return;
  }
  const auto read = [&](KittiPair pair) { return read_cameras(pair, given_size); };
  const StereoCalibration calibration = grey ? in_either(read) : read(KittiPair::any);
  if (calibration.size != given_size)
    refuse(fmt::format("{} is for images of {}, but {} is {}", options.calibration[0], size_text(calibration.size),
                       left.file(0).string(), size_text(given_size)));
  rig = calibration.rig;
  maps = std::make_shared<const RectificationMaps>(rectification_maps(calibration));
}

Geometry Call::geometry() const {
  return {.rectification = maps,
          .want_rectified = maps && options.wants(Output::cloud),
          .rig = rig,
          .want_depth = options.wants(Output::depth),
          .want_points = options.wants(Output::cloud),
          .want_uncertainty = options.wants(Output::uncertainty),
          .frame = to_frame(options.frame),
          .disparity_error = options.disparity_error.value_or(Geometry().disparity_error)};
}

void Call::find_inputs() {
  left = find_frames(options.left, "the left image");
  right = find_frames(options.right, "the right image");
  check_counts(left, options.left, right, options.right);
  if (!options.mask_left.empty()) mask_left = find_mask(options.mask_left, "--mask-left");
  if (!options.mask_right.empty()) mask_right = find_mask(options.mask_right, "--mask-right");
}

// One mask for all frames, or one each.
Frames Call::find_mask(const fs::path& given, const std::string& option) {
  const Frames mask = find_frames(given, option);
  if (mask.sequence) check_counts(left, options.left, mask, given);
  return mask;
}

void Call::name_outputs() {
  files.resize(left.size());
  std::map<fs::path, std::string> taken;
  for (const Frames* inputs : {&left, &right})
    for (const fs::path& file : inputs->files) taken.emplace(fs::weakly_canonical(file), "an input image");
  const auto take = [&](const fs::path& file, const std::string& what) {
    const auto [other, is_new] = taken.emplace(fs::weakly_canonical(file), what);
    if (!is_new) refuse(fmt::format("{} {} is {} already; give it another name", what, file.string(), other->second));
  };
  for (std::size_t k = 0; k < output_count; ++k)
    for (std::size_t i = 0; i < left.size() && !options.outputs[k].empty(); ++i) {
      files[i][k] = output_file(options.outputs[k], left, i, output_kinds()[k].extension, output_kinds()[k].option);
      take(files[i][k], output_kinds()[k].option);
    }
  if (!options.report.empty()) take(options.report, "--report");
}

InputFrame Call::read(std::size_t i) const {
  const Stopwatch watch;
  InputFrame frame;
  frame.left = read_image(left.file(i));
  frame.right = read_image(right.file(i));
  require_size(left.file(i), frame.left.size(), right.file(i), frame.right.size());
  if (kind_of(frame.left) != kind_of(frame.right))
    refuse(fmt::format("{} is {} but {} is {}; both images of a pair must be of one kind", left.file(i).string(),
                       kind_of(frame.left), right.file(i).string(), kind_of(frame.right)));
  frame.mask_left = read_mask_of(mask_left, frame, i);
  frame.mask_right = read_mask_of(mask_right, frame, i);
  frame.ms = watch.ms();
  return frame;
}

Image<std::uint8_t> Call::read_mask_of(const std::optional<Frames>& mask, const InputFrame& frame,
                                       std::size_t i) const {
  if (!mask) return {};
  Image<std::uint8_t> pixels = read_mask(mask->file(i));
  require_size(left.file(i), frame.left.size(), mask->file(i), pixels.size());
  return pixels;
}

void Call::check_size_dependent_options() {
  if (rig && rig->size != Size{} && rig->size != size)
    refuse(fmt::format("{} is for images of {}, but {} is {}", options.calibration[0], size_text(rig->size),
                       left.file(0).string(), size_text(size)));
  if (options.roi.empty()) return;
  std::vector<int> numbers;
  std::istringstream parts(options.roi);
  for (std::string part; std::getline(parts, part, ',');)
    numbers.push_back(to_integer("--roi", part, 0, std::numeric_limits<int>::max()));
  if (numbers.size() != 4 || numbers[2] == 0 || numbers[3] == 0)
    refuse(fmt::format("--roi {} is not allowed; it must be X,Y,WIDTH,HEIGHT with a width and height of at least 1",
                       options.roi));
  if (numbers[0] > size.width - numbers[2] || numbers[1] > size.height - numbers[3])
    refuse(fmt::format("--roi {} does not lie inside the image of {}; X + WIDTH may be {} and Y + HEIGHT {} at most",
                       options.roi, size_text(size), size.width, size.height));
  region = Rect{numbers[0], numbers[1], numbers[2], numbers[3]};
}

void Call::choose_range() {
  if (options.disparities) {
    range = {options.min_disparity.value_or(0), *options.disparities};
    return;
  }
  if (options.near) {
    const double far = options.far.value_or(std::numeric_limits<double>::infinity());
    range = rig->range(*options.near, far);
    fmt::print(stderr, "stereopsis: disparities {} for depths of {} to {} {}, from {}\n", range_text(range),
               *options.near, far, rig->unit.empty() ? "units" : rig->unit, options.calibration[0]);
    return;
  }
  range = estimated_range();
  const bool unsigned_file = holds_no_sign(Output::disparity) || holds_no_sign(Output::right);
  const bool raised = unsigned_file && range.min < 0 && range.max() > 0;
  if (raised) range = {0, range.max() + 1};
  fmt::print(stderr, "stereopsis: disparities {}, estimated from the images{} (--min-disparity {} --disparities {})\n",
             range_text(range), raised ? ", from 0 on as PNG and PGM hold no negative ones" : "", range.min,
             range.count);
}

DisparityRange Call::estimated_range() const {
  if (!maps) return estimate_range(first.left, first.right);
  return estimate_range(rectified(first.left, maps->left).image, rectified(first.right, maps->right).image);
}

bool Call::holds_no_sign(Output output) const {
  const std::string extension = extension_of(options.outputs[output]);
  return extension == ".png" || extension == ".pgm";
}

void Call::check_outputs(DisparityRange values) const {
  for (const auto& names : files)
    for (std::size_t k = 0; k < output_count; ++k) {
      if (names[k].empty()) continue;
      check_tiff(names[k]);
      if (k == Output::disparity || k == Output::right)
        check_writable_disparity(names[k], values, options.scale.value_or(0));
      else
        check_output(names[k], output_kinds()[k].extensions, output_kinds()[k].option);
    }
  if (!options.report.empty()) check_writable(options.report);
}

}  // namespace stereopsis::command::matching
