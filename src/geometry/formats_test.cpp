// Tests the conversion of pixel formats to RGB against the definition of each format.
#include "stereopsis/formats.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "stereopsis/matcher.hpp"
#include "support/stage_test.hpp"

namespace stereopsis::formats_test {
namespace {

using namespace test;

template <class T>
const Image<T>& pixels(const AnyImage& image) {
  return std::get<Image<T>>(image.pixels);
}

template <class T>
void expect_reordered(PixelFormat format, int channels, std::array<int, 3> order, T most) {
  for (const Size size : awkward_sizes) {
    const Image<T> image = random_image<T>(size, 3, 0, static_cast<int>(most), channels);
    AnyImage rgb;
    to_rgb(image, format, rgb, 2);
    ASSERT_EQ(rgb.size(), size);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x)
        for (int c = 0; c < 3; ++c) ASSERT_EQ(pixels<T>(rgb)(x, y, c), image(x, y, order[static_cast<std::size_t>(c)]));
  }
}

TEST(Formats, ChannelsInAnotherOrder) {
  expect_reordered<std::uint8_t>(PixelFormat::bgr, 3, {2, 1, 0}, 255);
  expect_reordered<std::uint8_t>(PixelFormat::rgba, 4, {0, 1, 2}, 255);
  expect_reordered<std::uint8_t>(PixelFormat::bgra, 4, {2, 1, 0}, 255);
  expect_reordered<std::uint16_t>(PixelFormat::bgra, 4, {2, 1, 0}, 65535);
  expect_reordered<float>(PixelFormat::bgr, 3, {2, 1, 0}, 255);
}

TEST(Formats, Nv12) {
  const Image<std::uint8_t> image = random_image<std::uint8_t>({14, 15}, 5, 0, 255);
  AnyImage rgb;
  to_rgb(image, PixelFormat::nv12, rgb);
  ASSERT_EQ(rgb.size(), (Size{14, 10}));
  // The formula of BT.601 in real numbers; the integer result differs by at most one.
  for (int y = 0; y < 10; ++y)
    for (int x = 0; x < 14; ++x) {
      const double c = 255.0 / 219 * (image(x, y) - 16), d = 255.0 / 224 * (image(x / 2 * 2, 10 + y / 2) - 128),
                   e = 255.0 / 224 * (image(x / 2 * 2 + 1, 10 + y / 2) - 128);
      const double due[] = {c + 1.402 * e, c - 0.344136 * d - 0.714136 * e, c + 1.772 * d};
      for (int k = 0; k < 3; ++k) ASSERT_NEAR(pixels<std::uint8_t>(rgb)(x, y, k), std::clamp(due[k], 0.0, 255.0), 1.2);
    }
  const AnyImageView luma = luma_of_nv12(image);
  EXPECT_EQ(luma.data, image.row(0));
  EXPECT_EQ(luma.size(), (Size{14, 10}));
}

// Returns the colour at a position of the mosaic.
int colour_at(PixelFormat format, int x, int y) {
  constexpr int colours[4][4] = {{0, 1, 1, 2}, {2, 1, 1, 0}, {1, 0, 2, 1}, {1, 2, 0, 1}};
  return colours[static_cast<int>(format) - static_cast<int>(PixelFormat::bayer_rggb)][(y & 1) * 2 + (x & 1)];
}

// Returns the value by definition: the mean of the neighbours of that colour in the 3×3 window, mirrored at the
// borders.
double bilinear(const Image<std::uint16_t>& image, PixelFormat format, int x, int y, int colour) {
  if (colour_at(format, x, y) == colour) return image(x, y);
  double sum = 0;
  int count = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx) {
      // Green has neighbours only in the cross.
      if (colour_at(format, x + dx + 2, y + dy + 2) != colour || (colour == 1 && dx != 0 && dy != 0)) continue;
      const auto mirrored = [](int at, int size) { return at < 0 ? -at : at >= size ? 2 * size - 2 - at : at; };
      sum += image(mirrored(x + dx, image.width()), mirrored(y + dy, image.height()));
      ++count;
    }
  return std::floor(sum / count + 0.5);
}

TEST(Formats, BayerMosaics) {
  for (const PixelFormat format :
       {PixelFormat::bayer_rggb, PixelFormat::bayer_bggr, PixelFormat::bayer_grbg, PixelFormat::bayer_gbrg})
    for (const Size size : {Size{2, 2}, Size{3, 2}, Size{9, 7}, Size{16, 11}}) {
      const Image<std::uint16_t> image = random_image<std::uint16_t>(size, 7, 0, 4095);
      AnyImage rgb;
      to_rgb(AnyImageView(image, 12), format, rgb);
      EXPECT_EQ(rgb.bit_depth, 12);
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x)
          for (int c = 0; c < 3; ++c)
            ASSERT_EQ(pixels<std::uint16_t>(rgb)(x, y, c), bilinear(image, format, x, y, c))
                << x << ' ' << y << ' ' << c;
    }
}

TEST(Formats, WhatDoesNotFitIsRefusedAndWhatFitsIsReused) {
  const auto refused = [](Size size, int channels, PixelFormat format) {
    AnyImage rgb;
    EXPECT_THROW(to_rgb(Image<std::uint8_t>(size, channels, std::uint8_t{0}), format, rgb), Error);
  };
  refused({4, 4}, 4, PixelFormat::bgr);
  refused({4, 4}, 3, PixelFormat::bgra);
  refused({4, 4}, 1, PixelFormat::nv12);
  refused({5, 6}, 1, PixelFormat::nv12);
  refused({1, 6}, 1, PixelFormat::bayer_rggb);
  AnyImage rgb;
  const Image<std::uint8_t> image({8, 6}, 3, std::uint8_t{9});
  to_rgb(image, PixelFormat::bgr, rgb);
  const void* const before = rgb.view().data;
  to_rgb(image, PixelFormat::bgr, rgb);
  EXPECT_EQ(rgb.view().data, before);
}

TEST(Formats, PitchesInBytes) {
  std::vector<std::uint16_t> memory(40 * 10);
  const auto view = view_with_byte_pitch(memory.data(), {30, 10}, 1, 80);
  EXPECT_EQ(view.row(2), memory.data() + 80);
  const AnyImageView any = any_view_with_byte_pitch(memory.data(), PixelType::u16, {10, 10}, 3, 80, 12);
  EXPECT_EQ(any.pitch, 40);
  EXPECT_EQ(any.bit_depth, 12);
  EXPECT_EQ(device_view_with_byte_pitch(4096, PixelType::f32, {10, 10}, 1, 256).pitch, 64);
  EXPECT_THROW(view_with_byte_pitch(memory.data(), {30, 10}, 1, 81), Error);
  EXPECT_THROW(device_view_with_byte_pitch(4098, PixelType::f32, {10, 10}, 1, 256), Error);
}

}  // namespace
}  // namespace stereopsis::formats_test
