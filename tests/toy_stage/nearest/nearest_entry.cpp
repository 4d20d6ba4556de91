#include "nearest.hpp"
#include "graph/descriptor.hpp"

namespace stereopsis::nearest {
namespace {

constexpr auto remove_far = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{.slot = Slot::refinement,
                            .name = "nearest",
                            .title = "nearest",
                            .parameters = Parameters{},
                            .ports =
                                [](const StageParameters&, const PairInfo&) {
                                  return Ports{change("disparity"), change("validity")};
                                },
                            .functions = on_every_device([](const auto& c) {
                              remove_far(c, c.template as<Parameters>(), c.template image<float>(0),
                                         c.template image<std::uint8_t>(1));
                            }),
                            .examples = {{"least=3"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::nearest
