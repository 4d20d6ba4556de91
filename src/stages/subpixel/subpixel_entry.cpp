#include "graph/registry.hpp"
#include "stages/subpixel/subpixel.hpp"

namespace stereopsis::subpixel {
namespace {

constexpr auto enhance = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{.slot = Slot::refinement,
                            .name = "subpixel",
                            .title = "sub-pixel enhancement",
                            .parameters = Parameters{},
                            .ports = {change("disparity"), in_volume("costs", {Element::u16})},
                            .functions = on_every_device([](const auto& c) {
                              enhance(c, c.template as<Parameters>(), c("costs"), c.context.range.min, c("disparity"));
                            }),
                            // Three cells of a pixel's costs are read, in whole lines of memory.
                            .work = [](const Shape& s) { return Work{.bytes = (8 + 32) * s.pixels()}; },
                            .facets = {KeepsInvalid{}, Subpixels{true}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::subpixel
