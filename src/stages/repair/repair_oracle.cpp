#include <cmath>

#include "stages/repair/repair.hpp"

namespace stereopsis::repair {
namespace {

constexpr int beyond_repair = validity::masked | validity::outside;

void repair_pixel(const Parameters& p, ImageView<const float> disparity, ImageView<const float> confidence, int x,
                  int y, int dx, int dy, const MapsOf<ImageView>& out) {
  const float need = confidence(x, y) * p.factor();
  const auto agrees = [&](int i, int j) {
    const int x1 = x - i * dx, y1 = y - i * dy, x2 = x + j * dx, y2 = y + j * dy;
    return x1 >= 0 && y1 >= 0 && x2 < disparity.width && y2 < disparity.height && confidence(x1, y1) > need &&
           confidence(x2, y2) > need &&
           std::abs(disparity(x1, y1) - disparity(x2, y2)) <= static_cast<float>(p.tolerance);
  };
  out.repaired(x, y) = disparity(x, y);
  out.scratch(x, y) = confidence(x, y);
  if ((out.validity(x, y) & beyond_repair) != 0) return;
  for (int apart = 2; apart <= 2 * p.reach; ++apart)
    for (int i = 1; i < apart; ++i) {
      const int j = apart - i;
      if (i > p.reach || j > p.reach || !agrees(i, j)) continue;
      const float d = i <= j ? disparity(x - i * dx, y - i * dy) : disparity(x + j * dx, y + j * dy);
      if (d != disparity(x, y))
        out.validity(x, y) = static_cast<std::uint8_t>((out.validity(x, y) & ~validity::reasons) | validity::repaired);
      out.repaired(x, y) = d;
      out.scratch(x, y) = std::min(1.0f, need);
      return;
    }
}

}  // namespace

void oracle(const Parameters& p, const MapsOf<ImageView>& maps) {
  for (const bool along_rows : {true, false, true}) {
    const Image<float> disparity{ImageView<const float>(maps.disparity)},
        confidence{ImageView<const float>(maps.confidence)};
    for (int y = 0; y < maps.disparity.height; ++y)
      for (int x = 0; x < maps.disparity.width; ++x)
        repair_pixel(p, disparity, confidence, x, y, along_rows ? 1 : 0, along_rows ? 0 : 1, maps);
    for (int y = 0; y < maps.disparity.height; ++y) {
      std::copy_n(maps.repaired.row(y), maps.disparity.width, maps.disparity.row(y));
      std::copy_n(maps.scratch.row(y), maps.disparity.width, maps.confidence.row(y));
    }
  }
}

}  // namespace stereopsis::repair
