// Dynamic programming along rows and a plain selection: the tuned kernels of CUDA do both at once, so that no sums are
// written.
#include "fused/support_weight_wta/support_weight_wta.hpp"
#include "graph/descriptor.hpp"
#include "stages/dynamic_programming/dynamic_programming.hpp"
#include "stages/wta/wta_entry.hpp"

namespace stereopsis::dynamic_programming_wta {
namespace {

using dynamic_programming::Parameters;

const StageDescriptor tuned{
    .slot = Slot::internal,
    .name = "dynamic_programming_wta_cuda",
    .title = "dynamic programming",
    .ports = [](const StageParameters&,
                const PairInfo&) { return wta::selecting({in_volume("costs", {Element::u8})}); },
    .functions = {.gpu =
                      [](const Call<On::gpu>& c) {
                        const auto out = wta::output_of(c);
                        dynamic_programming::cuda_select(c.as<Parameters>(), c.volume<const std::uint8_t>(0),
                                                         c.context.range.min, out.disparity, out.validity, c.scratch(),
                                                         c.worker());
                      }},
    .global_support = true,
    .check = [](const Shape& s) { dynamic_programming::check(s.as<Parameters>()); },
    .scratch = [](const Shape& s) { return dynamic_programming::cuda_kept_bytes(s.size(), s.operand(0).disparities); },
    // Costs are read once by each way, and what a way adds is written and read for half of the cells of each.
    .work = [](const Shape& s) { return Work{.bytes = 4 * s.cells(0), .path_ops = 18 * s.cells(0)}; }};

Step fuse(const Run& run) {
  if (run.target.cuda_capability < 80) return {.note = "the tuned kernels need compute capability 8.0"};
  const Step &rows = run.steps[0], &selection = run.steps[1];
  const auto& p = rows.parameters.as<Parameters>();
  const Step step = wta::selecting_step(tuned, p, selection, selection, {rows.operands[0]});
  const wta::PlannedImages images{run, step};
  if (selection.context.from_right ||
      !support_weight_wta::is_plain(selection.parameters.as<wta::Parameters>(), images.input(), images.output()))
    return {.note = "the tuned kernels take whole disparities of the left view from all candidates, without masks"};
  if (!dynamic_programming::cuda_selects(p, run.shape(rows.operands[0]).disparities))
    return {.note = "the tuned kernels take 256 disparities and penalties of 255 at most"};
  return step;
}

const Rule rule{.name = "dynamic_programming_wta_cuda",
                .run = {"dynamic_programming", "wta"},
                .fuse = fuse,
                .operation = &tuned,
                .examples = {"realtime-dp"}};

}  // namespace

void register_stage(Registry& registry) { registry.add(rule); }

}  // namespace stereopsis::dynamic_programming_wta
