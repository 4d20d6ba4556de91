#include "stages/sgm/sgm_entry.hpp"
#include "graph/facets.hpp"
#include "stages/path_costs/path_costs.hpp"

namespace stereopsis::sgm {
namespace {

// Returns the largest cost of the volume. 16-bit costs may have any value, and are clamped so that their sums fit.
int max_cost(const Shape& s) {
  return s.operand("costs").element == Element::u16 ? most_cost(s.as<Parameters>()) : s.as<Parameters>().largest_cost;
}

// Calls f<T>(), where T is the type of the costs.
template <class F>
void with_cost(const Shape& s, F&& f) {
  with_element<std::uint8_t, std::uint16_t>(s.operand("costs").element, f);
}

constexpr auto sum_paths = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

constexpr auto run = [](const auto& c) {
  with_cost(c, [&]<class T>() {
    sum_paths(c, c.template as<Parameters>(), c.template volume<const T>("costs"), max_cost(c), c("grey8"), edges_of(c),
              c("costs"));
  });
};

std::size_t cpu_scratch(const Shape& s) {
  std::size_t bytes = 0;
  with_cost(s, [&]<class T>() {
    bytes = scratch_bytes<T>(s.as<Parameters>(), max_cost(s), s.size(), s.disparities(), s.target.threads);
  });
  return bytes;
}

const PathBoundary boundary{
    .kinds = kinds_of, .follow = path_costs::follow_stripe, .match_stripes = path_costs::match_stripes};

const StageDescriptor entry{
    .slot = Slot::optimisation,
    .name = "sgm",
    .title = "semi-global matching",
    .parameters = Parameters{},
    .ports =
        [](const Parameters& p) {
          Ports ports{in_volume("costs", {Element::u8, Element::u16})};
          if (p.adaptive()) ports.push_back(in("grey8"));
          for (const Port& port : {if_there("paths_above"), if_there("paths_below"), out_volume("costs", Element::u16)})
            ports.push_back(port);
          return ports;
        },
    .functions = on_every_device(run),
    .global_support = true,
    .check = [](const Shape& s) { check(s.as<Parameters>(), max_cost(s)); },
    .scratch = {.cpu = [](const Shape& s) { return cpu_scratch(s); },
                .gpu =
                    [](const Shape& s) {
                      const int cost_bytes = s.operand("costs").element == Element::u16 ? 2 : 1;
                      return gpu_scratch_bytes(s.as<Parameters>(), cost_bytes, s.size(), s.disparities());
                    }},
    // The costs are read once, and the sums are written once. Each cell of a path takes 11 instructions: cost, minima,
    // additions, sums.
    .work =
        [](const Shape& s) {
          const double cells = s.cells();
          return Work{.bytes = s.first().bytes() + 2 * cells, .path_ops = 11 * cells * s.as<Parameters>().paths};
        },
    .plan = [](Parameters& p, const PlanFacts& facts) { p.largest_cost = facts.most_cost; },
    .facets = {CostLimit{.largest = most_cost}, &boundary},
    .examples = {{"paths=8", "p1=10", "p2=60"}, {"paths=4", "p1=10", "p2=90", "gradient=8", "p2_min=20"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::sgm
