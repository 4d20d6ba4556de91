// AD-Census costs averaged over the crosses of both views, of the right view and then of the left one: the tuned kernels of
// CUDA make both at once.
#include "fused/ad_census_both/ad_census_both_cuda.hpp"
#include "graph/descriptor.hpp"

namespace stereopsis::ad_census_both {
namespace {

enum Operands { image, census = 2, arms = 4, left = 6, right };

const StageDescriptor tuned{
    .slot = Slot::internal,
    .name = "ad_census_both_cuda",
    .title = "AD-Census over crosses, both views",
    .ports =
        [](const StageParameters&, const PairInfo&) {
          return Ports{in("image8", both), in("census9x7", both), in("cross", both), out_volume("costs", Element::u8),
                       out_volume("right_costs", Element::u8)};
        },
    .functions = {.gpu =
                      [](const Call<On::gpu>& c) {
                        const auto pixels = [&](int i) { return c.image<const std::uint8_t>(i); };
                        const auto words = [&](int i) { return c.image<const std::uint64_t>(i); };
                        const auto crosses = [&](int i) { return c.image<const std::uint32_t>(i); };
                        cuda(c.as<Parameters>(), {pixels(image), pixels(image + 1), words(census), words(census + 1)},
                             {crosses(arms), crosses(arms + 1), c.as<Parameters>().aggregation.longest_arm},
                             c.context.range.min, c.volume<std::uint8_t>(left), c.volume<std::uint8_t>(right),
                             c.scratch(), c.worker());
                      }},
    .scratch = [](const Shape& s) { return cuda_scratch_bytes(s.size(), s.context.range, s.target.cuda_capability); },
    // Costs are made and read, sums written and read in each iteration, means written; the mirrored cells are copied.
    .work =
        [](const Shape& s) {
          const int iterations = s.as<Parameters>().aggregation.iterations;
          return Work{.bytes = (5 + 4.0 * iterations) * s.cells(left), .popcounts = 2 * s.cells(left)};
        }};

// Whether two steps have each other's views.
bool are_mirrored(const Step& a, const Step& b, int both_views) {
  for (int i = 0; i < both_views; ++i) {
    const Operand &one = a.operands[i], &other = b.operands[i ^ 1];
    if (one.value != other.value || one.rows.first != other.rows.first || one.rows.count() != other.rows.count())
      return false;
  }
  return true;
}

Step fuse(const Run& run) {
  const Step &right_costs = run.steps[0], &right_means = run.steps[1];
  const Step &left_costs = run.second_view[0], &left_means = run.second_view[1];
  const Parameters p{left_costs.parameters.as<ad_census::Parameters>(),
                     left_means.parameters.as<cross_aggregation::Parameters>()};
  const AnyView volume = run.shape(left_costs.operands[4]);
  const StepContext& context = left_costs.context;
  if (context.stripe_rows != 0) return {.note = "the memory limit asks for less than both views' costs take at once"};
  if (!cuda_serves(p, volume.size(), context.range, p.aggregation.longest_arm, run.target.cuda_capability))
    return {.note =
                "the tuned kernels take arms of both views, of up to 33 pixels, and disparities from 0 up to the "
                "width, from compute capability 8.0 on"};
  const bool are_views = right_costs.context.from_right && !context.from_right &&
                         are_mirrored(right_costs, left_costs, 4) && are_mirrored(right_means, left_means, 2) &&
                         left_means.operands[2].value == left_costs.operands[4].value &&
                         right_means.operands[2].value == right_costs.operands[4].value;
  if (!are_views) return {.note = "the tuned kernels take the two views of a pair"};
  for (int i = 0; i < 4; ++i)
    if (run.shape(left_costs.operands[i]).size() != volume.size())
      return {.note = "the tuned kernels take whole images"};
  std::vector<Operand> operands(left_costs.operands.begin(), left_costs.operands.begin() + 4);
  operands.insert(operands.end(),
                  {left_means.operands[0], left_means.operands[1], left_means.operands[2], right_means.operands[2]});
  return {&tuned, p, context, std::move(operands), tuned.title, {}};
}

const Rule rule{.name = "ad_census_both_cuda",
                .run = {"ad_census", "cross_aggregation"},
                .fuse = fuse,
                .operation = &tuned,
                .examples = {"ad-census"},
                .both_views = true};

}  // namespace

void register_stage(Registry& registry) { registry.add(rule); }

}  // namespace stereopsis::ad_census_both
