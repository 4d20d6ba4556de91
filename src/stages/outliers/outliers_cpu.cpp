#include "device/cpu/threads.hpp"
#include "stages/outliers/outliers.hpp"

namespace stereopsis::outliers {
namespace {

// Marks the pixels of the row to which a right pixel corresponds. The other pixels are occluded if they are outliers.
void mark_met(const float* right, std::uint8_t* kinds, int width) {
  std::fill_n(kinds, width, std::uint8_t{occluded});
  for (int x = 0; x < width; ++x) {
    const float met = static_cast<float>(x) + std::floor(right[x] + 0.5f);
    if (met >= 0 && met < static_cast<float>(width)) kinds[static_cast<int>(met)] = mismatched;
  }
}

void check_row(float threshold, const float* right, float* disparity, std::uint8_t* validity, std::uint8_t* kinds,
               int width) {
  for (int x = 0; x < width; ++x) {
    const float d = disparity[x], x_right = static_cast<float>(x) - std::floor(d + 0.5f);
    const bool inside = x_right >= 0 && x_right < static_cast<float>(width);
    if (inside && std::abs(d - right[static_cast<int>(x_right)]) <= threshold) {
      kinds[x] = reliable;
    } else if (!std::isnan(d)) {
      validity[x] |= validity::left_right;
      disparity[x] = invalid_disparity;
    }
  }
}

}  // namespace

void cpu(const Parameters& p, ImageView<const float> right, const Map& map, Threads& threads) {
  check_sizes(right, map.disparity);
  threads.rows(right.height, [&](int first, int last) {
    for (int y = first; y < last; ++y) {
      mark_met(right.row(y), map.kinds.row(y), right.width);
      check_row(static_cast<float>(p.threshold), right.row(y), map.disparity.row(y), map.validity.row(y),
                map.kinds.row(y), right.width);
    }
  });
}

}  // namespace stereopsis::outliers
