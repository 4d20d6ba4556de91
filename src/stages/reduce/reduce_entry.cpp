// Registers the reduction of images, and the conversion of the resulting maps to pixels of the input.
#include "graph/registry.hpp"
#include "stages/reduce/reduce.hpp"

namespace stereopsis::reduce {

extern const Reduction reduction;  // defined in reduce_lowering.cpp

namespace {

constexpr auto reduce_image = STEREOPSIS_DISPATCH(oracle, cpu, gpu);
constexpr auto scale_map = STEREOPSIS_DISPATCH(scale_oracle, scale_cpu, scale_gpu);

const StageDescriptor entry{
    .slot = Slot::prepare,
    .name = "reduce",
    .title = "reduction",
    .parameters = Parameters{},
    .ports = {in("grey"), if_there("mask"), out("image", Element::same), out("mask", Element::u8)},
    .functions = on_every_device([](const auto& c) {
      c.with_pixels([&]<class T>() {
        reduce_image(c, c.template as<Parameters>(), c.template image<const T>("grey"), c("mask"),
                     c.template image<T>("image"), c("mask"));
      });
    }),
    .check = check,
    .facets = {ImageShape{.size = [](const Parameters& p, Size size) { return reduced_size(p, size); }}, &reduction},
    .examples = {{"factor=2"}, {"factor=3", "sampling=every_nth"}}};

const StageDescriptor scale{
    .slot = Slot::internal,
    .name = "scale",
    .title = "scale",
    .parameters = Parameters{},
    .ports = {change("disparity")},
    .functions = on_every_device([](const auto& c) { scale_map(c, c.template as<Parameters>(), c("disparity")); }),
    .examples = {{"factor=3"}}};

}  // namespace

void register_stage(Registry& registry) {
  registry.add(entry);
  registry.add(scale);
}

}  // namespace stereopsis::reduce
