// Registers the cost, and the census words that the cost reads in addition to the images.
#include "graph/registry.hpp"
#include "stages/ad_census/ad_census.hpp"

namespace stereopsis::ad_census {
namespace {

constexpr auto compute = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

constexpr auto make_costs = [](const auto& c) {
  const auto in =
      c.template of<InputOf>(c("image8"), c("image8", Side::other), c("census9x7"), c("census9x7", Side::other));
  compute(c, c.template as<Parameters>(), in, c.context.range.min, c("costs"));
};

const StageDescriptor entry{
    .slot = Slot::cost,
    .name = "ad_census",
    .title = "AD-Census",
    .parameters = Parameters{},
    .ports = {in("image8", both), in("census9x7", both), out_volume("costs", Element::u8)},
    .functions = on_every_device(make_costs),
    .required_input = [](const StageParameters&,
                         const Rect& output) { return grow(output, 4, 3); },  // the window of the census transform
    .scratch = {.cpu = [](const Shape& s) { return scratch_bytes(s.size().width, s.disparities(), s.target.threads); }},
    .work =
        [](const Shape& s) { return Work{.bytes = s.cells(), .popcounts = 2 * s.cells(), .int_ops = 8 * s.cells()}; },
    .examples = {{}, {"lambda_color=5", "scale=60"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::ad_census
