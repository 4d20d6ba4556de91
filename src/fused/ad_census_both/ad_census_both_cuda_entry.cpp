// Registers the tuned CUDA kernels that compute the AD-Census costs of both views at once, averaged over the crosses of
// both pixels.
#include "fused/ad_census_both/ad_census_both_cuda.hpp"
#include "graph/registry.hpp"

namespace stereopsis::ad_census_both {
namespace {

const Port right_costs_port = out_volume("right_costs", Element::u8);

const StageDescriptor tuned{
    .slot = Slot::internal,
    .name = "ad_census_both_cuda",
    .title = "AD-Census over crosses, both views",
    .ports = {in("image8", both), in("census9x7", both), in("cross", both), out_volume("costs", Element::u8),
              right_costs_port},
    .functions = {.gpu =
                      [](const Call<On::gpu>& c) {
                        const auto& p = c.as<Parameters>();
                        const auto pixels = c.images<const std::uint8_t>("image8");
                        const auto words = c.images<const std::uint64_t>("census9x7");
                        const auto arms = c.images<const std::uint32_t>("cross");
                        cuda(p, {pixels[0], pixels[1], words[0], words[1]},
                             {arms[0], arms[1], p.aggregation.longest_arm}, c.context.range.min,
                             c.volume<std::uint8_t>("costs"), c.volume<std::uint8_t>("right_costs"), c.scratch(),
                             c.worker());
                      }},
    .scratch = {.gpu =
                    [](const Shape& s) {
                      return cuda_scratch_bytes(s.size(), s.context.range, s.target.cuda_capability);
                    }},
    // Costs are written and read once. In each iteration, sums are written and read, and means are written. The cells
    // of the right view are copied.
    .work = [](const Shape& s) {
      const int iterations = s.as<Parameters>().aggregation.iterations;
      return Work{.bytes = (5 + 4.0 * iterations) * s.cells(), .popcounts = 2 * s.cells()};
    }};

// Returns whether two steps read the two views of an image in exchanged order.
bool are_mirrored(const Step& a, const Step& b, const char* name) {
  return std::ranges::all_of(each_view, [&](Side view) {
    const Operand one = a.input(name, view), other = b.input(name, opposite(view));
    return one.value == other.value && one.rows.first == other.rows.first && one.rows.count() == other.rows.count();
  });
}

Step fuse(const Run& run) {
  const Step &right_costs = run.steps[0], &right_means = run.steps[1];
  const Step &left_costs = run.second_view[0], &left_means = run.second_view[1];
  const Parameters p{left_costs.parameters.as<ad_census::Parameters>(),
                     left_means.parameters.as<cross_aggregation::Parameters>()};
  const AnyView volume = run.shape(left_costs.output("costs"));
  const StepContext& context = left_costs.context;
  if (context.stripe_rows != 0) return {.note = "the memory limit asks for less than both views' costs take at once"};
  if (!cuda_serves(p, volume.size(), context.range, p.aggregation.longest_arm, run.target.cuda_capability))
    return {.note =
                "the tuned kernels take arms of both views, of up to 33 pixels, and disparities from 0 up to the "
                "width, from compute capability 8.0 on"};
  const bool are_views =
      right_costs.context.from_right && !context.from_right && are_mirrored(right_costs, left_costs, "image8") &&
      are_mirrored(right_costs, left_costs, "census9x7") && are_mirrored(right_means, left_means, "cross") &&
      left_means.input("costs").value == left_costs.output("costs").value &&
      right_means.input("costs").value == right_costs.output("costs").value;
  if (!are_views) return {.note = "the tuned kernels take the two views of a pair"};
  for (const char* name : {"image8", "census9x7"})
    for (const Side view : each_view)
      if (run.shape(left_costs.input(name, view)).size() != volume.size())
        return {.note = "the tuned kernels take whole images"};
  Step step = fused_step(tuned, p, run.second_view);
  step.operands.back() = named(right_means.output("costs"), right_costs_port, Side::reference);
  return step;
}

const Rule rule{.name = "ad_census_both_cuda",
                .run = {"ad_census", "cross_aggregation"},
                .fuse = fuse,
                .operation = &tuned,
                .examples = {"ad-census"},
                .both_views = true};

}  // namespace

void register_tuned(Registry& registry) { registry.add(rule); }

}  // namespace stereopsis::ad_census_both
