#include <algorithm>
#include <vector>

#include "stages/asw/asw.hpp"

namespace stereopsis::asw {
namespace {

class Weigher {
 public:
  explicit Weigher(const Parameters& p) : p_(p), scales_(support_weight::scales(p.gamma_colour, p.gamma_distance)) {}

  // Returns the weights of the window around (x, y), row by row.
  std::vector<int> operator()(ImageView<const std::uint32_t> lab, int x, int y) const {
    std::vector<int> weights;
    for (int dy = -p_.radius_y(); dy <= p_.radius_y(); ++dy)
      for (int dx = -p_.radius_x(); dx <= p_.radius_x(); ++dx) {
        const int part = support_weight::distance_part(scales_, quarters(dx, dy));
        const int distance = support_weight::colour_distance(lab(x, y), lab.clamped(x + dx, y + dy));
        weights.push_back(support_weight::in_8_bits(table_.of[support_weight::exponent(scales_, distance, part)]));
      }
    return weights;
  }

 private:
  const Parameters& p_;
  const support_weight::Table table_ = support_weight::make_table();
  const support_weight::Scales scales_;
};

}  // namespace

void oracle(const Parameters& p, ImageView<const std::uint32_t> lab_left, ImageView<const std::uint32_t> lab_right,
            int min_disparity, VolumeView<const std::uint8_t> costs, VolumeView<std::uint16_t> aggregated) {
  const Weigher weight(p);
  for (int y = 0; y < costs.height; ++y) {
    std::vector<std::vector<int>> right;
    for (int x = 0; x < costs.width; ++x) right.push_back(weight(lab_right, x, y));
    for (int x = 0; x < costs.width; ++x) {
      const auto left = weight(lab_left, x, y);
      for (int k = 0; k < costs.disparities; ++k) {
        const auto& opposite = right[std::clamp(x - min_disparity - k, 0, costs.width - 1)];
        std::int64_t sum = 0, weights = 0;
        std::size_t q = 0;
        for (int dy = -p.radius_y(); dy <= p.radius_y(); ++dy)
          for (int dx = -p.radius_x(); dx <= p.radius_x(); ++dx, ++q) {
            const int both = left[q] * opposite[q];
            sum += std::int64_t{both} *
                   costs(std::clamp(x + dx, 0, costs.width - 1), std::clamp(y + dy, 0, costs.height - 1), k);
            weights += both;
          }
        aggregated(x, y, k) = static_cast<std::uint16_t>((128 * sum + weights / 2) / weights);
      }
    }
  }
}

}  // namespace stereopsis::asw
