#include "graph/registry.hpp"
#include "stages/lab/lab.hpp"

namespace stereopsis::lab {
namespace {

constexpr auto to_lab = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{.slot = Slot::image,
                            .name = "lab",
                            .title = "L*a*b*",
                            .ports = {in("rgb"), out("lab", Element::u32)},
                            .functions = on_every_device([](const auto& c) { to_lab(c, c("rgb"), c("lab")); })};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::lab
