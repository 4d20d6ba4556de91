// A volume of the costs that words give.
#include "stages/cost/source_of.hpp"
#include "stages/cost_volume/cost_volume.hpp"

namespace stereopsis::cost_volume {
namespace {

constexpr auto evaluate = STEREOPSIS_DISPATCH_WITH_CPU_SCRATCH(oracle, cpu, gpu);

constexpr auto run = [](const auto& c) {
  cost::with_kind(c.context.kind, [&]<class Kind>(const Kind& kind) {
    const auto source = cost::source_of(c, kind);
    const auto costs = c.template volume<std::uint8_t>(2);
    const int min = c.context.range.min;
    evaluate(c, source, min, costs);
  });
};

const StageDescriptor entry{
    .slot = Slot::internal,
    .name = "cost_volume",
    .title = "cost volume",
    .ports =
        [](const StageParameters&, const PairInfo&) {
          return Ports{in("words", both), out_volume("costs", Element::u8)};
        },
    .functions = on_every_device(run),
    .check =
        [](const Shape& s) { cost::with_kind(s.context.kind, [](const auto& kind) { cost_volume::check(kind); }); },
#ifdef STEREOPSIS_SIMD
    .scratch =
        [](const Shape& s) {
          std::size_t bytes = 0;
          if (s.target.device == On::cpu)
            cost::with_kind(s.context.kind, [&](const auto& kind) {
              bytes = scratch_bytes(kind, s.size().width, s.operand(2).disparities, s.target.threads);
            });
          return bytes;
        },
#endif
    .work = [](const Shape& s) { return Work{.bytes = s.cells(2)}; }};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::cost_volume
