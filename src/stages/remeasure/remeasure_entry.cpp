#include "graph/pipeline.hpp"
#include "graph/registry.hpp"
#include "stages/remeasure/remeasure.hpp"

namespace stereopsis::remeasure {
namespace {

constexpr auto measure_again = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

void check_pipeline(const PipelineData& pipeline, const Request&) {
  if (!pipeline.confidence)
    throw Error(
        ErrorCategory::call,
        "density.stage is remeasure, and confidence.stage is none; remeasure reads the confidence of the refined "
        "map; set confidence.stage = learned or density.stage = none");
}

const StageDescriptor entry{
    .slot = Slot::density,
    .name = "remeasure",
    .title = "measured again",
    .parameters = Parameters{},
    .ports = {in("census9x7", both), in("confidence"), change("disparity"), change("validity")},
    .functions = on_every_device([](const auto& c) {
      measure_again(c, c.template as<Parameters>(),
                    c.template of<InputOf>(c("census9x7"), c("census9x7", Side::other), c("confidence")),
                    c.context.range, c("disparity"), c("validity"));
    }),
    .required_input = required_input,
    .work = [](const Shape& s) { return Work{.bytes = 26 * s.pixels(), .popcounts = 50 * s.pixels()}; },
    .check_pipeline = check_pipeline,
    .facets = {Support{.spans_range = true}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::remeasure
