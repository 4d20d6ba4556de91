#include "stages/guided/guided.hpp"
#include "stages/stage_descriptor.hpp"

namespace stereopsis::guided {
namespace {

constexpr auto filter = STEREOPSIS_DISPATCH_WITH_SCRATCH(oracle, cpu, gpu);

const StageDescriptor entry{
    .slot = Slot::aggregation,
    .name = "guided",
    .title = "guided filter",
    .parameters = Parameters{},
    .ports =
        [](const StageParameters& p, const PairInfo&) {
          return Ports{in(p.as<Parameters>().colour ? "image8" : "grey8"), in_volume("costs", {Element::u8}),
                       out_volume("costs", Element::f32)};
        },
    .functions = on_every_device([](const auto& c) {
      filter(c, c.template as<Parameters>(), c.template image<const std::uint8_t>(0),
             c.template volume<const std::uint8_t>(1), c.context.rows, c.template volume<float>(2));
    }),
    .required_input = [](const StageParameters& p,
                         const Rect& output) { return required_input(p.as<Parameters>(), output); },
    .scratch = [](const Shape& s) -> std::size_t {
      const auto& p = s.as<Parameters>();
      if (s.target.device == On::gpu)
        return gpu_scratch_bytes(p, s.size(), s.operand(0).channels, s.operand(1).disparities);
#ifdef STEREOPSIS_SIMD
      if (s.target.device == On::cpu) return scratch_bytes(p, s.size(), s.operand(0).channels, s.target.threads);
#endif
      return 0;
    },
    .work = [](const Shape& s) { return Work{.bytes = 5 * s.cells(1)}; },
    .separate_right_costs = true,
    .row_tiles = true};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::guided
