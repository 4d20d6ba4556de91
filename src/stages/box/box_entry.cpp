#include "graph/descriptor.hpp"
#include "stages/box/box.hpp"

namespace stereopsis::box {
namespace {

constexpr auto average = STEREOPSIS_DISPATCH_WITH_CPU_SCRATCH(oracle, cpu, gpu);

constexpr auto run = [](const auto& c) {
  const auto& p = c.template as<Parameters>();
  const auto costs = c.template volume<const std::uint8_t>(0);
  const auto averages = c.template volume<std::uint16_t>(1);
  average(c, p, costs, averages);
};

const StageDescriptor entry{
    .slot = Slot::aggregation,
    .name = "box",
    .title = "averages over a window",
    .parameters = Parameters{},
    .ports =
        [](const StageParameters&, const PairInfo&) {
          return Ports{in_volume("costs", {Element::u8}), out_volume("costs", Element::u16)};
        },
    .functions = on_every_device(run),
    .required_input = [](const StageParameters& p,
                         const Rect& output) { return required_input(p.as<Parameters>(), output); },
#ifdef STEREOPSIS_SIMD
    .scratch = cpu_scratch<scratch_bytes, 0>,
#endif
    .units = [](const StageParameters&) { return CostUnits{.largest = 255 * 128, .units = 128}; },
    .examples = {{}, {"window_width=5", "window_height=1"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::box
