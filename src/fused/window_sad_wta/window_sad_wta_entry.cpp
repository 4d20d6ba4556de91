// Window differences and the selection at once.
#include "fused/window_sad_wta/window_sad_wta.hpp"
#include "stages/window_sad/window_sad_entry.hpp"
#ifdef STEREOPSIS_CUDA
#include "fused/window_sad_wta/window_sad_wta_cuda.hpp"
#endif

namespace stereopsis::window_sad_wta {
namespace {

// Colours, masks, maps.
Ports ports(const StageParameters&, const PairInfo&) {
  return {in("colours", both),          if_there("mask", both),        out("disparity", Element::f32),
          out("validity", Element::u8), wanted("right", Element::f32), wanted("confidence", Element::f32)};
}

template <On on>
auto input_of(const Call<on>& c) {
  const auto mask = [&](int i) { return c.template image<const std::uint8_t>(i); };
  return typename Call<on>::template Of<Input>{
      window_sad::source_of(c), {c.numbers.range.min, mask(2), mask(3)}, c.numbers.range.count};
}
template <On on>
auto output_of(const Call<on>& c) {
  return typename Call<on>::template Of<wta::OutputOf>{c.template image<float>(4), c.template image<std::uint8_t>(5),
                                                       c.template image<float>(6), c.template image<float>(7)};
}
// The words of both views, once; the result.
Work work(const Shape& s) { return {.bytes = 13 * s.pixels()}; }

const Entry portable{
    .slot = Slot::part,
    .name = "window_sad_wta",
    .title = "window matching",
    .ports = ports,
    .functions = {
#ifdef STEREOPSIS_SIMD
        .cpu =
            [](const Call<On::cpu>& c) { cpu(c.as<Parameters>(), input_of(c), output_of(c), c.scratch(), c.worker()); },
#endif
        .gpu =
            [](const Call<On::gpu>& c) {
              gpu(c.as<Parameters>(), input_of(c), output_of(c), c.scratch(), c.worker());
            }},
    .scratch = [](const Shape& s) -> std::size_t {
      // Of masked pairs alone where a tuned kernel takes the others: their memory should not wait in vain.
      const bool rarely = s.target.cuda_capability >= 80 && !(s.operand(2).empty() && s.operand(3).empty());
      if (s.target.device == On::gpu) return gpu_workspace_bytes(s.size(), s.numbers.range.count, rarely);
#ifdef STEREOPSIS_SIMD
      return workspace_bytes(s.size(), s.numbers.range.count, s.target.threads);
#else
                       return 0;
#endif
    },
    .work = work};

Step fused(const Run& run, const Entry& operation) {
  const Step &sums = run.steps[0], &selection = run.steps[1];
  const Parameters p{sums.parameters.as<window_sad::Parameters>().window(), selection.parameters.as<wta::Parameters>()};
  Step step{&operation, p, sums.numbers, {sums.operands[0], sums.operands[1]}, operation.title, {}};
  step.operands.insert(step.operands.end(), selection.operands.begin() + 1, selection.operands.end());
  return step;
}

const Rule rule{.name = "window_sad_wta",
                .run = {"window_sad", "winner_takes_all"},
                .fuse = [](const Run& run) { return fused(run, portable); },
                .operation = &portable,
                .examples = {"prehn-window", "prehn-window cost.window_width=5 select.subpixel=parabola"}};

#ifdef STEREOPSIS_CUDA
const Entry tuned{
    .slot = Slot::part,
    .name = "window_sad_wta_cuda",
    .title = "window matching",
    .ports = ports,
    .functions = {.gpu =
                      [](const Call<On::gpu>& c) { cuda(c.as<Parameters>(), input_of(c), output_of(c), c.worker()); }},
    .work = work};

Step fuse_tuned(const Run& run) {
  const Step step = fused(run, tuned);
  if (step.operands[2].value >= 0 || step.operands[3].value >= 0) return {.note = "the tuned kernels take no masks"};
  const auto colours = [&](int i) { return planned<const std::uint32_t>(run.shape(step.operands[i])); };
  const auto map = [&](int i) { return planned<float>(run.shape(step.operands[i])); };
  const cost::Colours kind{window_sad::weighting_of(step.numbers).max_cost(step.numbers.channels)};
  const Input<gpu::View> in{{colours(0), colours(1), kind}, {step.numbers.range.min, {}, {}}, step.numbers.range.count};
  if (!cuda_serves(run.target.cuda_capability, step.parameters.as<Parameters>(), in, {map(4), {}, map(6), map(7)}))
    return {.note =
                "the tuned kernels take square windows and whole disparities of the left view, from compute "
                "capability 8.0 on"};
  return step;
}

const Rule tuned_rule{.name = "window_sad_wta_cuda",
                      .run = {"window_sad", "winner_takes_all"},
                      .fuse = fuse_tuned,
                      .operation = &tuned,
                      .examples = {"prehn-window"}};
#endif

}  // namespace

void join(Registry& registry) {
#ifdef STEREOPSIS_CUDA
  registry.add(tuned_rule);
#endif
  registry.add(rule);
}

}  // namespace stereopsis::window_sad_wta
