#include "planning/lowering.hpp"

#include <algorithm>

#include "core/text.hpp"

namespace stereopsis::given_maps {
namespace {

bool is_map(std::string_view name) {
  constexpr std::string_view maps[] = {"disparity", "validity", "right", "confidence", "kinds", "costs"};
  return std::ranges::find(maps, name) != std::end(maps);
}

}  // namespace

RefinementNeeds needs_of(const PipelineData& data, bool want_confidence) {
  const bool rates = data.confidence && (want_confidence || data.density), checks = checks_seeds(data);
  RefinementNeeds needs{
      .images = rates || checks, .right = false, .confidence = want_confidence && !data.confidence, .seeds = checks};
  bool made = false;  // true if a refinement computes a confidence
  for (const StageChoice& stage : data.refinements) {
    if (!stage.enabled) continue;
    for (const Port& port : stage.entry->ports(stage.parameters, {})) {
      const std::string_view name = port.name;
      if (name == "confidence" && port.use == Port::Use::out && !made) made = true, needs.confidence = false;
      if (!reads(port.use)) continue;
      if (!is_map(name)) needs.images = true;
      if (name == "right") needs.right = true;
      if (name == "confidence" && !made) needs.confidence = true;
    }
  }
  return needs;
}

Maps lower(Builder& b, Size size) {
  const PipelineData& p = b.pipeline();
  if (reduction_of(p) != nullptr)
    throw Error(ErrorCategory::call,
                text("the pipeline '", p.method,
                     "' reduces the images, but the given maps have the full size; set prepare.factor = 1"));
  const RefinementNeeds needs = needs_of(p, b.request().requests(Binding::output_confidence));
  Maps maps;
  std::vector<Builder::PortValue> given_values, copies;
  const auto take = [&](const char* name, Binding binding, Element element) {
    const int given = b.image(size, element);
    b.bind(given, binding);
    maps[name] = b.image(size, element);
    given_values.push_back({name, given});
    copies.push_back({name, maps[name]});
  };
  take("disparity", Binding::given_disparity, Element::f32);
  take("validity", Binding::given_validity, Element::u8);
  if (needs.confidence) take("confidence", Binding::given_confidence, Element::f32);
  b.add(registry().with<MapCopies>(), {}, {}, given_values, copies);
  if (needs.right) b.bind(maps["right"] = b.image(size, Element::f32), Binding::given_right);
  return maps;
}

}  // namespace stereopsis::given_maps
