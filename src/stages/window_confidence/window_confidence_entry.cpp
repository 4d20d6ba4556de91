#include "graph/facets.hpp"
#include "stages/shared/window_entry.hpp"
#include "stages/window_confidence/window_confidence.hpp"

namespace stereopsis::window_confidence {
namespace {

constexpr auto measure = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{
    .slot = Slot::refinement,
    .name = "window_confidence",
    .title = "window confidence",
    .parameters = Parameters{},
    .ports = {in("colours", both), in("disparity"), out("confidence", Element::f32)},
    .functions = on_every_device([](const auto& c) {
      const auto& p = c.template as<Parameters>();
      measure(c, p, p.matching.window(), window_sad::source_of(c, window_sad::weighting_of(p.matching)), c("disparity"),
              c("confidence"));
    }),
    .work = [](const Shape& s) { return Work{.bytes = 16 * s.pixels()}; },
    .plan = [](Parameters& p, const PlanFacts& facts) { p.matching = window_sad::parameters_of(facts.cost); },
    .facets = {Support{.spans_window = true}, KeepsInvalid{}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::window_confidence
