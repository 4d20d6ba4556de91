// Tests of BMP, which is only read, and of WebP and JPEG 2000 if their libraries are installed.
#include "stereopsis/io.hpp"
#include "support/files.hpp"
#include "support/small_pictures.hpp"

namespace stereopsis::read_formats_test {
namespace {

using namespace test;
using namespace std::string_literals;

AnyImage read(const std::string& contents) {
  const TemporaryFolder folder;
  return read_image(put(folder / "picture", contents));
}

void expect_small_colours(const AnyImage& image) {
  ASSERT_EQ(image.size(), (Size{5, 4}));
  ASSERT_EQ(image.channels(), 3);
  const auto& pixels = std::get<Image<std::uint8_t>>(image.pixels);
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 5; ++x) {
      EXPECT_EQ(pixels(x, y, 0), 40 * x);
      EXPECT_EQ(pixels(x, y, 1), 50 * y);
      EXPECT_EQ(pixels(x, y, 2), 255 - 10 * x * y);
    }
}

// Expects that an image of noise is the same after it was written and read.
template <class T>
void expect_round_trip(const std::string& extension, Size size, int channels) {
  Image<T> image(size, channels);
  unsigned state = 1;
  for (int y = 0; y < size.height; ++y)
    for (int i = 0; i < size.width * channels; ++i)
      image.row(y)[i] = static_cast<T>((state = state * 1664525u + 1013904223u) >> 16);
  const TemporaryFolder folder;
  const auto file = folder / ("picture" + extension);
  write_image(file, AnyImage(image).view());
  const AnyImage back = read_image(file);
  ASSERT_EQ(back.size(), size);
  const auto& pixels = std::get<Image<T>>(back.pixels);
  for (int y = 0; y < size.height; ++y)
    for (int i = 0; i < size.width * back.channels(); ++i)
      ASSERT_EQ(pixels.row(y)[i], image.row(y)[channels == back.channels() ? i : i / 3])
          << extension << " at " << i << ", " << y;
}

std::string greys(int count) {
  std::string palette;
  for (int i = 0; i < count; ++i) palette += std::string(3, static_cast<char>(255 * i / (count - 1))) + '\0';
  return palette;
}

TEST(ReadFormats, BitmapsOfEveryDepth) {
  // Two rows, the lower row first, padded to multiples of 4 bytes.
  const AnyImage grey = read(bitmap(3, 2, 8, greys(256), "\x01\x02\x03\0\x04\x05\xff\0"s));
  ASSERT_EQ(grey.channels(), 1);
  const auto& pixels = std::get<Image<std::uint8_t>>(grey.pixels);
  EXPECT_EQ(pixels(0, 0), 4);
  EXPECT_EQ(pixels(2, 0), 255);
  EXPECT_EQ(pixels(2, 1), 3);

  const auto nibbles = std::get<Image<std::uint8_t>>(read(bitmap(3, 1, 4, greys(16), "\x0f\x10\0\0"s)).pixels);
  EXPECT_EQ(nibbles(0, 0), 0);
  EXPECT_EQ(nibbles(1, 0), 255);
  EXPECT_EQ(nibbles(2, 0), 17);

  const auto bits = std::get<Image<std::uint8_t>>(read(bitmap(3, 1, 1, greys(2), "\xa0\0\0\0"s)).pixels);
  EXPECT_EQ(bits(0, 0), 255);
  EXPECT_EQ(bits(1, 0), 0);
  EXPECT_EQ(bits(2, 0), 255);

  for (const int depth : {24, 32}) {
    std::string rows;
    for (int y = 0; y < 4; ++y) {
      std::string row;
      for (int x = 0; x < 5; ++x) {
        row += {static_cast<char>(255 - 10 * x * y), static_cast<char>(50 * y), static_cast<char>(40 * x)};
        if (depth == 32) row += '\x7f';
      }
      row.resize((row.size() + 3) / 4 * 4);
      rows += row;
    }
    expect_small_colours(read(bitmap(5, -4, depth, "", rows)));
  }
}

TEST(ReadFormats, APaletteOfColoursGivesColours) {
  const std::string palette = "\x01\x02\x03\0\xff\xfe\xfd\0"s;
  const auto image = std::get<Image<std::uint8_t>>(read(bitmap(2, 1, 8, palette, "\x01\0\0\0"s)).pixels);
  ASSERT_EQ(image.channels(), 3);
  EXPECT_EQ(image(0, 0, 0), 0xfd);
  EXPECT_EQ(image(0, 0, 2), 0xff);
  EXPECT_EQ(image(1, 0, 0), 3);
}

TEST(ReadFormats, DamagedAndCompressedBitmapsAreRejected) {
  const std::string good = bitmap(3, 2, 8, greys(256), "\x01\x02\x03\0\x04\x05\xff\0"s);
  const auto expect = [](const std::string& contents, ErrorCategory category, const std::string& part) {
    EXPECT_TRUE(refuses([&] { read(contents); }, category, part));
  };
  expect(good.substr(0, good.size() - 1), ErrorCategory::format, "cut off");
  expect(good.substr(0, 30), ErrorCategory::format, "ends within its header");
  expect(bitmap(1 << 19, 1 << 9, 24, "", "abc"), ErrorCategory::format, "cut off");
  expect(bitmap(0, 2, 24, "", "abc"), ErrorCategory::format, "at least 1");
  expect(bitmap(3, 2, 8, greys(256), "\x03\x01\0\x01"s, 1), ErrorCategory::unsupported, "compression 1");
  expect(bitmap(3, 2, 16, "", std::string(16, 'x')), ErrorCategory::unsupported, "16 bits");
}

#ifdef STEREOPSIS_WEBP
TEST(ReadFormats, WebP) {
  expect_small_colours(read(small_webp()));
  EXPECT_TRUE(refuses([] { read(small_webp().substr(0, 40)); }, ErrorCategory::format, "WebP"));
  for (const Size size : {Size{1, 1}, {37, 1}, {1, 5}, {61, 43}})
    for (const int channels : {1, 3}) expect_round_trip<std::uint8_t>(".webp", size, channels);
  const TemporaryFolder folder;
  const auto write = [&](AnyImage image) { write_image(folder / "picture.webp", image.view()); };
  EXPECT_TRUE(refuses([&] { write(Image<std::uint16_t>(5, 4)); }, ErrorCategory::call, "WebP"));
  EXPECT_TRUE(refuses([&] { write(Image<std::uint8_t>(16384, 1)); }, ErrorCategory::call, "16383"));
}
#else
TEST(ReadFormats, WithoutItsLibraryWebPIsNamed) {
  EXPECT_TRUE(refuses([] { read(small_webp()); }, ErrorCategory::unsupported, "libwebp-dev"));
}
#endif

#ifdef STEREOPSIS_JPEG2000
TEST(ReadFormats, Jpeg2000) {
  expect_small_colours(read(small_jpeg2000_rgb()));
  const AnyImage grey = read(small_jpeg2000_grey_12_bits());
  EXPECT_EQ(grey.bit_depth, 12);
  const auto& pixels = std::get<Image<std::uint16_t>>(grey.pixels);
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 5; ++x) EXPECT_EQ(pixels(x, y), 200 * (5 * y + x));
  EXPECT_TRUE(refuses([] { read(small_jpeg2000_rgb().substr(0, 100)); }, ErrorCategory::format, "JPEG 2000"));
  for (const Size size : {Size{1, 1}, {37, 1}, {1, 5}, {61, 43}})
    for (const int channels : {1, 3}) {
      expect_round_trip<std::uint8_t>(".jp2", size, channels);
      expect_round_trip<std::uint16_t>(".jp2", size, channels);
    }
}
#else
TEST(ReadFormats, WithoutItsLibraryJpeg2000IsNamed) {
  EXPECT_TRUE(refuses([] { read(small_jpeg2000_rgb()); }, ErrorCategory::unsupported, "libopenjp2-7-dev"));
}
#endif

}  // namespace
}  // namespace stereopsis::read_formats_test
