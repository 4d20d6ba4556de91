// Reduced images, and a map of theirs in pixels of the input.
#include "graph/descriptor.hpp"
#include "stages/reduce/reduce.hpp"

namespace stereopsis::reduce {

extern const Reduction reduction;  // reduce_lowering.cpp

namespace {

constexpr auto reduce_image = STEREOPSIS_DISPATCH(oracle, cpu, gpu);
constexpr auto scale_map = STEREOPSIS_DISPATCH(scale_oracle, scale_cpu, scale_gpu);

const StageDescriptor entry{
    .slot = Slot::prepare,
    .name = "reduce",
    .title = "reduction",
    .parameters = Parameters{},
    .ports =
        [](const StageParameters&, const PairInfo&) {
          return Ports{in("grey"), if_there("mask"), out("image", Element::same), out("mask", Element::u8)};
        },
    .functions = on_every_device([](const auto& c) {
      c.with_pixels(0, [&]<class T>() {
        reduce_image(c, c.template as<Parameters>(), c.template image<const T>(0),
                     c.template image<const std::uint8_t>(1), c.template image<T>(2),
                     c.template image<std::uint8_t>(3));
      });
    }),
    .check = [](const Shape& s) { check(s.as<Parameters>()); },
    .output_size = [](const StageParameters& p, Size size) { return reduced_size(p.as<Parameters>(), size); },
    .reduction = &reduction,
    .examples = {{"factor=2"}, {"factor=3", "sampling=every_nth"}}};

const StageDescriptor scale{.slot = Slot::internal,
                            .name = "scale",
                            .title = "scale",
                            .parameters = Parameters{},
                            .ports = [](const StageParameters&, const PairInfo&) { return Ports{change("disparity")}; },
                            .functions = on_every_device([](const auto& c) {
                              scale_map(c, c.template as<Parameters>(), c.template image<float>(0));
                            }),
                            .examples = {{"factor=3"}}};

}  // namespace

void register_stage(Registry& registry) {
  registry.add(entry);
  registry.add(scale);
}

}  // namespace stereopsis::reduce
