#include "graph/descriptor.hpp"
#include "stages/dynamic_programming/dynamic_programming.hpp"

namespace stereopsis::dynamic_programming {
namespace {

constexpr auto optimise = STEREOPSIS_DISPATCH_WITH_SCRATCH(oracle, cpu, gpu);

const StageDescriptor entry{
    .slot = Slot::optimisation,
    .name = "dynamic_programming",
    .title = "dynamic programming",
    .parameters = Parameters{},
    .ports =
        [](const StageParameters&, const PairInfo&) {
          return Ports{in_volume("costs", {Element::u8}), out_volume("costs", Element::u16)};
        },
    .functions = on_every_device([](const auto& c) {
      optimise(c, c.template as<Parameters>(), c.template volume<const std::uint8_t>(0),
               c.template volume<std::uint16_t>(1));
    }),
    .global_support = true,
    .check = [](const Shape& s) { check(s.as<Parameters>()); },
    .scratch = [](const Shape& s) -> std::size_t {
      const int disparities = s.operand(0).disparities;
      if (s.target.device == On::gpu) return gpu_scratch_bytes(s.size(), disparities);
#ifdef STEREOPSIS_SIMD
      if (s.target.device == On::cpu) return scratch_bytes(s.size().width, disparities, s.target.threads);
#endif
      return 0;
    },
    // Both passes read the costs; one writes sums, the other changes them. 9 instructions for a cell of a pass.
    .work = [](const Shape& s) { return Work{.bytes = 8 * s.cells(0), .path_ops = 18 * s.cells(0)}; },
    .examples = {{}, {"p1=300", "p2=900"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::dynamic_programming
