// Tells why a pixel has no disparity, and which pixels were measured.
#include <cmath>
#include <cstdio>

#include "stereopsis/matcher.hpp"
#include "stereopsis/synth.hpp"

int main() try {
  using namespace stereopsis;
  const Scene scene = make_scene({.size = {320, 240}, .disparities = 32});
  const StereoPair pair{.left = scene.left, .right = scene.right};
  Pipeline pipeline("sgm");
  pipeline.set("fill.enabled", "false");
  const Matched result = match(pair, {.min = 0, .count = 32}, pipeline);

  // begin
  int measured = 0, filled = 0, occluded = 0;
  for (int y = 0; y < result.validity.height(); ++y)
    for (int x = 0; x < result.validity.width(); ++x) {
      const std::uint8_t bits = result.validity(x, y);
      if (bits & validity::reasons)  // then the disparity is NaN
        occluded += (bits & validity::left_right) != 0;
      else if (bits & (validity::filled | validity::repaired))
        ++filled;
      else
        ++measured;
    }
  std::printf("%d measured, %d filled\n", measured, filled);
  std::printf("%d failed the left-right check\n", occluded);
  // end
  return measured > 0 && filled == 0 && occluded > 0 ? 0 : 1;
} catch (const stereopsis::Error& error) {
  std::fprintf(stderr, "validity: %s\n", error.what());
  return 1;
}
