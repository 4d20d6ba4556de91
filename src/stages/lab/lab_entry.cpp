#include "graph/descriptor.hpp"
#include "stages/lab/lab.hpp"

namespace stereopsis::lab {
namespace {

constexpr auto to_lab = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{.slot = Slot::image,
                            .name = "lab",
                            .title = "L*a*b*",
                            .ports =
                                [](const StageParameters&, const PairInfo&) {
                                  return Ports{in("rgb"), out("lab", Element::u32)};
                                },
                            .functions = on_every_device([](const auto& c) {
                              to_lab(c, c.template image<const std::uint32_t>(0), c.template image<std::uint32_t>(1));
                            })};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::lab
