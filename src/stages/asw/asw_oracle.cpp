#include <algorithm>

#include "stages/asw/asw.hpp"

namespace stereopsis::asw {
namespace {

class Weigher {
 public:
  explicit Weigher(const Parameters& p) : scales_(support_weight::scales(p.gamma_colour, p.gamma_distance)) {}

  int operator()(ImageView<const std::uint32_t> lab, int x, int y, int dx, int dy) const {
    const int part = support_weight::distance_part(scales_, quarters(dx, dy));
    const int distance = support_weight::colour_distance(lab.clamped(x, y), lab.clamped(std::clamp(x, 0, lab.width - 1) + dx, y + dy));
    return support_weight::in_8_bits(table_.of[support_weight::exponent(scales_, distance, part)]);
  }

 private:
  const support_weight::Table table_ = support_weight::make_table();
  const support_weight::Scales scales_;
};

}  // namespace

void oracle(const Parameters& p, ImageView<const std::uint32_t> lab_left, ImageView<const std::uint32_t> lab_right, int min_disparity,
            VolumeView<const std::uint8_t> costs, VolumeView<std::uint16_t> aggregated) {
  const Weigher weight(p);
  const int radius = p.window / 2;
  for (int y = 0; y < costs.height; ++y)
    for (int x = 0; x < costs.width; ++x)
      for (int k = 0; k < costs.disparities; ++k) {
        std::int64_t sum = 0, weights = 0;
        for (int dy = -radius; dy <= radius; ++dy)
          for (int dx = -radius; dx <= radius; ++dx) {
            const int both = weight(lab_left, x, y, dx, dy) * weight(lab_right, x - min_disparity - k, y, dx, dy);
            const int qx = std::clamp(x + dx, 0, costs.width - 1), qy = std::clamp(y + dy, 0, costs.height - 1);
            sum += std::int64_t{both} * costs(qx, qy, k);
            weights += both;
          }
        aggregated(x, y, k) = static_cast<std::uint16_t>((128 * sum + weights / 2) / weights);
      }
}

}  // namespace stereopsis::asw
