#include "graph/descriptor.hpp"
#include "stages/segment_support/segment_support.hpp"

namespace stereopsis::segment_support {
namespace {

constexpr auto aggregate = STEREOPSIS_DISPATCH_WITH_CPU_SCRATCH(oracle, cpu, gpu);

const StageDescriptor entry{
    .slot = Slot::aggregation,
    .name = "segment_support",
    .title = "averages over segments",
    .parameters = Parameters{},
    .ports =
        [](const StageParameters&, const PairInfo&) {
          return Ports{in("slic"), in_volume("costs", {Element::u8}), out_volume("costs", Element::u16)};
        },
    .functions = on_every_device([](const auto& c) {
      aggregate(c, c.template as<Parameters>(), c.template image<const std::uint32_t>(0),
                c.template volume<const std::uint8_t>(1), c.template volume<std::uint16_t>(2));
    }),
    .global_support = true,
#ifdef STEREOPSIS_SIMD
    .scratch = [](const Shape& s) -> std::size_t {
      if (s.target.device != On::cpu) return 0;
      return scratch_bytes(s.size(), s.operand(1).disparities, s.target.threads);
    },
#endif
    .work = [](const Shape& s) { return Work{.bytes = 5 * s.cells(1)}; },
    .units = [](const StageParameters&) { return CostUnits{.largest = 2 * 255 * 128, .units = 256}; },
    .examples = {{}, {"window=1"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::segment_support
