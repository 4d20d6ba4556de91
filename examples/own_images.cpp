// Matches images in the caller's memory without a copy: a stereo camera delivers both views side by side in one buffer.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "stereopsis/matcher.hpp"
#include "stereopsis/synth.hpp"

int main() try {
  using namespace stereopsis;
  const Scene scene = make_scene({.size = {320, 240}, .disparities = 32});
  std::vector<std::uint8_t> buffer(2 * 320 * 240 * 3);
  for (int y = 0; y < 240; ++y) {
    std::copy_n(scene.left.row(y), 320 * 3, &buffer[y * 2 * 320 * 3]);
    std::copy_n(scene.right.row(y), 320 * 3, &buffer[(y * 2 + 1) * 320 * 3]);
  }

  // begin
  // Address, width, height, channels, elements in a row.
  const ImageView<const std::uint8_t> both(buffer.data(), 640, 240, 3, 640 * 3);
  const Rect left{0, 0, 320, 240}, right{320, 0, 320, 240};
  const StereoPair pair{.left = both.crop(left), .right = both.crop(right)};
  const Matched result = match(pair, {.min = 0, .count = 32});
  // end

  int valid = 0;
  for (int y = 0; y < 240; ++y)
    for (int x = 0; x < 320; ++x) valid += std::isfinite(result.disparity(x, y));
  std::printf("%d of %d pixels have a disparity\n", valid, 320 * 240);
  return valid > 320 * 240 * 9 / 10 ? 0 : 1;
} catch (const stereopsis::Error& error) {
  std::fprintf(stderr, "own_images: %s\n", error.what());
  return 1;
}
