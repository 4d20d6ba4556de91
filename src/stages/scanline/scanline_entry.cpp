#include "graph/descriptor.hpp"
#include "stages/scanline/scanline.hpp"

namespace stereopsis::scanline {
namespace {

constexpr auto optimise = STEREOPSIS_DISPATCH_WITH_SCRATCH(oracle, cpu, gpu);

const StageDescriptor entry{
    .slot = Slot::optimisation,
    .name = "scanline",
    .title = "scanline optimisation",
    .parameters = Parameters{},
    .ports =
        [](const StageParameters&, const PairInfo&) {
          return Ports{in("image8", both), in_volume("costs", {Element::u8}), out_volume("costs", Element::u16)};
        },
    .functions = on_every_device([](const auto& c) {
      using C = std::decay_t<decltype(c)>;
      const typename C::template Of<ImagesOf> images{c.template image<const std::uint8_t>(0),
                                                     c.template image<const std::uint8_t>(1)};
      optimise(c, c.template as<Parameters>(), images, c.context.range.min, c.template volume<const std::uint8_t>(2),
               c.template volume<std::uint16_t>(3));
    }),
    .global_support = true,
    .check = [](const Shape& s) { check(s.as<Parameters>()); },
    .scratch = [](const Shape& s) -> std::size_t {
      const int disparities = s.operand(2).disparities;
      if (s.target.device == On::gpu) return gpu_scratch_bytes(s.size(), disparities, s.target.cuda_capability);
#ifdef STEREOPSIS_SIMD
      if (s.target.device == On::cpu) return scratch_bytes(s.size(), disparities, s.target.threads);
#endif
      return 0;
    },
    // A path reads the costs and adds to the sums; 11 instructions for a cell of it.
    .work = [](const Shape& s) { return Work{.bytes = 18 * s.cells(2), .path_ops = 44 * s.cells(2)}; },
    .separate_right_costs = true,
    .examples = {{}, {"p1=10", "p2=3000", "colour=60"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::scanline
