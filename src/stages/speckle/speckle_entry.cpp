#include "graph/registry.hpp"
#include "stages/speckle/speckle.hpp"

namespace stereopsis::speckle {
namespace {

constexpr auto remove = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{.slot = Slot::refinement,
                            .name = "speckle",
                            .title = "speckle",
                            .parameters = Parameters{},
                            .ports = {change("disparity"), change("validity")},
                            .functions = on_every_device([](const auto& c) {
                              remove(c, c.template as<Parameters>(), c("disparity"), c("validity"));
                            }),
                            .global_support = true,
                            .scratch = {.cpu = [](const Shape& s) { return scratch_bytes(s.size()); },
                                        .gpu = [](const Shape& s) { return gpu_scratch_bytes(s.size()); }},
                            // A region that extends beyond these rows is larger than the limit.
                            .facets = {StripeSupport{.rows = [](const Parameters& p) -> RowSupport {
                                         return {.rows = p.size, .before_fills = true};
                                       }},
                                       KeepsInvalid{}},
                            .examples = {{"size=8", "difference=3"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::speckle
