// On GPUs, where volumes are written and read at the speed of their memory. On the CPU all but the features is a small part.
#include "fused/learned_sum/learned_sum.hpp"
#include "graph/descriptor.hpp"
#include "stages/cost_volume/cost_volume.hpp"

namespace stereopsis::learned_sum {
namespace {

const StageDescriptor entry{
    .slot = Slot::internal,
    .name = "learned_sum",
    .title = "learned cost + census + gradient",
    .ports =
        [](const StageParameters&, const PairInfo&) {
          return Ports{in("grey8", both), in("grey", both), out_volume("costs", Element::u8)};
        },
    .functions = {.gpu =
                      [](const Call<On::gpu>& c) {
                        c.with_pixels(2, [&]<class T>() {
                          gpu<T>(c.as<Parameters>(), c.constants().as<const std::int32_t>(),
                                 {c.image<const std::uint8_t>(0), c.image<const std::uint8_t>(1)},
                                 {c.image<const T>(2), c.image<const T>(3)}, c.context.range.min,
                                 c.volume<std::uint8_t>(4), c.scratch(), c.worker());
                        });
                      }},
    .scratch = [](const Shape& s) { return gpu_scratch_bytes(s.as<Parameters>(), s.size()); },
    .work =
        [](const Shape& s) {
          return Work{.bytes = s.cells(4) + 2 * s.pixels() * 80,
                      .popcounts = s.cells(4),
                      .int_ops = learned_features::operations(s.as<Parameters>().learned, s.pixels(), s.cells(4)) +
                                 8 * s.cells(4)};
        },
    .constants = [](const StageParameters& p) -> std::span<const std::int32_t> {
      return p.as<Parameters>().learned.weights.on_gpu();
    }};

Step fuse(const Run& run) {
  const Step &learned = run.steps[0], &words = run.steps[1], &volume = run.steps[2], &sum = run.steps[3];
  const auto* kind = volume.parameters.as<cost_volume::Parameters>().cost.get_if<cost::CensusGradient>();
  if (kind == nullptr) return {.note = "it adds census and gradient alone"};
  return {
      &entry,
      Parameters{learned.parameters.as<learned_features::Parameters>(), *kind, sum.parameters.as<sum::Parameters>()},
      learned.context,
      {learned.operands[0], learned.operands[1], words.operands[0], words.operands[1], sum.operands[1]},
      entry.title,
      {}};
}

const Rule rule{.name = "learned_sum",
                .run = {"learned", "census_gradient", "cost_volume", "sum"},
                .fuse = fuse,
                .operation = &entry,
                .examples = {"sgm-learned", "sgm-learned-fast optimisation.stage=none sum.plus_weight=255"}};

}  // namespace

void register_stage(Registry& registry) { registry.add(rule); }

}  // namespace stereopsis::learned_sum
