// The meaning of values in files: bit depths, black and white, constant regions, and names of files.
#include "jobs/intensities.hpp"

#include <gtest/gtest.h>

#include "jobs/call_files.hpp"
#include "jobs/constant_settings.hpp"
#include "support/files.hpp"
#include "support/quiet_front_end.hpp"

namespace stereopsis::intensities_test {
namespace {

using namespace jobs;
using test::contains, test::refuses;

MaskedImage of_16_bits(std::uint16_t value) {
  MaskedImage image;
  image.image = Image<std::uint16_t>(Size{8, 4}, 1, value);
  return image;
}

TEST(JobIntensities, AreCheckedAgainstThePixels) {
  const test::QuietFrontEnd names;
  const Intensities twelve{.bit_depth = 12, .black = {}, .white = {}};
  EXPECT_EQ(twelve.applied(of_16_bits(4095), "a.png", names).image.view().bit_depth, 12);
  EXPECT_TRUE(refuses([&] { twelve.applied(of_16_bits(5000), "a.png", names); }, ErrorCategory::call, "5000"));
  MaskedImage grey;
  grey.image = Image<std::uint8_t>(Size{8, 4}, 1, 7);
  EXPECT_TRUE(refuses([&] { twelve.applied(grey, "a.png", names); }, ErrorCategory::call, "<bit_depth>"));
}

TEST(JobIntensities, AnImageThatUsesFewValuesIsDoubted) {
  const test::QuietFrontEnd names;
  const auto sentence = [&](std::uint16_t brightest) {
    MaskedImage image = of_16_bits(0);
    Image<std::uint16_t> pixels(Size{8, 4}, 1, 0);
    pixels(3, 2) = brightest;
    image.image = std::move(pixels);
    return Intensities().low_contrast(image.image, "a.png", names);
  };
  ASSERT_TRUE(sentence(900));
  EXPECT_TRUE(contains(*sentence(900), "its values are 0 to 900, and white is 65535")) << *sentence(900);
  EXPECT_FALSE(sentence(60000));
}

TEST(JobConstant, BlackOfLossyFilesIsNoise) {
  EXPECT_EQ(ConstantSettings().regions("a.JPG", false).black, 2);
  EXPECT_EQ(ConstantSettings().regions("a.png", true).black, 2);
  EXPECT_EQ(ConstantSettings().regions("a.png", false).black, 0);
  EXPECT_EQ((ConstantSettings{.black = 5}).regions("a.jpg", false).black, 5);
  EXPECT_FALSE((ConstantSettings{.black = {}, .measure = true}).regions("a.png", false).mask_black);
}

}  // namespace
}  // namespace stereopsis::intensities_test
