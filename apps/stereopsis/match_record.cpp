// Describes a call of `match` for the record that --resume reads, and finds the frames that are complete.
#include <nlohmann/json.hpp>

#include "match.hpp"

namespace stereopsis::command::matching {

Json description_of(const MatchJob& of) {
  const Options& o = of.options;
  Json call = {{"the version", STEREOPSIS_VERSION}, {"LEFT", o.input.left.string()}, {"RIGHT", o.input.right.string()}};
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
               {"--method", of.matching.pipeline.method()},
               {"--set", parameters_json(of.matching.pipeline)},
               {"the search range", of.range->is_estimated() ? Json(o.range.per_frame ? "per frame" : "estimated")
                                                             : Json(range_text(of.range->whole()))},
               {"--mask-left", o.input.mask_left.string()},
               {"--mask-right", o.input.mask_right.string()},
               {"--calib", lines_of(o.rig.files)},
               {"--calib-scale", number(o.rig.scale)},
               {"--lens", o.rig.lens},
               {"--focal", number(o.rig.focal)},
               {"--baseline", o.rig.baseline ? o.rig.baseline->text() : ""},
               {"--doffs", number(o.rig.doffs)},
               {"--raw", o.cameras.raw},
               {"--vertical", o.input.vertical},
               {"--register-to", o.cameras.register_to},
               {"--roi", o.roi},
               {"--crop", o.sinks.crop},
               {"--scale", number(o.sinks.scale)},
               {"--bit-depth", number(o.intensity.bit_depth)},
               {"--black", number(o.intensity.black)},
               {"--white", number(o.intensity.white)},
               {"--mask-black", o.constant.measure ? Json(nullptr) : Json(of.matching.constant.black)},
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
  if (sinks->sidecar().empty()) return std::vector<bool>(inputs.left().size(), false);
  std::vector<FrameFiles> frames(inputs.left().size());
  const auto& target = cameras->target();
  for (std::size_t i = 0; i < frames.size(); ++i) {
    frames[i].inputs = inputs.files_of(i);
    frames[i].outputs = sinks->outputs(i, written_size(result), target ? std::optional(target->size) : std::nullopt);
  }
  if (options.resume && !options.sinks.report.empty()) remove_leftovers(options.sinks.report);
  return Record(sinks->sidecar(), front_end)
      .frames_there({{"call", description_of(*this)}, {"estimated", {range->whole().min, range->whole().count}}},
                    frames, options.resume, options.sinks.main_output());
}

}  // namespace stereopsis::command::matching
