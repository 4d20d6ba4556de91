// A toy of the slot `prepare`: images that are smoothed along rows.
//
//   I'(x, y) = (I(x − 1, y) + 2 I(x, y) + I(x + 1, y)) / 4, rounded if the pixels are integers; borders replicate
#include "device/cpu/threads.hpp"
#include "device/gpu/device.hpp"
#include "graph/registry.hpp"

namespace stereopsis::smooth {
namespace {

template <class T>
void rows(const ImageView<const T>& image, const ImageView<T>& made, int first, int last) {
  for (int y = first; y < last; ++y)
    for (int x = 0; x < image.width; ++x)
      for (int i = 0; i < image.channels; ++i) {
        const T left = image.clamped(x - 1, y, i), here = image(x, y, i), right = image.clamped(x + 1, y, i);
        if constexpr (std::is_same_v<T, float>)
          made(x, y, i) = 0.25f * ((left + right) + 2 * here);
        else
          made(x, y, i) = static_cast<T>((left + 2 * here + right + 2) / 4);
      }
}

constexpr auto run = [](const auto& c) {
  constexpr On on = device_of<decltype(c)>;
  c.with_pixels([&]<class T>() {
    const auto image = c.template image<const T>("image");
    const auto made = c.template image<T>("image");
    if constexpr (on == On::gpu)
      c.worker().launch({"smooth", "smooth", gpu::instance_of<T>()},
                        gpu::over(Size{image.width * image.channels, image.height}), image, made, image.channels);
    else if constexpr (on == On::cpu)
      c.worker().rows(image.height, [&](int first, int last) { rows(image, made, first, last); });
    else
      rows(image, made, 0, image.height);
  });
};

const StageDescriptor entry{
    .slot = Slot::prepare,
    .name = "smooth",
    .title = "smooth",
    .ports = {in("image"), out("image", Element::same)},
    .functions = on_every_device(run),
    .required_input = [](const StageParameters&, const Rect& output) { return grow(output, 1, 0); }};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::smooth
