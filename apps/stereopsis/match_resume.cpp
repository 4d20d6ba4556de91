// The comparison of calls for `match --resume`.
#include <nlohmann/json.hpp>

#include "match.hpp"
#include "resume.hpp"

namespace stereopsis::command::matching {
namespace {

// Returns everything that a result depends on, except the images and a range that was estimated from them.
Json description_of(const MatchJob& of) {
  const Options& o = of.options;
  Json call = {{"the version", STEREOPSIS_VERSION}, {"LEFT", o.left.string()}, {"RIGHT", o.right.string()}};
  const fs::path here = fs::absolute(of.sinks->sidecar()).parent_path();  // results may be moved together
  for (std::size_t k = 0; k < file_count; ++k)
    if (!o.sinks.files[k].empty())
      call[of.front_end.spelled(file_kinds()[k].name)] =
          fs::absolute(o.sinks.files[k]).lexically_normal().lexically_relative(here.lexically_normal()).string();
  const auto number = [](const auto& value) { return value ? Json(*value) : Json(nullptr); };
  call.update({{"--pair", o.pairing.pair},
               {"--slop", o.pairing.slop},
               {"--side-by-side", o.pairing.side_by_side},
               {"--top-bottom", o.pairing.top_bottom},
               {"--method", of.pipeline.method()},
               {"--set", parameters_json(of.pipeline)},
               {"the search range", of.range_is_estimated() ? Json(o.range_per_frame ? "per frame" : "estimated")
                                                            : Json(range_text(of.range))},
               {"--mask-left", o.mask_left.string()},
               {"--mask-right", o.mask_right.string()},
               {"--calib", lines_of(o.rig.files)},
               {"--calib-scale", number(o.rig.scale)},
               {"--lens", o.rig.lens},
               {"--focal", o.rig.focal},
               {"--baseline", o.rig.baseline ? o.rig.baseline->text() : ""},
               {"--doffs", number(o.rig.doffs)},
               {"--raw", o.raw},
               {"--vertical", o.vertical},
               {"--register-to", o.register_to},
               {"--roi", o.roi},
               {"--crop", o.sinks.crop},
               {"--scale", number(o.sinks.scale)},
               {"--bit-depth", number(o.intensity.bit_depth)},
               {"--white", number(o.intensity.white)},
               {"--black", o.constant.measure ? Json(nullptr) : Json(of.constant_regions().black)},
               {"--measured-only", o.measured_only},
               {"--min-confidence", number(o.min_confidence)},
               {"--frame", o.frame},
               {"--organised", o.sinks.organised},
               {"--disparity-error", number(o.disparity_error)},
               {"--color-map", o.color.map},
               {"--color-range", o.color.range},
               {"--no-legend", o.color.no_legend},
               {"--show-filled", o.color.show_filled},
               {"--fill-depth", o.fill_depth}});
  return call;
}

}  // namespace

std::optional<DisparityRange> range_before(const fs::path& sidecar) {
  if (!file_exists(sidecar)) return std::nullopt;
  const Json range = read_sidecar(sidecar)["estimated"];
  if (!range.is_array() || range.size() != 2 || !range[0].is_number_integer() || !range[1].is_number_integer())
    return std::nullopt;
  return DisparityRange{range[0].get<int>(), range[1].get<int>()};
}

std::vector<bool> frames_there(const MatchJob& call, Size written) {
  std::vector<FrameFiles> frames(call.left.size());
  for (std::size_t i = 0; i < frames.size(); ++i) {
    frames[i].inputs = {call.left.file(i), call.right.file(i)};
    if (std::error_code ignored; fs::is_regular_file(call.options.left, ignored))  // a list of pairs
      frames[i].inputs.push_back(call.options.left);
    for (const auto& mask : {call.mask_left, call.mask_right})
      if (mask) frames[i].inputs.push_back(mask->file(i));
    for (std::size_t k = 0; k < file_count; ++k) {
      const bool has_legend =
          k == ResultFile::colour || k == ResultFile::depth_picture || k == ResultFile::validity_picture;
      const Size size = has_legend || k == ResultFile::cloud    ? Size{}
                        : k == ResultFile::depth && call.target ? call.target->size
                                                                : written;
      if (!call.sinks->files(i)[k].empty()) frames[i].outputs.push_back({call.sinks->files(i)[k], size});
    }
  }
  const Options& o = call.options;
  if (o.resume && !o.sinks.report.empty()) remove_leftovers(o.sinks.report);
  return command::frames_there(call.sinks->sidecar(),
                               {{"call", description_of(call)}, {"estimated", {call.range.min, call.range.count}}},
                               frames, o.resume, o.sinks.main_output());
}

}  // namespace stereopsis::command::matching
