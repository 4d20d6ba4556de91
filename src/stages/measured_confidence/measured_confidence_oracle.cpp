#include "stages/measured_confidence/measured_confidence.hpp"

namespace stereopsis::measured_confidence {

void oracle(ImageView<const std::uint8_t> validity, ImageView<float> confidence) {
  for (int y = 0; y < confidence.height; ++y)
    for (int x = 0; x < confidence.width; ++x)
      if (validity(x, y) != 0) confidence(x, y) = 0;
}

}  // namespace stereopsis::measured_confidence
