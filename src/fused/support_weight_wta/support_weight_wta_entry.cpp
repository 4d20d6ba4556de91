// Registers colour differences, their aggregation by support weights, and the selection as one operation.
#include "fused/support_weight_wta/support_weight_wta.hpp"
#include "stages/wta/wta_entry.hpp"

namespace stereopsis::support_weight_wta {
namespace {

Input input_of(const auto& c) {
  const auto rgb = c.template images<const std::uint32_t>("rgb"), lab = c.template images<const std::uint32_t>("lab");
  return {rgb[0], rgb[1], lab[0], lab[1], wta::input_of(c), c.context.range.count};
}

Ports ports() { return wta::selecting({in("rgb", both), if_there("lab", both)}); }
// A 16-bit volume is read and written once for each step, or once between two passes.
Work work(const Shape& s) {
  const auto* e = std::get_if<esaw::Parameters>(&s.as<Parameters>().aggregation);
  return {.bytes = 4.0 * (e != nullptr ? e->iterations : 1) * s.pixels() * s.context.range.count};
}

Aggregation aggregation_of(const StageParameters& p) {
  if (const auto* e = p.get_if<esaw::Parameters>()) return *e;
  if (const auto* s = p.get_if<asw_separable::Parameters>()) return *s;
  return p.as<asw::Parameters>();
}

const StageDescriptor portable{
    .slot = Slot::internal,
    .name = "support_weight_wta",
    .title = "support weights",
    .ports = ports(),
    .functions = on_cpu([](const auto& c) {
      cpu(c.template as<Parameters>(), input_of(c), wta::output_of(c), c.scratch(), c.worker());
    }),
    .scratch = {.cpu =
                    [](const Shape& s) {
                      return workspace_bytes(s.as<Parameters>(), s.size(), s.context.range.count, s.target.threads);
                    }},
    .work = work};

// On a GPU, the portable kernels of the separate stages run instead.
const Rule rule{.name = "support_weight_wta",
                .run = {"colour_difference", "esaw|asw_separable|asw", "wta"},
                .fuse = [](const Run& run) -> Step {
                  if (run.target.device == On::gpu) return {.note = "it is made for the CPU"};
                  const auto* full = run.steps[1].parameters.get_if<asw::Parameters>();
                  if (full != nullptr && full->area != asw::Area::square)
                    return {.note = "it is made for square windows"};
                  const Parameters all{run.steps[0].parameters.as<colour_difference::Parameters>(),
                                       aggregation_of(run.steps[1].parameters),
                                       run.steps[2].parameters.as<wta::Parameters>()};
                  return fused_step(portable, all, run.steps);
                },
                .operation = &portable,
                .examples = {"esaw", "esaw aggregation.normalise=end", "asw-separable", "asw aggregation.window=9"}};

}  // namespace

void register_stage(Registry& registry) { registry.add(rule); }

}  // namespace stereopsis::support_weight_wta
