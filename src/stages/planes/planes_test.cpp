#include "stages/planes/planes.hpp"

#include <cmath>

#include "stages/slic/slic.hpp"
#include "support/cost_volumes.hpp"
#include "support/map_test.hpp"
#include "support/targets.hpp"
#include "support/words.hpp"

namespace stereopsis::planes_test {
namespace {

using namespace test;

// Patches of similar colours, whose disparities lie on planes with noise. A fifth of the pixels is an outlier, and the
// confidence is random.
struct Example {
  Example(Size size, int cell, DisparityRange range)
      : rgb(size), segments(size), disparity(size), confidence(size), validity(size) {
    std::mt19937 dice(7);
    const auto below = [&](int n) { return static_cast<int>(dice() % static_cast<unsigned>(n)); };
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        const int patch = x / 37 + 3 * (y / 29), grey = 40 * (patch % 5) + below(5);
        rgb(x, y) = static_cast<std::uint32_t>(grey | grey << 8 | (grey + below(3)) << 16);
        const double plane = 0.1 * (patch % 4) * x - 0.07 * (patch % 3) * y + 5 + below(9) / 16.0;
        disparity(x, y) = static_cast<float>(range.min + (below(5) == 0 ? below(range.count) : plane));
        if (below(9) == 0) disparity(x, y) = invalid_disparity;
        confidence(x, y) = static_cast<float>(below(101)) / 100;
        validity(x, y) = below(6) == 0 ? validity::filled : 0;
      }
    slic::oracle({.cell = cell, .iterations = 2}, rgb, segments);
  }

  Image<std::uint32_t> rgb, segments;
  Image<float> disparity, confidence;
  Image<std::uint8_t> validity;
};

void expect_all_equal_oracle(const planes::Parameters& p, Size size, DisparityRange range, bool is_rated) {
  SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", cell " << p.cell << ", from " << range.min);
  const Example example(size, p.cell, range);
  PitchedImage<std::uint32_t> rgb(example.rgb.view()), segments(example.segments.view());
  PitchedImage<float> disparity(example.disparity.view()), confidence(example.confidence.view());
  PitchedImage<std::uint8_t> validity(example.validity.view());
  const planes::Input in{segments, rgb, disparity, validity,
                         is_rated ? ImageView<const float>(confidence) : ImageView<const float>()};
  Image<std::uint32_t> expected(size);
  planes::oracle(p, in, range, expected);
  for_each_engine([&](Threads& threads) {
    Scratch scratch(planes::scratch_bytes(size, p.cell));
    PitchedImage<std::uint32_t> got(size);
    planes::cpu(p, in, range, got, scratch.span(), threads);
    EXPECT_TRUE(same_bits(got.view(), expected.view()));
    EXPECT_TRUE(got.guard_intact());
  });
  for_each_usable_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    const OnDevice<std::uint32_t> segments_there(device, queue, segments), rgb_there(device, queue, rgb);
    const OnDevice<float> disparity_there(device, queue, disparity), confidence_there(device, queue, confidence);
    const OnDevice<std::uint8_t> validity_there(device, queue, validity);
    PitchedImage<std::uint32_t> got(size);
    OnDevice<std::uint32_t> got_there(device, queue, got);
    const gpu::Buffer scratch(device, planes::gpu_scratch_bytes(size, p.cell));
    const gpu::View<const float> rated = confidence_there;
    planes::gpu(
        p, {segments_there, rgb_there, disparity_there, validity_there, is_rated ? rated : gpu::View<const float>()},
        range, got_there, scratch.span(), queue);
    got_there.download();
    EXPECT_TRUE(same_bits(got.view(), expected.view()));
    EXPECT_TRUE(got.guard_intact());
  });
}

TEST(Planes, DevicesEqualOracle) {
  for (const Size size : awkward_sizes) expect_all_equal_oracle({.confidence = 0.6}, size, {0, 40}, true);
  for (const int cell : {8, 12, 24})
    expect_all_equal_oracle({.cell = cell, .confidence = 0.6}, {151, 97}, {-9, 60}, true);
  expect_all_equal_oracle({.similar = 60, .confidence = 0.2, .weight = 255}, {151, 97}, {3, 60}, true);
  expect_all_equal_oracle({}, {151, 97}, {0, 60}, false);
  skip_without_gpu();
}

// The largest sums: the segments of the largest cells, with steep disparities over the largest range.
TEST(Planes, LargestSumsFit) {
  expect_all_equal_oracle({.cell = planes::largest_cell, .similar = 255}, {151, 97}, {-16384, 16384}, false);
  skip_without_gpu();
}

// Returns the planes of a map of one colour, all pixels of which are measured.
Image<std::uint32_t> planes_of(const Image<float>& disparity, const Image<float>& confidence) {
  const Size size = disparity.size();
  const Image<std::uint32_t> rgb(size, 1, 0x808080);
  Image<std::uint32_t> segments(size), planes(size);
  slic::oracle({.cell = 12, .iterations = 2}, rgb, segments);
  planes::oracle({.confidence = 0.6}, {segments, rgb, disparity, Image<std::uint8_t>(size, 1, 0), confidence}, {0, 64},
                 planes);
  return planes;
}

// A slope with outliers, and with an area where most pixels are unsure and 3 pixels off.
TEST(PlanesOracle, ContinueTheSlopeAcrossUnsurePixels) {
  const Size size{72, 60};
  Image<float> disparity(size), confidence(size, 1, 0.95f);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const bool unsure = x >= 24 && x < 48 && y >= 20 && y < 40 && (x + y) % 4 != 0, outlier = (3 * x + y) % 11 == 0;
      disparity(x, y) = 0.25f * static_cast<float>(x) + 0.1f * static_cast<float>(y) + (unsure || outlier ? 3.0f : 0);
      if (unsure) confidence(x, y) = 0.3f;
    }
  const Image<std::uint32_t> planes = planes_of(disparity, confidence);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const double value = (planes(x, y) >> 8) / 16.0, expected = 0.25 * x + 0.1 * y;
      EXPECT_NEAR(value, expected, 0.2) << x << "," << y;
      EXPECT_GE(planes(x, y) & 255, 10u) << x << "," << y;
    }
}

TEST(PlanesOracle, NoPlaneGoesThroughFewOrScatteredPixels) {
  const Size size{72, 60};
  Image<float> disparity(size), few(size, 1, 0), unsure(size, 1, 0.7f);
  std::mt19937 dice(2);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) disparity(x, y) = static_cast<float>(dice() % 60);
  few(30, 30) = few(31, 30) = few(30, 31) = 0.8f;
  for (const Image<float>* confidence : {&few, &unsure}) {
    const Image<std::uint32_t> planes = planes_of(disparity, *confidence);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) EXPECT_EQ(planes(x, y), 0u) << x << "," << y;
  }
}

}  // namespace
}  // namespace stereopsis::planes_test
