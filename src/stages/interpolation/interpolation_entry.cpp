#include "graph/registry.hpp"
#include "stages/interpolation/interpolation.hpp"

namespace stereopsis::interpolation {
namespace {

constexpr auto interpolate = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{
    .slot = Slot::refinement,
    .name = "interpolation",
    .title = "interpolation by kind",
    .parameters = Parameters{},
    .ports = {in("disparity"), in("image8"), in("kinds"), change("validity"), out("disparity", Element::f32)},
    .functions = on_every_device([](const auto& c) {
      interpolate(c, c.template as<Parameters>(), c.template of<InputOf>(c("disparity"), c("image8"), c("kinds")),
                  c("disparity"), c("validity"));
    }),
    .global_support = true,
    .facets = {Fills{}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::interpolation
