#include <cmath>

#include "graph/descriptor.hpp"
#include "stages/belief_propagation/belief_propagation.hpp"

namespace stereopsis::belief_propagation {
namespace {

constexpr auto optimise = STEREOPSIS_DISPATCH_WITH_SCRATCH(oracle, cpu, gpu);

// Of all levels, whose pixels are a geometric series.
double cells_of(const Shape& s) { return s.cells(0) * (4 - std::pow(0.25, s.as<Parameters>().levels - 1)) / 3; }

const StageDescriptor entry{
    .slot = Slot::optimisation,
    .name = "belief_propagation",
    .title = "belief propagation",
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
      const auto& p = s.as<Parameters>();
      if (s.target.device == On::gpu)
        return gpu_scratch_bytes(p, s.size(), s.operand(0).disparities, s.target.cuda_capability);
#ifdef STEREOPSIS_SIMD
      if (s.target.device == On::cpu) return scratch_bytes(p, s.size(), s.operand(0).disparities, s.target.threads);
#endif
      return 0;
    },
    .work =
        [](const Shape& s) {
          const double updates = cells_of(s) * s.as<Parameters>().iterations;
          return Work{.bytes = 18 * updates, .int_ops = 4 * 12 * updates};
        },
    .examples = {{}, {"slope=7", "truncation=60", "levels=3", "iterations=2", "convergence=4"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::belief_propagation
