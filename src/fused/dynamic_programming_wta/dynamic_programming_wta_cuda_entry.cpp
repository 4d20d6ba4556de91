// Registers the tuned CUDA kernels that run dynamic programming along rows together with a plain selection, without
// writing sums.
#include "fused/support_weight_wta/support_weight_wta.hpp"
#include "stages/dynamic_programming/dynamic_programming.hpp"
#include "stages/wta/wta_entry.hpp"

namespace stereopsis::dynamic_programming_wta {
namespace {

using dynamic_programming::Parameters;

const StageDescriptor tuned{
    .slot = Slot::internal,
    .name = "dynamic_programming_wta_cuda",
    .title = "dynamic programming",
    .ports = wta::selecting({in_volume("costs", {Element::u8})}),
    .functions = {.gpu =
                      [](const Call<On::gpu>& c) {
                        const auto out = wta::output_of(c);
                        dynamic_programming::cuda_select(c.as<Parameters>(), c.volume<const std::uint8_t>("costs"),
                                                         c.context.range.min, out.disparity, out.validity, c.scratch(),
                                                         c.worker());
                      }},
    .global_support = true,
    .check = dynamic_programming::check,
    .scratch = {.gpu = [](const Shape& s) { return dynamic_programming::cuda_kept_bytes(s.size(), s.disparities()); }},
    // Each direction reads the costs once. For half of the cells, each direction writes its contribution, which the
    // other direction reads.
    .work = [](const Shape& s) { return Work{.bytes = 4 * s.cells(), .path_ops = 18 * s.cells()}; }};

Step fuse(const Run& run) {
  if (run.target.cuda_capability < 80) return {.note = "the tuned kernels need compute capability 8.0"};
  const Step &rows = run.steps[0], &selection = run.steps[1];
  const auto& p = rows.parameters.as<Parameters>();
  const Step step = fused_step(tuned, p, run.steps);
  const bool is_plain = with_planned_call(run, step, [&](const auto& c) {
    return support_weight_wta::is_plain(selection.parameters.as<wta::Parameters>(), wta::input_of(c),
                                        wta::output_of(c));
  });
  if (selection.context.from_right || !is_plain)
    return {.note = "the tuned kernels take whole disparities of the left view from all candidates, without masks"};
  if (!dynamic_programming::cuda_selects(p, run.shape(rows.input("costs")).disparities))
    return {.note = "the tuned kernels take 256 disparities and penalties of 255 at most"};
  return step;
}

const Rule rule{.name = "dynamic_programming_wta_cuda",
                .run = {"dynamic_programming", "wta"},
                .fuse = fuse,
                .operation = &tuned,
                .examples = {"realtime-dp"}};

}  // namespace

void register_tuned(Registry& registry) { registry.add(rule); }

}  // namespace stereopsis::dynamic_programming_wta
