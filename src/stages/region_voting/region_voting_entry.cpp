#include "graph/registry.hpp"
#include "stages/region_voting/region_voting.hpp"

namespace stereopsis::region_voting {
namespace {

constexpr auto vote = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{.slot = Slot::refinement,
                            .name = "region_voting",
                            .title = "region voting",
                            .parameters = Parameters{},
                            .ports = {in("cross"), change("disparity"), change("validity")},
                            .functions = on_every_device([](const auto& c) {
                              vote(c, c.template as<Parameters>(), c("cross"),
                                   c.template of<MapOf>(c("disparity"), c("validity")));
                            }),
                            .global_support = true,
                            .scratch = {.cpu = [](const Shape& s) { return scratch_bytes(s.size()); },
                                        .gpu = [](const Shape& s) { return gpu_scratch_bytes(s.size()); }},
                            .facets = {Fills{}},
                            .examples = {{}, {"votes=5", "share=20"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::region_voting
