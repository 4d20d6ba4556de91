#include "jobs/rig_source.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "geometry/exchanged_axes.hpp"
#include "jobs/texts.hpp"
#include "sources/frames.hpp"

namespace stereopsis::jobs {
namespace {

namespace fs = std::filesystem;
using sources::refuse;

// Selects, from a file with grey and colour cameras, those that took the images, or the ones that exist.
KittiPair pair_for(bool grey) { return grey ? KittiPair::grey_first : KittiPair::any; }

}  // namespace

void RigSource::check() const {
  const auto& [files, doffs, scale, lens, focal, baseline] = settings_;
  const std::string calib = spelled("calib");
  if (files.size() > 2)
    refuse(fmt::format("{} is given {} times; give one file, or two for the two cameras", calib, files.size()));
  if (std::ranges::find(files, "") != files.end())
    refuse(fmt::format("the name after {} is empty; give a calibration file or a folder", calib));
  if (files.empty() && (scale || !lens.empty()))
    refuse(fmt::format("{} applies to a calibration file; give the file with {}",
                       spelled(scale ? "calib_scale" : "lens"), calib));
  if (!lens.empty()) lens_model(lens);
  if (!files.empty() && (focal || baseline || doffs))
    refuse(
        fmt::format("{0} cannot be combined with {1}, {2} or {3}; describe the cameras either with {0} or with the "
                    "other options",
                    calib, spelled("focal"), spelled("baseline"), spelled("doffs")));
  if (focal.has_value() != baseline.has_value() || (doffs && !focal))
    refuse(fmt::format("{0} and {1} require each other, and {2} requires both; give {0} and {1}, or a file with {3}",
                       spelled("focal"), spelled("baseline"), spelled("doffs"), calib));
  if (baseline && !(baseline->value > 0))
    refuse(fmt::format("{} {} is not allowed; it must be a length above 0", spelled("baseline"), baseline->text()));
}

std::string RigSource::name() const {
  return settings_.files.empty() ? spelled("baseline") + " " + settings_.baseline->text() : settings_.files[0];
}

void RigSource::reads(CallFiles& call) const {
  for (const std::string& given : settings_.files)
    for (const fs::path& file : calibration_files(given)) call.reads(file, spelled("calib"));
}

void RigSource::check_size(Size calibrated, const fs::path& file, Size images) const {
  if (calibrated == images) return;
  const auto hint = calibration_scale(calibrated, images);
  refuse(fmt::format("{} is for images of {}, but {} is {}; give a calibration for this size{}", name(),
                     size_text(calibrated), file.string(), size_text(images),
                     hint ? fmt::format(", or {} {:.6g} if the images were scaled after calibration",
                                        spelled("calib_scale"), settings_.scale.value_or(1) * *hint)
                          : ""));
}

CalibrationFile RigSource::read(Size images, bool grey, bool vertical) const {
  CalibrationOptions known{.pair = pair_for(grey),
                           .size = vertical ? axes_exchanged(images) : images,
                           .lens = {},
                           .scale = settings_.scale.value_or(1),
                           .vertical = vertical};
  const auto& files = settings_.files;
  if (!settings_.lens.empty()) known.lens = lens_model(settings_.lens);
  return read_calibration_file(files[0], files.size() > 1 ? std::optional<fs::path>(files[1]) : std::nullopt, known);
}

CalibrationFile RigSource::rectified(Size images, bool grey, bool vertical) const {
  const bool of_numbers = settings_.focal.has_value();
  CalibrationFile file = of_numbers ? CalibrationFile{"numbers", rig_of_numbers(images), {}, {}, false, vertical, {}}
                                    : read(images, grey, vertical);
  if (file.rig.size != Size{} && file.rig.size != images) return file;  // check_size() refuses it
  Rig judged = file.rig;
  if (of_numbers) judged.cx_right = judged.cx_left;  // the offset may place the principal point outside the image
  for (const std::string& warning : calibration_warnings(judged, images, settings_.scale.value_or(1)))
    file.warnings.push_back(
        fmt::format("{}: {}", of_numbers ? fmt::format("{} {}", spelled("focal"), *settings_.focal) : name(), warning));
  return file;
}

CalibrationFile RigSource::raw(Size images, bool grey, bool vertical) const {
  CalibrationFile file = read(images, grey, vertical);
  if (!file.cameras) throw *file.no_cameras;
  for (const std::string& warning : calibration_warnings(*file.cameras, settings_.scale.value_or(1)))
    file.warnings.push_back(fmt::format("{}: {}", name(), warning));
  return file;
}

double RigSource::in_unit_of(const Rig& rig, const std::string& setting, const Length& length) const {
  const auto& baseline = settings_.baseline;
  const std::string option = spelled(setting);
  const std::string other = baseline && baseline->unit != rig.unit ? baseline->unit : "";
  if (length.unit.empty() && !other.empty())
    refuse(fmt::format("{0} {1} has no unit, and {5} {2} is in {3}; write {0} {1}{3} or {0} {1}{4}", option,
                       length.text(), baseline->text(), other, rig.unit, spelled("baseline")));
  if (rig.unit.empty() && !length.unit.empty())
    refuse(fmt::format("{0} {1} has a unit, but {2} has none; {3}, or give {0} as a number in the unit of {2}", option,
                       length.text(), name(), how_to_name_the_unit(rig)));
  return length.in(rig.unit);
}

std::string RigSource::how_to_name_the_unit(const Rig& rig) const {
  if (rig.unit == no_scale)
    return "estimate it again with the length of the baseline: calibrate --from-scenes --baseline";
  if (!rig.unit.empty()) return "";
  const auto& baseline = settings_.baseline;
  if (!baseline) return "if the file is OpenCV's, add a line such as `unit: mm` to it";
  // Baselines are usually from 1 mm to 10 m.
  constexpr double most_metres = 10, least_millimetres = 10;
  std::string ways;
  if (baseline->value <= most_metres) ways = fmt::format("{} {}m", spelled("baseline"), baseline->text());
  if (baseline->value >= least_millimetres)
    ways += fmt::format("{}{} {}mm", ways.empty() ? "" : " or ", spelled("baseline"), baseline->text());
  return "write " + ways;
}

// Places the principal point, which affects only points, in the middle of the left image.
Rig RigSource::rig_of_numbers(Size images) const {
  const Length length = settings_.baseline->as_of_rig();
  Rig rig;
  rig.focal = *settings_.focal;
  rig.cx_left = (images.width - 1) / 2.0;
  rig.cx_right = rig.cx_left + settings_.doffs.value_or(0);
  rig.cy = (images.height - 1) / 2.0;
  rig.baseline = length.value;
  rig.unit = length.unit;
  return rig;
}

}  // namespace stereopsis::jobs
