// The cost, and the census words that it reads beside the images.
#include "graph/descriptor.hpp"
#include "stages/ad_census/ad_census.hpp"

namespace stereopsis::ad_census {
namespace {

constexpr auto compute = STEREOPSIS_DISPATCH_WITH_CPU_SCRATCH(oracle, cpu, gpu);

constexpr auto make_costs = [](const auto& c) {
  using C = std::decay_t<decltype(c)>;
  const auto& p = c.template as<Parameters>();
  const typename C::template Of<InputOf> in{
      c.template image<const std::uint8_t>(0), c.template image<const std::uint8_t>(1),
      c.template image<const std::uint64_t>(2), c.template image<const std::uint64_t>(3)};
  const auto costs = c.template volume<std::uint8_t>(4);
  const int min = c.context.range.min;
  compute(c, p, in, min, costs);
};

const StageDescriptor entry{
    .slot = Slot::cost,
    .name = "ad_census",
    .title = "AD-Census",
    .parameters = Parameters{},
    .ports =
        [](const StageParameters&, const PairInfo&) {
          return Ports{in("image8", both), in("census9x7", both), out_volume("costs", Element::u8)};
        },
    .functions = on_every_device(make_costs),
    .required_input = [](const StageParameters&,
                         const Rect& output) { return grow(output, 4, 3); },  // the census window
#ifdef STEREOPSIS_SIMD
    .scratch = cpu_scratch<scratch_bytes, 4>,
#endif
    .work =
        [](const Shape& s) {
          return Work{.bytes = s.cells(4), .popcounts = 2 * s.cells(4), .int_ops = 8 * s.cells(4)};
        },
    .examples = {{}, {"lambda_colour=5", "scale=60"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::ad_census
