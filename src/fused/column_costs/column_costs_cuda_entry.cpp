// Registers the tuned CUDA kernels that compute colour differences and aggregate them over columns, with results of 8
// bits.
#include "fused/column_costs/column_costs_cuda.hpp"
#include "graph/registry.hpp"
#include "stages/quantise/quantise.hpp"

namespace stereopsis::column_costs {
namespace {

const StageDescriptor tuned{
    .slot = Slot::internal,
    .name = "column_costs_cuda",
    .title = "support weights",
    .ports = {in("rgb", both), in("lab", both), out_volume("costs", Element::u8)},
    .functions = {.gpu =
                      [](const Call<On::gpu>& c) {
                        const auto rgb = c.images<const std::uint32_t>("rgb"),
                                   lab = c.images<const std::uint32_t>("lab");
                        cuda(c.as<Parameters>(), {rgb[0], rgb[1], lab[0], lab[1], c.context.range.min},
                             c.volume<std::uint8_t>("costs"), c.scratch(), c.worker());
                      }},
    .scratch = {.gpu = [](const Shape& s) { return cuda_workspace_bytes(s.size()); }},
    // The kernel writes each cell once. Two pixels of the column take one word of products and one addition of weighted
    // costs.
    .work = [](const Shape& s) {
      const int window = s.as<Parameters>().aggregation.window;
      return Work{.bytes = s.cells(), .int_ops = window * s.cells()};
    }};

Step fuse(const Run& run) {
  if (run.target.cuda_capability < 80) return {.note = "the tuned kernels need compute capability 8.0"};
  const Step &costs = run.steps[0], &aggregation = run.steps[1], &rounding = run.steps[2];
  const Parameters p{costs.parameters.as<colour_difference::Parameters>(),
                     aggregation.parameters.as<asw::Parameters>()};
  const Size size = run.shape(rounding.output("costs")).size();
  if (!cuda_serves(p, rounding.parameters.as<quantise::Parameters>().scale, size))
    return {.note = "the tuned kernels take columns of up to 33 pixels and 65535 rows, to whole intensities"};
  for (const Operand& operand : {costs.input("rgb"), costs.input("rgb", Side::other), aggregation.input("lab"),
                                 aggregation.input("lab", Side::other), rounding.input("costs")})
    if (run.shape(operand).size() != size) return {.note = "the tuned kernels take whole images"};
  return fused_step(tuned, p, run.steps);
}

const Rule rule{.name = "column_costs_cuda",
                .run = {"colour_difference", "asw", "quantise"},
                .fuse = fuse,
                .operation = &tuned,
                .examples = {"realtime-dp"}};

}  // namespace

void register_tuned(Registry& registry) { registry.add(rule); }

}  // namespace stereopsis::column_costs
