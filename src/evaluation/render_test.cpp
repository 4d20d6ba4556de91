#include "stereopsis/render.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <set>

#include "evaluation/font.hpp"
#include "evaluation/sunset.hpp"

namespace stereopsis::render_test {
namespace {

constexpr std::uint32_t dark_grey = 0x404040;
constexpr double infinite = std::numeric_limits<double>::infinity();

std::uint32_t at(const Image<std::uint8_t>& picture, int x, int y) {
  return static_cast<std::uint32_t>(picture(x, y, 0) << 16 | picture(x, y, 1) << 8 | picture(x, y, 2));
}

Image<float> row_of(const std::vector<float>& values) {
  Image<float> image(static_cast<int>(values.size()), 1);
  std::copy(values.begin(), values.end(), image.row(0));
  return image;
}

// Returns the published conversion of a colour to OKLab (Ottosson 2020).
std::array<double, 3> oklab(std::uint32_t rgb) {
  const auto linear = [&](int shift) {
    const double c = (rgb >> shift & 255) / 255.0;
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  };
  const double r = linear(16), g = linear(8), b = linear(0);
  const double l = std::cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const double m = std::cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const double s = std::cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return {0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
          1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
          0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s};
}

// Returns where `words` is drawn in the image, in any colour except the background's. No other pixels in its box may be
// drawn.
std::vector<Rect> places_of(const std::string& words, int scale, const Image<std::uint8_t>& picture, int first_row) {
  const Size size = text_size(words, scale);
  Image<std::uint8_t> drawn(size, 3, std::uint8_t{0});
  draw_text(drawn, 0, 0, words, scale, {255, 255, 255});
  const auto inked = [](const Image<std::uint8_t>& image, std::uint32_t ground) {
    Image<std::uint8_t> out(image.size());
    for (int y = 0; y < image.height(); ++y)
      for (int x = 0; x < image.width(); ++x) out(x, y) = at(image, x, y) != ground;
    return out;
  };
  const Image<std::uint8_t> sought = inked(drawn, 0),
                            there = inked(picture, at(picture, picture.width() - 1, picture.height() - 1));
  const auto stands_at = [&](int x, int y) {
    for (int v = 0; v < size.height; ++v)
      if (std::memcmp(there.row(y + v) + x, sought.row(v), static_cast<std::size_t>(size.width)) != 0) return false;
    return true;
  };
  std::vector<Rect> places;
  for (int y = first_row; y + size.height <= picture.height(); ++y)
    for (int x = 0; x + size.width <= picture.width(); ++x)
      if (stands_at(x, y)) places.push_back({x, y, size.width, size.height});
  return places;
}

TEST(ColourMap, IsEvenToTheEye) {
  std::vector<double> steps;
  for (std::size_t i = 0; i + 15 < sunset.size(); i += 15) {
    const auto a = oklab(sunset[i]), b = oklab(sunset[i + 15]);
    steps.push_back(std::hypot(b[0] - a[0], b[1] - a[1], b[2] - a[2]));
    EXPECT_GT(b[0], a[0]) << "lightness falls after entry " << i;
  }
  const auto [least, most] = std::ranges::minmax(steps);
  EXPECT_LT(most / least, 1.1);
}

TEST(ColourMap, MapsHaveNames) {
  EXPECT_EQ(color_map(color_map_names().front()), sunset);
  for (const std::string& name : color_map_names())
    for (const std::string& other : color_map_names()) EXPECT_EQ(color_map(name) == color_map(other), name == other);
  EXPECT_EQ(color_map("grey")[0], 0u);
  EXPECT_EQ(color_map("grey")[255], 0xffffffu);
  EXPECT_EQ(color_map("difference")[255], 0xcc4533u);
  EXPECT_THROW(color_map("rainbow"), Error);
}

TEST(ColourValues, ADepthHasWarmColoursNearby) {
  const Image<float> depth = row_of({2, 10, 6, invalid_disparity});
  const Image<std::uint8_t> picture =
      colour_values(depth, {.low = 2, .high = 10, .legend = false, .unit = "m", .near_is_low = true});
  EXPECT_EQ(at(picture, 0, 0), sunset.back());
  EXPECT_EQ(at(picture, 1, 0), sunset.front());
  EXPECT_EQ(at(picture, 2, 0), at(colour_disparity(row_of({6}), 2, 10, false), 0, 0));
  EXPECT_EQ(at(picture, 3, 0), dark_grey);
  EXPECT_EQ(at(colour_values(depth, {.low = 2, .high = 10, .map = "grey", .legend = false}), 1, 0), 0xffffffu);
}

TEST(ColourValues, FilledPixelsArePalerAndHatched) {
  const Image<float> disparity({12, 12}, 1, 5.0F);
  Image<std::uint8_t> states({12, 12}, 1, validity::filled);
  for (int y = 0; y < 12; ++y) states(0, y) = 0;
  const Image<std::uint8_t> picture =
      colour_values(disparity, {.low = 0, .high = 8, .legend = false, .validity = states});
  const std::uint32_t usual = at(colour_disparity(row_of({5}), 0, 8, false), 0, 0);
  const auto span = [](std::uint32_t rgb) {  // the difference of the channels: the saturation
    const auto [least, most] = std::minmax({rgb >> 16 & 255, rgb >> 8 & 255, rgb & 255});
    return most - least;
  };
  std::set<std::uint32_t> filled;
  for (int y = 0; y < 12; ++y) {
    EXPECT_EQ(at(picture, 0, y), usual);
    for (int x = 1; x < 12; ++x) filled.insert(at(picture, x, y));
  }
  EXPECT_EQ(filled.size(), 2u);
  for (const std::uint32_t rgb : filled) EXPECT_LT(span(rgb), span(usual) / 2);
  EXPECT_THROW(colour_values(disparity, {.low = 0, .high = 8, .validity = Image<std::uint8_t>(3, 3)}), Error);
}

TEST(ColourMap, FarIsColdAndNearIsWarm) {
  EXPECT_GT(sunset.front() & 255, sunset.front() >> 16);
  EXPECT_LT(sunset.back() & 255, sunset.back() >> 16);
}

TEST(ColourDisparity, LimitsHaveTheEndsOfTheScaleAndHoldWhatIsBeyond) {
  const Image<float> disparity = row_of({4, 12, 8, -100, 1e30f});
  const Image<std::uint8_t> picture = colour_disparity(disparity, 4, 12, false);
  EXPECT_EQ(picture.size(), (Size{5, 1}));
  EXPECT_EQ(picture.channels(), 3);
  EXPECT_EQ(at(picture, 0, 0), sunset.front());
  EXPECT_EQ(at(picture, 1, 0), sunset.back());
  EXPECT_EQ(at(picture, 2, 0), sunset[128]);
  EXPECT_EQ(at(picture, 3, 0), sunset.front());
  EXPECT_EQ(at(picture, 4, 0), sunset.back());
}

TEST(ColourDisparity, InvalidIsDarkGreyWhichTheScaleDoesNotHave) {
  const auto inf = static_cast<float>(infinite);
  const Image<std::uint8_t> picture = colour_disparity(row_of({invalid_disparity, inf, -inf}), 0, 1, false);
  for (int x = 0; x < 3; ++x) EXPECT_EQ(at(picture, x, 0), dark_grey);
  for (const std::uint32_t colour : sunset) {
    const auto a = oklab(colour), b = oklab(dark_grey);
    EXPECT_GT(std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]), 0.1);
  }
}

TEST(ColourDisparity, UnusableLimitsAreRefused) {
  const Image<float> disparity = row_of({1, 2});
  for (const auto& [low, high] : {std::pair{1.0, 1.0}, {2.0, 1.0}, {std::nan(""), 1.0}, {0.0, infinite}, {0.0, 1e7}})
    EXPECT_THROW(colour_disparity(disparity, low, high, true), Error);
  EXPECT_THROW(colour_disparity({}, 0, 1, true), Error);
}

class LegendOfWidth : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Widths, LegendOfWidth, testing::Values(1, 20, 159, 160, 450, 741, 1242, 3000));

TEST_P(LegendOfWidth, StandsBelowThePicture) {
  const int width = GetParam();
  Image<float> disparity({width, 7}, 1, 3.0f);
  disparity(width - 1, 6) = invalid_disparity;
  const Image<std::uint8_t> bare = colour_disparity(disparity, 2, 9, false);
  const Image<std::uint8_t> picture = colour_disparity(disparity, 2, 9, true);
  EXPECT_EQ(picture.width(), std::max(width, 160));
  EXPECT_GT(picture.height(), 7 + 20);
  for (int y = 0; y < 7; ++y)
    for (int x = 0; x < width; ++x) ASSERT_EQ(at(picture, x, y), at(bare, x, y));

  // A row below the image contains the whole colour scale from left to right.
  std::vector<std::uint32_t> row;
  for (int y = 7; y < picture.height() && row.empty(); ++y) {
    for (int x = 0; x < picture.width(); ++x) row.push_back(at(picture, x, y));
    if (std::ranges::find(row, sunset.front()) == row.end()) row.clear();
  }
  ASSERT_FALSE(row.empty());
  EXPECT_LT(std::ranges::find(row, sunset.front()), std::ranges::find(row, sunset.back()));
}

TEST_P(LegendOfWidth, NamesLimitsAndUnit) {
  const int width = GetParam(), scale = 1 + width / 640;
  const Image<std::uint8_t> picture = colour_disparity(Image<float>({width, 7}, 1, 3.0f), 2.25, 57.5, true);
  EXPECT_EQ(places_of("2.25", scale, picture, 7).size(), 1u);
  EXPECT_EQ(places_of("57.5", scale, picture, 7).size(), 1u);
  EXPECT_EQ(places_of("px", scale, picture, 7).size(), 1u);
}

TEST(Legend, ARoundNumberStandsBelowItsColour) {
  const Image<float> disparity = row_of({20, 30, 40});
  const std::array<std::string, 3> numbers = {"20", "30", "40"};
  Image<float> wide({450, 5}, 1, 20.0f);
  const Image<std::uint8_t> picture = colour_disparity(wide, 12.5, 52.75, true);
  const Image<std::uint8_t> colours = colour_disparity(disparity, 12.5, 52.75, false);
  int row = 5;  // the first row of the colour scale
  while (at(picture, 18, row) != sunset.front()) ++row;
  for (int i = 0; i < 3; ++i) {
    const auto places = places_of(numbers[static_cast<std::size_t>(i)], 1, picture, 5);
    ASSERT_EQ(places.size(), 1u) << numbers[static_cast<std::size_t>(i)];
    const int centre = places[0].x + places[0].width / 2;
    const auto shown = oklab(at(picture, centre, row)), expected = oklab(at(colours, i, 0));
    EXPECT_LT(std::hypot(shown[0] - expected[0], shown[1] - expected[1], shown[2] - expected[2]), 0.01);
  }
}

// Returns the numbers in the last text row of a legend with scale 1.
std::vector<std::string> numbers_of(const Image<std::uint8_t>& picture) {
  const Size cell = text_size("0", 1);
  const int top = picture.height() - 12;
  const auto shows = [&](int x, char c) {
    Image<std::uint8_t> glyph(cell, 3, std::uint8_t{0});
    draw_text(glyph, 0, 0, std::string(1, c), 1, {255, 255, 255});
    bool same = x + cell.width <= picture.width();
    for (int y = 0; y < cell.height && same; ++y)
      for (int u = 0; u < cell.width && same; ++u)
        same = (at(picture, x + u, top + y) != at(picture, 0, picture.height() - 1)) == (glyph(u, y) != 0);
    return same;
  };
  std::vector<std::string> numbers;
  int end = -9;  // right end of the last character in the row
  for (int x = 0; x < picture.width(); ++x)
    for (const char c : std::string("0123456789.-"))
      if (x > end && shows(x, c)) {
        if (x - end > 4) numbers.emplace_back();
        numbers.back() += c;
        end = x + cell.width - 1;
      }
  return numbers;
}

TEST(Legend, NumbersRunFromLimitToLimitAndNeverTouch) {
  using Numbers = std::vector<std::string>;
  const auto legend = [](int width, double low, double high) {
    return numbers_of(colour_disparity(Image<float>({width, 1}, 1, 0.0f), low, high, true));
  };
  EXPECT_EQ(legend(160, 0, 1), (Numbers{"0", "0.5", "1"}));
  EXPECT_EQ(legend(160, -3.25, 4.5), (Numbers{"-3.25", "0", "4.5"}));
  EXPECT_EQ(legend(160, -999999.5, 1e6), (Numbers{"-999999.5", "0", "1000000"}));
  EXPECT_EQ(legend(400, 0, 99), (Numbers{"0", "20", "40", "60", "80", "99"}));
  // The label 80 does not fit.
  EXPECT_EQ(legend(400, 0, 81), (Numbers{"0", "10", "20", "30", "40", "50", "60", "70", "81"}));
  EXPECT_EQ(legend(400, 63.125, 63.5),
            (Numbers{"63.125", "63.2", "63.25", "63.3", "63.35", "63.4", "63.45", "63.5"}));  // nor does 63.15
}

TEST(Legend, TheUpperLimitStandsApart) {
  for (int high = 60; high < 200; ++high) {
    const auto numbers = numbers_of(colour_disparity(Image<float>({400, 1}, 1, 0.0f), 0, high, true));
    EXPECT_EQ(numbers.back(), std::to_string(high));
    EXPECT_GE(numbers.size(), 4u) << "to " << high;
  }
}

TEST(Legend, AnyLimitsCanBeDrawn) {
  for (const auto& [low, high] : {std::pair{0.0, 1e-300}, {123456.0, std::nextafter(123456.0, 1e6)}, {-1e6, 1e6}})
    for (const int width : {1, 450, 5000})
      EXPECT_NO_THROW(colour_disparity(Image<float>({width, 1}, 1, 0.0f), low, high, true));
}

TEST(DisplayLimits, AreTheFirstAndTheLastPercentile) {
  std::vector<float> values(200);
  std::iota(values.begin(), values.end(), 1.0f);
  values.push_back(invalid_disparity);
  EXPECT_EQ(display_limits(row_of(values)), (std::pair{2.0, 198.0}));
}

TEST(DisplayLimits, OfNothingAndOfOneValueCanBeDisplayed) {
  EXPECT_EQ(display_limits(row_of({invalid_disparity})), (std::pair{0.0, 1.0}));
  EXPECT_EQ(display_limits(row_of({7})), (std::pair{6.5, 7.5}));
  EXPECT_EQ(display_limits(row_of({7, 7.5f})), (std::pair{6.75, 7.75}));
}

TEST(Font, TextKeepsToItsBoxAndToThePicture) {
  const std::string all = "0123456789.- px";
  const Size size = text_size(all, 2);
  Image<std::uint8_t> picture({size.width + 10, size.height + 10}, 3, std::uint8_t{0});
  draw_text(picture, 5, 5, all, 2, {1, 2, 3});
  for (int y = 0; y < picture.height(); ++y)
    for (int x = 0; x < picture.width(); ++x) {
      const bool inside = x >= 5 && y >= 5 && x < 5 + size.width && y < 5 + size.height;
      ASSERT_TRUE(inside || at(picture, x, y) == 0) << x << ", " << y;
    }
  Image<std::uint8_t> small({3, 3}, 3, std::uint8_t{0});
  draw_text(small, -4, -4, all, 2, {9, 9, 9});  // the address sanitizer checks this call for writes outside the image
}

TEST(Font, NoTwoCharactersLookAlike) {
  const std::string all = "0123456789.- px";
  std::vector<std::vector<std::uint8_t>> looks;
  for (const char c : all) {
    Image<std::uint8_t> cell(text_size("0", 1), 3, std::uint8_t{0});
    draw_text(cell, 0, 0, std::string(1, c), 1, {255, 255, 255});
    std::vector<std::uint8_t> look;
    for (int y = 0; y < cell.height(); ++y)
      for (int x = 0; x < cell.width(); ++x) look.push_back(cell(x, y, 0));
    looks.push_back(look);
  }
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(looks[i], looks[j]) << all[i] << " and " << all[j];
}

TEST(Validity, HasAColourForEachKindAndALegendThatNamesThem) {
  constexpr std::array<std::uint8_t, 9> bits = {0,
                                                validity::filled,
                                                validity::repaired,
                                                validity::no_candidate,
                                                validity::left_right,
                                                validity::ambiguous,
                                                validity::speckle,
                                                validity::masked,
                                                validity::outside};
  Image<std::uint8_t> image(static_cast<int>(bits.size()), 1);
  std::copy(bits.begin(), bits.end(), image.row(0));
  const Image<std::uint8_t> picture = colour_validity(image, false), with = colour_validity(image, true);
  ASSERT_EQ(picture.size(), image.size());
  for (int x = 0; x < picture.width(); ++x) {
    EXPECT_EQ(at(with, x, 0), at(picture, x, 0));
    for (int other = 0; other < x; ++other) EXPECT_NE(at(picture, x, 0), at(picture, other, 0)) << x << ", " << other;
  }
  for (const char* word : {"measured", "filled", "repaired", "speckle", "ambiguous", "left-right", "no candidate"})
    EXPECT_EQ(places_of(word, 1, with, 1).size(), 1U) << word;
}

}  // namespace
}  // namespace stereopsis::render_test
