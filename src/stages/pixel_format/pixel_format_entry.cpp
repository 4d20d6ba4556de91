// Registers the stages that convert images whose format is neither grey nor RGB.
#include "graph/registry.hpp"
#include "stages/pixel_format/pixel_format.hpp"

namespace stereopsis::pixel_format {
namespace {

constexpr auto convert = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

constexpr auto run = [](const auto& c) {
  c.with_pixels([&]<class T>() {
    const auto image = c.template as_image<const T>(c.first());
    const auto in = c.template of<InputOf, T>(image, c("chroma"));
    convert(c, c.template as<Parameters>(), in, c.template image<T>("image"));
  });
};

StageParameters of_format(PixelFormat format, Pixel first) { return Parameters{format, first}; }

const StageDescriptor channel_order{
    .slot = Slot::image,
    .name = "channel_order",
    .title = "RGB of channels",
    .parameters = Parameters{PixelFormat::bgr},
    .ports = {in("channels"), out("image", Element::same)},
    .functions = on_every_device(run),
    .facets = {FormatConversion{.takes = [](PixelFormat f) { return !is_bayer(f) && f != PixelFormat::nv12; },
                                .parameters = of_format}}};

const StageDescriptor nv12{.slot = Slot::image,
                           .name = "nv12",
                           .title = "RGB of NV12",
                           .parameters = Parameters{PixelFormat::nv12, {1, 1}},
                           .ports = {in("luma"), in("chroma"), out("image", Element::same)},
                           .functions = on_every_device(run),
                           .facets = {FormatConversion{.takes = [](PixelFormat f) { return f == PixelFormat::nv12; },
                                                       .parameters = of_format}}};

const StageDescriptor bayer{.slot = Slot::image,
                            .name = "bayer",
                            .title = "RGB of a mosaic",
                            .parameters = Parameters{PixelFormat::bayer_rggb},
                            .ports = {in("mosaic"), out("image", Element::same)},
                            .functions = on_every_device(run),
                            .facets = {FormatConversion{.takes = is_bayer, .parameters = of_format}}};

}  // namespace

void register_stage(Registry& registry) {
  registry.add(channel_order);
  registry.add(nv12);
  registry.add(bayer);
}

}  // namespace stereopsis::pixel_format
