// A toy of the slots `cost` and `plus`: a volume of differences.
//
//   C(p, d) = |I_left(x, y) − I_right(x − d, y)| of the 8-bit grey images; borders replicate
#include "device/cpu/threads.hpp"
#include "device/gpu/device.hpp"
#include "graph/registry.hpp"

namespace stereopsis::grey_cost {
namespace {

using Bytes = ImageView<const std::uint8_t>;

void rows(const Bytes& reference, const Bytes& other, int min, const VolumeView<std::uint8_t>& costs, int first,
          int last) {
  for (int y = first; y < last; ++y)
    for (int x = 0; x < costs.width; ++x)
      for (int k = 0; k < costs.disparities; ++k)
        costs(x, y, k) = static_cast<std::uint8_t>(std::abs(reference(x, y) - other.clamped(x - min - k, y)));
}

constexpr auto run = [](const auto& c) {
  constexpr On on = device_of<decltype(c)>;
  const auto [reference, other] = c.template images<const std::uint8_t>("grey8");
  const auto costs = c.template volume<std::uint8_t>("costs");
  const int min = c.context.range.min;
  if constexpr (on == On::gpu)
    c.worker().launch({"grey_cost", "grey_cost", "any"}, gpu::over(reference.size()), reference, other, costs.cells,
                      costs.disparities, min);
  else if constexpr (on == On::cpu)
    c.worker().rows(costs.height, [&, &left = reference, &right = other](int first, int last) {
      rows(left, right, min, costs, first, last);
    });
  else
    rows(reference, other, min, costs, 0, costs.height);
};

const StageDescriptor entry{.slot = Slot::cost,
                            .name = "grey_cost",
                            .title = "grey cost",
                            .ports = {in("grey8", both), out_volume("costs", Element::u8)},
                            .functions = on_every_device(run)};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::grey_cost
