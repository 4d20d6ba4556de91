// Registers the fused step. On GPUs, writing and reading volumes takes most of the time; on the CPU, it saves the memory
// of a volume and of the features.
#include "fused/learned_sum/learned_sum.hpp"
#include "graph/facets.hpp"
#include "graph/registry.hpp"
#include "stages/cost_volume/cost_volume.hpp"

namespace stereopsis::learned_sum {
namespace {

constexpr auto make_sums = [](const auto& c) {
  const auto& p = c.template as<Parameters>();
  const auto grey8 = c.template images<const std::uint8_t>("grey8");
  const auto sums = c.template volume<std::uint8_t>("plus_costs");
  with_element<std::uint8_t, std::uint16_t, float>(c.operand("grey").element, [&]<class T>() {
    const auto grey = c.template images<const T>("grey");
    if constexpr (device_of<decltype(c)> == On::cpu)
      cpu<T>(p, {grey8[0], grey8[1]}, {grey[0], grey[1]}, c.context.range.min, sums, c.scratch(), c.worker());
    else
      gpu<T>(p, c.constants().template as<const std::int32_t>(), {grey8[0], grey8[1]}, {grey[0], grey[1]},
             c.context.range.min, sums, c.scratch(), c.worker());
  });
};

const StageDescriptor entry{
    .slot = Slot::internal,
    .name = "learned_sum",
    .title = "learned cost + census + gradient",
    .ports = {in("grey8", both), in("grey", both), out_volume("plus_costs", Element::u8)},
    .functions = on_cpu_and_gpu(make_sums),
    .scratch = {.cpu =
                    [](const Shape& s) {
                      return cpu_scratch_bytes(s.as<Parameters>(), s.size(), s.disparities("plus_costs"),
                                               s.target.threads);
                    },
                .gpu = [](const Shape& s) { return gpu_scratch_bytes(s.as<Parameters>(), s.size()); }},
    .work =
        [](const Shape& s) {
          const double cells = s.cells("plus_costs");
          return Work{
              .bytes = cells + 2 * s.pixels() * 80,
              .popcounts = cells,
              .int_ops = learned_features::operations(s.as<Parameters>().learned, s.pixels(), cells) + 8 * cells};
        },
    .facets = {Constants{
        .list = [](const Parameters& p) -> std::span<const std::int32_t> { return p.learned.weights.on_gpu(); }}}};

Step fuse(const Run& run) {
  const Step &learned = run.steps[0], &volume = run.steps[2], &sum = run.steps[3];
  const auto* kind = volume.parameters.as<cost_volume::Parameters>().cost.get_if<cost::CensusGradient>();
  if (kind == nullptr) return {.note = "it adds census and gradient alone"};
  return fused_step(
      entry,
      Parameters{learned.parameters.as<learned_features::Parameters>(), *kind, sum.parameters.as<sum::Parameters>()},
      run.steps);
}

const Rule rule{.name = "learned_sum",
                .run = {"learned", "census_gradient", "cost_volume", "sum"},
                .fuse = fuse,
                .operation = &entry,
                .examples = {"sgm-learned", "sgm-learned-fast optimisation.stage=none sum.plus_weight=255"}};

}  // namespace

void register_stage(Registry& registry) { registry.add(rule); }

}  // namespace stereopsis::learned_sum
