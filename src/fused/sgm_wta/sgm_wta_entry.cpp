// Semi-global matching and the selection at once: on the CPU, by the portable kernels in stripes, and by the tuned ones of CUDA.
#include "fused/sgm_wta/sgm_wta.hpp"
#include "stages/entry.hpp"
#ifdef STEREOPSIS_CUDA
#include "fused/sgm_wta/sgm_wta_cuda.hpp"
#endif

namespace stereopsis::sgm_wta {
namespace {

constexpr int first_mask = 3, first_output = 5;

template <On on, class Kind>
auto input_of(const Call<on>& c, const Kind& kind) {
  using Word = const typename Kind::Word;
  const auto bytes = [&](int i) { return c.template image<const std::uint8_t>(i); };
  if constexpr (on == On::gpu)
    return Input<Kind, gpu::View>{{c.template image<Word>(0), c.template image<Word>(1), kind},
                                  bytes(2),
                                  {c.numbers.range.min, bytes(first_mask), bytes(first_mask + 1)},
                                  c.numbers.range.count,
                                  c.numbers.stripe_rows};
  else
    return Input<Kind>{{c.template image<Word>(0), c.template image<Word>(1), kind},
                       bytes(2),
                       {c.numbers.range.min, bytes(first_mask), bytes(first_mask + 1)},
                       c.numbers.range.count,
                       c.numbers.stripe_rows};
}
template <On on>
auto output_of(const Call<on>& c) {
  return typename Call<on>::template Of<wta::OutputOf>{
      c.template image<float>(first_output), c.template image<std::uint8_t>(first_output + 1),
      c.template image<float>(first_output + 2), c.template image<float>(first_output + 3)};
}

// Words, guide, masks, maps.
Ports ports(const StageParameters&, const PairInfo&) {
  return {in("words", both),
          if_there("grey8"),
          if_there("mask", both),
          out("disparity", Element::f32),
          out("validity", Element::u8),
          wanted("right", Element::f32),
          wanted("confidence", Element::f32)};
}
Work work(const Shape& s) {
  const double cells = s.pixels() * s.numbers.range.count;
  // One write and one read of the 16-bit sums; for a cell of each path 11 instructions: cost, minima, additions, sums.
  Work work{.bytes = 4 * cells, .paths = 11 * cells * s.as<Parameters>().sgm.paths};
  cost::with_followed_kind(s.numbers.kind, [&](const auto& kind) { work.counts = cells * kind.popcounts(); });
  return work;
}

const Entry portable{.slot = Slot::part,
                     .name = "sgm_wta",
                     .title = "semi-global matching",
                     .ports = ports,
                     .functions = {
#ifdef STEREOPSIS_SIMD
                         .cpu =
                             [](const Call<On::cpu>& c) {
                               cost::with_followed_kind(c.numbers.kind, [&](const auto& kind) {
                                 cpu(c.as<Parameters>(), input_of(c, kind), output_of(c), c.scratch(), c.worker());
                               });
                             },
#endif
                         .gpu =
                             [](const Call<On::gpu>& c) {
                               cost::with_followed_kind(c.numbers.kind, [&](const auto& kind) {
                                 gpu(c.as<Parameters>(), input_of(c, kind), output_of(c), c.scratch(), c.worker());
                               });
                             }},
                     .scratch = [](const Shape& s) -> std::size_t {
                       const auto& p = s.as<Parameters>();
                       const Numbers& n = s.numbers;
                       if (s.target.device == On::gpu)
                         return gpu_workspace_bytes(p, s.size(), n.range.count, n.stripe_rows);
                       std::size_t bytes = 0;
#ifdef STEREOPSIS_SIMD
                       cost::with_followed_kind(n.kind, [&](const auto& kind) {
                         bytes = workspace_bytes(p, kind, s.size(), n.range.count, s.target.threads, n.stripe_rows);
                       });
#endif
                       return bytes;
                     },
                     .work = work};

// The step that both operations take the place with.
Step fused(const Run& run, const Entry& operation) {
  const Step &paths = run.steps[0], &selection = run.steps[1];
  Step step{
      &operation,      Parameters{paths.parameters.as<sgm::Parameters>(), selection.parameters.as<wta::Parameters>()},
      paths.numbers,   {paths.operands[0], paths.operands[1]},
      operation.title, {}};
  step.operands.push_back(paths.operands.size() > 3 ? paths.operands[2] : Operand{});
  step.operands.insert(step.operands.end(), selection.operands.begin() + 1, selection.operands.end());
  return step;
}

const Rule rule{.name = "sgm_wta",
                .run = {"sgm", "winner_takes_all"},
                .fuse = [](const Run& run) { return fused(run, portable); },
                .operation = &portable,
                .examples = {"banz-sgm", "sgm", "sgm cost.census_weight=1", "banz-sgm optimisation.paths=4"}};

#ifdef STEREOPSIS_CUDA
const Entry tuned{
    .slot = Slot::part,
    .name = "sgm_wta_cuda",
    .title = "semi-global matching",
    .ports = ports,
    .functions = {.gpu =
                      [](const Call<On::gpu>& c) {
                        cost::with_followed_kind(c.numbers.kind, [&](const auto& kind) {
                          cuda(c.as<Parameters>(), input_of(c, kind), output_of(c), c.scratch(), c.worker());
                        });
                      }},
    .scratch =
        [](const Shape& s) {
          std::size_t bytes = 0;
          cost::with_followed_kind(s.numbers.kind, [&](const auto& kind) {
            bytes = cuda_workspace_bytes(s.as<Parameters>(), kind, s.size(), s.numbers.range.count,
                                         cuda_is_compact(s.target.cuda_capability, s.numbers.stripe_rows));
          });
          return bytes;
        },
    .work = work};

Step fuse_tuned(const Run& run) {
  if (!cuda_runs_on(run.target.cuda_capability)) return {.note = "the tuned kernels need compute capability 8.0"};
  const Step step = fused(run, tuned);
  const Numbers& n = step.numbers;
  if (n.stripe_rows != 0 && n.stripe_rows < run.shape(step.operands[0]).height)
    return {.note = "the memory limit asks for stripes, which the portable kernels do"};
  bool serves = false;
  cost::with_followed_kind(
      n.kind, [&](const auto& kind) { serves = cuda_serves(step.parameters.as<Parameters>(), kind, n.range.count); });
  if (!serves) return {.note = "the tuned kernels take 256 disparities, path costs of 11 bits and sums of 12 at most"};
  return step;
}

const Rule tuned_rule{.name = "sgm_wta_cuda",
                      .run = {"sgm", "winner_takes_all"},
                      .fuse = fuse_tuned,
                      .operation = &tuned,
                      .examples = {"banz-sgm", "sgm"}};
#endif

}  // namespace

void join(Registry& registry) {
#ifdef STEREOPSIS_CUDA
  registry.add(tuned_rule);
#endif
  registry.add(rule);
}

}  // namespace stereopsis::sgm_wta
