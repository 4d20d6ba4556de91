#include "graph/registry.hpp"
#include "stages/rgb/rgb.hpp"

namespace stereopsis::rgb {
namespace {

constexpr auto to_rgb = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{.slot = Slot::image,
                            .name = "rgb",
                            .title = "colours",
                            .ports =
                                [](const PairInfo& pair) {
                                  Ports ports{in("image"), if_there("mask"), out("rgb", Element::u32)};
                                  if (pair.is_float()) ports.push_back(out("mask", Element::u8));
                                  return ports;
                                },
                            .functions = on_every_device([](const auto& c) {
                              c.with_pixels([&]<class T>() {
                                to_rgb(c, c.template image<const T>("image"), c.context.bit_depth, c("mask"), c("rgb"),
                                       c("mask"));
                              });
                            })};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::rgb
