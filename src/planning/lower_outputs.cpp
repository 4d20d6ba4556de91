// Lowers the outputs: the steps from the maps of the selection to the requested outputs.
#include <algorithm>

#include "core/text.hpp"
#include "graph/region.hpp"
#include "planning/lowering.hpp"

namespace stereopsis {
namespace {

// Returns whether the selection, or a method in its place, must compute a map: the map is requested, or a refinement
// reads it before another refinement computes it.
bool selection_makes(const PipelineData& p, std::string_view map, bool requested) {
  const auto is_map = [&](const Port& port) { return port.name == map; };
  const StageChoice& maker = p.select ? p.select : p.cost;
  if (std::ranges::none_of(maker.entry->ports(maker.parameters, {}), is_map)) return false;
  for (const StageChoice& stage : p.refinements)
    for (const Port& port : stage.enabled ? stage.entry->ports(stage.parameters, {}) : Ports())
      if (is_map(port) && (port.use == Port::Use::in || port.use == Port::Use::change || port.use == Port::Use::out))
        return port.use != Port::Use::out;
  return requested;
}

// Computes depth and points, which have the size of the whole image. Only measured pixels have depth, unless other
// pixels are requested.
void triangulate(Builder& b, const Images& full, Maps& maps) {
  const Request& request = b.request();
  const StageDescriptor& stage = registry().with<Triangulation>();
  const bool wanted = request.requests(Binding::output_depth) || request.requests(Binding::output_points) ||
                      request.requests(Binding::output_uncertainty);
  if (!wanted) return;
  const Size size = b.shape_of(maps.at("disparity")).size();
  if (output_size(b.pipeline(), full.size) != full.size)
    throw Error(
        ErrorCategory::call,
        "the result has a reduced size, for which depth and points cannot be computed; set reduce.upsample = true");
  const auto made = [&](Binding output, int channels) {
    const char* const name = output_rows[output_row(output)].name;
    if (!request.requests(output)) return Builder::PortValue{name, -1};
    return Builder::PortValue{name, maps[name] = b.image(size, Element::f32, channels)};
  };
  b.add(stage, stage.facet<Triangulation>()->parameters(request, b.shown()), {},
        {{"disparity", maps.at("disparity")},
         {"validity", request.fill_depth ? -1 : maps.at("validity")},
         {"confidence", rates_uncertainty(b.pipeline(), request) ? maps.at("confidence") : -1}},
        {made(Binding::output_depth, 1), made(Binding::output_points, 3), made(Binding::output_uncertainty, 1)});
}

void deliver(Builder& b, const Maps& maps) {
  const PipelineData& p = b.pipeline();
  const Request& request = b.request();
  if (request.requests(Binding::output_confidence) && !p.confidence && maps.contains("confidence") &&
      (request.refine_only || std::ranges::any_of(p.refinements, &StageChoice::enabled)))
    b.add(registry().with<FilledMarks>(), {}, {},
          {{"validity", maps.at("validity")}, {"confidence", maps.at("confidence")}});
  for (std::size_t row = 0; row < output_rows.size(); ++row) {
    if (output_rows[row].kind != OutputKind::map || !request.requests(output_binding(row))) continue;
    const auto map = maps.find(output_rows[row].name);
    if (map == maps.end())
      throw Error(ErrorCategory::call,
                  text("the pipeline '", p.method, "' has no stage that computes the output '", output_rows[row].name,
                       "', which is requested; add such a stage, or do not request the output"));
    b.bind(map->second, output_binding(row));
  }
}

// Creates the values of further requested outputs. Stages of the pipeline write these maps if the values exist.
void add_further_maps(Builder& b, Size size, Maps& maps) {
  for (const SlotOfOne& slot : slots_of_one) {
    const StageChoice& stage = b.pipeline().*slot.stage;
    for (const Port& port : stage ? stage.entry->ports(stage.parameters, {}) : Ports())
      for (std::size_t row = 0; row < output_rows.size(); ++row)
        if (port.use == Port::Use::wanted && port.name == std::string_view(output_rows[row].name) &&
            output_binding(row) != Binding::output_right && output_binding(row) != Binding::output_confidence &&
            b.request().requests(output_binding(row)))
          maps.try_emplace(port.name, b.image(size, port.element));
  }
}

}  // namespace

Maps lower_maps(Builder& b, Size size) {
  const PipelineData& p = b.pipeline();
  const Request& request = b.request();
  if (request.refine_only) return given_maps::lower(b, size);
  Maps maps{{"disparity", b.image(size, Element::f32)}, {"validity", b.image(size, Element::u8)}};
  for (const auto& [map, output] :
       {std::pair{"right", Binding::output_right}, {"confidence", Binding::output_confidence}})
    if (selection_makes(p, map, request.requests(output) && !(p.confidence && output == Binding::output_confidence)))
      maps[map] = b.image(size, Element::f32);
  add_further_maps(b, size, maps);
  return maps;
}

FirstPass lower_first_pass(Builder& b, Images& images, const DisparityRange& range) {
  const PipelineData& p = b.pipeline();
  Maps maps{{"disparity", b.image(images.size, Element::f32)}, {"validity", b.image(images.size, Element::u8)}};
  if (selection_makes(p, "right", false)) maps["right"] = b.image(images.size, Element::f32);
  FirstPass first = lower_costs(b, images, range, maps);
  Scope scope{images, maps, b.context_of(range, images)};
  for (const StageChoice& refinement : p.refinements)
    if (refinement.enabled && refinement.facet<Fills>() == nullptr) b.run(refinement, scope);
  const auto* second = p.second_pass.facet<SecondPass>();
  if (p.confidence && second->needs_confidence(p.second_pass.parameters)) b.run(p.confidence, scope);
  first.seeds = second->seeds(b, p.second_pass.parameters, images, maps);
  first.maps = std::move(maps);
  return first;
}

void lower_outputs(Builder& b, Images& full, Images& seen, const DisparityRange& range, Maps& maps,
                   const FirstPass& first) {
  const PipelineData& p = b.pipeline();
  Scope scope{seen, maps, b.context_of(range, seen)};
  for (const StageChoice& refinement : p.refinements)
    if (refinement.enabled) b.run(refinement, scope);
  const auto mark_flat = [&](int factor, int first_row) {
    if (b.request().constant.mark_flat) facet_of<FlatMarks>().mark_maps(b, full, maps, factor, first_row);
  };
  mark_flat(reduction_factor(p), seen.rows.first);
  const StageDescriptor& check = registry().with<SeedCheck>();
  if (checks_seeds(p)) b.run(check, check.parameters, scope);
  for (const int seeds : first.seeds) {
    const WithImage prior(seen, "prior", seeds);
    for (const char* map : {"disparity", "validity"}) maps[std::string("first_") + map] = first.maps.at(map);
    b.run(check, check.parameters, scope);
  }
  if (rates_pixels(p, b.request())) b.run(p.confidence, scope);
  if (p.density) b.run(p.density, scope), mark_flat(reduction_factor(p), seen.rows.first);
  if (const Reduction* reduction = reduction_of(p)) reduction->restore(b, p.prepare, full, seen, maps);
  if (reduction_of(p) != nullptr && output_factor(p) == 1) mark_flat(1, 0);
  triangulate(b, full, maps);
  if (b.request().with_rows) facet_of<RestoredView>().restore(b, maps);
  deliver(b, maps);
}

}  // namespace stereopsis
