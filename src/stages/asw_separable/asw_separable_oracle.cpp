#include <algorithm>
#include <vector>

#include "stages/asw_separable/asw_separable.hpp"

namespace stereopsis::asw_separable {
namespace {

// Computes averages over the pixels (x, y) + i · direction.
template <class T>
Volume<std::uint16_t> average(const Parameters& p, ImageView<const std::uint32_t> lab, VolumeView<const T> costs,
                              std::uint32_t unit, int direction_x, int direction_y) {
  const auto table = support_weight::make_table();
  const auto scales = support_weight::scales(p.gamma_colour, p.gamma_distance);
  Volume<std::uint16_t> result(lab.size(), costs.disparities);
  const int radius = p.window / 2;
  for (int y = 0; y < lab.height; ++y)
    for (int x = 0; x < lab.width; ++x) {
      std::vector<std::uint32_t> sums(costs.disparities);
      std::uint32_t weights = 0;
      for (int i = -radius; i <= radius; ++i) {
        const int qx = std::clamp(x + i * direction_x, 0, lab.width - 1),
                  qy = std::clamp(y + i * direction_y, 0, lab.height - 1);
        const int distance = support_weight::colour_distance(lab(x, y), lab(qx, qy));
        const int part = support_weight::distance_part(scales, 4 * std::abs(i));
        const auto weight = static_cast<std::uint32_t>(
            support_weight::in_8_bits(table.of[support_weight::exponent(scales, distance, part)]));
        for (int k = 0; k < costs.disparities; ++k) sums[k] += weight * unit * costs(qx, qy, k);
        weights += weight;
      }
      for (int k = 0; k < costs.disparities; ++k)
        result(x, y, k) = static_cast<std::uint16_t>((sums[k] + weights / 2) / weights);
    }
  return result;
}

}  // namespace

void oracle(const Parameters& p, ImageView<const std::uint32_t> lab, VolumeView<const std::uint8_t> costs,
            VolumeView<std::uint16_t> aggregated) {
  const auto horizontal = average<std::uint8_t>(p, lab, costs, 128, 1, 0);
  const auto both = average<std::uint16_t>(p, lab, horizontal, 1, 0, 1);
  for (int y = 0; y < lab.height; ++y)
    std::copy_n(both.view().row(y), static_cast<std::size_t>(lab.width) * costs.disparities, aggregated.row(y));
}

}  // namespace stereopsis::asw_separable
