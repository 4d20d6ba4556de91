#include "graph/registry.hpp"
#include "stages/downsample/downsample.hpp"

namespace stereopsis::downsample {
namespace {

constexpr auto halve = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

// Views prepared colours as an image with four channels.
AnyView bytes_of_words(AnyView words) {
  words.element = Element::u8;
  words.channels = 4;
  words.offset *= 4;
  words.pitch *= 4;
  return words;
}

const StageDescriptor entry{
    .slot = Slot::internal,
    .name = "downsample",
    .title = "scale down",
    .ports = {in("colours"), out("colours", Element::u32)},
    .functions = on_every_device([](const auto& c) {
      halve(c, 2, c.template as_image<const std::uint8_t>(bytes_of_words(c.input("colours"))),
            c.template as_image<std::uint8_t>(bytes_of_words(c.output("colours"))));
    }),
    .facets = {ImageShape{.size = [](const StageParameters&, Size size) { return downsampled(size, 2); }}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::downsample
