// A toy of the slot `optimisation`: a cost and the lowest cost of the adjacent candidates.
//
//   S(p, d) = C(p, d) + min(C(p, d − 1), C(p, d), C(p, d + 1)); the range's ends replicate
#include "device/cpu/threads.hpp"
#include "device/gpu/device.hpp"
#include "graph/registry.hpp"

namespace stereopsis::adjacent {
namespace {

void rows(const VolumeView<const std::uint8_t>& costs, const VolumeView<std::uint16_t>& sums, int first, int last) {
  const int end = costs.disparities - 1;
  for (int y = first; y < last; ++y)
    for (int x = 0; x < costs.width; ++x)
      for (int k = 0; k <= end; ++k) {
        const int here = costs(x, y, k), below = costs(x, y, std::max(k - 1, 0)),
                  above = costs(x, y, std::min(k + 1, end));
        sums(x, y, k) = static_cast<std::uint16_t>(here + std::min({below, here, above}));
      }
}

constexpr auto run = [](const auto& c) {
  constexpr On on = device_of<decltype(c)>;
  const auto costs = c.template volume<const std::uint8_t>("costs");
  const auto sums = c.template volume<std::uint16_t>("costs");
  if constexpr (on == On::gpu)
    c.worker().launch({"adjacent", "adjacent", "any"}, gpu::over(Size{costs.width, costs.height}), costs.cells,
                      sums.cells, costs.width, costs.height, costs.disparities);
  else if constexpr (on == On::cpu)
    c.worker().rows(costs.height, [&](int first, int last) { rows(costs, sums, first, last); });
  else
    rows(costs, sums, 0, costs.height);
};

const StageDescriptor entry{.slot = Slot::optimisation,
                            .name = "adjacent",
                            .title = "adjacent costs",
                            .ports = {in_volume("costs", {Element::u8}), out_volume("costs", Element::u16)},
                            .functions = on_every_device(run),
                            .facets = {Costs{.units = CostUnits{.largest = 510, .units = 2}}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::adjacent
