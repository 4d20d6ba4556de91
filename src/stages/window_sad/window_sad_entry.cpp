#include "graph/region.hpp"
#include "stages/shared/window_entry.hpp"
#include "stages/window_sad/window_sad.hpp"

namespace stereopsis::window_sad {
namespace {

constexpr auto run = [](const auto& c) {
  const Window window = c.template as<Parameters>().window();
  const auto source = source_of(c, weighting_of(c.template as<Parameters>()));
  const auto sums = c.template volume<std::uint16_t>("costs");
  const int min = c.context.range.min;
  if constexpr (device_of<decltype(c)> == On::oracle)
    oracle(window, source, min, sums);
  else if constexpr (device_of<decltype(c)> == On::cpu)
    cpu(window, source, min, sums, c.scratch(), c.worker());
  else
    gpu(window, source, min, 0, sums, c.worker());
};

Rect window_of_output(const Parameters& p, const Rect& output) { return required_input(p.window(), output); }

// Requires all input on which the pixels of the region depend, so that they equal those of the whole image.
const RegionRule region_rule{
    .applies =
        [](const PipelineData& p) {
          return p.cost.is(Parameters::stage) && !p.plus && !p.aggregation && !p.optimisation && !p.levels;
        },
    .required_input =
        [](const PipelineData& p, const Request& request) {
          const DisparityRange& range = request.range;
          const Rect all = whole_image(request);
          const Rect r = intersect(window_of_output(p.cost.parameters.as<Parameters>(),
                                                    required_by_refinements(p, request, range.count - 1)),
                                   all);
          const int left = std::max(0, range.max()), right = std::max(0, -range.min);
          return intersect({r.x - left, r.y, r.width + left + right, r.height}, all);
        }};

const StageDescriptor entry{
    .slot = Slot::cost,
    .name = "window_sad",
    .title = "window differences",
    .parameters = Parameters{},
    .ports = {in("colours", both), out_volume("costs", Element::u16)},
    .functions = on_every_device(run),
    .required_input = window_of_output,
    .scratch = {.cpu = [](const Shape& s) { return scratch_bytes(s.size().width, s.disparities(), s.target.threads); }},
    .facets = {SharedWindow{window_of_output}, &region_rule}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::window_sad
