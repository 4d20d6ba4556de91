#include "graph/registry.hpp"
#include "stages/scanline/scanline.hpp"

namespace stereopsis::scanline {
namespace {

constexpr auto optimise = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{
    .slot = Slot::optimisation,
    .name = "scanline",
    .title = "scanline optimisation",
    .parameters = Parameters{},
    .ports = {in("image8", both), in_volume("costs", {Element::u8}), out_volume("costs", Element::u16)},
    .functions = on_every_device([](const auto& c) {
      optimise(c, c.template as<Parameters>(), c.template of<ImagesOf>(c("image8"), c("image8", Side::other)),
               c.context.range.min, c("costs"), c("costs"));
    }),
    .global_support = true,
    .check = check,
    .scratch = {.cpu = [](const Shape& s) { return scratch_bytes(s.size(), s.disparities(), s.target.threads); },
                .gpu = [](const Shape& s) { return gpu_scratch_bytes(s.size(), s.disparities()); }},
    // A path reads the costs and adds to the sums. Each of its cells takes 11 instructions.
    .work = [](const Shape& s) { return Work{.bytes = 18 * s.cells(), .path_ops = 44 * s.cells()}; },
    .facets = {RightCosts{}},
    .examples = {{}, {"p1=10", "p2=3000", "color=60"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::scanline
