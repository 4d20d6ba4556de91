#include "stereopsis/partition_plan.hpp"

#include <algorithm>

#include "core/text.hpp"
#include "program/composer.hpp"
#include "program/given_maps.hpp"
#include "program/user_stage.hpp"
#include "stages/fill/fill.hpp"
#include "stages/sgm/sgm.hpp"
#include "stages/speckle/speckle.hpp"
#include "stages/window_sad/window_sad.hpp"

namespace stereopsis {
namespace {

// What a stage reads above and below a row.
int rows_of(const Rect& input) { return std::max(-input.y, input.y + input.height - 1); }

int rows_of(const StageChoice& stage) {
  constexpr Rect pixel{0, 0, 1, 1};
  if (const auto rect = user_stage::required_input(stage.parameters, pixel)) return rows_of(*rect);
  return stage.entry->required_input == nullptr ? 0 : rows_of(stage.entry->required_input(stage.parameters, pixel));
}

class Splitter {
 public:
  explicit Splitter(const PipelineData& data) : data_(data) {}

  PartitionPlan split(bool want_confidence) {
    check_matching();
    PartitionPlan made{.follows_paths = static_cast<bool>(data_.optimisation), .raw = Pipeline(data_)};
    if (made.follows_paths) made.path_kinds = sgm::kinds_of(data_.optimisation.parameters.as<sgm::Parameters>());
    made.feature_rows = std::max({1, rows_of(data_.cost), data_.plus ? rows_of(data_.plus) : 0});
    PipelineData raw = data_, refined = data_;
    raw.refinements.clear();
    refined.refinements.clear();
    bool is_raw = true;
    for (const StageChoice& stage : data_.refinements) {
      if (!stage.enabled) continue;
      is_raw = is_raw && !stage.entry->global_support;
      if (is_raw)
        made.raw_rows += reach(stage);
      else
        add_refined(stage, made);
      (is_raw ? raw : refined).refinements.push_back(stage);
    }
    raw.region = RegionParameters{.margin = made.raw_rows};
    if (!refined.refinements.empty()) {
      made.needs = given_maps::needs_of(refined, want_confidence);
      made.refined_rows = made.before_fill + made.behind_fill;
      made.refined = Pipeline(std::move(refined));
    }
    made.raw = Pipeline(std::move(raw));
    return made;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ErrorCategory::call, text("the pipeline '", data_.method,
                                          "' can't be done in stripes with the bits of the whole image: ", why,
                                          "; match it whole, or stripes with a collar, which are not the same"));
  }

  void check_matching() const {
    if (reduction_of(data_).factor > 1) refuse("it works on reduced images, which begin at multiples of the reduction");
    for (const StageChoice* stage : {&data_.cost, &data_.plus, &data_.aggregation, &data_.optimisation})
      if (*stage && stage->entry->global_support && !stage->is(sgm::Parameters::stage))
        refuse(text(stage->entry->title, " may let any pixel depend on any other"));
    if (data_.cost.is("volume")) refuse("its costs come from outside");
    if (!data_.optimisation) return;
    if (data_.aggregation || data_.levels)
      refuse("semi-global matching goes on from path costs on features alone, on one level and without an aggregation");
    if (data_.plus) refuse("semi-global matching goes on from path costs on features alone, and two costs are added");
    if (data_.cost.entry->kind == nullptr || !cost::can_be_followed(data_.cost.entry->kind(data_.cost.parameters)))
      refuse(text("semi-global matching goes on from path costs on features of up to 64 bits alone, which ",
                  data_.cost.entry->title, " does not make"));
  }

  int reach(const StageChoice& stage) const {
    if (!stage.is("confidence")) return rows_of(stage);
    const auto* cost = data_.cost.get_if<window_sad::Parameters>();
    return cost == nullptr ? 0 : rows_of(window_sad::required_input(cost->window(), {0, 0, 1, 1}));
  }

  void add_refined(const StageChoice& stage, PartitionPlan& made) const {
    for (const Port& port : stage.entry->ports(stage.parameters, {}))
      if (port.name == std::string_view("costs"))
        refuse(text(stage.entry->title, " reads the costs behind a refinement that sees the whole image"));
    int& rows = made.fills ? made.behind_fill : made.before_fill;
    if (const auto* p = stage.get_if<speckle::Parameters>()) {
      if (made.fills) refuse("speckles are removed behind a fill, whose reach has no end");
      rows += p->size;  // a region that leaves these rows is larger
    } else if (const auto* f = stage.get_if<fill::Parameters>()) {
      add_fill(*f, made);
    } else if (stage.entry->global_support) {
      refuse(text(stage.entry->title, " may let any pixel depend on any other"));
    } else {
      rows += reach(stage);
    }
  }

  void add_fill(const fill::Parameters& p, PartitionPlan& made) const {
    int& rows = made.fills ? made.behind_fill : made.before_fill;
    switch (p.mode) {
      case fill::Mode::cross: rows += p.distance; return;
      case fill::Mode::box: rows += p.window / 2; return;
      case fill::Mode::hirschmueller: refuse("fill.mode = hirschmueller asks whole regions of invalid pixels");
      default: break;
    }
    if (made.fills) refuse("a fill whose reach has no end follows another");
    made.fills = true;
  }

  const PipelineData& data_;
};

}  // namespace

PartitionPlan partition_plan(const Pipeline& pipeline, bool want_confidence) {
  return Splitter(pipeline.data()).split(want_confidence);
}

}  // namespace stereopsis
