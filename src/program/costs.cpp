// Volumes of costs on one level, from the matching cost to the selection: what each stage takes is brought to it, what is wanted
// is given, and what has no meaning is refused.
#include <algorithm>
#include <cmath>

#include "core/text.hpp"
#include "program/composer.hpp"
#include "program/probe.hpp"
#include "stages/cross_scale/cross_scale.hpp"
#include "stages/quantise/quantise.hpp"
#include "stages/reduce/reduce.hpp"
#include "stages/sum/sum.hpp"
#include "stages/volume/volume.hpp"
#include "stages/wta/wta.hpp"

namespace stereopsis {
namespace {

bool across_scales(const PipelineData& p) {
  const auto* scales = p.levels.get_if<cross_scale::Parameters>();
  return scales != nullptr && cross_scale::levels_of(*scales) > 1;
}

std::string name_of(CostState state) {
  return text("the output '", output_table[output_row(volume_binding(state))].name, "'");
}

// The port of a stage that costs come in, or go out, by.
const Port* cost_port(const Ports& ports, bool comes_in) {
  const auto found = std::ranges::find_if(ports, [&](const Port& port) {
    const bool reads = port.use == Port::Use::in || port.use == Port::Use::change;
    return port.name == std::string_view("costs") && reads == comes_in;
  });
  return found == ports.end() ? nullptr : &*found;
}

}  // namespace

bool may_quantise(const PipelineData& data) {
  if (!data.cost) return false;
  const auto made_by = [](const StageChoice& cost) {
    const Ports ports = cost.entry->ports(cost.parameters, {});
    const Port* port = cost_port(ports, false);
    return port != nullptr ? port->element : cost.is("volume") ? Element::f32 : Element::u8;
  };
  Element made = made_by(data.cost);
  if (data.plus) {
    if (made != Element::u8 || made_by(data.plus) != Element::u8) return true;
    made = Element::u8;
  }
  for (const StageChoice* stage : {&data.aggregation, &data.optimisation}) {
    if (!*stage) continue;
    const Ports ports = stage->entry->ports(stage->parameters, {});
    const Port* reads = cost_port(ports, true);
    const bool takes = reads == nullptr || reads->accepts.empty() || std::ranges::count(reads->accepts, made) > 0;
    if (!takes || (made == Element::u16 && stage->entry->most_cost != nullptr)) return true;
    if (const Port* makes = cost_port(ports, false)) made = makes->element;
  }
  return false;
}

// With the right view as the reference, over −d.
void Composer::match_view(Images& images, const DisparityRange& range, Maps& maps, bool from_right) {
  Scope scope{images, maps, context_of(from_right ? DisparityRange{-range.max(), range.count} : range, images)};
  scope.context.from_right = from_right;
  scope.context.rows = {0, images.size.height};
  CostUnits units = make_costs(scope);
  const auto update_max_cost = [&] {
    const bool are_words = pipeline_.cost.entry->kind != nullptr && scope.context.kind.index() != 0;
    const double most = are_words ? cost::max_cost(scope.context.kind) : std::ceil(units.largest);
    scope.context.most_cost = static_cast<int>(std::clamp(most, 1.0, 255.0));
  };
  const auto run_on_costs = [&](const StageChoice& stage, bool wanted, CostState state) {
    if (!stage && wanted)
      throw Error(ErrorCategory::call, text("the pipeline '", pipeline_.method, "' has no stage that makes ",
                                            name_of(state), ", which is requested; choose one, or do without"));
    if (!stage) return;
    fit_costs(stage, units, scope);
    update_max_cost();
    run(stage, scope);
    units = units_of(stage, units);
    scope.context.kind = {};  // they are no longer what words cost
    if (from_right) return;
    if (wanted) give(maps.at("costs"), state);
    probe(scope, state);
  };
  const CostVolumes& wanted = problem_.volumes;
  if (wanted.want_cost && !from_right) give(maps.at("costs"), CostState::cost);
  if (!from_right) probe(scope, CostState::cost);
  run_on_costs(pipeline_.aggregation, wanted.want_aggregated, CostState::aggregated);
  run_on_costs(pipeline_.optimisation, wanted.want_optimised, CostState::optimised);
  if (!from_right) return select(scope, pipeline_.select.parameters);
  const bool border = pipeline_.select.parameters.as<wta::Parameters>().border_candidates;
  run(*pipeline_.select.entry, wta::Parameters{.border_candidates = border}, scope);
}

CostUnits Composer::units_of(const StageChoice& stage, const CostUnits& before) const {
  return stage.entry->units == nullptr ? before : stage.entry->units(stage.parameters);
}

CostUnits Composer::make_costs(Scope& scope) {
  return pipeline_.plus ? add_costs(scope) : costs_of(pipeline_.cost, scope);
}

// The sum of both costs, each brought to 8 bits before.
CostUnits Composer::add_costs(Scope& scope) {
  const StageChoice sum(pipeline_.summing.as<sum::Parameters>());
  const auto largest_of = [&](const StageChoice& cost, Scope& in) {
    CostUnits units = costs_of(cost, in);
    fit_costs(sum, units, in);
    const bool are_words = in.context.kind.index() != 0;
    return are_words ? std::min(255, cost::max_cost(in.context.kind)) : units.largest;
  };
  const double first = largest_of(pipeline_.cost, scope);
  const int costs = scope.maps.at("costs");
  // What is called words is a stage's own.
  Images images = scope.images;
  images.made.erase("words");
  Scope other{images, scope.maps, scope.context};
  const StageDescriptor& plus = *pipeline_.plus.entry;
  other.context.cost = &pipeline_.plus.parameters;
  other.context.kind = plus.kind != nullptr ? plus.kind(pipeline_.plus.parameters) : cost::AnyKind();
  const double second = largest_of(pipeline_.plus, other);
  const int sums = scope.maps["plus_costs"] = scope.maps.at("costs");
  scope.maps["costs"] = costs;
  run(sum, scope);
  scope.maps["costs"] = sums;
  scope.maps.erase("plus_costs");
  scope.context.kind = {};  // they are no longer what words cost
  return {sum::largest(pipeline_.summing.as<sum::Parameters>(), first, second), 1};
}

// A volume of a matching cost: the caller's, one that its stage makes, or that its words give.
CostUnits Composer::costs_of(const StageChoice& cost, Scope& scope) {
  if (cost.is(volume::Parameters::stage)) {
    scope.maps["costs"] = given_costs_;
    const Element element = shape_of(given_costs_).element;
    const bool goes_on = pipeline_.plus || pipeline_.aggregation || pipeline_.optimisation;
    if (goes_on && element != Element::u8) run(registry().at("volume_candidates"), {}, scope);
    const double largest = units_of(cost, {}).largest;
    return {largest > 0 ? largest : element == Element::f32 ? 1 : element == Element::u8 ? 255 : 65535, 1};
  }
  const bool has_words = cost.entry->kind != nullptr;
  if (!has_words || scope.images.find("words", 0) < 0) run(cost, scope);
  if (has_words) run(registry().at("cost_volume"), {}, scope);
  if (has_words) return {255, 1};
  CostUnits units = units_of(cost, {});
  if (units.largest == 0) units.largest = shape_of(scope.maps.at("costs")).element == Element::u8 ? 255 : 65535;
  return units;
}

// Brings costs to 8 bits where a stage does not take them as they are, and to a volume of its own where it changes them.
void Composer::fit_costs(const StageChoice& next, CostUnits& units, Scope& scope) {
  const Ports ports = next.entry->ports(next.parameters, scope.images.info);
  const Port* port = cost_port(ports, true);
  if (port == nullptr) return;
  const int costs = scope.maps.at("costs");
  const Element element = shape_of(costs).element;
  const auto takes = [&](Element e) {
    return port->accepts.empty() || std::find(port->accepts.begin(), port->accepts.end(), e) != port->accepts.end();
  };
  const bool too_large = next.entry->most_cost != nullptr && element != Element::u8 &&
                         units.largest > next.entry->most_cost(next.parameters);
  const bool is_shared = port->use == Port::Use::change && program_.values_[costs].binding != Binding::none;
  if ((takes(element) && !too_large && !is_shared) || !takes(Element::u8)) return;
  const bool fills = element == Element::f32 && program_.values_[costs].binding == Binding::costs;
  const double scale =
      element == Element::u8 ? 1 : quantise::scale_of(pipeline_.quantise(), units.largest, units.units, fills);
  run(registry().at("quantise"), quantise::Parameters{.scale = scale}, scope);
  units = {std::min(255.0, scale * units.largest), 1};
  scope.context.kind = {};  // they are no longer what words cost
}

// The caller wants a volume.
void Composer::give(int costs, CostState state) {
  if (program_.values_[costs].binding != Binding::none)
    throw Error(ErrorCategory::call,
                text(name_of(state), " is requested, but it is the volume that was given; do without"));
  program_.values_[costs].binding = volume_binding(state);
}

// The costs of the probed pixels, as they are in this state.
void Composer::probe(const Scope& scope, CostState state) {
  if (problem_.volumes.probes.empty()) return;
  probe::Parameters p;
  const int factor = reduction_of(pipeline_).factor;
  for (const Pixel& pixel : problem_.volumes.probes)
    p.pixels.push_back({(pixel.x - shown_.x) / factor, (pixel.y - shown_.y) / factor});
  const int costs = scope.maps.at("costs"), count = static_cast<int>(p.pixels.size());
  const int probed = image({shape_of(costs).disparities, count}, shape_of(costs).element);
  program_.values_[probed].binding = probe_binding(state);
  add(probe::entry(), std::move(p), scope.context, {{costs, {}}, {probed, {}}});
}

void Composer::select(Scope& scope, const StageParameters& parameters) {
  const int candidates = scope.images.find("candidates", 0), mask = scope.images.find("mask", 0);
  if (candidates >= 0) scope.images.put("mask", 0, candidates);
  run(*pipeline_.select.entry, parameters, scope);
  if (candidates >= 0) {
    scope.images.put("mask", 0, mask);
    run(registry().at("volume_holes"), {}, scope);
  }
  const StageDescriptor& cost = *pipeline_.cost.entry;
  if (cost.after_selection != nullptr) run(registry().at(cost.after_selection), pipeline_.cost.parameters, scope);
}

// What the elements of volumes do not say by themselves.
void Composer::check_combination() const {
  const PipelineData& p = pipeline_;
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCategory::call, text("the pipeline '", p.method, "' ", why));
  };
  const auto name = [](const StageChoice& stage) { return stage.entry->name; };
  if (!p.cost) refuse("has no matching cost; choose one, as cost.stage = census");
  const bool from_outside = p.cost.is(volume::Parameters::stage);
  if (from_outside != problem_.volumes.given.has_value())
    refuse(from_outside
               ? "takes a cost volume, but none comes with the pair; say its type in Problem::volumes.given, or choose "
                 "another cost"
               : text("has the cost ", name(p.cost), ", but a volume comes with the pair; set cost.stage = volume"));
  if (from_outside && reduction_of(p).factor > 1)
    refuse("reduces the images, whose costs are given at their full size; set prepare.factor = 1");
  if (requests_costs(problem_) && reduction_of(p).factor > 1 && problem_.region)
    refuse("gives volumes of reduced images only for whole ones; match without a region");
  if (p.levels.is("pyramid") && (!p.cost.is("window_sad") || p.plus || p.aggregation || p.optimisation || p.prepare))
    refuse(
        "searches a pyramid around what coarser levels found, with the sums of window differences there: it takes no "
        "other cost, "
        "no aggregation, optimisation or preparation; set levels.stage = none");
  if (p.levels.is("pyramid") && requests_costs(problem_))
    refuse("searches a pyramid, which never has the costs of a whole range; set levels.stage = none for a volume");
  if (across_scales(p) && !uses_row_tiles(p))
    refuse(
        "couples the levels' filtered costs, which are those of guided on features, selected as they are; set "
        "levels.lambda = 0, "
        "or levels.stage = none");
  if (across_scales(p) && requests_costs(problem_)) refuse("gives volumes of one level; set levels.lambda = 0");
}

}  // namespace stereopsis
