#include "stages/zncc/zncc.hpp"

#include "stereopsis/disparity.hpp"
#include "support/cost_volumes.hpp"

namespace stereopsis::zncc_test {
namespace {

using namespace test;

// Samples with noise, a flat region, and extreme values. The right view is the left view shifted by 2.
struct Samples {
  Samples(Size size, int bits)
      : left(random_image<std::int16_t>(size, 5, low(bits), -low(bits) - 1)),
        right(random_image<std::int16_t>(size, 6, low(bits), -low(bits) - 1)) {
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        if (x >= size.width / 2) left(x, y) = static_cast<std::int16_t>(y % 2 == 0 ? low(bits) : -low(bits) - 1);
        if (x < size.width / 4) left(x, y) = 17;
        if (x + 2 < size.width) right(x, y) = static_cast<std::int16_t>((left(x + 2, y) + right(x, y) / 8) / 2);
      }
  }
  static int low(int bits) { return -zncc::largest_sample(bits); }

  Image<std::int16_t> left, right;
};

void expect_costs_equal_oracle(const zncc::Parameters& p, Size size, DisparityRange range, int bits) {
  SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", window " << p.window << ", " << range.count
                                  << " from " << range.min << ", " << bits << " bits");
  const Samples samples(size, bits);
  PitchedImage<std::int16_t> left(samples.left.view()), right(samples.right.view());
  Volume<std::uint16_t> expected(size, range.count);
  zncc::oracle(p, left, right, range.min, expected);
  for_each_engine([&](Threads& threads) {
    for (int run = 0; run < 2; ++run) {
      Scratch scratch(zncc::scratch_bytes(p, size.width, range.count, threads.count()));
      Volume<std::uint16_t> got = poisoned_volume<std::uint16_t>(size, range.count);
      zncc::cpu(p, left, right, range.min, got, scratch.span(), threads);
      EXPECT_TRUE(same_cells(got, expected));
    }
  });
  for_each_usable_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    const OnDevice<std::int16_t> left_there(device, queue, left), right_there(device, queue, right);
    VolumeOnDevice<std::uint16_t> got(device, queue, size, range.count);
    const gpu::Buffer scratch = poisoned(device, queue, zncc::gpu_scratch_bytes(p, size));
    zncc::gpu(p, left_there, right_there, bits, range.min, got.volume(), scratch.span(), queue);
    EXPECT_TRUE(same_cells(got.download(), expected));
  });
}

TEST(Zncc, CostsEqualTheOracle) {
  for (const int bits : {8, 16})
    for_each_volume([&](Size size, DisparityRange range) {
      expect_costs_equal_oracle({.window = size.width % 2 == 0 ? 5 : 3}, size, range, bits);
    });
  skip_without_gpu();
}

TEST(Zncc, CostsOfLargeWindowsEqualTheOracle) {
  for (const int bits : {8, 16})
    for (const int window : {31, 101}) expect_costs_equal_oracle({.window = window}, {29, 7}, {-2, 6}, bits);
  skip_without_gpu();
}

TEST(Zncc, FlatWindowsAreMarkedAsTheOracleMarksThem) {
  const std::uint8_t reasons[] = {0, validity::no_candidate, validity::masked};
  for (const Size size : awkward_sizes)
    for (const int window : {3, 9, 33}) {
      SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", window " << window);
      const zncc::Parameters p{.window = window};
      Image<std::int16_t> samples = random_image<std::int16_t>(size, 4, 0, 99);
      for (int y = 0; y < size.height; ++y)
        // A few samples differ from all others.
        for (int x = 0; x < size.width; ++x) samples(x, y) = samples(x, y) == 0 ? 1 : 0;
      PitchedImage<std::int16_t> left(samples.view());
      const Image<std::uint8_t> index = random_image<std::uint8_t>(size, 9, 0, 2);
      Image<std::uint8_t> before(size);
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) before(x, y) = reasons[index(x, y)];
      Image<std::uint8_t> expected = before;
      zncc::mark_flat_oracle(p, left, expected);
      for_each_engine([&](Threads& threads) {
        PitchedImage<std::uint8_t> got(before.view());
        zncc::mark_flat_cpu(p, left, got, threads);
        EXPECT_TRUE(same_bits(got.view(), expected));
        EXPECT_TRUE(got.guard_intact());
      });
      for_each_usable_gpu([&](gpu::Queue& queue, gpu::Device& device) {
        PitchedImage<std::uint8_t> got(before.view());
        const OnDevice<std::int16_t> left_there(device, queue, left);
        OnDevice<std::uint8_t> there(device, queue, got);
        zncc::mark_flat_gpu(p, left_there, there, queue);
        there.download();
        EXPECT_TRUE(same_bits(got.view(), expected));
        EXPECT_TRUE(got.guard_intact());
      });
    }
  skip_without_gpu();
}

template <class T>
void expect_samples_equal_oracle(int bit_depth, Image<T> (*pixels)(Size)) {
  for (const Size size : awkward_sizes) {
    PitchedImage<T> grey(pixels(size).view());
    Image<std::int16_t> expected(size);
    zncc::samples_oracle<T>(grey, bit_depth, expected);
    for_each_engine([&](Threads& threads) {
      PitchedImage<std::int16_t> got(size);
      zncc::samples_cpu<T>(grey, bit_depth, got, threads);
      EXPECT_TRUE(same_bits(got.view(), expected));
      EXPECT_TRUE(got.guard_intact());
    });
    for_each_usable_gpu([&](gpu::Queue& queue, gpu::Device& device) {
      PitchedImage<std::int16_t> got(size);
      const OnDevice<T> grey_there(device, queue, grey);
      OnDevice<std::int16_t> there(device, queue, got);
      zncc::samples_gpu<T>(grey_there, bit_depth, there, queue);
      there.download();
      EXPECT_TRUE(same_bits(got.view(), expected));
    });
  }
}

TEST(Zncc, SamplesEqualTheOracle) {
  expect_samples_equal_oracle<std::uint8_t>(8, [](Size s) { return random_image<std::uint8_t>(s, 1, 0, 255); });
  for (const int depth : {9, 12, 16})
    expect_samples_equal_oracle<std::uint16_t>(depth,
                                               [](Size s) { return random_image<std::uint16_t>(s, 2, 0, 65535); });
  expect_samples_equal_oracle<float>(8, [](Size s) {
    Image<float> image = random_image<float>(s, 3, -400, 1200);
    for (int y = 0; y < s.height; ++y)
      for (int x = 0; x < s.width; ++x) image(x, y) += static_cast<float>(x % 257) / 256.0f;
    return image;
  });
  skip_without_gpu();
}

}  // namespace
}  // namespace stereopsis::zncc_test
