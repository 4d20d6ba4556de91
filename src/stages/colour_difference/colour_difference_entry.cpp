#include "graph/registry.hpp"
#include "stages/colour_difference/colour_difference.hpp"

namespace stereopsis::colour_difference {
namespace {

constexpr auto compute = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{
    .slot = Slot::cost,
    .name = "colour_difference",
    .title = "colour difference",
    .parameters = Parameters{},
    .ports = {in("rgb", both), out_volume("costs", Element::u8)},
    .functions = on_every_device([](const auto& c) {
      compute(c, c.template as<Parameters>(), c("rgb"), c("rgb", Side::other), c.context.range.min, c("costs"));
    }),
    .scratch = {
        .cpu = [](const Shape& s) { return scratch_bytes(s.size().width, s.disparities(), s.target.threads); }}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::colour_difference
