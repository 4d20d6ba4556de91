#include "graph/registry.hpp"
#include "nearest.hpp"

namespace stereopsis::nearest {
namespace {

constexpr auto remove_far = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{.slot = Slot::refinement,
                            .name = "nearest",
                            .title = "nearest",
                            .parameters = Parameters{},
                            .ports = {change("disparity"), change("validity")},
                            .functions = on_every_device([](const auto& c) {
                              remove_far(c, c.template as<Parameters>(), c.template image<float>("disparity"),
                                         c.template image<std::uint8_t>("validity"));
                            }),
                            .examples = {{"least=3"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::nearest
