#include "stages/cost/source_of.hpp"
#include "stages/path_costs/path_costs.hpp"

namespace stereopsis::path_costs {
namespace {

constexpr auto follow = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const char* paths_before(const Parameters& p) { return p.up ? "paths_below" : "paths_above"; }

// Calls f with the kind of the costs: that of the words, or that of the volume.
template <class F>
void with_kind(const Parameters& p, F&& f) {
  if (p.from_volume)
    f(cost::Given{p.sgm.largest_cost});
  else
    cost::with_followed_kind(p.cost, f);
}

constexpr auto run = [](const auto& c) {
  const auto& p = c.template as<Parameters>();
  with_kind(p, [&]<class Kind>(const Kind& kind) {
    const auto input = c.template of<Input, Kind>(cost::source_of(c, kind), c("grey8"), c(paths_before(p)),
                                                  c.context.range.min, c.context.range.count);
    follow(c, p, input, c("paths"));
  });
};

const StageDescriptor entry{
    .slot = Slot::internal,
    .name = "path_costs",
    .title = "path costs of the next stripe",
    .parameters = Parameters{},
    .ports =
        [](const Parameters& p) {
          return Ports{p.from_volume ? in_volume("costs", {Element::u8}) : in("words", both),
                       p.sgm.adaptive() ? in("grey8") : if_there("grey8"), if_there(paths_before(p)),
                       wanted("paths", Element::u16)};
        },
    .functions = on_every_device(run),
    .global_support = true,
    .check = [](const Parameters& p) { sgm::check(p.sgm, p.from_volume ? p.sgm.largest_cost : p.cost.max_cost()); },
    .scratch = {.cpu =
                    [](const Shape& s) {
                      std::size_t bytes = 0;
                      with_kind(s.as<Parameters>(), [&](const auto& kind) {
                        bytes =
                            scratch_bytes(s.as<Parameters>(), kind, s.size(), s.context.range.count, s.target.threads);
                      });
                      return bytes;
                    },
                .gpu = [](const Shape& s) { return sgm::gpu_scratch_bytes(s.size(), s.context.range.count); }},
    .work =
        [](const Shape& s) {
          const double cells = s.pixels() * s.context.range.count;
          return Work{.path_ops = 11 * cells * sgm::kinds_of(s.as<Parameters>().sgm)};
        },
    .plan =
        [](Parameters& p, const PlanFacts& facts) {
          p.cost = facts.word_cost;
          p.sgm.largest_cost = facts.most_cost;
        }};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::path_costs
