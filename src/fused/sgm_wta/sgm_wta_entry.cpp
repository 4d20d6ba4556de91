// Semi-global matching and the selection at once: on the CPU, by the portable kernels in stripes, and by the tuned ones of CUDA.
#include "fused/sgm_wta/sgm_wta.hpp"
#include "stages/cost/source_of.hpp"
#include "stages/cost_volume/cost_volume.hpp"
#include "stages/sgm/sgm_entry.hpp"
#include "stages/wta/wta_entry.hpp"
#ifdef STEREOPSIS_CUDA
#include "fused/sgm_wta/sgm_wta_cuda.hpp"
#endif

namespace stereopsis::sgm_wta {
namespace {

template <On on, class Kind>
auto input_of(const Call<on>& c, const Kind& kind) {
  return std::conditional_t<on == On::gpu, Input<Kind, gpu::View>, Input<Kind>>{
      cost::source_of(c, kind), c.template image<const std::uint8_t>(2),
      wta::input_of(c),         c.context.range.count,
      c.context.stripe_rows,    sgm::edges_of(c, 3)};
}

Ports ports(const StageParameters&, const PairInfo&) {
  return wta::selecting({in("words", both), if_there("grey8"), if_there("paths_above"), if_there("paths_below")});
}
Work work(const Shape& s) {
  const double cells = s.pixels() * s.context.range.count;
  // One write and one read of the 16-bit sums; for a cell of each path 11 instructions: cost, minima, additions, sums.
  Work work{.bytes = 4 * cells, .path_ops = 11 * cells * s.as<Parameters>().sgm.paths};
  cost::with_followed_kind(s.as<Parameters>().cost,
                           [&](const auto& kind) { work.popcounts = cells * kind.popcounts(); });
  return work;
}

const StageDescriptor portable{.slot = Slot::internal,
                               .name = "sgm_wta",
                               .title = "semi-global matching",
                               .ports = ports,
                               .functions = on_cpu_and_gpu([](const auto& c) {
                                 cost::with_followed_kind(c.template as<Parameters>().cost, [&](const auto& kind) {
                                   const auto& p = c.template as<Parameters>();
                                   if constexpr (device_of<decltype(c)> == On::gpu)
                                     gpu(p, input_of(c, kind), wta::output_of(c), c.scratch(), c.worker());
                                   else
                                     cpu(p, input_of(c, kind), wta::output_of(c), c.scratch(), c.worker());
                                 });
                               }),
                               .scratch = [](const Shape& s) -> std::size_t {
                                 const auto& p = s.as<Parameters>();
                                 const StepContext& n = s.context;
                                 if (s.target.device == On::gpu)
                                   return gpu_workspace_bytes(p, s.size(), n.range.count, n.stripe_rows);
                                 std::size_t bytes = 0;
#ifdef STEREOPSIS_SIMD
                                 cost::with_followed_kind(p.cost, [&](const auto& kind) {
                                   bytes = workspace_bytes(p, kind, s.size(), n.range.count, s.target.threads,
                                                           n.stripe_rows);
                                 });
#endif
                                 return bytes;
                               },
                               .work = work};

// The step that both operations take the place with. Features are followed, not the volume that they would give.
Step fused(const Run& run, const StageDescriptor& operation) {
  const Step &costs = run.steps[0], &paths = run.steps[1], &selection = run.steps[2];
  const WordCost& cost = costs.parameters.as<cost_volume::Parameters>().cost;
  if (!cost.can_be_followed()) return {.note = "it follows features of up to 64 bits"};
  const Parameters p{paths.parameters.as<sgm::Parameters>(), selection.parameters.as<wta::Parameters>(), cost};
  std::vector<Operand> own{costs.operands[0], costs.operands[1], sgm::guide_of(paths)};
  for (const Operand& edge : sgm::edges_of(paths)) own.push_back(edge);
  return wta::selecting_step(operation, p, paths, selection, std::move(own));
}

const Rule rule{.name = "sgm_wta",
                .run = {"cost_volume", "sgm", "wta"},
                .fuse = [](const Run& run) { return fused(run, portable); },
                .operation = &portable,
                .examples = {"banz-sgm", "sgm", "sgm cost.census_weight=1", "banz-sgm optimisation.paths=4"}};

#ifdef STEREOPSIS_CUDA
constexpr const char* takes_whole_images = "the tuned kernels take whole images, and stripes go to the portable ones";
bool has_edges(const Step& paths) {
  return std::ranges::any_of(sgm::edges_of(paths), [](const Operand& edge) { return edge.value >= 0; });
}

const StageDescriptor tuned{
    .slot = Slot::internal,
    .name = "sgm_wta_cuda",
    .title = "semi-global matching",
    .ports = ports,
    .functions = {.gpu =
                      [](const Call<On::gpu>& c) {
                        cost::with_followed_kind(c.as<Parameters>().cost, [&](const auto& kind) {
                          cuda(c.as<Parameters>(), input_of(c, kind), wta::output_of(c), c.scratch(), c.worker());
                        });
                      }},
    .scratch =
        [](const Shape& s) {
          std::size_t bytes = 0;
          cost::with_followed_kind(s.as<Parameters>().cost, [&](const auto& kind) {
            bytes = cuda_workspace_bytes(s.as<Parameters>(), kind, s.size(), s.context.range.count,
                                         cuda_is_compact(s.target.cuda_capability, s.context.stripe_rows));
          });
          return bytes;
        },
    .work = work};

Step fuse_tuned(const Run& run) {
  if (!cuda_runs_on(run.target.cuda_capability)) return {.note = "the tuned kernels need compute capability 8.0"};
  const Step step = fused(run, tuned);
  if (step.entry == nullptr) return step;
  if (has_edges(run.steps[1])) return {.note = takes_whole_images};
  const StepContext& n = step.context;
  if (n.stripe_rows != 0 && n.stripe_rows < run.shape(step.operands[0]).height)
    return {.note = "the memory limit asks for stripes, which the portable kernels do"};
  bool serves = false;
  const auto& p = step.parameters.as<Parameters>();
  cost::with_followed_kind(p.cost, [&](const auto& kind) { serves = cuda_serves(p, kind, n.range.count); });
  if (!serves) return {.note = "the tuned kernels take 256 disparities, path costs of 11 bits and sums of 12 at most"};
  return step;
}

// The same from a volume of 8 bits, whoever made it.
GivenCosts given_costs(const Parameters& p) { return {p.sgm.largest_cost}; }

const StageDescriptor tuned_volume{
    .slot = Slot::internal,
    .name = "sgm_wta_cuda_volume",
    .title = "semi-global matching",
    .ports =
        [](const StageParameters&, const PairInfo&) {
          return wta::selecting({in_volume("costs", {Element::u8}), if_there("grey8")});
        },
    .functions = {.gpu =
                      [](const Call<On::gpu>& c) {
                        const auto costs = c.volume<const std::uint8_t>(0);
                        const gpu::View<const std::uint8_t> words{
                            costs.cells.memory, costs.cells.offset,
                            costs.width,        costs.height,
                            costs.disparities,  static_cast<std::int64_t>(costs.width) * costs.disparities};
                        cuda(c.as<Parameters>(),
                             Input<GivenCosts, gpu::View>{{words, {}, given_costs(c.as<Parameters>())},
                                                          c.image<const std::uint8_t>(1),
                                                          wta::input_of(c),
                                                          costs.disparities,
                                                          c.context.stripe_rows},
                             wta::output_of(c), c.scratch(), c.worker());
                      }},
    .scratch =
        [](const Shape& s) {
          return cuda_workspace_bytes(s.as<Parameters>(), given_costs(s.as<Parameters>()), s.size(),
                                      s.operand(0).disparities,
                                      cuda_is_compact(s.target.cuda_capability, s.context.stripe_rows));
        },
    .work =
        [](const Shape& s) {
          return Work{.bytes = s.cells(0), .path_ops = 11 * s.cells(0) * s.as<Parameters>().sgm.paths};
        }};

Step fuse_tuned_volume(const Run& run) {
  if (!cuda_runs_on(run.target.cuda_capability)) return {.note = "the tuned kernels need compute capability 8.0"};
  const Step &paths = run.steps[0], &selection = run.steps[1];
  const AnyView costs = run.shape(paths.operands[0]);
  if (selection.context.from_right) return {.note = "the tuned kernels select for the left view"};
  if (costs.element != Element::u8) return {.note = "the tuned kernels take costs of 8 bits"};
  if (has_edges(paths)) return {.note = takes_whole_images};
  const Parameters p{paths.parameters.as<sgm::Parameters>(), selection.parameters.as<wta::Parameters>()};
  if (!cuda_serves(p, given_costs(p), costs.disparities))
    return {.note = "the tuned kernels take 256 disparities, path costs of 11 bits and sums of 12 at most"};
  return wta::selecting_step(tuned_volume, p, paths, selection, {paths.operands[0], sgm::guide_of(paths)});
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
#endif

}  // namespace

void register_stage(Registry& registry) {
#ifdef STEREOPSIS_CUDA
  registry.add(tuned_rule);
#endif
  registry.add(rule);
#ifdef STEREOPSIS_CUDA
  registry.add(tuned_volume_rule);
#endif
}

}  // namespace stereopsis::sgm_wta
