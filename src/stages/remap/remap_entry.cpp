#include "graph/descriptor.hpp"
#include "stages/remap/remap.hpp"

namespace stereopsis::remap {
namespace {

constexpr auto resample = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{.slot = Slot::image,
                            .name = "remap",
                            .title = "rectification",
                            .ports =
                                [](const StageParameters&, const PairInfo&) {
                                  return Ports{in("raw"), if_there("raw_mask"), in("map"), out("image", Element::same),
                                               out("mask", Element::u8)};
                                },
                            .functions = on_every_device([](const auto& c) {
                              c.with_pixels(0, [&]<class T>() {
                                using C = std::decay_t<decltype(c)>;
                                constexpr bool on_gpu = C::device == On::gpu;
                                using Input = std::conditional_t<on_gpu, InputOf<T, gpu::View>, InputOf<T, ImageView>>;
                                using Output =
                                    std::conditional_t<on_gpu, OutputOf<T, gpu::View>, OutputOf<T, ImageView>>;
                                resample(c,
                                         Input{c.template image<const T>(0), c.template image<const std::uint8_t>(1),
                                               c.template image<const std::int32_t>(2)},
                                         Output{c.template image<T>(3), c.template image<std::uint8_t>(4)});
                              });
                            }),
                            .role = Role::rectify};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::remap
