// Correlation, the selection in both views and what is said of flat windows, at once.
#include "fused/zncc_wta/zncc_wta.hpp"
#include "stages/wta/wta_entry.hpp"
#ifdef STEREOPSIS_CUDA
#include "fused/zncc_wta/zncc_wta_cuda.hpp"
#endif

namespace stereopsis::zncc_wta {
namespace {

Ports ports(const StageParameters&, const PairInfo&) { return wta::selecting({in("samples", both)}); }

struct FusedParameters {
  Parameters parameters;
  int bits;  // of the samples' magnitude
};

template <On on>
auto input_of(const Call<on>& c) {
  return typename Call<on>::template Of<Input>{
      c.template image<const std::int16_t>(0), c.template image<const std::int16_t>(1),
      c.template as<FusedParameters>().bits, wta::input_of(c), c.context.range.count};
}

// The samples come in, and both maps go out.
Work work(const Shape& s) { return {.bytes = 13 * s.pixels()}; }

const StageDescriptor portable{.slot = Slot::internal,
                               .name = "zncc_wta",
                               .title = "matching of both views",
                               .ports = ports,
                               .functions = on_cpu_and_gpu([](const auto& c) {
                                 const auto& p = c.template as<FusedParameters>().parameters;
                                 if constexpr (device_of<decltype(c)> == On::gpu)
                                   gpu(p, input_of(c), wta::output_of(c), c.scratch(), c.worker());
                                 else
                                   cpu(p, input_of(c), wta::output_of(c), c.scratch(), c.worker());
                               }),
                               .check = [](const Shape& s) { check(s.context.range.count); },
                               .scratch = [](const Shape& s) -> std::size_t {
                                 const auto& [p, bits] = s.as<FusedParameters>();
                                 if (s.target.device == On::gpu)
                                   return gpu_workspace_bytes(p, s.size(), bits, s.context.range.count);
#ifdef STEREOPSIS_SIMD
                                 return workspace_bytes(p, s.size(), bits, s.context.range.count, s.target.threads);
#else
                                 return 0;
#endif
                               },
                               .work = work};

Step fused(const Run& run, const StageDescriptor& operation) {
  const Step &correlation = run.steps[0], &selection = run.steps[1];
  const Parameters p{correlation.parameters.as<zncc::Parameters>(), selection.parameters.as<wta::Parameters>()};
  const FusedParameters fused{p, correlation.context.element == Element::u8 ? 8 : 16};
  return wta::selecting_step(operation, fused, correlation, selection,
                             {correlation.operands[0], correlation.operands[1]});
}

const Rule rule{.name = "zncc_wta",
                .run = {"zncc", "wta", "zncc_flat"},
                .fuse = [](const Run& run) { return fused(run, portable); },
                .operation = &portable,
                .examples = {"zncc", "zncc select.subpixel=parabola"}};

#ifdef STEREOPSIS_CUDA
const StageDescriptor tuned{
    .slot = Slot::internal,
    .name = "zncc_wta_cuda",
    .title = "matching of both views",
    .ports = ports,
    .functions = {.gpu =
                      [](const Call<On::gpu>& c) {
                        cuda(c.as<FusedParameters>().parameters, input_of(c), wta::output_of(c), c.scratch(),
                             c.worker());
                      }},
    .check = [](const Shape& s) { check(s.context.range.count); },
    .scratch = [](const Shape& s) { return cuda_workspace_bytes(s.as<FusedParameters>().parameters, s.size()); },
    .work = work};

Step fuse_tuned(const Run& run) {
  if (!cuda_runs_on(run.target.cuda_capability)) return {.note = "the tuned kernels need compute capability 8.0"};
  const Step step = fused(run, tuned);
  const auto& [p, bits] = step.parameters.as<FusedParameters>();
  const bool wants_confidence = step.operands.back().value >= 0;
  if (!cuda_serves(p, bits, step.context.range.count, wants_confidence))
    return {.note = "the tuned kernels make whole disparities from 8-bit samples, without confidence"};
  return step;
}

const Rule tuned_rule{.name = "zncc_wta_cuda",
                      .run = {"zncc", "wta", "zncc_flat"},
                      .fuse = fuse_tuned,
                      .operation = &tuned,
                      .examples = {"zncc"}};
#endif

}  // namespace

void register_stage(Registry& registry) {
#ifdef STEREOPSIS_CUDA
  registry.add(tuned_rule);
#endif
  registry.add(rule);
}

}  // namespace stereopsis::zncc_wta
