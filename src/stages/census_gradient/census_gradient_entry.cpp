#include "graph/registry.hpp"
#include "stages/census_gradient/census_gradient.hpp"
#include "stages/cost/cost.hpp"

namespace stereopsis::census_gradient {
namespace {

constexpr auto transform = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{.slot = Slot::cost,
                            .name = "census_gradient",
                            .title = "census + gradient",
                            .parameters = Parameters{},
                            .ports = {in("grey", both), in("grey8", both), out("words", Element::u32, both)},
                            .functions = on_every_device([](const auto& c) {
                              c.with_pixels([&]<class T>() {
                                in_turn(transform, c, c.template images<const T>("grey"), c.both("grey8"),
                                        c.both("words"));
                              });
                            }),
                            .required_input = required_input,
                            .work =
                                [](const Shape& s) {
                                  const int bytes = bytes_of(s.operand("grey").element);
                                  const double pixels = 2 * s.pixels();
                                  return Work{.bytes = (bytes + 4) * pixels, .int_ops = 0.5 * 24 * bytes * pixels};
                                },
                            .facets = {WordCosts{.cost = [](const Parameters& p) -> WordCost {
                              return cost::CensusGradient{p.census_weight, p.gradient_limit};
                            }}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::census_gradient
