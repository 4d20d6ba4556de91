#include "graph/registry.hpp"
#include "stages/remap/remap.hpp"

namespace stereopsis::remap {
namespace {

constexpr auto resample = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{
    .slot = Slot::image,
    .name = "remap",
    .title = "rectification",
    .ports = {in("raw"), if_there("raw_mask"), in("map"), out("image", Element::same), out("mask", Element::u8)},
    .functions = on_every_device([](const auto& c) {
      c.with_pixels([&]<class T>() {
        resample(c, c.template of<InputOf, T>(c("raw"), c("raw_mask"), c("map")),
                 c.template of<OutputOf, T>(c("image"), c("mask")));
      });
    }),
    .facets = {MapResampling{}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::remap
