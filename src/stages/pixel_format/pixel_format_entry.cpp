// Make the image of a pair that is neither grey nor RGB.
#include "graph/descriptor.hpp"
#include "stages/pixel_format/pixel_format.hpp"

namespace stereopsis::pixel_format {
namespace {

constexpr auto convert = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

// The output is the last operand; between it and the image lies the chroma, if there is one.
constexpr auto run = [](const auto& c) {
  c.with_pixels(0, [&]<class T>() {
    constexpr bool on_gpu = device_of<decltype(c)> == On::gpu;
    using Input = std::conditional_t<on_gpu, InputOf<T, gpu::View>, InputOf<T, ImageView>>;
    const int last = static_cast<int>(c.operands.size()) - 1;
    Input in{c.template image<const T>(0), {}};
    if (last == 2) in.chroma = c.template image<const T>(1);
    convert(c, c.template as<Parameters>(), in, c.template image<T>(last));
  });
};

StageParameters of_format(PixelFormat format, Pixel first) { return Parameters{format, first}; }

const StageDescriptor channel_order{
    .slot = Slot::image,
    .name = "channel_order",
    .title = "RGB of channels",
    .parameters = Parameters{PixelFormat::bgr},
    .ports =
        [](const StageParameters&, const PairInfo&) {
          return Ports{in("channels"), out("image", Element::same)};
        },
    .functions = on_every_device(run),
    .takes_format = [](PixelFormat f) { return !is_bayer(f) && f != PixelFormat::nv12; },
    .of_format = of_format};

const StageDescriptor nv12{.slot = Slot::image,
                           .name = "nv12",
                           .title = "RGB of NV12",
                           .parameters = Parameters{PixelFormat::nv12, {1, 1}},
                           .ports =
                               [](const StageParameters&, const PairInfo&) {
                                 return Ports{in("luma"), in("chroma"), out("image", Element::same)};
                               },
                           .functions = on_every_device(run),
                           .takes_format = [](PixelFormat f) { return f == PixelFormat::nv12; },
                           .of_format = of_format};

const StageDescriptor bayer{.slot = Slot::image,
                            .name = "bayer",
                            .title = "RGB of a mosaic",
                            .parameters = Parameters{PixelFormat::bayer_rggb},
                            .ports =
                                [](const StageParameters&, const PairInfo&) {
                                  return Ports{in("mosaic"), out("image", Element::same)};
                                },
                            .functions = on_every_device(run),
                            .takes_format = is_bayer,
                            .of_format = of_format};

}  // namespace

void register_stage(Registry& registry) {
  registry.add(channel_order);
  registry.add(nv12);
  registry.add(bayer);
}

}  // namespace stereopsis::pixel_format
