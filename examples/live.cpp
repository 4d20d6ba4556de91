// Matches the pairs of a camera, which another thread delivers. Here, the camera is a generator of random dots.
#include <cstdio>
#include <memory>
#include <random>
#include <thread>

#include "stereopsis/run.hpp"

using namespace stereopsis;

struct Buffers {
  Image<std::uint8_t> left{{320, 240}}, right{{320, 240}};
};

// All points have the disparity 20.
std::shared_ptr<Buffers> grab() {
  static std::mt19937 random;
  auto pair = std::make_shared<Buffers>();
  for (int y = 0; y < 240; ++y)
    for (int x = 0; x < 320; ++x) pair->left(x, y) = static_cast<std::uint8_t>(random());
  for (int y = 0; y < 240; ++y)
    for (int x = 0; x < 320; ++x) pair->right(x, y) = pair->left(x + 20 < 320 ? x + 20 : x, y);
  return pair;
}

int main() {
  LiveSource camera(2, WhenFull::wait);  // without arguments, it drops old pairs
  std::thread driver([&] {
    for (int frame = 0; frame < 10; ++frame) {
      const auto pair = grab();
      camera.put({.images = {pair->left, pair->right}, .owner = pair, .stamp = frame});
    }
    camera.close();
  });
  RunSettings settings;
  settings.range = DisparityRange{0, 64};
  settings.problem.want_confidence = true;
  Run run(settings, camera);
  int matched = 0;
  for (RunResult done; run.next(done); ++matched) {
    std::printf("frame %d: disparity %.1f in the middle, %.0f %% measured\n", static_cast<int>(done.pair.stamp),
                done.maps.disparity(160, 120), 100 * done.measured);
    if (done.fault) std::printf("  %s\n", done.fault->sentence.c_str());
  }
  driver.join();
  return matched == 10 ? 0 : 1;
}
