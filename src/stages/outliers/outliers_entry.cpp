#include "graph/registry.hpp"
#include "stages/outliers/outliers.hpp"

namespace stereopsis::outliers {
namespace {

constexpr auto find = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{.slot = Slot::refinement,
                            .name = "outliers",
                            .title = "outliers by kind",
                            .parameters = Parameters{},
                            .ports = {in("right"), change("disparity"), change("validity"), out("kinds", Element::u8)},
                            .functions = on_every_device([](const auto& c) {
                              const auto map = c.template of<MapOf>(c.template image<float>("disparity"),
                                                                    c.template image<std::uint8_t>("validity"),
                                                                    c.template image<std::uint8_t>("kinds"));
                              find(c, c.template as<Parameters>(), c.template image<const float>("right"), map);
                            }),
                            .global_support = true,
                            .facets = {KeepsInvalid{}},
                            .examples = {{}, {"threshold=1"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::outliers
