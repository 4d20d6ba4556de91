#include "device/cpu/threads.hpp"
#include "stages/measured_confidence/measured_confidence.hpp"

namespace stereopsis::measured_confidence {

void cpu(ImageView<const std::uint8_t> validity, ImageView<float> confidence, Threads& threads) {
  threads.rows(confidence.height, [&](int first, int last) {
    for (int y = first; y < last; ++y) {
      const std::uint8_t* const reasons = validity.row(y);
      float* const row = confidence.row(y);
      // The conditional expression lets the loop vectorise.
      for (int x = 0; x < confidence.width; ++x) row[x] = reasons[x] == 0 ? row[x] : 0.0f;
    }
  });
}

}  // namespace stereopsis::measured_confidence
