#include "stages/lab/lab.hpp"

#include <cmath>

#include "support/devices.hpp"
#include "support/stage_test.hpp"
#include "support/threads.hpp"

namespace stereopsis::lab_test {
namespace {

using namespace test;

Image<std::uint32_t> colours(Size size, unsigned seed) {
  Image<std::uint32_t> image(size);
  std::mt19937 generator(seed);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) image(x, y) = generator() & 0xFFFFFF;
  return image;
}

// Returns every third value of red and green with all values of blue, and all greys.
Image<std::uint32_t> many_colours() {
  Image<std::uint32_t> image(256, 87 * 86 + 1);
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < 256; ++x)
      image(x, y) = static_cast<std::uint32_t>(
          y == 87 * 86 ? x * 0x10101 : std::min(255, 3 * (y % 87)) | std::min(255, 3 * (y / 87)) << 8 | x << 16);
  return image;
}

TEST(Lab, CpuEqualsOracle) {
  for (const Size size : awkward_sizes) {
    PitchedImage<std::uint32_t> rgb(colours(size, 3).view());
    for_each_thread_count([&](Threads& threads) {
      expect_equals_oracle<std::uint32_t>(
          size, [&](auto out) { lab::oracle(rgb, out); }, [&](auto out) { lab::cpu(rgb, out, threads); });
    });
  }
}

TEST(Lab, GpuEqualsOracle) {
  for_each_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    for (const Size size : awkward_sizes) {
      PitchedImage<std::uint32_t> rgb(colours(size, 3).view());
      const OnDevice<std::uint32_t> there(device, queue, rgb);
      expect_gpu_equals_oracle<std::uint32_t>(
          device, queue, size, [&](auto out) { lab::oracle(rgb, out); },
          [&](auto out) { lab::gpu(there, out, queue); });
    }
  });
}

// Compares with the formulas of CIE and of IEC 61966-2-1, computed in double precision.
void expect_near_cie(std::uint32_t rgb, std::uint32_t word) {
  const auto linear = [&](int shift) {
    const double v = (rgb >> shift & 255) / 255.0;
    return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
  };
  const auto f = [](double t) { return t > 216.0 / 24389 ? std::cbrt(t) : (24389.0 / 27 * t + 16) / 116; };
  const double r = linear(0), g = linear(8), b = linear(16);
  const double fx = f((0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.9504700);
  const double fy = f(0.2126729 * r + 0.7151522 * g + 0.0721750 * b);
  const double fz = f((0.0193339 * r + 0.1191920 * g + 0.9503041 * b) / 1.0888300);
  const lab::Colour got = lab::colour_of(word);
  ASSERT_NEAR(got.l / 4.0, 116 * fy - 16, 0.2) << std::hex << rgb;
  ASSERT_NEAR(got.a / 4.0 - 128, 500 * (fx - fy), 0.35) << std::hex << rgb;
  ASSERT_NEAR(got.b / 4.0 - 128, 200 * (fy - fz), 0.25) << std::hex << rgb;
}

TEST(Lab, IsWithinAQuarterOrSoOfCie) {
  const Image<std::uint32_t> rgb = many_colours();
  Image<std::uint32_t> words(rgb.size());
  Threads threads(2);
  lab::cpu(rgb, words, threads);
  for (int y = 0; y < rgb.height(); ++y)
    for (int x = 0; x < rgb.width(); ++x) expect_near_cie(rgb(x, y), words(x, y));
}

TEST(LabOracle, GreysHaveNoColourAndWhiteIsAHundred) {
  Image<std::uint32_t> rgb(256, 1), words(256, 1);
  for (int x = 0; x < 256; ++x) rgb(x, 0) = static_cast<std::uint32_t>(x * 0x10101);
  lab::oracle(rgb, words);
  for (int x = 0; x < 256; ++x) {
    const lab::Colour c = lab::colour_of(words(x, 0));
    EXPECT_EQ(c.a, 512);
    EXPECT_EQ(c.b, 512);
    if (x > 0) {
      EXPECT_GE(c.l, lab::colour_of(words(x - 1, 0)).l);
    }
  }
  EXPECT_EQ(lab::colour_of(words(0, 0)).l, 0);
  EXPECT_EQ(lab::colour_of(words(255, 0)).l, 400);
}

}  // namespace
}  // namespace stereopsis::lab_test
