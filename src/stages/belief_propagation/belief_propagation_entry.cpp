#include <cmath>

#include "graph/registry.hpp"
#include "stages/belief_propagation/belief_propagation.hpp"

namespace stereopsis::belief_propagation {
namespace {

constexpr auto optimise = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

// Returns the number of cells of all levels. The numbers of pixels form a geometric series.
double cells_of(const Shape& s) { return s.cells() * (4 - std::pow(0.25, s.as<Parameters>().levels - 1)) / 3; }

const StageDescriptor entry{
    .slot = Slot::optimisation,
    .name = "belief_propagation",
    .title = "belief propagation",
    .parameters = Parameters{},
    .ports = {in_volume("costs", {Element::u8}), out_volume("costs", Element::u16)},
    .functions =
        on_every_device([](const auto& c) { optimise(c, c.template as<Parameters>(), c("costs"), c("costs")); }),
    .global_support = true,
    .check = check,
    .scratch = {.cpu =
                    [](const Shape& s) {
                      return scratch_bytes(s.as<Parameters>(), s.size(), s.disparities(), s.target.threads);
                    },
                .gpu = [](const Shape& s) { return gpu_scratch_bytes(s.as<Parameters>(), s.size(), s.disparities()); }},
    .work =
        [](const Shape& s) {
          const double updates = cells_of(s) * s.as<Parameters>().iterations;
          return Work{.bytes = 18 * updates, .int_ops = 4 * 12 * updates};
        },
    .examples = {{}, {"slope=7", "truncation=60", "levels=3", "iterations=2", "convergence=4"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::belief_propagation
