#include "stages/slic/slic.hpp"

#include <map>

#include "support/cost_volumes.hpp"
#include "support/devices.hpp"

namespace stereopsis::slic_test {
namespace {

using namespace test;

// Colours in smooth stripes with noise, so that segments follow a structure.
Image<std::uint32_t> colours(Size size, unsigned seed) {
  const auto noise = random_image<std::uint8_t>(size, seed, 0, 40, 3);
  Image<std::uint32_t> image(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      image(x, y) = static_cast<std::uint32_t>(noise(x, y, 0) + (x + y) / 5 % 2 * 200) |
                    static_cast<std::uint32_t>(noise(x, y, 1) + y % 90) << 8 |
                    static_cast<std::uint32_t>(noise(x, y, 2) + x % 90) << 16;
  return image;
}

void expect_all_equal_oracle(const slic::Parameters& p, Size size, const Image<std::uint32_t>& image) {
  SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", cell " << p.cell << ", compactness "
                                  << p.compactness << ", iterations " << p.iterations);
  PitchedImage<std::uint32_t> rgb(image.view());
  const auto oracle = [&](auto segments) { slic::oracle(p, rgb, segments); };
  for_each_engine([&](Threads& threads) {
    Scratch scratch(slic::scratch_bytes(p, size, threads.count()));
    expect_equals_oracle<std::uint32_t>(size, oracle,
                                        [&](auto segments) { slic::cpu(p, rgb, segments, scratch.span(), threads); });
  });
  for_each_usable_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    const OnDevice<std::uint32_t> there(device, queue, rgb);
    const gpu::Buffer scratch = poisoned(device, queue, slic::gpu_scratch_bytes(p, size));
    expect_gpu_equals_oracle<std::uint32_t>(
        device, queue, size, oracle, [&](auto segments) { slic::gpu(p, there, segments, scratch.span(), queue); });
  });
}

TEST(Slic, DevicesEqualOracle) {
  for (const Size size : awkward_sizes) {
    expect_all_equal_oracle({.cell = 8}, size, colours(size, 3));
    expect_all_equal_oracle({.cell = 11, .compactness = 40, .iterations = 3}, size, colours(size, 4));
  }
  const Size size{150, 70};
  expect_all_equal_oracle({.cell = 64, .compactness = 100}, size, colours(size, 5));
  expect_all_equal_oracle({.cell = 9, .compactness = 0, .iterations = 1}, size, colours(size, 6));
  expect_all_equal_oracle({.cell = 13, .compactness = 0}, size, Image<std::uint32_t>(size, 1, 0));  // all distances tie
  skip_without_gpu();
}

// Distances and sums are largest between black and white, in the largest cells.
TEST(Slic, LargestNumbersFit) {
  const Size size{192, 192};
  Image<std::uint32_t> image(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) image(x, y) = x < 5 || (x + y) % 7 == 0 ? 0 : 0xFFFFFF;
  expect_all_equal_oracle({.cell = 64, .compactness = 100, .iterations = 3}, size, image);
}

Image<std::uint32_t> segments_of(const slic::Parameters& p, const Image<std::uint32_t>& rgb) {
  Image<std::uint32_t> segments(rgb.size());
  slic::oracle(p, rgb, segments);
  return segments;
}

TEST(SlicOracle, PlainPicturesKeepTheirCells) {
  const auto segments = segments_of({.cell = 8, .iterations = 1}, Image<std::uint32_t>(Size{16, 16}, 1, 0));
  for (int y = 0; y < 16; ++y)
    for (int x = 0; x < 16; ++x) {
      const slic::Segment s = slic::segment_of(segments(x, y));
      EXPECT_EQ(s.cell, 8);
      // The middles are at 4 and 12. The pixel at 8 has equal distances, and belongs to the first.
      EXPECT_EQ(s.number, (y > 8 ? 2 : 0) + (x > 8 ? 1 : 0)) << x << ", " << y;
    }
}

TEST(SlicOracle, BordersOfColourAreBordersOfSegments) {
  const Size size{40, 30};
  Image<std::uint32_t> image(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) image(x, y) = x < 13 + y / 3 ? 0x202020 : 0xE0E0E0;
  const auto segments = segments_of({.cell = 10}, image);
  std::map<std::uint32_t, std::uint32_t> colour_of;
  int mixed = 0;
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      mixed += colour_of.emplace(segments(x, y), image(x, y)).first->second != image(x, y);
  EXPECT_EQ(mixed, 0);
  EXPECT_GT(colour_of.size(), 6u);
}

// Checks the properties of the words that segments.hpp guarantees.
TEST(SlicOracle, PixelsLieWhereTheWordSays) {
  const Size size{131, 67};
  for (const int cell : {8, 9, 12, 31, 64}) {
    const auto segments = segments_of({.cell = cell, .compactness = 1}, colours(size, 8));
    const int across = slic::blocks_across(size.width);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        const slic::Segment s = slic::segment_of(segments(x, y));
        ASSERT_EQ(s.cell, cell);
        ASSERT_LT(s.number, slic::block_count(size));
        const auto multiple_from = [&](int first) { return (first + cell - 1) / cell * cell; };
        const int x0 = multiple_from(s.number % across * slic::block),
                  y0 = multiple_from(s.number / across * slic::block);
        ASSERT_LT(x0, s.number % across * slic::block + slic::block);
        ASSERT_TRUE(x >= x0 - cell && x < x0 + 2 * cell && y >= y0 - cell && y < y0 + 2 * cell) << x << ", " << y;
      }
  }
}

TEST(SlicParameters, BadOnesAreRefused) {
  for (const slic::Parameters& p : {slic::Parameters{.cell = 7}, slic::Parameters{.cell = 65},
                                    slic::Parameters{.compactness = 101}, slic::Parameters{.iterations = 0}})
    EXPECT_THROW(check_ranges("slic", p), Error);
  EXPECT_NO_THROW(slic::check({46336, 46336}));
  EXPECT_THROW(slic::check({46400, 46400}), Error);  // the image has more segments than a word can number
}

}  // namespace
}  // namespace stereopsis::slic_test
