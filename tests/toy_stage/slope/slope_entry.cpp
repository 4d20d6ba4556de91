// A toy of the slot `image`: an image that stages have made by naming it as a port.
//
//   slope(x, y) = |I(x + 1, y) − I(x, y)| of the 8-bit grey image; 0 in the last column
#include "device/cpu/threads.hpp"
#include "device/gpu/device.hpp"
#include "graph/registry.hpp"

namespace stereopsis::slope {
namespace {

using Bytes = ImageView<std::uint8_t>;

void rows(const ImageView<const std::uint8_t>& grey, const Bytes& slope, int first, int last) {
  for (int y = first; y < last; ++y)
    for (int x = 0; x < grey.width; ++x)
      slope(x, y) = static_cast<std::uint8_t>(std::abs(grey.clamped(x + 1, y) - grey(x, y)));
}

constexpr auto run = [](const auto& c) {
  constexpr On on = device_of<decltype(c)>;
  const auto grey = c.template image<const std::uint8_t>("grey8");
  const auto slope = c.template image<std::uint8_t>("slope");
  if constexpr (on == On::gpu)
    c.worker().launch({"slope", "slope", "any"}, gpu::over(grey.size()), grey, slope);
  else if constexpr (on == On::cpu)
    c.worker().rows(grey.height, [&](int first, int last) { rows(grey, slope, first, last); });
  else
    rows(grey, slope, 0, grey.height);
};

const StageDescriptor entry{.slot = Slot::image,
                            .name = "slope",
                            .title = "slope",
                            .ports = {in("grey8"), out("slope", Element::u8)},
                            .functions = on_every_device(run)};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::slope
