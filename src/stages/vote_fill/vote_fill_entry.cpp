#include "graph/descriptor.hpp"
#include "stages/vote_fill/vote_fill.hpp"

namespace stereopsis::vote_fill {
namespace {

constexpr auto fill_holes = STEREOPSIS_DISPATCH_WITH_SCRATCH(oracle, cpu, gpu);

// A range of fewer disparities has no alternative to each of its candidates, so no confidence says how good one is.
constexpr int fewest_disparities = 4;
Parameters effective(Parameters p, const DisparityRange& range) {
  if (range.count < fewest_disparities) p.reject = 0;
  return p;
}

const StageDescriptor entry{
    .slot = Slot::refinement,
    .name = "vote_fill",
    .title = "vote fill",
    .parameters = Parameters{},
    .ports =
        [](const StageParameters& p, const PairInfo&) {
          return Ports{in("right"), in("image8"), change("disparity"), change("validity"),
                       p.as<Parameters>().reject > 0 ? change("confidence") : wanted("confidence", Element::f32)};
        },
    .functions = on_every_device([](const auto& c) {
      using C = std::decay_t<decltype(c)>;
      const typename C::template Of<InputOf> in{c.template image<const float>(0),
                                                c.template image<const std::uint8_t>(1)};
      const typename C::template Of<MapOf> map{c.template image<float>(2), c.template image<std::uint8_t>(3),
                                               c.template image<float>(4)};
      fill_holes(c, effective(c.template as<Parameters>(), c.context.range), in, map);
    }),
    .required_input = [](const StageParameters& p,
                         const Rect& output) { return required_input(p.as<Parameters>(), output); },
    .check = [](const Shape& s) { check(s.as<Parameters>()); },
    .scratch = [](const Shape& s) -> std::size_t {
      if (s.target.device == On::gpu) return gpu_scratch_bytes(s.as<Parameters>(), s.size());
#ifdef STEREOPSIS_SIMD
      if (s.target.device == On::cpu) return scratch_bytes(s.as<Parameters>(), s.size());
#endif
      return 0;
    },
    .examples = {{}, {"reject=0.2", "distance=20"}, {"step=1", "reach=3", "distance=3"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::vote_fill
