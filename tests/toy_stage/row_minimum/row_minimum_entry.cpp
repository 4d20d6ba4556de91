// A toy of the slot `aggregation`: the lowest cost of three pixels of a row.
//
//   S(p, d) = min C((x + i, y), d) over i = −1, 0, 1; borders replicate
#include "device/cpu/threads.hpp"
#include "device/gpu/device.hpp"
#include "graph/registry.hpp"

namespace stereopsis::row_minimum {
namespace {

void rows(const VolumeView<const std::uint8_t>& costs, const VolumeView<std::uint8_t>& lowest, int first, int last) {
  for (int y = first; y < last; ++y)
    for (int x = 0; x < costs.width; ++x)
      for (int k = 0; k < costs.disparities; ++k)
        lowest(x, y, k) =
            std::min({costs(std::max(x - 1, 0), y, k), costs(x, y, k), costs(std::min(x + 1, costs.width - 1), y, k)});
}

constexpr auto run = [](const auto& c) {
  constexpr On on = device_of<decltype(c)>;
  const auto costs = c.template volume<const std::uint8_t>("costs");
  const auto lowest = c.template volume<std::uint8_t>("costs");
  if constexpr (on == On::gpu)
    c.worker().launch({"row_minimum", "row_minimum", "any"}, gpu::over(Size{costs.width, costs.height}), costs.cells,
                      lowest.cells, costs.width, costs.height, costs.disparities);
  else if constexpr (on == On::cpu)
    c.worker().rows(costs.height, [&](int first, int last) { rows(costs, lowest, first, last); });
  else
    rows(costs, lowest, 0, costs.height);
};

const StageDescriptor entry{
    .slot = Slot::aggregation,
    .name = "row_minimum",
    .title = "row minimum",
    .ports = {in_volume("costs", {Element::u8}), out_volume("costs", Element::u8)},
    .functions = on_every_device(run),
    .required_input = [](const StageParameters&, const Rect& output) { return grow(output, 1, 0); }};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::row_minimum
