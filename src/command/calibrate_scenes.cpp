// The work of `calibrate --from-scenes`: from pairs and a calibration to the corrected calibration and its report.
#include <fmt/core.h>

#include <array>
#include <nlohmann/json.hpp>

#include "command/calibrate.hpp"
#include "command/common.hpp"
#include "command/front_end.hpp"
#include "command/pairs.hpp"
#include "command/progress.hpp"
#include "command/result_files.hpp"
#include "command/table.hpp"
#include "command/terminal.hpp"
#include "stereopsis/io.hpp"
#include "stereopsis/rig_refinement.hpp"

namespace stereopsis::command::calibrating {
namespace {

void check_options(const Options& o) {
  const std::array<std::pair<bool, const char*>, 5> of_boards = {
      {{!o.left.empty() || !o.right.empty(), "--left or --right"},
       {!o.board.empty(), "--board"},
       {!o.picture.empty(), "--picture"},
       {o.zoom.has_value(), "--zoom"},
       {o.keep_outliers, "--keep-outliers"}}};
  for (const auto& [is_given, name] : of_boards)
    if (is_given) refuse(fmt::format("{} is for views of a board; leave it out with --from-scenes", name));
  if (o.scenes.size() > 2)
    refuse(fmt::format("--from-scenes is given {} times; give one input of pairs, or the left and the right images",
                       o.scenes.size()));
  const bool has_numbers = o.rig.focal || o.rig.baseline;
  if (!o.rig.files.empty() && has_numbers)
    refuse(fmt::format("{} is for cameras without a calibration; leave it out with --calib",
                       o.rig.focal ? "--focal" : "--baseline"));
  if (o.rig.files.empty() && (o.rig.scale || !o.rig.lens.empty()))
    refuse(fmt::format("{} describes the calibration of --calib, and there is none; leave it out",
                       o.rig.scale ? "--calib-scale" : "--lens"));
}

// Returns the cameras that took the images: raw ones, or those of the rectified pair.
StereoCalibration cameras_for(const Options& o, Size size, bool grey, const std::string& name) {
  const jobs::RigSource source = o.rig.calibration();
  CalibrationFile file = o.raw ? source.raw(size, grey) : source.rectified(size, grey);
  for (const std::string& warning : file.warnings) warn("warning: {}", warning);
  if (!o.raw && file.raw_only)
    refuse(fmt::format("{} describes raw cameras only; add --raw if the images are raw", source.name()));
  if (file.rig.size == Size{}) file.rig.size = size;
  StereoCalibration cameras = o.raw ? *file.cameras : cameras_of(file.rig);
  source.check_size(cameras.size, name, size);
  return cameras;
}

Json report_of(const RigRefinement& r) {
  Json all = Json::object();
  for (const RigTerm& t : r.terms)
    all[t.name] = {
        {"correction", t.correction}, {"deviation", t.deviation}, {"unit", t.unit}, {"observed", t.is_observed}};
  return {{"pairs", r.pairs},
          {"points", r.points},
          {"rows_before", r.rows_before},
          {"rows_after", r.rows_after},
          {"rows_deviation", r.rows_deviation},
          {"disparity_deviation", r.disparity_deviation},
          {"corrections", all}};
}

void print(const RigRefinement& r) {
  Table table({"term", "correction", "deviation", ""});
  for (const RigTerm& t : r.terms) {
    const auto shown = [&](double v) { return fmt::format("{:.4f}{}{}", v, *t.unit == '\0' ? "" : " ", t.unit); };
    table.add({t.name, shown(t.correction), shown(t.deviation), t.is_observed ? "" : "not observed"});
  }
  table.print();
  say("rows differ by         {:.3f} px before, {:.3f} px after the correction (median)\n", r.rows_before,
      r.rows_after);
  say("rows are known to      {:.3f} px, and disparities to {:.2f} px\n", r.rows_deviation, r.disparity_deviation);
}

void check_files(const Options& o, const Pairs& pairs) {
  CallFiles files;
  files.reads(pairs);
  o.rig.calibration().reads(files);
  files.writes(o.output, "-o");
  if (!o.ros.empty())
    for (const char* name : {"left.yaml", "right.yaml"}) files.writes(o.ros / name, "--ros");
  files.writes(o.report, "--report");
  check_output(o.output, std::array{".yml", ".yaml", ".xml"}, "-o");
  if (!o.report.empty()) check_result(o.report);
  if (!o.ros.empty() && o.rig.files.empty() && (!o.rig.baseline || o.rig.baseline->unit.empty()))
    refuse("--ros requires metres; give the distance between the cameras with its unit: --baseline 120mm");
}

ReadPair reader_of(const Pairs& pairs, Size size) {
  return [&pairs, size](std::size_t i, const UsePair& use) {
    const PairOfImages pair = read_pair(pairs.left, pairs.right, i);
    for (const auto& [image, name] :
         {std::pair{&pair.left.image, pairs.left.name(i)}, {&pair.right.image, pairs.right.name(i)}})
      if (image->size() != size)
        refuse(fmt::format("{} is {}, but {} is {}; all images must have the same size", name, size_text(image->size()),
                           pairs.left.name(0), size_text(size)));
    use(pair.left.image, pair.right.image);
  };
}

// Returns the focal length that is given, or that the first image states.
std::optional<double> focal_for(const Options& o, const Pairs& pairs, Size size) {
  if (o.rig.focal) return o.rig.focal;
  const std::filesystem::path file = pairs.left.name(0);
  const auto focal = std::filesystem::is_regular_file(image_file(file)) ? photo_focal(file, size) : std::nullopt;
  if (focal) say("focal length           {:.0f} px, from the Exif data of {}\n", *focal, file.string());
  return focal;
}

}  // namespace

void calibrate_from_scenes(const Options& o) {
  check_options(o);
  const Pairs pairs = find_pairs(o.scenes[0], o.scenes.size() > 1 ? o.scenes[1] : std::string(), PairOptions());
  check_files(o, pairs);
  const AnyImage first = read_pair(pairs.left, pairs.right, 0).left.image;
  const ReadPair read = reader_of(pairs, first.size());
  const RigRefinement found =
      o.rig.files.empty()
          ? estimate_rig({first.size(), focal_for(o, pairs, first.size()), o.rig.baseline}, pairs.left.size(), read)
          : refine_rig(cameras_for(o, first.size(), first.channels() == 1, pairs.left.name(0)), pairs.left.size(),
                       read);
  create_folder_of(o.output);
  write_calibration(o.output, found.calibration);
  if (!o.ros.empty()) {
    create_folder_of(o.ros / "left.yaml");
    write_camera_info(o.ros / "left.yaml", o.ros / "right.yaml", found.calibration);
  }
  if (!o.report.empty()) {
    create_folder_of(o.report);
    write_json(o.report, report_of(found));
  }
  print(found);
  if (std::string(found.terms.back().name) == "focal" && !found.terms.back().is_observed)
    warn("warning: the scenes do not show the focal length, and it was assumed; give it with --focal if depth counts");
  say("{}: {} points of {} pair{} of {}{}\n", o.output.string(), found.points, found.pairs, found.pairs == 1 ? "" : "s",
      size_text(first.size()),
      found.calibration.rig.unit == no_scale
          ? "; the calibration has no scale: its lengths are multiples of the baseline (--baseline gives its length)"
          : "");
}

}  // namespace stereopsis::command::calibrating
