#include "graph/descriptor.hpp"
#include "stages/upsample/upsample.hpp"

namespace stereopsis::upsample {
namespace {

constexpr auto upsample_map = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{
    .slot = Slot::internal,
    .name = "upsample",
    .title = "upsampling",
    .parameters = Parameters{.factor = 2},  // for checks
    .ports =
        [](const StageParameters&, const PairInfo&) {
          return Ports{in("disparity"),
                       in("validity"),
                       if_there("confidence"),
                       in("grey8"),
                       in("full_grey8"),
                       if_there("full_mask"),
                       out("full_disparity", Element::f32),
                       out("full_validity", Element::u8),
                       out("full_confidence", Element::f32)};
        },
    .functions = on_every_device([](const auto& c) {
      using C = std::decay_t<decltype(c)>;
      const auto bytes = [&](int i) { return c.template image<const std::uint8_t>(i); };
      const typename C::template Of<InputOf> input{
          c.template image<const float>(0), bytes(1), c.template image<const float>(2), bytes(3), bytes(4), bytes(5)};
      const typename C::template Of<OutputOf> output{c.template image<float>(6), c.template image<std::uint8_t>(7),
                                                     c.template image<float>(8)};
      upsample_map(c, c.template as<Parameters>(), input, output);
    })};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::upsample
