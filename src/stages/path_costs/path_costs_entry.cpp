#include "stages/cost/source_of.hpp"
#include "stages/path_costs/path_costs.hpp"

namespace stereopsis::path_costs {
namespace {

constexpr auto follow = STEREOPSIS_DISPATCH_WITH_SCRATCH(oracle, cpu, gpu);

template <On on, class Kind>
auto input_of(const Call<on>& c, const Kind& kind) {
  return std::conditional_t<on == On::gpu, Input<Kind, gpu::View>, Input<Kind>>{
      cost::source_of(c, kind), c.template image<const std::uint8_t>(2), c.template image<const std::uint16_t>(3),
      c.context.range.min, c.context.range.count};
}

constexpr auto run = [](const auto& c) {
  cost::with_followed_kind(c.template as<Parameters>().cost, [&](const auto& kind) {
    follow(c, c.template as<Parameters>(), input_of(c, kind), c.template image<std::uint16_t>(4));
  });
};

std::size_t scratch(const Shape& s) {
  if (s.target.device == On::gpu) return sgm::gpu_scratch_bytes(s.size(), s.context.range.count);
  std::size_t bytes = 0;
#ifdef STEREOPSIS_SIMD
  cost::with_followed_kind(s.as<Parameters>().cost, [&](const auto& kind) {
    bytes = scratch_bytes(s.as<Parameters>(), kind, s.size(), s.context.range.count, s.target.threads);
  });
#endif
  return bytes;
}

const StageDescriptor entry{
    .slot = Slot::internal,
    .name = "path_costs",
    .title = "path costs of the next stripe",
    .parameters = Parameters{},
    .ports =
        [](const StageParameters& p, const PairInfo&) {
          const auto& [sgm, up, cost] = p.as<Parameters>();
          return Ports{in("words", both), sgm.adaptive() ? in("grey8") : if_there("grey8"),
                       if_there(up ? "paths_below" : "paths_above"), wanted("paths", Element::u16)};
        },
    .functions = on_every_device(run),
    .global_support = true,
    .check = [](const Shape& s) { sgm::check(s.as<Parameters>().sgm, s.as<Parameters>().cost.max_cost()); },
    .scratch = scratch,
    .work =
        [](const Shape& s) {
          const double cells = s.pixels() * s.context.range.count;
          return Work{.path_ops = 11 * cells * sgm::kinds_of(s.as<Parameters>().sgm)};
        },
    .plan = [](StageParameters& p, const PlanFacts& facts) { p.as<Parameters>().cost = facts.word_cost; }};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::path_costs
