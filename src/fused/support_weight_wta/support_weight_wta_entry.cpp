// Colour differences, their aggregation by support weights, and the selection at once.
#include "fused/support_weight_wta/support_weight_wta.hpp"
#include "stages/wta/wta_entry.hpp"
#ifdef STEREOPSIS_CUDA
#include "fused/asw_separable_wta/asw_separable_wta_cuda.hpp"
#include "fused/support_weight_wta/support_weight_wta_cuda.hpp"
#endif

namespace stereopsis::support_weight_wta {
namespace {

Ports ports(const StageParameters&, const PairInfo&) {
  return wta::selecting({in("rgb", both), if_there("lab", both)});
}

template <On on>
auto input_of(const Call<on>& c) {
  const auto colours = [&](int i) { return c.template image<const std::uint32_t>(i); };
  return typename Call<on>::template Of<InputOf>{colours(0), colours(1),       colours(2),
                                                 colours(3), wta::input_of(c), c.context.range.count};
}

// One read and one write of a 16-bit volume for each step, or between two passes.
Work work(const Shape& s) {
  const auto* e = std::get_if<esaw::Parameters>(&s.as<Parameters>().aggregation);
  return {.bytes = 4.0 * (e != nullptr ? e->iterations : 1) * s.pixels() * s.context.range.count};
}

const StageDescriptor portable{
    .slot = Slot::internal,
    .name = "support_weight_wta",
    .title = "support weights",
    .ports = ports,
    .functions =
        {
#ifdef STEREOPSIS_SIMD
            .cpu =
                [](const Call<On::cpu>& c) {
                  cpu(c.as<Parameters>(), input_of(c), wta::output_of(c), c.scratch(), c.worker());
                },
#endif
        },
    .scratch = [](const Shape& s) -> std::size_t {
#ifdef STEREOPSIS_SIMD
      if (s.target.device == On::cpu)
        return workspace_bytes(s.as<Parameters>(), s.size(), s.context.range.count, s.target.threads);
#endif
      (void)s;
      return 0;
    },
    .work = work};

Aggregation aggregation_of(const StageParameters& p) {
  if (const auto* e = p.get_if<esaw::Parameters>()) return *e;
  if (const auto* s = p.get_if<asw_separable::Parameters>()) return *s;
  return p.as<asw::Parameters>();
}

Step fused(const Run& run, const StageDescriptor& operation) {
  const Step &costs = run.steps[0], &aggregation = run.steps[1], &selection = run.steps[2];
  const Parameters p{costs.parameters.as<colour_difference::Parameters>(), aggregation_of(aggregation.parameters),
                     selection.parameters.as<wta::Parameters>()};
  const bool both_views = std::holds_alternative<asw::Parameters>(p.aggregation);
  return wta::selecting_step(operation, p, costs, selection,
                             {costs.operands[0], costs.operands[1], aggregation.operands[0],
                              both_views ? aggregation.operands[1] : Operand{}});
}

// On a GPU the portable kernels are those of the stages.
const Rule rule{.name = "support_weight_wta",
                .run = {"colour_difference", "esaw|asw_separable|asw", "wta"},
                .fuse = [](const Run& run) -> Step {
                  if (run.target.device == On::gpu) return {.note = "it is made for the CPU"};
                  const auto* full = run.steps[1].parameters.get_if<asw::Parameters>();
                  if (full != nullptr && full->area != asw::Area::square)
                    return {.note = "it is made for square windows"};
                  return fused(run, portable);
                },
                .operation = &portable,
                .examples = {"esaw", "esaw aggregation.normalise=end", "asw-separable", "asw aggregation.window=9"}};

#ifdef STEREOPSIS_CUDA
template <auto serves>
Step fuse_tuned(const Run& run, const StageDescriptor& operation, const char* what) {
  if (run.target.cuda_capability < 80) return {.note = "the tuned kernels need compute capability 8.0"};
  const Step step = fused(run, operation);
  const wta::PlannedImages images{run, step};
  InputOf<gpu::View> in{};
  in.rgb_left = images.image<const std::uint32_t>(0);
  in.select = images.input();
  if (serves(step.parameters.as<Parameters>(), in, images.output())) return step;
  return {.note = std::string(what) + ", and whole disparities of the left view from all candidates, without masks"};
}

const StageDescriptor esaw_tuned{
    .slot = Slot::internal,
    .name = "support_weight_wta_cuda",
    .title = "support weights",
    .ports = ports,
    .functions = {.gpu =
                      [](const Call<On::gpu>& c) {
                        cuda(c.as<Parameters>(), input_of(c), wta::output_of(c), c.scratch(), c.worker());
                      }},
    .scratch = [](const Shape& s) { return cuda_workspace_bytes(s.as<Parameters>(), s.size(), s.context.range.count); },
    .work = work};

const Rule esaw_rule{.name = "support_weight_wta_cuda",
                     .run = {"colour_difference", "esaw", "wta"},
                     .fuse =
                         [](const Run& run) {
                           return fuse_tuned<support_weight_wta::cuda_serves>(
                               run, esaw_tuned, "the tuned kernels take up to 65535 rows");
                         },
                     .operation = &esaw_tuned,
                     .examples = {"esaw"}};

const StageDescriptor separable_tuned{
    .slot = Slot::internal,
    .name = "asw_separable_wta_cuda",
    .title = "support weights",
    .ports = ports,
    .functions = {.gpu =
                      [](const Call<On::gpu>& c) {
                        asw_separable_wta::cuda(c.as<Parameters>(), input_of(c), wta::output_of(c), c.scratch(),
                                                c.worker());
                      }},
    .scratch =
        [](const Shape& s) {
          return asw_separable_wta::cuda_workspace_bytes(s.as<Parameters>(), s.size(), s.context.range.count);
        },
    .work = work};

const Rule separable_rule{.name = "asw_separable_wta_cuda",
                          .run = {"colour_difference", "asw_separable", "wta"},
                          .fuse =
                              [](const Run& run) {
                                return fuse_tuned<asw_separable_wta::cuda_serves>(
                                    run, separable_tuned, "the tuned kernels take up to 65535 groups of rows");
                              },
                          .operation = &separable_tuned,
                          .examples = {"asw-separable"}};
#endif

}  // namespace

void register_stage(Registry& registry) {
#ifdef STEREOPSIS_CUDA
  registry.add(esaw_rule);
  registry.add(separable_rule);
#endif
  registry.add(rule);
}

}  // namespace stereopsis::support_weight_wta
