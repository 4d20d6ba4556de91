// Registers the fused step for GPUs, where writing and reading volumes takes most of the time. There is no fused step
// for the CPU, because the features take nearly all of the time there.
#include "fused/learned_sum/learned_sum.hpp"
#include "graph/registry.hpp"
#include "stages/cost_volume/cost_volume.hpp"

namespace stereopsis::learned_sum {
namespace {

const StageDescriptor entry{
    .slot = Slot::internal,
    .name = "learned_sum",
    .title = "learned cost + census + gradient",
    .ports = {in("grey8", both), in("grey", both), out_volume("plus_costs", Element::u8)},
    .functions = {.gpu =
                      [](const Call<On::gpu>& c) {
                        const auto grey8 = c.images<const std::uint8_t>("grey8");
                        with_element<std::uint8_t, std::uint16_t, float>(c.operand("grey").element, [&]<class T>() {
                          const auto grey = c.images<const T>("grey");
                          gpu<T>(c.as<Parameters>(), c.constants().as<const std::int32_t>(), {grey8[0], grey8[1]},
                                 {grey[0], grey[1]}, c.context.range.min, c.volume<std::uint8_t>("plus_costs"),
                                 c.scratch(), c.worker());
                        });
                      }},
    .scratch = {.gpu = [](const Shape& s) { return gpu_scratch_bytes(s.as<Parameters>(), s.size()); }},
    .work =
        [](const Shape& s) {
          const double cells = s.cells("plus_costs");
          return Work{
              .bytes = cells + 2 * s.pixels() * 80,
              .popcounts = cells,
              .int_ops = learned_features::operations(s.as<Parameters>().learned, s.pixels(), cells) + 8 * cells};
        },
    .constants = [](const Parameters& p) -> std::span<const std::int32_t> { return p.learned.weights.on_gpu(); }};

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
