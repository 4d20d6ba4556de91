#include <cstdio>  // before jpeglib.h, which needs FILE

#include <jpeglib.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <vector>

#include "io/codecs.hpp"
#include "stereopsis/io.hpp"
#include "support/files.hpp"
#include "support/stage_test.hpp"

namespace stereopsis::image_files_test {
namespace {

using namespace test;

template <class T>
Image<T> read(const std::filesystem::path& file) {
  return std::get<Image<T>>(read_image(file).pixels);
}

template <class T>
Image<T> image_of(Size size, std::initializer_list<int> values, int channels = 1) {
  Image<T> image(size, channels);
  auto next = values.begin();
  for (int y = 0; y < size.height; ++y)
    for (int i = 0; i < size.width * channels; ++i) image.row(y)[i] = static_cast<T>(*next++);
  return image;
}

template <class T>
void expect_round_trip(const std::vector<std::string>& names, int low, int high, int bit_depth) {
  const TemporaryFolder folder;
  for (const std::string& name : names)
    for (const Size size : awkward_sizes)
      for (const int channels : {1, 3}) {
        if ((name == "image.pgm" && channels == 3) || (name == "image.ppm" && channels == 1)) continue;
        SCOPED_TRACE(testing::Message() << name << ", " << size.width << "x" << size.height << "x" << channels);
        PitchedImage<T> image(random_image<T>(size, 5, low, high, channels).view());
        write_image(folder / name, AnyImageView(image.view(), bit_depth));
        const AnyImage back = read_image(folder / name);
        ASSERT_EQ(back.view().type, pixel_type_of<T>);
        EXPECT_EQ(back.bit_depth, bit_depth);
        EXPECT_TRUE(same_bits(std::get<Image<T>>(back.pixels).view(), image.view()));
        EXPECT_EQ(folder.files(), 1U) << "something is left beside the image";
        std::filesystem::remove(folder / name);
      }
}

const std::string tiff_extension =
#ifdef STEREOPSIS_TIFF
    ".tiff";
#else
    ".npy";
#endif

TEST(ImageFiles, EveryFormatGivesBackWhatWasWritten) {
  expect_round_trip<std::uint8_t>(
      {"image.png", "image.pgm", "image.ppm", "image.pnm", "image.npy", "image" + tiff_extension, "IMAGE.PNG"}, 0, 255,
      8);
  expect_round_trip<std::uint16_t>(
      {"image.png", "image.pgm", "image.ppm", "image.pnm", "image.npy", "image" + tiff_extension}, 0, 65535, 16);
  expect_round_trip<float>({"image.pfm", "image.npy", "image" + tiff_extension}, -1000, 1000, 8);
}

TEST(ImageFiles, PnmKeepsTheBitDepth) {
  for (int depth = 9; depth <= 16; ++depth)
    expect_round_trip<std::uint16_t>({"image.pgm", "image.ppm"}, 0, (1 << depth) - 1, depth);
}

TEST(ImageFiles, OtherFormatsRefuseABitDepthTheyCannotSay) {
  const TemporaryFolder folder;
  const Image<std::uint16_t> image({3, 2}, 1, 1023);
  for (const char* name : {"image.png", "image.tiff", "image.npy"})
    EXPECT_TRUE(refuses([&] { write_image(folder / name, AnyImageView(image, 10)); }, ErrorCategory::call, ".pgm"));
  EXPECT_EQ(folder.files(), 0U);
}

TEST(ImageFiles, PixelsThatAFormatCannotHoldAreRefusedWithAnother) {
  const TemporaryFolder folder;
  const Image<float> real({3, 2}, 1, 0.5F);
  const Image<std::uint16_t> wide({3, 2}, 1, 500);
  const Image<std::uint8_t> grey({3, 2}, 1, 5);
  const Image<std::uint8_t> colour({3, 2}, 3, 5);
  const auto call = ErrorCategory::call;
  EXPECT_TRUE(refuses([&] { write_image(folder / "a.png", real); }, call, "use .pfm"));
  EXPECT_TRUE(refuses([&] { write_image(folder / "a.pgm", real); }, call, "use .pfm"));
  EXPECT_TRUE(refuses([&] { write_image(folder / "a.jpg", wide); }, call, "use .png"));
  EXPECT_TRUE(refuses([&] { write_image(folder / "a.pfm", grey); }, call, "use .png"));
  EXPECT_TRUE(refuses([&] { write_image(folder / "a.pgm", colour); }, call, "use .ppm"));
  EXPECT_TRUE(refuses([&] { write_image(folder / "a.ppm", grey); }, call, "use .pgm"));
  EXPECT_TRUE(refuses([&] { write_image(folder / "a.bmp", grey); }, call, "'.bmp'"));
  EXPECT_TRUE(refuses([&] { write_image(folder / "a", grey); }, call, "extension ''"));
  EXPECT_TRUE(refuses([&] { write_image(folder / "a.png", Image<std::uint8_t>(0, 3)); }, call, "0×3"));
  EXPECT_TRUE(refuses([&] { write_image(folder / "a.png", Image<std::uint8_t>({3, 3}, 2)); }, call, "2 channels"));
  EXPECT_EQ(folder.files(), 0U);
}

TEST(ImageFiles, ContentsDecideNotTheName) {
  const TemporaryFolder folder;
  const auto image = random_image<std::uint8_t>({7, 5}, 3, 0, 255);
  write_image(folder / "image.png", image);
  std::filesystem::rename(folder / "image.png", folder / "image.txt");
  EXPECT_TRUE(same_bits(read<std::uint8_t>(folder / "image.txt").view(), image.view()));
}

TEST(Pnm, TextWithComments) {
  const TemporaryFolder folder;
  const auto grey = put(folder / "a", "P2 # by hand\n# 9 9\n3 # columns\n2\n255\n0 1 2\n# a row\n253 254 255");
  EXPECT_TRUE(
      same_bits(read<std::uint8_t>(grey).view(), image_of<std::uint8_t>({3, 2}, {0, 1, 2, 253, 254, 255}).view()));
  const auto colour = put(folder / "b", "P3\r\n2 1\r\n255\r\n255 0 1\r\n2 3 4\r\n");
  EXPECT_TRUE(
      same_bits(read<std::uint8_t>(colour).view(), image_of<std::uint8_t>({2, 1}, {255, 0, 1, 2, 3, 4}, 3).view()));
}

TEST(Pnm, SixteenBitsAreBigEndian) {
  const TemporaryFolder folder;
  const auto file = put(folder / "a.pgm", std::string("P5\n2 1\n65535\n\x01\x02\xff\xfe", 17));
  EXPECT_TRUE(same_bits(read<std::uint16_t>(file).view(), image_of<std::uint16_t>({2, 1}, {0x0102, 0xfffe}).view()));
  write_image(folder / "b.pgm", read_image(file));
  EXPECT_EQ(get(folder / "b.pgm"), get(file));
}

// A maxval of 1023 means ten bits. A maxval of 1000 is not 2^n − 1, so the values are scaled to sixteen bits. With a
// maxval below 255, values are scaled to eight bits.
TEST(Pnm, MaxvalGivesTheBitDepth) {
  const TemporaryFolder folder;
  const AnyImage ten = read_image(put(folder / "a", "P2 3 1 1023 0 512 1023"));
  EXPECT_EQ(ten.bit_depth, 10);
  EXPECT_TRUE(same_bits(std::get<Image<std::uint16_t>>(ten.pixels).view(),
                        image_of<std::uint16_t>({3, 1}, {0, 512, 1023}).view()));
  const AnyImage thousand = read_image(put(folder / "b", "P2 3 1 1000 0 500 1000"));
  EXPECT_EQ(thousand.bit_depth, 16);
  EXPECT_TRUE(same_bits(std::get<Image<std::uint16_t>>(thousand.pixels).view(),
                        image_of<std::uint16_t>({3, 1}, {0, 32768, 65535}).view()));
  const AnyImage four = read_image(put(folder / "c", std::string("P5 3 1 15\n\x00\x07\x0f", 13)));
  EXPECT_EQ(four.bit_depth, 8);
  EXPECT_TRUE(same_bits(std::get<Image<std::uint8_t>>(four.pixels).view(),
                        image_of<std::uint8_t>({3, 1}, {0, 119, 255}).view()));
}

// Files in both byte orders are read exactly. Rows are stored from the bottom up.
TEST(Pfm, BothByteOrders) {
  const TemporaryFolder folder;
  const std::string little(
      "\x00\x00\x80\x3f"
      "\x00\x00\x00\xc0"
      "\x00\x00\x40\x3f"
      "\x00\x00\x80\x7f",
      16);
  const std::string big(
      "\x3f\x80\x00\x00"
      "\xc0\x00\x00\x00"
      "\x3f\x40\x00\x00"
      "\x7f\x80\x00\x00",
      16);
  Image<float> expected(2, 2);
  expected(0, 1) = 1;
  expected(1, 1) = -2;
  expected(0, 0) = 0.75F;
  expected(1, 0) = std::numeric_limits<float>::infinity();
  // The magnitude of the scale has no effect.
  EXPECT_TRUE(same_bits(read<float>(put(folder / "a", "Pf\n2 2\n-0.0039\n" + little)).view(), expected.view()));
  EXPECT_TRUE(same_bits(read<float>(put(folder / "b", "Pf\n2 2\n1\n" + big)).view(), expected.view()));
  EXPECT_TRUE(same_bits(read<float>(put(folder / "c", "Pf\r\n2 2\r\n-1\r\n" + little)).view(), expected.view()));
  write_image(folder / "d.pfm", expected);
  EXPECT_EQ(get(folder / "d.pfm"), "Pf\n2 2\n-1.0\n" + little);
}

TEST(Pfm, ThreeChannels) {
  const TemporaryFolder folder;
  const std::string one("\x00\x00\x80\x3f", 4), two("\x00\x00\x00\x40", 4), three("\x00\x00\x40\x40", 4);
  const auto image = read<float>(put(folder / "a", "PF\n1 1\n-1.0\n" + one + two + three));
  EXPECT_TRUE(same_bits(image.view(), image_of<float>({1, 1}, {1, 2, 3}, 3).view()));
}

TEST(Png, PaletteAlphaAndFewBitsAreExpanded) {
  const TemporaryFolder folder;
  // A palette image with 2 bits per pixel, and with transparency; the indices are 0, 1, 2.
  const auto palette = put(folder / "palette", RawPng(3, 1, 2, 3)
                                                   .chunk("PLTE", {1, 2, 3, 4, 5, 6, 7, 8, 9})
                                                   .chunk("tRNS", std::string("\x00\x80", 2))
                                                   .with(std::string("\x00\x18", 2)));
  EXPECT_TRUE(same_bits(read<std::uint8_t>(palette).view(),
                        image_of<std::uint8_t>({3, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9}, 3).view()));
  const auto one_bit = put(folder / "one", RawPng(3, 1, 1, 0).with(std::string("\x00\xa0", 2)));
  EXPECT_TRUE(same_bits(read<std::uint8_t>(one_bit).view(), image_of<std::uint8_t>({3, 1}, {255, 0, 255}).view()));
  const auto four_bits = put(folder / "four", RawPng(2, 1, 4, 0).with(std::string("\x00\x1f", 2)));
  EXPECT_TRUE(same_bits(read<std::uint8_t>(four_bits).view(), image_of<std::uint8_t>({2, 1}, {17, 255}).view()));
  const auto rgba = put(folder / "rgba", RawPng(1, 1, 8, 6).with(std::string("\x00\x0a\x14\x1e\x00", 5)));
  EXPECT_TRUE(same_bits(read<std::uint8_t>(rgba).view(), image_of<std::uint8_t>({1, 1}, {10, 20, 30}, 3).view()));
  const auto grey_alpha =
      put(folder / "ga", RawPng(1, 2, 16, 4).with(std::string("\x00\x01\x02\x00\x00\x00\xff\xfe\x00\x00", 10)));
  EXPECT_TRUE(
      same_bits(read<std::uint16_t>(grey_alpha).view(), image_of<std::uint16_t>({1, 2}, {0x0102, 0xfffe}).view()));
}

std::vector<int> values_of(const Image<std::uint8_t>& image) {
  std::vector<int> values;
  for (int y = 0; y < image.height(); ++y) values.insert(values.end(), image.row(y), image.row(y) + image.width());
  return values;
}

// A pixel with an alpha of 0 has no data, and a pixel with any other alpha has data. A mask that is 0 everywhere is
// treated as a mistake of the program that wrote it.
TEST(Png, AlphaIsTheMask) {
  const TemporaryFolder folder;
  const auto grey = put(folder / "ga", RawPng(3, 1, 8, 4).with(std::string("\x00\x07\x00\x08\x01\x09\xff", 7)));
  const MaskedImage masked = read_masked_image(grey);
  EXPECT_EQ(values_of(masked.mask), (std::vector<int>{0, 255, 255}));
  EXPECT_EQ(masked.no_data, 1);
  EXPECT_EQ(values_of(std::get<Image<std::uint8_t>>(masked.image.pixels)), (std::vector<int>{7, 8, 9}));
  const auto palette = put(folder / "palette", RawPng(3, 1, 2, 3)
                                                   .chunk("PLTE", {1, 2, 3, 4, 5, 6, 7, 8, 9})
                                                   .chunk("tRNS", std::string("\x00\x80", 2))
                                                   .with(std::string("\x00\x18", 2)));
  EXPECT_EQ(values_of(read_masked_image(palette).mask), (std::vector<int>{0, 255, 255}));
  const auto all = put(folder / "all", RawPng(2, 1, 8, 4).with(std::string("\x00\x07\x00\x08\x00", 5)));
  EXPECT_TRUE(read_masked_image(all).mask.empty());
  EXPECT_EQ(read_masked_image(all).no_data, 0);
  const auto none = put(folder / "none", RawPng(2, 1, 8, 0).with(std::string("\x00\x07\x08", 3)));
  EXPECT_TRUE(read_masked_image(none).mask.empty());
}

TEST(ImageFiles, FloatsThatAreNoDataBecomeNaN) {
  const TemporaryFolder folder;
  Image<float> image({6, 1}, 1, 20);
  image(0, 0) = std::numeric_limits<float>::infinity();
  image(1, 0) = -9999;
  image(2, 0) = -32768;
  image(3, 0) = std::numeric_limits<float>::lowest();
  image(4, 0) = std::numeric_limits<float>::quiet_NaN();
  for (const char* name : {"f.pfm", "f.npy"}) {
    write_image(folder / name, image);
    const MaskedImage read = read_masked_image(folder / name);
    EXPECT_EQ(read.no_data, 5);
    EXPECT_EQ(values_of(read.mask), (std::vector<int>{0, 0, 0, 0, 0, 255}));
    const auto& pixels = std::get<Image<float>>(read.image.pixels);
    for (int x = 0; x < 5; ++x) EXPECT_TRUE(std::isnan(pixels(x, 0))) << x;
    EXPECT_EQ(pixels(5, 0), 20);
  }
}

TEST(ImageFiles, TheOrientationOfExifDataIsTold) {
  const TemporaryFolder folder;
  // An Exif structure with one tag: the orientation, 6.
  const std::string exif("MM\x00\x2a\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00", 22);
  const auto png = put(folder / "a.png", RawPng(1, 1, 8, 0).chunk("eXIf", exif).with(std::string("\x00\x07", 2)));
  EXPECT_EQ(image_orientation(png), 6);
  EXPECT_EQ(read<std::uint8_t>(png)(0, 0), 7);
  const auto plain = put(folder / "b.png", RawPng(1, 1, 8, 0).with(std::string("\x00\x07", 2)));
  EXPECT_EQ(image_orientation(plain), 1);
  EXPECT_EQ(image_orientation(put(folder / "short", "MM")), 1);
  EXPECT_EQ(image_orientation(put(folder / "far", std::string("II\x2a\x00\xff\xff\xff\x7f", 8))), 1);
}

TEST(ImageFiles, TheFocalLengthOfExifDataIsInPixels) {
  const TemporaryFolder folder;
  // The first directory has the place of the directory of Exif data, where the focal length on film is 26 mm.
  const std::string exif(
      "MM\x00\x2a\x00\x00\x00\x08\x00\x01\x87\x69\x00\x04\x00\x00\x00\x01\x00\x00\x00\x1a\x00\x00\x00\x00"
      "\x00\x01\xa4\x05\x00\x03\x00\x00\x00\x01\x00\x1a\x00\x00\x00\x00\x00\x00",
      44);
  const auto png = put(folder / "a.png", RawPng(1, 1, 8, 0).chunk("eXIf", exif).with(std::string("\x00\x07", 2)));
  EXPECT_NEAR(photo_focal(png, {3600, 2400}).value(), 2600, 1e-3);
  const auto plain = put(folder / "b.png", RawPng(1, 1, 8, 0).with(std::string("\x00\x07", 2)));
  EXPECT_FALSE(photo_focal(plain, {3600, 2400}));
}

TEST(Png, Interlaced) {
  const TemporaryFolder folder;
  // Adam7 passes for 3 × 2 pixels with the values 1 to 6. Pass 1 has pixel 1, pass 4 (x 2, y 0) has pixel 3, pass 6 (x
  // 1, y 0) has pixel 2, and pass 7 has row 1.
  const auto file = put(folder / "a", RawPng(3, 2, 8, 0, true).with(std::string("\0\1\0\3\0\2\0\4\5\6", 10)));
  EXPECT_TRUE(same_bits(read<std::uint8_t>(file).view(), image_of<std::uint8_t>({3, 2}, {1, 2, 3, 4, 5, 6}).view()));
}

// A colour profile that libpng would have to decompress is skipped.
TEST(Png, BrokenColourProfilesDoNotMatter) {
  const TemporaryFolder folder;
  const auto file =
      put(folder / "a", RawPng(1, 1, 8, 0).chunk("iCCP", "x").chunk("gAMA", "1234").with(std::string("\0\x2a", 2)));
  EXPECT_EQ(read<std::uint8_t>(file)(0, 0), 42);
}

std::string jpeg(int components, J_COLOR_SPACE space, bool progressive, Size size) {
  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* bytes = nullptr;
  unsigned long count = 0;
  jpeg_mem_dest(&jpeg, &bytes, &count);
  jpeg.image_width = static_cast<JDIMENSION>(size.width);
  jpeg.image_height = static_cast<JDIMENSION>(size.height);
  jpeg.input_components = components;
  jpeg.in_color_space = space;
  jpeg_set_defaults(&jpeg);
  if (progressive) jpeg_simple_progression(&jpeg);
  jpeg_start_compress(&jpeg, TRUE);
  std::vector<JSAMPLE> row(static_cast<std::size_t>(size.width * components), 100);
  for (int y = 0; y < size.height; ++y) {
    JSAMPROW rows = row.data();
    jpeg_write_scanlines(&jpeg, &rows, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  std::string file(reinterpret_cast<char*>(bytes), count);
  std::free(bytes);
  return file;
}

TEST(Jpeg, SmoothImagesComeBackNearlyEqual) {
  const TemporaryFolder folder;
  for (const Size size : awkward_sizes)
    for (const int channels : {1, 3}) {
      Image<std::uint8_t> image(size, channels);
      for (int y = 0; y < size.height; ++y)
        for (int i = 0; i < size.width * channels; ++i)
          image.row(y)[i] = static_cast<std::uint8_t>((i / channels + y) / 2);
      write_image(folder / "image.jpg", image);
      const auto back = read<std::uint8_t>(folder / "image.jpg");
      ASSERT_EQ(back.size(), size);
      ASSERT_EQ(back.channels(), channels);
      for (int y = 0; y < size.height; ++y)
        for (int i = 0; i < size.width * channels; ++i) ASSERT_NEAR(back.row(y)[i], image.row(y)[i], 6);
    }
}

// A large image of constant colour has the highest compression, and must not be mistaken for a decompression bomb.
TEST(Jpeg, ProgressiveAndConstant) {
  const TemporaryFolder folder;
  for (const bool progressive : {false, true}) {
    const auto back = read<std::uint8_t>(put(folder / "a.jpg", jpeg(3, JCS_RGB, progressive, {1501, 1207})));
    EXPECT_EQ(back.size(), (Size{1501, 1207}));
    EXPECT_EQ(back(1500, 1206, 2), 100);
  }
}

TEST(Png, ConstantLargeImagesAreNoBombs) {
  const TemporaryFolder folder;
  const Image<std::uint8_t> constant({2500, 2003}, 3, 77);
  write_image(folder / "a.png", constant);
  EXPECT_TRUE(same_bits(read<std::uint8_t>(folder / "a.png").view(), constant.view()));
}

TEST(Jpeg, CmykIsRefused) {
  const TemporaryFolder folder;
  const auto file = put(folder / "a.jpg", jpeg(4, JCS_CMYK, false, {9, 9}));
  EXPECT_TRUE(refuses([&] { read_image(file); }, ErrorCategory::unsupported, "4 channels"));
}

#ifdef STEREOPSIS_TIFF
constexpr std::uint16_t gdal_no_data = 42113;  // tag with a text of up to 3 characters

// Builds a little-endian TIFF by the specification: the data at offset 8, followed by the tags.
std::string tiff(const std::string& data, const std::vector<std::pair<std::uint16_t, std::uint32_t>>& tags) {
  std::string file("II*\0", 4);
  const auto append = [&](auto value) { io::append(file, value, std::endian::little); };
  append(static_cast<std::uint32_t>(8 + data.size()));
  file += data;
  append(static_cast<std::uint16_t>(tags.size()));
  for (const auto& [tag, value] : tags) {
    const bool is_text = tag == gdal_no_data;
    append(tag);
    append(std::uint16_t{static_cast<std::uint16_t>(is_text ? 2 : 4)});
    append(std::uint32_t{is_text ? 4U : 1U});
    append(value);
  }
  append(std::uint32_t{0});
  return file;
}

TEST(Tiff, TilesAlphaAndWhiteIsZero) {
  const TemporaryFolder folder;
  std::string tile(256, '\0');
  std::iota(tile.begin(), tile.end(), '\0');
  const auto tiled = put(
      folder / "tiled",
      tiff(tile,
           {{256, 3}, {257, 2}, {258, 8}, {259, 1}, {262, 1}, {277, 1}, {322, 16}, {323, 16}, {324, 8}, {325, 256}}));
  EXPECT_TRUE(
      same_bits(read<std::uint8_t>(tiled).view(), image_of<std::uint8_t>({3, 2}, {0, 1, 2, 16, 17, 18}).view()));
  const auto alpha =
      put(folder / "alpha",
          tiff({10, 1, 20, 2, 30, 3},
               {{256, 3}, {257, 1}, {258, 8}, {259, 1}, {262, 1}, {273, 8}, {277, 2}, {278, 1}, {279, 6}, {338, 1}}));
  EXPECT_TRUE(same_bits(read<std::uint8_t>(alpha).view(), image_of<std::uint8_t>({3, 1}, {10, 20, 30}).view()));
  const auto white =
      put(folder / "white",
          tiff({0, 5}, {{256, 2}, {257, 1}, {258, 8}, {259, 1}, {262, 0}, {273, 8}, {277, 1}, {278, 1}, {279, 2}}));
  EXPECT_TRUE(same_bits(read<std::uint8_t>(white).view(), image_of<std::uint8_t>({2, 1}, {255, 250}).view()));
  const auto mosaic =
      put(folder / "mosaic",
          tiff({0, 5}, {{256, 2}, {257, 1}, {258, 8}, {259, 1}, {262, 32803}, {273, 8}, {277, 1}, {278, 1}, {279, 2}}));
  EXPECT_TRUE(refuses([&] { read_image(mosaic); }, ErrorCategory::unsupported, "colour space 32803"));
}

TEST(Tiff, AlphaAndTheValueOfGdalAreTheMask) {
  const TemporaryFolder folder;
  const auto of_kind = [&](const char* name, std::uint32_t extra_sample) {
    return put(folder / name, tiff({10, 0, 20, 2, 30, 3}, {{256, 3},
                                                           {257, 1},
                                                           {258, 8},
                                                           {259, 1},
                                                           {262, 1},
                                                           {273, 8},
                                                           {277, 2},
                                                           {278, 1},
                                                           {279, 6},
                                                           {338, extra_sample}}));
  };
  const MaskedImage alpha = read_masked_image(of_kind("alpha", 2));
  EXPECT_EQ(values_of(alpha.mask), (std::vector<int>{0, 255, 255}));
  EXPECT_EQ(values_of(std::get<Image<std::uint8_t>>(alpha.image.pixels)), (std::vector<int>{10, 20, 30}));
  EXPECT_TRUE(read_masked_image(of_kind("infrared", 0)).mask.empty());

  // Some programs write RGBA without the tag of the extra sample. A fourth sample of zeros is padding.
  const auto of_four = [&](const char* name, const std::string& data) {
    return read_masked_image(
        put(folder / name,
            tiff(data, {{256, 2}, {257, 1}, {258, 8}, {259, 1}, {262, 2}, {273, 8}, {277, 4}, {278, 1}, {279, 8}})));
  };
  const MaskedImage untagged = of_four("untagged", {1, 2, 3, 0, 4, 5, 6, 9});
  EXPECT_EQ(values_of(untagged.mask), (std::vector<int>{0, 255}));
  const std::uint8_t* const samples = std::get<Image<std::uint8_t>>(untagged.image.pixels).row(0);
  EXPECT_EQ(std::vector<int>(samples, samples + 6), (std::vector<int>{1, 2, 3, 4, 5, 6}));
  EXPECT_TRUE(of_four("padding", {1, 2, 3, 0, 4, 5, 6, 0}).mask.empty());

  const auto gdal_file = [&](const char* name, std::uint8_t middle, const std::string& no_data) {
    std::uint32_t characters = 0;
    std::copy(no_data.begin(), no_data.end(), reinterpret_cast<char*>(&characters));
    return put(folder / name, tiff({20, static_cast<char>(middle), 30}, {{256, 3},
                                                                         {257, 1},
                                                                         {258, 8},
                                                                         {259, 1},
                                                                         {262, 1},
                                                                         {273, 8},
                                                                         {277, 1},
                                                                         {278, 1},
                                                                         {279, 3},
                                                                         {gdal_no_data, characters}}));
  };
  const auto file = gdal_file("gdal", 8, "8");
  const MaskedImage gdal = read_masked_image(file);
  EXPECT_EQ(values_of(gdal.mask), (std::vector<int>{255, 0, 255}));
  EXPECT_EQ(gdal.no_data, 1);
  const Image<float> disparity = read_disparity(file, 4);
  EXPECT_EQ(disparity(0, 0), 5);
  EXPECT_TRUE(std::isnan(disparity(1, 0)));
  EXPECT_EQ(read_masked_image(gdal_file("outside", 157, "-99")).no_data, 0);  // −99 modulo 256 is 157
}

// Disparities of OpenCV are signed 16ths of a pixel, and the lowest value means unknown.
TEST(Tiff, SignedIntegersAreDisparitiesOfAGivenScale) {
  const TemporaryFolder folder;
  const std::string data("\x20\x00\xf0\xff\x50\x00", 6);  // 32, −16, 80
  const auto file =
      put(folder / "d.tiff",
          tiff(data,
               {{256, 3}, {257, 1}, {258, 16}, {259, 1}, {262, 1}, {273, 8}, {277, 1}, {278, 1}, {279, 6}, {339, 2}}));
  const Image<float> disparity = read_disparity(file, 16);
  EXPECT_EQ(disparity(0, 0), 2);
  EXPECT_TRUE(std::isnan(disparity(1, 0)));
  EXPECT_EQ(disparity(2, 0), 5);
  // At other scales, −16 is unknown only if it is a whole number of pixels, and the lowest of negated maps is the nearest.
  EXPECT_TRUE(std::isnan(read_disparity(file, 8)(1, 0)));
  EXPECT_EQ(read_disparity(file, 32)(1, 0), -0.5F);
  EXPECT_EQ(read_disparity(file, -16)(1, 0), 1);
  EXPECT_TRUE(refuses([&] { read_disparity(file); }, ErrorCategory::call, "16 in OpenCV's maps"));
  EXPECT_TRUE(refuses([&] { read_image(file); }, ErrorCategory::unsupported, "signed 16-bit"));
}
#else
TEST(Tiff, SaysThatThisBuildHasNone) {
  const TemporaryFolder folder;
  const auto file = put(folder / "a", std::string("II*\0", 4));
  EXPECT_TRUE(refuses([&] { read_image(file); }, ErrorCategory::unsupported, "STEREOPSIS_TIFF"));
  EXPECT_TRUE(refuses(
      [&] {
        write_image(folder / "b.tiff", Image<float>({1, 1}, 1, 0.0F));
      },
      ErrorCategory::unsupported, "STEREOPSIS_TIFF"));
}
#endif

}  // namespace
}  // namespace stereopsis::image_files_test
