// Tests that correlation does not depend on the gain and offset of a camera, for generated and for real scenes
// (STEREOPSIS_DATA).
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "stereopsis/matcher.hpp"
#include "stereopsis/synth.hpp"
#include "support/sanitized.hpp"
#ifdef STEREOPSIS_TEST_FILES
#include "stereopsis/dataset.hpp"
#endif

namespace stereopsis::correlation_test {
namespace {

struct Response {
  float gain, offset;
};
constexpr Response responses[] = {{0.5f, 0}, {0.5f, 30}, {1, -30}, {1, 30}, {2, -30}, {2, 30}};

template <class T>
Image<float> changed(ImageView<const T> image, Response r) {
  Image<float> out(image.size(), image.channels);
  for (int y = 0; y < image.height; ++y)
    for (int i = 0; i < image.width * image.channels; ++i) out.row(y)[i] = r.gain * image.row(y)[i] + r.offset;
  return out;
}

Image<std::uint8_t> rounded(const Image<float>& image) {
  Image<std::uint8_t> out(image.size(), image.channels());
  for (int y = 0; y < image.height(); ++y)
    for (int i = 0; i < image.width() * image.channels(); ++i)
      out.row(y)[i] = static_cast<std::uint8_t>(std::lround(std::clamp(image.row(y)[i], 0.0f, 255.0f)));
  return out;
}

// Returns the percentage of valid pixels whose disparity in the other map is invalid or differs by more than 1 px.
double percent_moved(const Image<float>& map, const Image<float>& other) {
  int valid = 0, moved = 0;
  for (int y = 0; y < map.height(); ++y)
    for (int x = 0; x < map.width(); ++x) {
      if (std::isnan(map(x, y))) continue;
      ++valid;
      moved += !(std::abs(map(x, y) - other(x, y)) <= 1);
    }
  return 100.0 * moved / valid;
}

void expect_invariant(ImageView<const std::uint8_t> left, ImageView<const std::uint8_t> right, int disparities) {
  const Pipeline pipeline("zncc");
  constexpr Response dim{0.25f, 32};  // with these intensities, no response exceeds black or white
  const Image<float> left32 = changed(left, dim), right32 = changed(right, dim);
  const Matched before = match({left32, right32, {}, {}}, {0, disparities}, pipeline);
  for (const Response r : responses) {
    SCOPED_TRACE(testing::Message() << "gain " << r.gain << ", offset " << r.offset);
    const Image<float> other = changed<float>(right32.view(), r);
    EXPECT_LT(percent_moved(before.disparity, match({left32, other, {}, {}}, {0, disparities}, pipeline).disparity),
              0.5);
    if (r.gain == 0.5f) {  // a larger gain would clip intensities, which is not a rounding error
      const Image<std::uint8_t> other8 = rounded(changed(right, r));
      EXPECT_LT(percent_moved(before.disparity, match({left, other8, {}, {}}, {0, disparities}, pipeline).disparity),
                3);
    }
  }
}

TEST(Correlation, GainAndOffsetChangeNothing) {
  const Scene scene = make_scene({.size = {200, 120}, .disparities = 24, .noise = 2});
  expect_invariant(scene.left, scene.right, 24);
}

#ifdef STEREOPSIS_TEST_FILES
TEST(Correlation, GainAndOffsetChangeNothingOnRealScenes) {
  if (sanitized) GTEST_SKIP() << "a sanitizer knows nothing of accuracy";
  const char* data = std::getenv("STEREOPSIS_DATA");
  if (data == nullptr) GTEST_SKIP() << "set STEREOPSIS_DATA to the folder of real scenes";
  for (const DatasetScene& found : find_scenes(data)) {
    SCOPED_TRACE(found.name);
    const LoadedScene scene = load_scene(found);
    expect_invariant(scene.left.view().as<std::uint8_t>(), scene.right.view().as<std::uint8_t>(), found.disparities);
  }
}
#endif

}  // namespace
}  // namespace stereopsis::correlation_test
