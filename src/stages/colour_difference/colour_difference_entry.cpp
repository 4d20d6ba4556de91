#include "graph/descriptor.hpp"
#include "stages/colour_difference/colour_difference.hpp"

namespace stereopsis::colour_difference {
namespace {

constexpr auto compute = STEREOPSIS_DISPATCH_WITH_CPU_SCRATCH(oracle, cpu, gpu);

constexpr auto run = [](const auto& c) {
  const auto& p = c.template as<Parameters>();
  const auto left = c.template image<const std::uint32_t>(0), right = c.template image<const std::uint32_t>(1);
  const auto costs = c.template volume<std::uint8_t>(2);
  const int min = c.context.range.min;
  compute(c, p, left, right, min, costs);
};

const StageDescriptor entry{.slot = Slot::cost,
                            .name = "colour_difference",
                            .title = "colour difference",
                            .parameters = Parameters{},
                            .ports =
                                [](const StageParameters&, const PairInfo&) {
                                  return Ports{in("rgb", both), out_volume("costs", Element::u8)};
                                },
                            .functions = on_every_device(run),
#ifdef STEREOPSIS_SIMD
                            .scratch = cpu_scratch<scratch_bytes, 2>
#endif
};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::colour_difference
