#include "graph/descriptor.hpp"
#include "stages/downsample/downsample.hpp"

namespace stereopsis::downsample {
namespace {

constexpr auto halve = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

// Prepared colours, as images of four channels.
AnyView bytes_of_words(AnyView words) {
  words.element = Element::u8;
  words.channels = 4;
  words.offset *= 4;
  words.pitch *= 4;
  return words;
}

const StageDescriptor entry{.slot = Slot::internal,
                            .name = "downsample",
                            .title = "scale down",
                            .ports =
                                [](const StageParameters&, const PairInfo&) {
                                  return Ports{in("colours"), out("colours", Element::u32)};
                                },
                            .functions = on_every_device([](const auto& c) {
                              const AnyView bytes[] = {bytes_of_words(c.operand(0)), bytes_of_words(c.operand(1))};
                              auto call = c;
                              call.operands = bytes;
                              halve(call, 2, call.template image<const std::uint8_t>(0),
                                    call.template image<std::uint8_t>(1));
                            }),
                            .output_size = [](const StageParameters&, Size size) { return downsampled(size, 2); }};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::downsample
