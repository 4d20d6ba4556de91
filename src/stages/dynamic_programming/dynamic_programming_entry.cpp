#include "graph/registry.hpp"
#include "stages/dynamic_programming/dynamic_programming.hpp"

namespace stereopsis::dynamic_programming {
namespace {

constexpr auto optimise = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{
    .slot = Slot::optimisation,
    .name = "dynamic_programming",
    .title = "dynamic programming",
    .parameters = Parameters{},
    .ports = {in_volume("costs", {Element::u8}), out_volume("costs", Element::u16)},
    .functions =
        on_every_device([](const auto& c) { optimise(c, c.template as<Parameters>(), c("costs"), c("costs")); }),
    .global_support = true,
    .check = check,
    .scratch = {.cpu = [](const Shape& s) { return scratch_bytes(s.size().width, s.disparities(), s.target.threads); },
                .gpu = [](const Shape& s) { return gpu_scratch_bytes(s.size(), s.disparities()); }},
    // Both passes read the costs. One pass writes sums, and the other pass changes the sums. Each cell of a pass takes
    // 9 instructions.
    .work = [](const Shape& s) { return Work{.bytes = 8 * s.cells(), .path_ops = 18 * s.cells()}; },
    .examples = {{}, {"p1=300", "p2=900"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::dynamic_programming
