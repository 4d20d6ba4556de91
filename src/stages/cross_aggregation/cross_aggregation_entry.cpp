#include "graph/descriptor.hpp"
#include "graph/pipeline.hpp"
#include "stages/cross/cross.hpp"
#include "stages/cross_aggregation/cross_aggregation.hpp"

namespace stereopsis::cross_aggregation {
namespace {

constexpr auto aggregate = STEREOPSIS_DISPATCH_WITH_SCRATCH(oracle, cpu, gpu);

// The costs follow the arms of one view, or of both.
int costs_at(const Shape& s) { return s.as<Parameters>().support == Support::both ? 2 : 1; }

const StageDescriptor entry{
    .slot = Slot::aggregation,
    .name = "cross_aggregation",
    .title = "cross-based aggregation",
    .parameters = Parameters{},
    .ports =
        [](const StageParameters& p, const PairInfo&) {
          const bool asks_both = p.as<Parameters>().support == Support::both;
          return Ports{in("cross", asks_both ? Side::both : Side::reference), change_volume("costs", {Element::u8})};
        },
    .functions = on_every_device([](const auto& c) {
      using C = std::decay_t<decltype(c)>;
      const int costs = costs_at(c);
      const typename C::template Of<ArmsOf> arms{c.template image<const std::uint32_t>(0),
                                                 c.template image<const std::uint32_t>(costs - 1),
                                                 c.template as<Parameters>().longest_arm};
      aggregate(c, c.template as<Parameters>(), arms, c.context.range.min, c.template volume<std::uint8_t>(costs));
    }),
    .required_input = [](const StageParameters& p,
                         const Rect& output) { return required_input(p.as<Parameters>(), output); },
    .scratch = [](const Shape& s) -> std::size_t {
      const int disparities = s.operand(costs_at(s)).disparities;
      if (s.target.device == On::gpu)
        return gpu_scratch_bytes(s.size(), disparities, s.as<Parameters>().longest_arm, s.target.cuda_capability);
#ifdef STEREOPSIS_SIMD
      if (s.target.device == On::cpu) return scratch_bytes(s.size(), disparities, s.target.threads);
#endif
      return 0;
    },
    .work = [](const Shape& s) { return Work{.bytes = 2.0 * s.as<Parameters>().iterations * s.cells(costs_at(s))}; },
    .separate_right_costs = true,
    .plan =
        [](StageParameters& p, const PlanFacts& facts) {
          const StageParameters& crosses = facts.pipeline.parameters_of(registry().at("cross"));
          p.as<Parameters>().longest_arm = crosses.as<cross::Parameters>().longest();
        },
    .examples = {{}, {"iterations=1"}, {"iterations=3", "support=left"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::cross_aggregation
