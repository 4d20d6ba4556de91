// Window differences and the selection at once.
#include "fused/window_sad_wta/window_sad_wta.hpp"
#include "stages/window_sad/window_sad_entry.hpp"
#include "stages/wta/wta_entry.hpp"
#ifdef STEREOPSIS_CUDA
#include "fused/window_sad_wta/window_sad_wta_cuda.hpp"
#endif

namespace stereopsis::window_sad_wta {
namespace {

Ports ports(const StageParameters&, const PairInfo&) { return wta::selecting({in("colours", both)}); }

template <On on>
auto input_of(const Call<on>& c) {
  return typename Call<on>::template Of<Input>{window_sad::source_of(c, c.template as<Parameters>().weighting),
                                               wta::input_of(c), c.context.range.count};
}
// The words of both views, once; the result.
Work work(const Shape& s) { return {.bytes = 13 * s.pixels()}; }

const StageDescriptor portable{
    .slot = Slot::internal,
    .name = "window_sad_wta",
    .title = "window matching",
    .ports = ports,
    .functions = on_cpu_and_gpu([](const auto& c) {
      if constexpr (device_of<decltype(c)> == On::gpu)
        gpu(c.template as<Parameters>(), input_of(c), wta::output_of(c), c.scratch(), c.worker());
      else
        cpu(c.template as<Parameters>(), input_of(c), wta::output_of(c), c.scratch(), c.worker());
    }),
    .scratch = [](const Shape& s) -> std::size_t {
      // Of masked pairs alone where a tuned kernel takes the others: their memory should not wait in vain.
      const bool rarely = s.target.cuda_capability >= 80 && wta::has_masks(s);
      if (s.target.device == On::gpu) return gpu_workspace_bytes(s.size(), s.context.range.count, rarely);
#ifdef STEREOPSIS_SIMD
      return workspace_bytes(s.size(), s.context.range.count, s.target.threads);
#else
      return 0;
#endif
    },
    .work = work};

Step fused(const Run& run, const StageDescriptor& operation) {
  const Step &sums = run.steps[0], &selection = run.steps[1];
  const auto& matching = sums.parameters.as<window_sad::Parameters>();
  const Parameters p{matching.window(), selection.parameters.as<wta::Parameters>(), window_sad::weighting_of(matching)};
  return wta::selecting_step(operation, p, sums, selection, {sums.operands[0], sums.operands[1]});
}

const Rule rule{.name = "window_sad_wta",
                .run = {"window_sad", "wta"},
                .fuse = [](const Run& run) { return fused(run, portable); },
                .operation = &portable,
                .examples = {"prehn-window", "prehn-window cost.window_width=5 select.subpixel=parabola"}};

#ifdef STEREOPSIS_CUDA
const StageDescriptor tuned{.slot = Slot::internal,
                            .name = "window_sad_wta_cuda",
                            .title = "window matching",
                            .ports = ports,
                            .functions = {.gpu =
                                              [](const Call<On::gpu>& c) {
                                                cuda(c.as<Parameters>(), input_of(c), wta::output_of(c), c.worker());
                                              }},
                            .work = work};

Step fuse_tuned(const Run& run) {
  const Step step = fused(run, tuned);
  if (step.operands[2].value >= 0 || step.operands[3].value >= 0) return {.note = "the tuned kernels take no masks"};
  const wta::PlannedImages images{run, step};
  const cost::Colours kind{step.parameters.as<Parameters>().weighting.max_cost(step.context.channels)};
  const Input<gpu::View> in{{images.image<const std::uint32_t>(0), images.image<const std::uint32_t>(1), kind},
                            images.input(),
                            step.context.range.count};
  if (!cuda_serves(run.target, step.parameters.as<Parameters>(), in, images.output()))
    return {.note =
                "the tuned kernels take square windows and whole disparities of the left view, from compute "
                "capability 8.0 on; wide windows take a GPU with much shared memory"};
  return step;
}

const Rule tuned_rule{.name = "window_sad_wta_cuda",
                      .run = {"window_sad", "wta"},
                      .fuse = fuse_tuned,
                      .operation = &tuned,
                      .examples = {"prehn-window"}};
#endif

}  // namespace

void register_stage(Registry& registry) {
#ifdef STEREOPSIS_CUDA
  registry.add(tuned_rule);
#endif
  registry.add(rule);
}

}  // namespace stereopsis::window_sad_wta
