#include "graph/registry.hpp"
#include "stages/measured_confidence/measured_confidence.hpp"

namespace stereopsis::measured_confidence {
namespace {

constexpr auto clear_unmeasured = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{
    .slot = Slot::internal,
    .name = "measured_confidence",
    .title = "confidence of measured pixels",
    .ports = {in("validity"), change("confidence")},
    .functions = on_every_device([](const auto& c) { clear_unmeasured(c, c("validity"), c("confidence")); }),
    .work = [](const Shape& s) { return Work{.bytes = 9 * s.pixels()}; },
    .facets = {FilledMarks{}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::measured_confidence
