// Registers grey images, in their own type and in 8 bits, and colour images in 8 bits.
#include "graph/registry.hpp"
#include "stages/grey/grey.hpp"

namespace stereopsis::grey {
namespace {

constexpr auto to_grey = STEREOPSIS_DISPATCH(oracle, cpu, gpu);
constexpr auto to_8_bits = STEREOPSIS_DISPATCH(oracle8, cpu8, gpu8);

// The channels are converted like the pixels of a wider image.
AnyView flat(AnyView image) {
  image.width *= image.channels;
  image.channels = 1;
  return image;
}

template <class C>
void convert(const C& c, const char* from, const char* made) {
  c.with_pixels([&]<class T>() {
    to_8_bits(c, c.template as_image<const T>(flat(c.input(from))), c.context.bit_depth,
              c.template as_image<std::uint8_t>(flat(c.output(made))));
  });
}

const StageDescriptor grey{
    .slot = Slot::image,
    .name = "grey",
    .title = "grey",
    .ports =
        [](const PairInfo& pair) {
          Ports ports{in("image"), if_there("mask"), out("grey", Element::same)};
          if (pair.is_float()) ports.push_back(out("mask", Element::u8));
          return ports;
        },
    .functions = on_every_device([](const auto& c) {
      c.with_pixels([&]<class T>() {
        to_grey(c, c.template image<const T>("image"), c("mask"), c.template image<T>("grey"), c("mask"));
      });
    }),
    .facets = {ImageShape{
        .alias = [](const PairInfo& pair) { return pair.channels == 1 && !pair.is_float() ? "image" : nullptr; }}}};

const StageDescriptor grey8{.slot = Slot::image,
                            .name = "grey8",
                            .title = "8-bit grey",
                            .ports = {in("grey"), out("grey8", Element::u8)},
                            .functions = on_every_device([](const auto& c) { convert(c, "grey", "grey8"); }),
                            .facets = {ImageShape{.alias = [](const PairInfo& pair) {
                              return pair.element == Element::u8 ? "grey" : nullptr;
                            }}}};

const StageDescriptor image8{
    .slot = Slot::image,
    .name = "image8",
    .title = "8-bit image",
    .ports = {in("image"), out("image8", Element::u8)},
    .functions = on_every_device([](const auto& c) { convert(c, "image", "image8"); }),
    .facets = {ImageShape{.keeps_channels = true, .alias = [](const PairInfo& pair) -> const char* {
                            return pair.element == Element::u8 ? "image" : pair.channels == 1 ? "grey8" : nullptr;
                          }}}};

}  // namespace

void register_stage(Registry& registry) {
  registry.add(grey);
  registry.add(grey8);
  registry.add(image8);
}

}  // namespace stereopsis::grey
