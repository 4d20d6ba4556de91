// Describes a call of `match` for the record that --resume reads, and finds the frames that are complete.
#include <nlohmann/json.hpp>

#include "match.hpp"

namespace stereopsis::command::matching {

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
               {"--right-first", o.pairing.right_first},
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
               {"--black", number(o.intensity.black)},
               {"--white", number(o.intensity.white)},
               {"--mask-black", o.constant.measure ? Json(nullptr) : Json(of.constant_regions().black)},
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

std::vector<bool> MatchJob::there(Size result) const {
  // A single pair and videos alone have no record.
  if (sinks->sidecar().empty()) return std::vector<bool>(left.size(), false);
  std::vector<FrameFiles> frames(left.size());
  for (std::size_t i = 0; i < frames.size(); ++i) {
    frames[i].inputs = {left.file(i), right.file(i)};
    if (std::error_code ignored; fs::is_regular_file(options.left, ignored))  // a list of pairs
      frames[i].inputs.push_back(options.left);
    for (const auto& mask : {mask_left, mask_right})
      if (mask) frames[i].inputs.push_back(mask->file(i));
    frames[i].outputs = sinks->outputs(i, written_size(result), target ? std::optional(target->size) : std::nullopt);
  }
  if (options.resume && !options.sinks.report.empty()) remove_leftovers(options.sinks.report);
  return Record(sinks->sidecar(), front_end)
      .frames_there({{"call", description_of(*this)}, {"estimated", {range.min, range.count}}}, frames, options.resume,
                    options.sinks.main_output());
}

}  // namespace stereopsis::command::matching
