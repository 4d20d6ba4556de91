// Registers the colours that window matching compares, in its colour space and with its weights. If the pipeline has
// another cost, the defaults are used.
#include "graph/registry.hpp"
#include "stages/hsv/hsv.hpp"
#include "stages/shared/window_entry.hpp"

namespace stereopsis::hsv {
namespace {

constexpr auto to_colours = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{.slot = Slot::image,
                            .name = "colours",
                            .title = "colours",
                            .parameters = Parameters{window_sad::weighting_of({})},
                            .ports =
                                [](const PairInfo& pair) {
                                  Ports ports{in("image"), if_there("mask"), out("colours", Element::u32)};
                                  if (pair.is_float()) ports.push_back(out("mask", Element::u8));
                                  return ports;
                                },
                            .functions = on_every_device([](const auto& c) {
                              c.with_pixels([&]<class T>() {
                                to_colours(c, c.template as<Parameters>().weighting, c.template image<const T>("image"),
                                           c.context.bit_depth, c("mask"), c("colours"), c("mask"));
                              });
                            }),
                            .plan =
                                [](Parameters& p, const PlanFacts& facts) {
                                  p.weighting = window_sad::weighting_of(window_sad::parameters_of(facts.cost));
                                }};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::hsv
