#include "graph/registry.hpp"
#include "stages/upsample/upsample.hpp"

namespace stereopsis::upsample {
namespace {

constexpr auto upsample_map = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{
    .slot = Slot::internal,
    .name = "upsample",
    .title = "upsampling",
    .parameters = Parameters{.factor = 2},  // for checks
    .ports = {in("disparity"), in("validity"), if_there("confidence"), in("grey8"), in("full_grey8"),
              if_there("full_mask"), out("full_disparity", Element::f32), out("full_validity", Element::u8),
              out("full_confidence", Element::f32)},
    .functions = on_every_device([](const auto& c) {
      const auto bytes = [&](const char* name) { return c.template image<const std::uint8_t>(name); };
      const auto input = c.template of<InputOf>(c.template image<const float>("disparity"), bytes("validity"),
                                                c.template image<const float>("confidence"), bytes("grey8"),
                                                bytes("full_grey8"), bytes("full_mask"));
      const auto output = c.template of<OutputOf>(c.template image<float>("full_disparity"),
                                                  c.template image<std::uint8_t>("full_validity"),
                                                  c.template image<float>("full_confidence"));
      upsample_map(c, c.template as<Parameters>(), input, output);
    })};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::upsample
