#include "graph/descriptor.hpp"
#include "stages/asw/asw.hpp"

namespace stereopsis::asw {
namespace {

constexpr auto aggregate = STEREOPSIS_DISPATCH_WITH_SCRATCH(oracle, cpu, gpu);

constexpr auto run = [](const auto& c) {
  const auto& p = c.template as<Parameters>();
  const auto left = c.template image<const std::uint32_t>(0), right = c.template image<const std::uint32_t>(1);
  const auto costs = c.template volume<const std::uint8_t>(2);
  const auto aggregated = c.template volume<std::uint16_t>(3);
  const int min = c.context.range.min;
  aggregate(c, p, left, right, min, costs, aggregated);
};

const StageDescriptor entry{
    .slot = Slot::aggregation,
    .name = "asw",
    .title = "adaptive support weights",
    .parameters = Parameters{},
    .ports =
        [](const StageParameters&, const PairInfo&) {
          return Ports{in("lab", both), in_volume("costs", {Element::u8}), out_volume("costs", Element::u16)};
        },
    .functions = on_every_device(run),
    .required_input = [](const StageParameters& p,
                         const Rect& output) { return required_input(p.as<Parameters>(), output); },
    .scratch = [](const Shape& s) -> std::size_t {
      const auto& p = s.as<Parameters>();
      const int disparities = s.operand(2).disparities;
      if (s.target.device == On::gpu) return gpu_scratch_bytes(p, s.size(), disparities, s.target.cuda_capability);
#ifdef STEREOPSIS_SIMD
      if (s.target.device == On::cpu) return scratch_bytes(p, s.size().width, disparities, s.target.threads);
#endif
      return 0;
    },
    .units = [](const StageParameters&) { return CostUnits{.largest = 255 * 128, .units = 128}; },
    .examples = {{"window=9"}, {"window=33", "area=column"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::asw
