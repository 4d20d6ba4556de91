#include "device/cpu/threads.hpp"
#include "stages/checked_map/checked_map.hpp"

namespace stereopsis::checked_map {
namespace {

// Comparisons with NaN are false, so each condition states what a sound value is. The loop vectorises.
void check_row(const Parameters& p, float* disparity, std::uint8_t* reasons, int width) {
  const float low = static_cast<float>(p.first) - 0.5f, high = static_cast<float>(p.last) + 0.5f;
  const float last_column = static_cast<float>(width) - 0.5f, sign = p.from_right ? 1.0f : -1.0f;
  for (int x = 0; x < width; ++x) {
    const float d = disparity[x], u = static_cast<float>(x) + sign * d;
    const bool is_candidate = d >= low && d <= high, is_inside = u >= -0.5f && u <= last_column;
    const int reason = !is_candidate ? validity::no_candidate : !is_inside ? validity::filled : 0;
    reasons[x] = static_cast<std::uint8_t>(reason);
  }
}

}  // namespace

void cpu(const Parameters& p, const Maps<ImageView>& m, Threads& threads) {
  const int width = m.disparity.width;
  threads.rows(m.disparity.height, [&](int first, int last) {
    for (int y = first; y < last; ++y) {
      float* const disparity = m.disparity.row(y);
      std::uint8_t* const reasons = m.validity.row(y);
      check_row(p, disparity, reasons, width);
      if (!m.mask.empty())
        for (int x = 0; x < width; ++x) reasons[x] = m.mask.row(y)[x] == 0 ? validity::masked : reasons[x];
      for (int x = 0; x < width; ++x)
        disparity[x] = (reasons[x] & validity::reasons) == 0 ? disparity[x] : invalid_disparity;
      if (m.confidence.empty()) continue;
      float* const confidence = m.confidence.row(y);
      for (int x = 0; x < width; ++x) {
        const float c = confidence[x];
        confidence[x] = reasons[x] == 0 && c > 0.0f ? (c < 1.0f ? c : 1.0f) : 0.0f;
      }
    }
  });
}

}  // namespace stereopsis::checked_map
