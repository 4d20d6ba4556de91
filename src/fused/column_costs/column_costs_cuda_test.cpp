#include "fused/column_costs/column_costs_cuda.hpp"

#include "stages/quantise/quantise.hpp"
#include "support/cost_volumes.hpp"
#include "support/recording_queue.hpp"

namespace stereopsis::column_costs_cuda_test {
namespace {

using namespace test;

struct Case {
  Size size;
  int disparities, min_disparity;
};

// Cases with up to 64 disparities, up to 128, and more. None is a multiple of the numbers of rows, columns and
// disparities that are processed together.
const std::vector<Case> cases = {{{1, 1}, 1, 0},     {{1, 9}, 70, 5},     {{9, 1}, 3, -3},    {{17, 6}, 7, -2},
                                 {{23, 41}, 60, 0},  {{37, 53}, 64, -7},  {{40, 19}, 65, 3},  {{29, 50}, 128, 0},
                                 {{21, 10}, 129, 9}, {{33, 7}, 300, -90}, {{150, 70}, 37, 11}};

constexpr std::uint32_t dim = 0x1F << 2 | 0x1F << 12 | 0x1F << 22;  // bits for words with similar colours
constexpr std::uint32_t wide = 0x3FFFFFFF;

// Returns an image with runs of equal colour down the columns, which result in large weights.
Image<std::uint32_t> patches(Size size, unsigned seed, std::uint32_t bits) {
  Image<std::uint32_t> words = random_words(size, seed, bits);
  for (int y = 1; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      if ((x + y) % 5 != 0) words(x, y) = words(x, y - 1);
  return words;
}

void expect_equals_oracles(const column_costs::Parameters& p, const Case& c, std::uint32_t rgb, std::uint32_t lab,
                           gpu::Queue& queue, gpu::Device& device) {
  SCOPED_TRACE(testing::Message() << c.size.width << "x" << c.size.height << "x" << c.disparities << " from "
                                  << c.min_disparity << ", window " << p.aggregation.window);
  PitchedImage<std::uint32_t> left(random_words(c.size, 1, rgb).view()), right(random_words(c.size, 2, rgb).view());
  PitchedImage<std::uint32_t> lab_left(patches(c.size, 3, lab).view()), lab_right(patches(c.size, 4, lab).view());

  Volume<std::uint8_t> costs(c.size, c.disparities), expected(c.size, c.disparities);
  Volume<std::uint16_t> aggregated(c.size, c.disparities);
  colour_difference::oracle(p.cost, left, right, c.min_disparity, costs);
  asw::oracle(p.aggregation, lab_left, lab_right, c.min_disparity, costs, aggregated);
  quantise::oracle<std::uint16_t>(1.0f / 128, aggregated, expected);

  const OnDevice<std::uint32_t> left_there(device, queue, left), right_there(device, queue, right),
      lab_left_there(device, queue, lab_left), lab_right_there(device, queue, lab_right);
  const gpu::Buffer workspace = poisoned(device, queue, column_costs::cuda_workspace_bytes(c.size));
  ASSERT_TRUE(column_costs::cuda_serves(p, 1.0 / 128, c.size));
  for (int time = 0; time < 2; ++time) {
    VolumeOnDevice<std::uint8_t> got(device, queue, c.size, c.disparities);
    column_costs::cuda(p, {left_there, right_there, lab_left_there, lab_right_there, c.min_disparity}, got.volume(),
                       workspace.span(), queue);
    EXPECT_TRUE(same_cells(got.download(), expected)) << "time " << time;
  }
}

TEST(ColumnCostsCuda, EqualTheOracles) {
  for_each_tuned_gpu([](gpu::Queue& queue, gpu::Device& device) {
    const auto column = [](int window, double gamma_colour, double gamma_distance) {
      return asw::Parameters{asw::Area::column, window, gamma_colour, gamma_distance};
    };
    for (const Case& c : cases) {
      for (const int window : {1, 7, 33})
        expect_equals_oracles({{.truncation = 60}, column(window, 14, 15)}, c, 0x1F1F1F, dim, queue, device);
      // Cases with the largest sums, with constant weights, and with weights that fall to 0 after one pixel.
      expect_equals_oracles({{.truncation = 255}, column(33, 1000, 1000)}, c, 0xFFFFFF, wide, queue, device);
      expect_equals_oracles({{.truncation = 255}, column(31, 1, 5)}, c, 0xFFFFFF, wide, queue, device);
    }
  });
}

TEST(ColumnCostsCuda, ServeColumnsUpTo33PixelsAndWholeIntensities) {
  const auto serves = [](asw::Parameters p, double scale) {
    return column_costs::cuda_serves({{}, p}, scale, {100, 100});
  };
  EXPECT_TRUE(serves({.area = asw::Area::column}, 1.0 / 128));
  EXPECT_FALSE(serves({.area = asw::Area::column}, 1.0 / 64));
  EXPECT_FALSE(serves({.area = asw::Area::column, .window = 35}, 1.0 / 128));
  EXPECT_FALSE(serves({}, 1.0 / 128));
}

TEST(ColumnCostsCuda, HaveBlocksForAllMultiprocessors) {
  const auto launch = [](const gpu::Properties& device, Size size, int disparities) {
    RecordingQueue queue(device);
    const auto words = absent_image<const std::uint32_t>(size);
    column_costs::cuda({{}, {.area = asw::Area::column}}, {words, words, words, words, 0},
                       absent_volume<std::uint8_t>(size, disparities), absent_memory(), queue);
    EXPECT_TRUE(queue.is_possible());
    return queue.last("costs");
  };
  EXPECT_EQ(launch(h100, {450, 375}, 60), "narrow_even: 32 × 24 blocks of 256 × 1");
  EXPECT_EQ(launch(h100, {1280, 960}, 128), "wide_even: 176 × 15 blocks of 256 × 1");
  EXPECT_EQ(launch(h100, {2880, 1980}, 256), "wide_even: 784 × 31 blocks of 256 × 1");
  launch(geforce, {1280, 960}, 128);
  launch(orin, {1, 1}, 1);
}

}  // namespace
}  // namespace stereopsis::column_costs_cuda_test
