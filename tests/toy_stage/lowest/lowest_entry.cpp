// A toy of the slot `select`: the candidate of the lowest cost, with neither a right map nor a confidence.
//
//   d(p) = argmin S(p, d) over the candidates with an unmasked pixel x − d inside the right image; ties: the lowest d
#include <limits>

#include "device/cpu/threads.hpp"
#include "device/gpu/device.hpp"
#include "graph/registry.hpp"

namespace stereopsis::lowest {
namespace {

using Mask = ImageView<const std::uint8_t>;

// An absent candidate costs 65535, infinity or NaN.
template <class T>
bool is_there(T cost) {
  if constexpr (std::is_same_v<T, float>)
    return cost < std::numeric_limits<float>::infinity();
  else
    return cost != 65535;
}

template <class T>
int best_of(const VolumeView<const T>& costs, const Mask& other, int min, int x, int y) {
  int best = -1;
  for (int k = 0; k < costs.disparities; ++k) {
    const int at = x - min - k;
    if (at < 0 || at >= costs.width || (!other.empty() && other(at, y) == 0)) continue;
    const T cost = costs(x, y, k);
    if (best < 0 ? is_there(cost) : cost < costs(x, y, best)) best = k;
  }
  return best;
}

template <class T>
void rows(const VolumeView<const T>& costs, const std::array<Mask, 2>& masks, int min,
          const ImageView<float>& disparity, const ImageView<std::uint8_t>& validity, int first, int last) {
  for (int y = first; y < last; ++y)
    for (int x = 0; x < costs.width; ++x) {
      const bool masked = !masks[0].empty() && masks[0](x, y) == 0;
      const int best = masked ? -1 : best_of(costs, masks[1], min, x, y);
      disparity(x, y) = best < 0 ? invalid_disparity : static_cast<float>(min + best);
      validity(x, y) = masked ? validity::masked : best < 0 ? validity::no_candidate : 0;
    }
}

constexpr auto run = [](const auto& c) {
  constexpr On on = device_of<decltype(c)>;
  const auto masks = c.template images<const std::uint8_t>("mask");
  const auto disparity = c.template image<float>("disparity");
  const auto validity = c.template image<std::uint8_t>("validity");
  const int min = c.context.range.min;
  c.with_pixels([&]<class T>() {
    const auto costs = c.template volume<const T>("costs");
    if constexpr (on == On::gpu)
      c.worker().launch({"lowest", "lowest", gpu::instance_of<T>()}, gpu::over(disparity.size()), costs.cells,
                        costs.disparities, min, masks[0], masks[1], disparity, validity);
    else if constexpr (on == On::cpu)
      c.worker().rows(costs.height,
                      [&](int first, int last) { rows(costs, masks, min, disparity, validity, first, last); });
    else
      rows(costs, masks, min, disparity, validity, 0, costs.height);
  });
};

const StageDescriptor entry{
    .slot = Slot::select,
    .name = "lowest",
    .title = "lowest cost",
    .ports = {in_volume("costs", {Element::u8, Element::u16, Element::f32}), if_there("mask", both),
              out("disparity", Element::f32), out("validity", Element::u8)},
    .functions = on_every_device(run)};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::lowest
