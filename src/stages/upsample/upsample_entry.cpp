#include "graph/registry.hpp"
#include "stages/upsample/upsample.hpp"

namespace stereopsis::upsample {
namespace {

constexpr auto upsample_map = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{.slot = Slot::internal,
                            .name = "upsample",
                            .title = "upsampling",
                            .parameters = Parameters{.factor = 2},  // for checks
                            .ports = {in("disparity"), in("validity"), if_there("confidence"), in("grey8"),
                                      in("full_grey8"), if_there("full_mask"), out("full_disparity", Element::f32),
                                      out("full_validity", Element::u8), out("full_confidence", Element::f32)},
                            .functions = on_every_device([](const auto& c) {
                              const auto input = c.template of<InputOf>(c("disparity"), c("validity"), c("confidence"),
                                                                        c("grey8"), c("full_grey8"), c("full_mask"));
                              const auto output = c.template of<OutputOf>(c("full_disparity"), c("full_validity"),
                                                                          c("full_confidence"));
                              upsample_map(c, c.template as<Parameters>(), input, output);
                            })};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::upsample
