#include "planning/lowering.hpp"

#include <algorithm>
#include <functional>

#include "core/text.hpp"
#include "graph/request.hpp"

namespace stereopsis {
namespace {

using Reject = std::function<void(const std::string&)>;

// Rejects pipelines to whose costs the stage of a slot cannot add seeds.
void check_seeds(const PipelineData& p, const Request& request, const StageChoice PipelineData::*slot, const char* name,
                 const Reject& reject) {
  if (!(p.*slot)) return;
  const std::string requires_it = text("has the stage ", name, ".stage = ", (p.*slot).entry->name, ", which requires ");
  const std::string none = text(name, ".stage = none");
  if (own_lowering(p, request) != nullptr) reject(requires_it + "a cost volume of the whole image; set " + none);
  if (reduction_of(p) != nullptr) reject(requires_it + "the full size; set prepare.factor = 1, or " + none);
  if (request.without_images) reject(requires_it + "the images; pass the images, too");
}

// Rejects pipelines whose optimisation cannot run a second time.
void check_second_pass(const PipelineData& p, const Request& request, const Reject& reject) {
  if (!p.second_pass) return;
  if (p.optimisation.facet<PathBoundary>() == nullptr || p.aggregation)
    reject(
        "has a second pass, which requires semi-global matching of its matching costs; set second_pass.stage = none");
  if (request.stripe)
    reject("has a second pass, which stripes do not support; set second_pass.stage = none, or match whole images");
  if (!p.confidence && p.second_pass.facet<SecondPass>()->needs_confidence(p.second_pass.parameters))
    reject(
        "has a second pass that needs a confidence, but no stage computes one; set second_pass.confidence = 0, or "
        "confidence.stage = learned_confidence");
}

}  // namespace

Element element_made(const StageChoice& cost) {
  const Ports ports = cost.entry->ports(cost.parameters, {});
  const Port* port = cost_port(ports, false);
  return port != nullptr ? port->element : cost.facet<GivenCosts>() != nullptr ? Element::f32 : Element::u8;
}

const Port* cost_port(const Ports& ports, bool comes_in) {
  const auto found = std::ranges::find_if(ports, [&](const Port& port) {
    const bool reads = port.use == Port::Use::in || port.use == Port::Use::change;
    return port.name == std::string_view("costs") && reads == comes_in;
  });
  return found == ports.end() ? nullptr : &*found;
}

bool takes_margin(const PipelineData& p) {
  if (uses_row_tiles(p)) return false;
  return p.optimisation ||
         std::ranges::any_of(p.refinements, [](const StageChoice& r) { return r.entry->global_support; });
}

bool checks_seeds(const PipelineData& p) { return p.seeds && p.seeds.facet<AddedCosts>()->checks(p.seeds.parameters); }

std::optional<Port::Use> use_of(const PipelineData& p, std::string_view input) {
  std::vector<const StageChoice*> stages;
  for (const SlotOfOne& slot : slots_of_one) stages.push_back(&(p.*slot.stage));
  for (const auto& list : {&p.refinements, &p.images})
    for (const StageChoice& stage : *list) stages.push_back(&stage);
  for (const StageChoice* stage : stages)
    for (const Port& port : *stage && stage->enabled ? stage->entry->ports(stage->parameters, {}) : Ports())
      if (port.name == input && reads(port.use)) return port.use;
  return {};
}

bool may_quantise(const PipelineData& p) { return p.cost && may_quantise(p, element_made(p.cost)); }

bool may_quantise(const PipelineData& p, Element made) {
  if (p.plus) {
    if (made != Element::u8 || element_made(p.plus) != Element::u8) return true;
    made = Element::u8;
  }
  if (p.second_pass && made != Element::u8) return true;
  for (const StageChoice* stage : {&p.seeds, &p.aggregation, &p.optimisation}) {
    if (!*stage) continue;
    const Ports ports = stage->entry->ports(stage->parameters, {});
    const Port* reads = cost_port(ports, true);
    const bool takes = reads == nullptr || reads->accepts.empty() || std::ranges::count(reads->accepts, made) > 0;
    if (!takes || (made == Element::u16 && stage->facet<CostLimit>() != nullptr)) return true;
    if (const Port* makes = cost_port(ports, false)) made = makes->element;
  }
  return false;
}

void check_combination(const PipelineData& p, const Request& request) {
  const auto reject = [&](const std::string& why) {
    throw Error(ErrorCategory::call, text("the pipeline '", p.method, "' ", why));
  };
  if (!p.cost) reject("has no matching cost; choose one, such as cost.stage = census");
  if (!p.select && p.cost.facet<Lowering>() == nullptr)
    reject("has no selection; choose one, such as select.stage = wta");
  const bool from_outside = p.cost.facet<GivenCosts>() != nullptr, reduces = reduction_of(p) != nullptr;
  if (from_outside && !request.costs)
    reject(
        "requires a cost volume, but none comes with the pair; pass a volume with each pair, or choose another cost");
  if (!from_outside && request.costs)
    reject(text("has the cost ", p.cost.entry->name, ", but a volume comes with the pair; set cost.stage = volume"));
  if (from_outside && reduces)
    reject("reduces the images, but the given costs have the full size; set prepare.factor = 1");
  if (request.requests_costs() && reduces && request.region)
    reject("reduces the images, and then volumes are not available for a region; match without a region");
  check_second_pass(p, request, reject);
  check_seeds(p, request, &PipelineData::seeds, "seeds", reject);
  check_seeds(p, request, &PipelineData::second_pass, "second_pass", reject);
  for (const SlotOfOne& slot : slots_of_one)
    if (const StageChoice& stage = p.*slot.stage; stage && stage.entry->check_pipeline != nullptr)
      stage.entry->check_pipeline(p, request);
}

}  // namespace stereopsis
