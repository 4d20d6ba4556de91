#include "graph/registry.hpp"
#include "stages/vote_fill/vote_fill.hpp"

namespace stereopsis::vote_fill {
namespace {

constexpr auto fill_holes = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

// In a smaller range, some candidates have no alternative, so that the confidence does not measure their quality.
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
        [](const Parameters& p, const PairInfo&) {
          return Ports{in("right"), in("image8"), change("disparity"), change("validity"),
                       p.reject > 0 ? change("confidence") : wanted("confidence", Element::f32)};
        },
    .functions = on_every_device([](const auto& c) {
      const auto in = c.template of<InputOf>(c("right"), c("image8"));
      const auto map = c.template of<MapOf>(c("disparity"), c("validity"), c("confidence"));
      fill_holes(c, effective(c.template as<Parameters>(), c.context.range), in, map);
    }),
    .required_input = required_input,
    .check = check,
    .scratch = {.cpu = [](const Shape& s) { return scratch_bytes(s.as<Parameters>(), s.size()); },
                .gpu = [](const Shape& s) { return gpu_scratch_bytes(s.as<Parameters>(), s.size()); }},
    .facets = {Fills{}},
    .examples = {{}, {"reject=0.2", "distance=20"}, {"step=1", "reach=3", "distance=3"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::vote_fill
