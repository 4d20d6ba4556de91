#include "command/truth_file.hpp"

#include <fmt/core.h>

#include <cmath>

#include "command/terminal.hpp"
#include "stereopsis/io.hpp"
#include "stereopsis/triangulation.hpp"

namespace stereopsis::command {
namespace {

namespace fs = std::filesystem;

// Returns a number with three digits.
double rounded(double number) {
  const double step = std::pow(10, std::floor(std::log10(std::abs(number))) - 2);
  return std::round(number / step) * step;
}

// Returns a customary scale if one is within 4 %, else three digits.
double customary(double scale) {
  for (const double known : {1, 2, 3, 4, 5, 8, 10, 16, 32, 64, 100, 128, 256, 512, 1000, 1024})
    if (std::abs(std::abs(scale) / known - 1) < 0.04) return std::copysign(known, scale);
  return rounded(scale);
}

// A map of an unknown scale is read with the scale 1.
ScaledMap read_map(const fs::path& file, std::optional<double> scale, bool& unknown) {
  ScaledDisparity read = read_scaled_disparity(file, scale.value_or(0));
  unknown = !scale && read.usual_scale == 0;
  return {file, std::move(read.values), read.scale, read.usual_scale != 1};
}

[[noreturn]] void refuse_unknown_scale(const ScaledMap& map, const std::string& option, const ScaledMap& other,
                                       double likely) {
  refuse(
      fmt::format("the scale of the integers in {} is not known; give the stored value of a disparity of one pixel "
                  "with {}; the comparison with {} suggests {:.6g}",
                  map.file.string(), option, other.file.string(), customary(likely)));
}

void put_in_order(const TruthOptions& options, ScaledMap& truth) {
  if (options.swap_bytes) truth.values = with_reversed_bytes(truth.values, truth.code_scale());
  if (options.flip) truth.values = upside_down(truth.values);
  for (int y = 0; y < truth.values.height() && options.zero_unknown; ++y)
    for (int x = 0; x < truth.values.width(); ++x)
      if (truth.values(x, y) == 0) truth.values(x, y) = invalid_disparity;
}

void convert_depth(const TruthOptions& options, ScaledMap& truth) {
  const CalibrationFile calibration = options.rig.calibration().rectified(truth.values.size(), false);
  for (const std::string& warning : calibration.warnings) warn("warning: {}", warning);
  const Rig& rig = calibration.rig;
  if (rig.size != Size{}) options.rig.calibration().check_size(rig.size, truth.file, truth.values.size());
  truth.values =
      disparity_of_depth(truth.values, rig, options.rig.calibration().in_unit_of(rig, "truth_depth", *options.depth));
}

bool has_too_large(const Image<float>& map) {
  for (int y = 0; y < map.height(); ++y)
    for (int x = 0; x < map.width(); ++x)
      if (std::isfinite(map(x, y)) && std::abs(static_cast<double>(map(x, y))) > largest_disparity) return true;
  return false;
}

// Returns the option that divides the factor between truth and disparity out. If both maps may have a wrong scale, it is
// that of the map with the larger values.
std::string scale_option(double factor, const ScaledMap& disparity, const ScaledMap& truth) {
  const bool is_of_truth = factor < 0 || (truth.integers == disparity.integers ? std::abs(factor) > 1 : truth.integers);
  return is_of_truth ? fmt::format("give --scale {:.6g}", customary(truth.scale * factor))
                     : fmt::format("give --disparity-scale {:.6g}", customary(disparity.scale / factor));
}

}  // namespace

void TruthOptions::add_to(Command& command, std::vector<Option>& options) {
  options.push_back(command.path("--truth", file, "FILE",
                                 "Ground truth of DISPARITY; for several maps a folder or pattern, also a folder of "
                                 "Middlebury's or ETH3D's scenes"));
  options.push_back(command.number("--scale", scale, -65536, 65536, "S",
                                   "Scale of the ground truth: disparity = stored value / S; a negative S reverses the "
                                   "sign [256 for 16-bit images, 1 for floats]"));
  options.push_back(command.flag("--flip", flip, "Flip the ground truth vertically"));
  options.push_back(command.flag("--swap-bytes", swap_bytes, "Read the ground truth with reversed byte order"));
  options.push_back(
      command.flag("--zero-unknown", zero_unknown, "Treat 0 in a float ground truth as an unknown disparity"));
  options.push_back(
      command.length("--truth-depth", depth, "LENGTH",
                     "The ground truth is a depth map, in which the value 1 is this length, such as 1m or "
                     "1mm; requires --calib, or --focal and --baseline [disparities]"));
  options.push_back(rig.add_files_to(command, "Calibration of the cameras, for --truth-depth"));
  rig.add_numbers_to(command);
}

void TruthOptions::check() const {
  rig.calibration().check();
  if (depth && !(depth->value > 0))
    refuse(fmt::format("--truth-depth {} is not allowed; it must be a length above 0, such as 1mm", depth->text()));
  if (depth && !rig.given())
    refuse("--truth-depth requires a calibration; give it with --calib FILE, or with --focal and --baseline");
  if (!depth && rig.given())
    refuse("--calib, --focal and --baseline apply to a ground truth of depths; add --truth-depth, such as 1m");
}

std::pair<ScaledMap, ScaledMap> read_scored(const fs::path& disparity_file, std::optional<double> scale,
                                            const TruthOptions& options) {
  if (options.scale && std::abs(*options.scale) < 1e-6)
    refuse("--scale 0 is not allowed; it must be the stored value of a disparity of one pixel");
  bool no_scale = false, no_truth_scale = false;
  ScaledMap disparity = read_map(disparity_file, scale, no_scale),
            truth = read_map(options.file, options.depth ? options.scale.value_or(1) : options.scale, no_truth_scale);
  if (disparity.values.size() == truth.values.size() && no_scale != no_truth_scale) {
    const double factor = find_mismatch(disparity.values, truth.values).factor;
    if (no_scale) refuse_unknown_scale(disparity, "--disparity-scale", truth, 1 / factor);
    refuse_unknown_scale(truth, "--scale", disparity, factor);
  }
  for (const auto& [unknown, map, option] :
       {std::tuple{no_scale, &disparity, "--disparity-scale"}, std::tuple{no_truth_scale, &truth, "--scale"}})
    if (unknown)
      refuse(
          fmt::format("the scale of the integers in {} is not known; give the stored value of a disparity of one "
                      "pixel with {}",
                      map->file.string(), option));
  put_in_order(options, truth);
  if (options.depth) convert_depth(options, truth);
  if (has_too_large(truth.values)) {
    const bool reversed = truth.values.size() == disparity.values.size() &&
                          find_mismatch(disparity.values, truth.values, {}, truth.code_scale()).reversed_bytes;
    refuse(fmt::format("{} has disparities beyond 1000000 pixels, which are not allowed; {}", options.file.string(),
                       reversed ? "its numbers have the other byte order, so give --swap-bytes"
                                : "check its scale (--scale) and its byte order (--swap-bytes)"));
  }
  return {std::move(disparity), std::move(truth)};
}

std::optional<std::string> mismatch_text(const TruthOptions& options, const ScaledMap& disparity,
                                         const ScaledMap& truth, const Image<std::uint8_t>& mask) {
  const Mismatch found = find_mismatch(disparity.values, truth.values, mask, truth.code_scale());
  if (found.product != 0)
    return fmt::format(
        "{} × {} is nearly constant (about {:.6g}), so one of the two is a depth map; if it is the ground truth, give "
        "--truth-depth with the length of the value 1, such as 1m or 1mm, and --calib FILE, or --focal and --baseline",
        disparity.file.string(), truth.file.string(), rounded(found.product * truth.scale));
  std::string reasons, mends;
  const auto note = [&](bool is_so, const std::string& reason, const std::string& mend) {
    if (!is_so) return;
    reasons += (reasons.empty() ? "" : " and ") + reason;
    mends += (mends.empty() ? "" : " and ") + mend;
  };
  note(found.upside_down, "upside down", options.flip ? "leave --flip out" : "give --flip");
  note(found.reversed_bytes, "in the other byte order",
       options.swap_bytes ? "leave --swap-bytes out" : "give --swap-bytes");
  if (std::abs(found.factor - 1) > 0.1)
    note(true, fmt::format("{:.4g} times the disparity", found.factor), scale_option(found.factor, disparity, truth));
  note(found.zeros_unknown, "0 where it seems to be unknown", "give --zero-unknown");
  if (reasons.empty()) return std::nullopt;
  return fmt::format("compared with {}, the ground truth {} is {}; {}", disparity.file.string(), truth.file.string(),
                     reasons, mends);
}

}  // namespace stereopsis::command
