// Registers the tuned CUDA kernels for semi-global matching and the selection, from features or from a volume.
#include "fused/sgm_wta/sgm_wta_cuda.hpp"
#include "fused/sgm_wta/sgm_wta_entry.hpp"

namespace stereopsis::sgm_wta {
namespace {

constexpr const char* starts_at_borders = "the tuned kernels do not continue from the path costs of another image";
// The portable kernels need less memory for lower stripes.
constexpr int least_stripe_rows = 64;
bool has_edges(const Step& paths) {
  return paths.input("paths_above").value >= 0 || paths.input("paths_below").value >= 0;
}

const StageDescriptor tuned{
    .slot = Slot::internal,
    .name = "sgm_wta_cuda",
    .title = "semi-global matching",
    .ports = ports(),
    .functions = {.gpu =
                      [](const Call<On::gpu>& c) {
                        cost::with_followed_kind(c.as<Parameters>().cost, [&](const auto& kind) {
                          cuda(c.as<Parameters>(), input_of(c, kind), wta::output_of(c), c.scratch(), c.worker());
                        });
                      }},
    .scratch = {.gpu =
                    [](const Shape& s) {
                      std::size_t bytes = 0;
                      cost::with_followed_kind(s.as<Parameters>().cost, [&](const auto& kind) {
                        bytes = cuda_workspace_bytes(s.as<Parameters>(), kind, s.size(), s.context.range.count,
                                                     cuda_is_compact(s.target.cuda_capability, s.context.stripe_rows),
                                                     s.context.stripe_rows);
                      });
                      return bytes;
                    }},
    .work = work};

Step fuse_tuned(const Run& run) {
  if (!cuda_runs_on(run.target.cuda_capability)) return {.note = "the tuned kernels need compute capability 8.0"};
  const Step step = fused(run, tuned);
  if (step.entry == nullptr) return step;
  if (has_edges(run.steps[1])) return {.note = starts_at_borders};
  const StepContext& n = step.context;
  if (n.stripe_rows != 0 && n.stripe_rows < std::min(least_stripe_rows, run.shape(step.input("words")).height))
    return {.note = "the memory limit asks for stripes of fewer than 64 rows, which the portable kernels do"};
  bool serves = false;
  const auto& p = step.parameters.as<Parameters>();
  cost::with_followed_kind(p.cost, [&](const auto& kind) { serves = cuda_serves(p, kind, n.range.count); });
  if (!serves) return {.note = "the tuned kernels take 1024 disparities, path costs of 11 bits and sums of 12 at most"};
  return step;
}

// The same operation for a volume of 8-bit costs from any source.
cost::Given given_costs(const Parameters& p) { return {p.sgm.largest_cost}; }

const StageDescriptor tuned_volume{
    .slot = Slot::internal,
    .name = "sgm_wta_cuda_volume",
    .title = "semi-global matching",
    .ports = wta::selecting({in_volume("costs", {Element::u8}), if_there("grey8")}),
    .functions = {.gpu =
                      [](const Call<On::gpu>& c) {
                        const auto costs = c.volume<const std::uint8_t>("costs");
                        const auto& p = c.as<Parameters>();
                        cuda(p,
                             Input<cost::Given, gpu::View>{cost::given_source(p.sgm.largest_cost, costs),
                                                           c.image<const std::uint8_t>("grey8"), wta::input_of(c),
                                                           costs.disparities, c.context.stripe_rows},
                             wta::output_of(c), c.scratch(), c.worker());
                      }},
    .scratch = {.gpu =
                    [](const Shape& s) {
                      return cuda_workspace_bytes(
                          s.as<Parameters>(), given_costs(s.as<Parameters>()), s.size(), s.disparities(),
                          cuda_is_compact(s.target.cuda_capability, s.context.stripe_rows), s.context.stripe_rows);
                    }},
    .work = [](const Shape& s) {
      return Work{.bytes = s.cells(), .path_ops = 11 * s.cells() * s.as<Parameters>().sgm.paths};
    }};

Step fuse_tuned_volume(const Run& run) {
  if (!cuda_runs_on(run.target.cuda_capability)) return {.note = "the tuned kernels need compute capability 8.0"};
  const Step &paths = run.steps[0], &selection = run.steps[1];
  const AnyView costs = run.shape(paths.input("costs"));
  if (selection.context.from_right) return {.note = "the tuned kernels select for the left view"};
  if (costs.element != Element::u8) return {.note = "the tuned kernels take costs of 8 bits"};
  if (has_edges(paths)) return {.note = starts_at_borders};
  const Parameters p{paths.parameters.as<sgm::Parameters>(), selection.parameters.as<wta::Parameters>()};
  if (!cuda_serves(p, given_costs(p), costs.disparities))
    return {.note = "the tuned kernels take 1024 disparities, path costs of 11 bits and sums of 12 at most"};
  return fused_step(tuned_volume, p, run.steps);
}

const Rule tuned_volume_rule{.name = "sgm_wta_cuda_volume",
                             .run = {"sgm", "wta"},
                             .fuse = fuse_tuned_volume,
                             .operation = &tuned_volume,
                             .examples = {"sgm cost.stage=absolute_difference", "banz-sgm aggregation.stage=box"}};

const Rule tuned_rule{.name = "sgm_wta_cuda",
                      .run = {"cost_volume", "sgm", "wta"},
                      .fuse = fuse_tuned,
                      .operation = &tuned,
                      .examples = {"banz-sgm", "sgm"}};

}  // namespace

void register_tuned(Registry& registry) {
  registry.add(tuned_rule);
  registry.add(tuned_volume_rule);
}

}  // namespace stereopsis::sgm_wta
