#include "graph/descriptor.hpp"
#include "stages/multiple_windows/multiple_windows.hpp"

namespace stereopsis::multiple_windows {
namespace {

constexpr auto aggregate = STEREOPSIS_DISPATCH_WITH_SCRATCH(oracle, cpu, gpu);

const StageDescriptor entry{
    .slot = Slot::aggregation,
    .name = "multiple_windows",
    .title = "best windows beside",
    .parameters = Parameters{},
    .ports =
        [](const StageParameters&, const PairInfo&) {
          return Ports{in_volume("costs", {Element::u8}), out_volume("costs", Element::u16)};
        },
    .functions = on_every_device([](const auto& c) {
      aggregate(c, c.template as<Parameters>(), c.template volume<const std::uint8_t>(0),
                c.template volume<std::uint16_t>(1));
    }),
    .required_input = [](const StageParameters& p,
                         const Rect& output) { return required_input(p.as<Parameters>(), output); },
    .scratch = [](const Shape& s) -> std::size_t {
      if (s.target.device == On::gpu) return static_cast<std::size_t>(2 * s.cells(0));
#ifdef STEREOPSIS_SIMD
      if (s.target.device == On::cpu) return scratch_bytes(s.size(), s.operand(0).disparities, s.target.threads);
#endif
      return 0;
    },
    .work = [](const Shape& s) { return Work{.bytes = 7 * s.cells(0)}; },
    .units = [](const StageParameters&) { return CostUnits{.largest = 255 * 128, .units = 128}; },
    .examples = {{}, {"window=3", "windows=9"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::multiple_windows
