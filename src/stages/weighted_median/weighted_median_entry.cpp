#include "graph/registry.hpp"
#include "stages/weighted_median/weighted_median.hpp"

namespace stereopsis::weighted_median {
namespace {

constexpr auto filter = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{.slot = Slot::refinement,
                            .name = "weighted_median",
                            .title = "weighted median",
                            .parameters = Parameters{},
                            .ports = {in("disparity"), in("validity"), in("image8"), out("disparity", Element::f32)},
                            .functions = on_every_device([](const auto& c) {
                              const auto input =
                                  c.template of<InputOf>(c.template image<const float>("disparity"),
                                                         c.template image<const std::uint8_t>("validity"),
                                                         c.template image<const std::uint8_t>("image8"));
                              filter(c, c.template as<Parameters>(), input, c.template image<float>("disparity"));
                            }),
                            .required_input = required_input,
                            .facets = {KeepsInvalid{}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::weighted_median
