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
      const auto in = c.template of<InputOf>(c.template image<const float>("disparity"),
                                             c.template image<const std::uint8_t>("image8"),
                                             c.template image<const std::uint8_t>("kinds"));
      interpolate(c, c.template as<Parameters>(), in, c.template image<float>("disparity"),
                  c.template image<std::uint8_t>("validity"));
    }),
    .global_support = true,
    .facets = {Fills{}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::interpolation
