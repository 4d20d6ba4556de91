#include "stages/sgm/sgm_entry.hpp"
#include "graph/descriptor.hpp"
#include "stages/path_costs/path_costs.hpp"

namespace stereopsis::sgm {
namespace {

// Costs in 16 bits, which may be anything, count as far as their sums fit.
int max_cost(const Shape& s) {
  return s.operand(0).element == Element::u16 ? most_cost(s.as<Parameters>()) : s.as<Parameters>().largest_cost;
}

// Calls f<T>() with the type of the costs.
template <class F>
void with_cost(const Shape& s, F&& f) {
  if (s.operand(0).element == Element::u8)
    f.template operator()<std::uint8_t>();
  else
    f.template operator()<std::uint16_t>();
}

constexpr auto sum_paths = STEREOPSIS_DISPATCH_WITH_SCRATCH(oracle, cpu, gpu);

constexpr auto run = [](const auto& c) {
  const auto& p = c.template as<Parameters>();
  with_cost(c, [&]<class T>() {
    sum_paths(c, p, c.template volume<const T>(0), max_cost(c),
              c.template image<const std::uint8_t>(p.adaptive() ? 1 : -1), edges_of(c, first_edge(c.parameters)),
              c.template volume<std::uint16_t>(first_edge(c.parameters) + 2));
  });
};

std::size_t scratch(const Shape& s) {
  std::size_t bytes = 0;
  const int disparities = s.operand(0).disparities;
  if (s.target.device == On::gpu) bytes = gpu_scratch_bytes(s.size(), disparities);
#ifdef STEREOPSIS_SIMD
  if (s.target.device == On::cpu)
    with_cost(s, [&]<class T>() {
      bytes = scratch_bytes<T>(s.as<Parameters>(), max_cost(s), s.size(), disparities, s.target.threads);
    });
#endif
  return bytes;
}

const PathBoundary boundary{.kinds = [](const StageParameters& p) { return kinds_of(p.as<Parameters>()); },
                            .parameters = [](const StageParameters& p, bool up) -> StageParameters {
                              return path_costs::Parameters{p.as<Parameters>(), up};
                            },
                            .stage = "path_costs"};

const StageDescriptor entry{
    .slot = Slot::optimisation,
    .name = "sgm",
    .title = "semi-global matching",
    .parameters = Parameters{},
    .ports =
        [](const StageParameters& p, const PairInfo&) {
          Ports ports{in_volume("costs", {Element::u8, Element::u16})};
          if (p.as<Parameters>().adaptive()) ports.push_back(in("grey8"));
          for (const Port& port : {if_there("paths_above"), if_there("paths_below"), out_volume("costs", Element::u16)})
            ports.push_back(port);
          return ports;
        },
    .functions = on_every_device(run),
    .global_support = true,
    .check = [](const Shape& s) { check(s.as<Parameters>(), max_cost(s)); },
    .scratch = scratch,
    // One read of the costs and one write of the sums; for a cell of each path 11 instructions: cost, minima, additions, sums.
    .work =
        [](const Shape& s) {
          const double cells = s.cells(0);
          return Work{.bytes = s.operand(0).bytes() + 2 * cells, .path_ops = 11 * cells * s.as<Parameters>().paths};
        },
    .most_cost = [](const StageParameters& p) { return most_cost(p.as<Parameters>()); },
    .plan = [](StageParameters& p, const PlanFacts& facts) { p.as<Parameters>().largest_cost = facts.most_cost; },
    .boundary = &boundary,
    .examples = {{"paths=8", "p1=10", "p2=60"}, {"paths=4", "p1=10", "p2=90", "gradient=8", "p2_min=20"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::sgm
