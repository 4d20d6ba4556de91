#include "stereopsis/io.hpp"
#include "support/files.hpp"
#include "support/stage_test.hpp"

namespace stereopsis::disparity_files_test {
namespace {

using namespace test;

constexpr float infinity = std::numeric_limits<float>::infinity();

Image<float> row_of(std::initializer_list<float> values) {
  Image<float> image(static_cast<int>(values.size()), 1);
  std::copy(values.begin(), values.end(), image.row(0));
  return image;
}

template <class T>
std::vector<int> codes(const std::filesystem::path& file) {
  const auto image = std::get<Image<T>>(read_image(file).pixels);
  return {image.row(0), image.row(0) + image.width()};
}

TEST(DisparityFiles, FloatFilesKeepEveryBit) {
  const TemporaryFolder folder;
  std::vector<std::string> names = {"d.pfm", "d.npy"};
#ifdef STEREOPSIS_TIFF
  names.insert(names.end(), {"d.tif", "d.tiff"});
#endif
  for (const std::string& name : names)
    for (const Size size : awkward_sizes) {
      Image<float> disparity = random_image<float>(size, 11, -500, 500);
      disparity(0, 0) = invalid_disparity;
      if (size.width > 1) disparity(1, 0) = 1.0F / 3;
      PitchedImage<float> pitched(disparity.view());
      write_disparity(folder / name, pitched.view());
      EXPECT_TRUE(same_bits(read_disparity(folder / name).view(), disparity.view())) << name;
    }
}

TEST(DisparityFiles, PfmHoldsInfinityWhereInvalid) {
  const TemporaryFolder folder;
  write_disparity(folder / "d.pfm", row_of({1, invalid_disparity, -infinity}));
  const auto stored = std::get<Image<float>>(read_image(folder / "d.pfm").pixels);
  EXPECT_EQ(stored(1, 0), infinity);
  EXPECT_EQ(stored(2, 0), infinity);
  const auto back = read_disparity(folder / "d.pfm");
  EXPECT_EQ(back(0, 0), 1);
  EXPECT_TRUE(std::isnan(back(1, 0)));
}

TEST(DisparityFiles, KittiPngIsTimes256WithZeroForInvalid) {
  const TemporaryFolder folder;
  write_disparity(folder / "d.png", row_of({invalid_disparity, 0, 1, 1.5F, 0.001F, 200.25F, 255.99609375F, infinity}));
  EXPECT_EQ(codes<std::uint16_t>(folder / "d.png"), (std::vector<int>{0, 1, 256, 384, 1, 51264, 65535, 0}));
  const auto back = read_disparity(folder / "d.png");
  EXPECT_TRUE(std::isnan(back(0, 0)));
  EXPECT_EQ(back(1, 0), 1.0F / 256);
  EXPECT_EQ(back(3, 0), 1.5F);
  EXPECT_EQ(back(5, 0), 200.25F);
  EXPECT_EQ(read_disparity(folder / "d.png", 512)(2, 0), 0.5F);
}

TEST(DisparityFiles, EightBitsWithAScale) {
  const TemporaryFolder folder;
  for (const char* name : {"d.png", "d.pgm"}) {
    write_disparity(folder / name, row_of({invalid_disparity, 0, 1.2F, 63.75F}), 4);
    EXPECT_EQ(codes<std::uint8_t>(folder / name), (std::vector<int>{0, 1, 5, 255}));
    EXPECT_EQ(read_disparity(folder / name, 4)(3, 0), 63.75F);
    EXPECT_TRUE(refuses([&] { read_disparity(folder / name); }, ErrorCategory::call, "scale"));
  }
}

// The values of a disparity PGM are codes and not intensities, so a maxval other than 255 does not scale them.
TEST(DisparityFiles, CodesAreNotStretched) {
  const TemporaryFolder folder;
  const auto file = put(folder / "d.pgm", "P2 3 1 100 0 50 100");
  EXPECT_EQ(read_disparity(file, 2)(1, 0), 25);
  EXPECT_EQ(read_validity(file)(1, 0), 50);
}

TEST(DisparityFiles, WhatAFileCannotHoldIsRefusedAndLeavesTheOldFile) {
  const TemporaryFolder folder;
  const auto call = ErrorCategory::call;
  for (const char* name : {"d.png", "d.pgm", "d.pfm", "d.bmp"}) put(folder / name, "old");
  EXPECT_TRUE(refuses([&] { write_disparity(folder / "d.png", row_of({4, -1})); }, call, "disparity -1 cannot"));
  EXPECT_TRUE(refuses([&] { write_disparity(folder / "d.png", row_of({4, -1})); }, call, "use .pfm, .npy or .tiff"));
  EXPECT_TRUE(refuses([&] { write_disparity(folder / "d.png", row_of({256})); }, call, "0 to 255.996"));
  EXPECT_TRUE(refuses([&] { write_disparity(folder / "d.png", row_of({64}), 4); }, call, "a smaller scale"));
  EXPECT_TRUE(refuses([&] { write_disparity(folder / "d.pgm", row_of({-3}), 4); }, call, "use .pfm"));
  EXPECT_TRUE(refuses([&] { write_disparity(folder / "d.pgm", row_of({3})); }, call, "require a scale"));
  EXPECT_TRUE(refuses([&] { write_disparity(folder / "d.pfm", row_of({3}), 16); }, call, "without a scale"));
  EXPECT_TRUE(refuses([&] { write_disparity(folder / "d.png", row_of({3}), -1); }, call, "scale -1"));
  EXPECT_TRUE(refuses([&] { write_disparity(folder / "d.png", row_of({3}), NAN); }, call, "scale nan"));
  EXPECT_TRUE(refuses([&] { write_disparity(folder / "d.bmp", row_of({3})); }, call, "'.bmp'"));
  EXPECT_TRUE(refuses([&] { write_disparity(folder / "d.pfm", Image<float>()); }, call, "0×0"));
  EXPECT_TRUE(refuses([&] { write_disparity(folder / "d.pfm", Image<float>({2, 2}, 3)); }, call, "1 channel"));
  for (const char* name : {"d.png", "d.pgm", "d.pfm", "d.bmp"}) EXPECT_EQ(get(folder / name), "old");
  EXPECT_EQ(folder.files(), 4U);
}

TEST(DisparityFiles, CheckedBeforeAnyWork) {
  const TemporaryFolder folder;
  const auto call = ErrorCategory::call;
  EXPECT_NO_THROW(check_writable_disparity(folder / "d.png", {0, 256}));
  EXPECT_NO_THROW(check_writable_disparity(folder / "d.pfm", {-64, 1000}));
  EXPECT_TRUE(refuses([&] { check_writable_disparity(folder / "d.png", {-1, 64}); }, call, "disparity -1"));
  EXPECT_TRUE(refuses([&] { check_writable_disparity(folder / "d.png", {0, 257}); }, call, "disparity 256"));
  EXPECT_TRUE(refuses([&] { check_writable_disparity(folder / "d.png", {0, 65}, 4); }, call, "disparity 64"));
  EXPECT_TRUE(refuses([&] { check_writable_disparity(folder / "d.pgm", {0, 64}); }, call, "require a scale"));
  EXPECT_TRUE(refuses([&] { check_writable_disparity(folder / "d.xyz", {0, 64}); }, call, "'.xyz'"));
  EXPECT_TRUE(refuses(
      [&] {
        check_writable_disparity(folder / "none/d.pfm", {0, 64});
      },
      ErrorCategory::file, "no folder"));
  EXPECT_EQ(folder.files(), 0U);
}

TEST(DisparityFiles, GreyStoredAsRgbIsReadAndColoursAreRefused) {
  const TemporaryFolder folder;
  Image<std::uint8_t> rgb({2, 1}, 3, 40);
  write_image(folder / "grey.png", rgb);
  EXPECT_EQ(read_disparity(folder / "grey.png", 4)(1, 0), 10);
  EXPECT_EQ(read_validity(folder / "grey.png")(1, 0), 40);
  rgb(1, 0, 2) = 41;
  write_image(folder / "colour.png", rgb);
  EXPECT_TRUE(refuses([&] { read_disparity(folder / "colour.png", 4); }, ErrorCategory::format,
                      "use the file without colours"));
  write_image(folder / "grey.jpg", rgb);
  EXPECT_TRUE(refuses([&] { read_mask(folder / "grey.jpg"); }, ErrorCategory::format, "JPEG"));
}

TEST(Masks, CountWhereTheyAre255) {
  const TemporaryFolder folder;
  const auto format = ErrorCategory::format;
  const auto row = [](std::initializer_list<int> values) {
    Image<std::uint8_t> image(Size{static_cast<int>(values.size()), 1});
    std::copy(values.begin(), values.end(), image.row(0));
    return image;
  };
  write_image(folder / "mask.png", row({0, 128, 255}));
  EXPECT_TRUE(same_bits(read_mask(folder / "mask.png").view(), row({0, 0, 255}).view()));
  write_image(folder / "seven.png", row({255, 7, 0}));
  EXPECT_TRUE(refuses([&] { read_mask(folder / "seven.png"); }, format, "seven.png: the mask is 7 at 1,0"));
  write_image(folder / "ones.png", row({0, 1, 1}));
  EXPECT_TRUE(refuses([&] { read_mask(folder / "ones.png"); }, format, "multiply the mask by 255"));
  write_image(folder / "wide.png", Image<std::uint16_t>({3, 1}, 1, 1));
  EXPECT_TRUE(refuses([&] { read_mask(folder / "wide.png"); }, format, "16-bit"));
}

TEST(Confidences, AreTheirShareOfWhite) {
  const TemporaryFolder folder;
  EXPECT_EQ(read_confidence(put(folder / "a.pgm", "P2 3 1 100 0 8 100"))(1, 0), 0.08F);
  Image<std::uint8_t> bytes({2, 1}, 1, 255);
  bytes(1, 0) = 51;
  for (const char* name : {"b.png", "b.pgm", "b.npy"}) {
    write_image(folder / name, bytes);
    EXPECT_EQ(read_confidence(folder / name)(0, 0), 1) << name;
    EXPECT_EQ(read_confidence(folder / name)(1, 0), 0.2F) << name;
  }
  write_image(folder / "wide.png", Image<std::uint16_t>({1, 1}, 1, 65535));
  EXPECT_EQ(read_confidence(folder / "wide.png")(0, 0), 1);
  for (const char* name : {"c.pfm", "c.npy"}) {
    write_image(folder / name, row_of({0, 0.25F, 1, invalid_disparity}));
    EXPECT_EQ(read_confidence(folder / name)(1, 0), 0.25F) << name;
    EXPECT_TRUE(std::isnan(read_confidence(folder / name)(3, 0))) << name;
    for (const float wrong : {200.0F, 1.001F, -0.5F}) {
      write_image(folder / name, row_of({0, 1, wrong}));
      EXPECT_TRUE(refuses([&] { read_confidence(folder / name); }, ErrorCategory::format, "the confidence at 2,0 is"));
    }
  }
}

}  // namespace
}  // namespace stereopsis::disparity_files_test
