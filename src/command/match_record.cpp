// Describes a call of `match` for the record that --resume reads, and finds the frames that are complete.
#include <nlohmann/json.hpp>

#include "command/match.hpp"

namespace stereopsis::command::matching {

Json description_of(const Call& of) {
  const Options& o = of.options;
  Json call = {{"the version", STEREOPSIS_VERSION},
               {"LEFT", o.run.inputs.left.string()},
               {"RIGHT", o.run.inputs.right.string()}};
  const fs::path here = fs::absolute(of.run.sinks().sidecar()).parent_path();  // results may be moved together
  for (std::size_t k = 0; k < file_count; ++k)
    if (!o.run.sinks.files[k].empty())
      call[of.front_end.spelled(file_kinds()[k].name)] =
          fs::absolute(o.run.sinks.files[k]).lexically_normal().lexically_relative(here.lexically_normal()).string();
  const auto number = [](const auto& value) { return value ? Json(*value) : Json(nullptr); };
  call.update(
      {{"--pair", o.pairing.pair},
       {"--slop", o.pairing.slop},
       {"--side-by-side", o.pairing.side_by_side},
       {"--top-bottom", o.pairing.top_bottom},
       {"--right-first", o.pairing.right_first},
       {"--method", of.run.matching().pipeline.method()},
       {"--set", parameters_json(of.run.matching().pipeline)},
       {"the search range", of.run.range().is_estimated() ? Json(o.run.range.per_frame ? "per frame" : "estimated")
                                                          : Json(range_text(of.run.range().whole()))},
       {"--mask-left", o.run.inputs.mask_left.string()},
       {"--mask-right", o.run.inputs.mask_right.string()},
       {"--calib", lines_of(o.rig.files)},
       {"--calib-scale", number(o.rig.scale)},
       {"--lens", o.rig.lens},
       {"--focal", number(o.rig.focal)},
       {"--baseline", o.rig.baseline ? o.rig.baseline->text() : ""},
       {"--doffs", number(o.rig.doffs)},
       {"--raw", o.run.cameras.raw},
       {"--track-rig", o.run.cameras.track_rig.string()},
       {"--vertical", o.run.inputs.vertical},
       {"--register-to", o.run.cameras.register_to},
       {"--roi", o.roi},
       {"--crop", o.run.sinks.crop},
       {"--scale", number(o.run.sinks.scale)},
       {"--bit-depth", number(o.intensity.bit_depth)},
       {"--black", number(o.intensity.black)},
       {"--white", number(o.intensity.white)},
       {"--mask-black", o.constant.measure ? Json(nullptr) : Json(of.run.matching().constant.black)},
       {"--align-rows", o.rows},
       {"--measured-only", o.measured_only},
       {"--min-confidence", number(o.run.matching.min_confidence)},
       {"--frame", o.frame},
       {"--organised", o.run.sinks.organised},
       {"--disparity-error", number(o.run.matching.disparity_error)},
       {"--color-map", o.color.map},
       {"--color-range", o.color.range},
       {"--no-legend", o.color.no_legend},
       {"--show-filled", o.color.show_filled},
       {"--fill-depth", o.run.matching.fill_depth}});
  return call;
}

}  // namespace stereopsis::command::matching
