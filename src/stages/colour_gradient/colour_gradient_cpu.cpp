#include "device/cpu/threads.hpp"
#include "stages/colour_gradient/colour_gradient.hpp"

namespace stereopsis::colour_gradient {

// Vectors would gain nothing, because there is only one word per pixel for all disparities.
void cpu(ImageView<const std::uint8_t> image, ImageView<const std::uint8_t> grey, ImageView<std::uint64_t> words,
         Threads& threads) {
  const int last = image.channels - 1, middle = std::min(1, last), right_end = grey.width - 1;
  threads.rows(grey.height, [&](int first_row, int last_row) {
    for (int y = first_row; y < last_row; ++y) {
      const std::uint8_t* colours = image.row(y);
      const std::uint8_t* values = grey.row(y);
      std::uint64_t* out = words.row(y);
      for (int x = 0; x < grey.width; ++x, colours += image.channels)
        out[x] = word_of(colours[0], colours[middle], colours[last],
                         values[std::min(x + 1, right_end)] - values[std::max(x - 1, 0)]);
    }
  });
}

}  // namespace stereopsis::colour_gradient
