#include "stereopsis/pair_check.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "stereopsis/error.hpp"
#include "stereopsis/pair_judge.hpp"
#include "stereopsis/synth.hpp"
#include "support/sanitized.hpp"
#include "support/stage_test.hpp"
#ifdef STEREOPSIS_TEST_FILES
#include "stereopsis/io.hpp"
#endif

namespace stereopsis::pair_check_test {
namespace {

// A smooth random texture on an infinite plane, with values 40 to 215. Blobs of a few pixels allow sub-pixel shifts.
class Texture {
 public:
  explicit Texture(unsigned seed) {
    std::mt19937 random(seed);
    const auto unit = [&] { return static_cast<double>(random()) / 4294967296.0; };
    for (Wave& wave : waves_) {
      const double angle = 6.283185307 * unit(), frequency = 0.15 + 0.75 * unit();
      wave = {frequency * std::cos(angle), frequency * std::sin(angle), 6.283185307 * unit()};
    }
  }
  double operator()(double x, double y) const {
    double sum = 0;
    for (const Wave& wave : waves_) sum += std::sin(wave.x * x + wave.y * y + wave.phase);
    return std::clamp(127.5 + 28 * sum, 0.0, 255.0);
  }

 private:
  struct Wave {
    double x, y, phase;
  };
  std::array<Wave, 16> waves_;
};

struct Pair {
  Image<float> left, right;
};

// A far plane with a near plane in its middle. The right image is `dy` rows higher: y_left − y_right = dy.
Pair two_planes(Size size, double far, double near, double dy = 0) {
  const Texture far_texture(1), near_texture(2);
  const double x0 = size.width * 0.35, x1 = size.width * 0.65, y0 = size.height * 0.3, y1 = size.height * 0.7;
  const auto value = [&](double x, double y, double shift_far, double shift_near) {
    const double u = x + shift_near;
    return u >= x0 && u < x1 && y >= y0 && y < y1 ? near_texture(u, y) : far_texture(x + shift_far, y);
  };
  Pair pair{Image<float>(size), Image<float>(size)};
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      pair.left(x, y) = static_cast<float>(value(x, y, 0, 0));
      pair.right(x, y) = static_cast<float>(value(x, y + dy, far, near));
    }
  return pair;
}

template <class T>
Image<T> converted(const Image<float>& image, float scale, int channels) {
  Image<T> out(image.size(), channels);
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x)
      for (int c = 0; c < channels; ++c)
        out(x, y, c) = static_cast<T>(image(x, y) * scale + (std::is_same_v<T, float> ? 0.0F : 0.5F));
  return out;
}

void expect_covers(DisparityRange range, double low, double high) {
  EXPECT_LE(range.min, low);
  EXPECT_GE(range.max(), high);
  EXPECT_LE(range.count, 2.5 * (high - low) + 16) << "from " << range.min;
  EXPECT_EQ(range.count % 16, 0);
}

TEST(PairCheck, KnowsARectifiedPair) {
  const Pair pair = two_planes({320, 240}, 8, 40);
  const PairReport check = check_pair(pair.left, pair.right);
  EXPECT_GT(check.matches, 200);
  EXPECT_TRUE(check.rectified());
  EXPECT_LT(check.median_dy, 0.05);
  EXPECT_LT(check.p95_dy, 0.2);
  EXPECT_NEAR(check.median_disparity, 8, 0.1);
  EXPECT_FALSE(check.swapped);
  expect_covers(check.range, 8, 40);
  EXPECT_EQ(check.range, estimate_range(pair.left, pair.right));
}

TEST(PairCheck, MeasuresVerticalShifts) {
  for (const double dy : {0.3, -0.3, 0.5, 0.8, 1.3, 2.0, -4.0, 7.5, -16.0, 22.0}) {
    SCOPED_TRACE(dy);
    const Pair pair = two_planes({480, 360}, 8, 30, dy);  // with two levels, the shift is followed from coarse to fine
    const PairReport check = check_pair(pair.left, pair.right);
    EXPECT_GT(check.matches, 100);
    EXPECT_NEAR(check.median_dy, std::abs(dy), 0.1);
    EXPECT_NEAR(check.rows.offset, dy, 0.1);
    EXPECT_EQ(check.rectified(), std::abs(dy) <= 1.0);
    expect_covers(check.range, 8, 30);
  }
}

TEST(PairCheck, RecognisesSwappedImages) {
  const Pair pair = two_planes({320, 240}, 8, 40);
  const PairReport check = check_pair(pair.right, pair.left);
  EXPECT_TRUE(check.swapped);
  EXPECT_NEAR(check.median_disparity, -8, 0.1);
  EXPECT_TRUE(check.rectified());
  EXPECT_LE(check.range.min, -40);
  EXPECT_GE(check.range.max(), -8);
}

TEST(PairCheck, NegativeDisparitiesAloneAreNoSwap) {
  const Pair pair = two_planes({320, 240}, -12, 20);
  const PairReport check = check_pair(pair.left, pair.right);
  EXPECT_FALSE(check.swapped);
  expect_covers(check.range, -12, 20);
  const Pair same = two_planes({320, 240}, 0, 0);
  EXPECT_FALSE(check_pair(same.left, same.left).swapped);
}

TEST(MatchesOutside, AreTheShareThatARangeLeavesOut) {
  const Pair pair = two_planes({320, 240}, 8, 30);
  const auto outside = [&](int first, int last) {
    return *matches_outside(pair.left, pair.right, {first, last - first + 1});
  };
  constexpr double next_to_none = 0.001;  // a match may be wrong
  EXPECT_LE(outside(8, 30).below, next_to_none);
  EXPECT_LE(outside(8, 30).above, next_to_none);
  EXPECT_GT(outside(0, 24).above, 0.03);
  EXPECT_LT(outside(0, 24).above, 0.3);
  EXPECT_LE(outside(0, 24).below, next_to_none);
  EXPECT_GT(outside(12, 40).below, 0.7);
  const Image<float> flat({320, 240}, 1, 100.0F);
  EXPECT_FALSE(matches_outside(flat, flat, {0, 16}).has_value());
}

// A stripe pattern that repeats itself within the range fits outside, too, where the noise happens to be alike.
TEST(MatchesOutside, ARepetitivePatternThatFitsWithinTheRangeIsNotOutside) {
  const Scene scene =
      make_scene({.scene = "repetitive", .size = {480, 360}, .disparities = 64, .seed = 3, .gain = 1.3, .noise = 2});
  EXPECT_LE(matches_outside(scene.left, scene.right, {0, 64})->above, 0.002);
  EXPECT_GT(matches_outside(scene.left, scene.right, {0, 38})->above, 0.1);
}

TEST(PairCheck, RecognisesTheSameImageTwice) {
  const Pair pair = two_planes({320, 240}, 8, 40);
  EXPECT_FALSE(check_pair(pair.left, pair.right).same_image);
  EXPECT_FALSE(same_pixels(pair.left, pair.right));
  Image<float> copy = pair.left;
  EXPECT_TRUE(check_pair(pair.left, copy).same_image);
  ++copy(319, 239);
  EXPECT_FALSE(check_pair(pair.left, copy).same_image);
  EXPECT_FALSE(same_pixels(pair.left, pair.left.view().crop({0, 0, 319, 240})));
  Image<std::uint8_t> bytes({9, 9}, 1, 7);
  EXPECT_FALSE(same_pixels(bytes, bytes)) << "a black frame is no picture";
  bytes(0, 8) = 8;
  EXPECT_TRUE(same_pixels(bytes, bytes));
  EXPECT_FALSE(same_pixels(bytes, Image<float>({9, 9}, 1, 7)));
}

TEST(PairCheck, EveryPixelTypeGivesTheSameAnswer) {
  const Pair pair = two_planes({300, 200}, 5, 25);
  const PairReport expected = check_pair(pair.left, pair.right);
  const auto expect_same = [&](const AnyImageView& left, const AnyImageView& right) {
    const PairReport check = check_pair(left, right);
    EXPECT_NEAR(check.matches, expected.matches, 0.05 * expected.matches);
    EXPECT_NEAR(check.median_disparity, 5, 0.1);
    EXPECT_LT(check.median_dy, 0.05);
    expect_covers(check.range, 5, 25);
    expect_covers(estimate_range(left, right), 5, 25);
  };
  for (const int channels : {1, 3}) {
    expect_same(converted<float>(pair.left, 1, channels), converted<float>(pair.right, 1, channels));
    expect_same(converted<std::uint8_t>(pair.left, 1, channels), converted<std::uint8_t>(pair.right, 1, channels));
    expect_same(converted<std::uint16_t>(pair.left, 257, channels),
                converted<std::uint16_t>(pair.right, 257, channels));
    expect_same({converted<std::uint16_t>(pair.left, 4, channels), 10},
                {converted<std::uint16_t>(pair.right, 4, channels), 10});
  }
}

TEST(PairCheck, RowsMayHaveAPitchAndTwoRunsGiveTheSame) {
  const Pair pair = two_planes({300, 200}, 5, 25);
  test::PitchedImage<float> left(pair.left.view()), right(pair.right.view());
  const PairReport a = check_pair(pair.left, pair.right), b = check_pair(left.view(), right.view());
  EXPECT_EQ(a.matches, b.matches);
  EXPECT_EQ(a.median_dy, b.median_dy);
  EXPECT_EQ(a.p95_dy, b.p95_dy);
  EXPECT_EQ(a.median_disparity, b.median_disparity);
  EXPECT_EQ(a.range, b.range);
}

TEST(PairCheck, StandsNoiseGainAndPixelsThatAreNoNumbers) {
  Pair pair = two_planes({400, 300}, 6, 50);
  std::mt19937 random(5);
  const auto noise = [&] { return static_cast<float>(random() % 13) - 6.0F; };
  for (int y = 0; y < 300; ++y)
    for (int x = 0; x < 400; ++x) {
      pair.left(x, y) += noise();
      pair.right(x, y) = 0.6F * pair.right(x, y) + 20 + noise();
      if (random() % 50 == 0) pair.right(x, y) = std::numeric_limits<float>::quiet_NaN();
    }
  pair.left(100, 100) = std::numeric_limits<float>::infinity();
  const PairReport check = check_pair(pair.left, pair.right);
  EXPECT_GT(check.matches, 100);
  EXPECT_LT(check.median_dy, 0.2);
  expect_covers(check.range, 6, 50);
}

TEST(PairCheck, ImagesWithoutACommonSceneHaveNoMatches) {
  const Image<std::uint8_t> flat({200, 150}, 1, 90);
  EXPECT_EQ(check_pair(flat, flat).matches, 0);
  EXPECT_FALSE(check_pair(flat, flat).rectified());
  const Pair a = two_planes({320, 240}, 8, 40);
  const auto noise = test::random_image<std::uint8_t>({320, 240}, 3, 0, 255);
  const Image<std::uint8_t> scene = converted<std::uint8_t>(a.left, 1, 1);
  EXPECT_EQ(check_pair(scene, noise).matches, 0);
  for (const auto& [left, right] : {std::pair{flat.view(), flat.view()}, {scene.view(), noise.view()}}) try {
      estimate_range(left, right);
      ADD_FAILURE() << "a range was estimated";
    } catch (const Error& error) {
      EXPECT_EQ(error.category(), ErrorCategory::call);
    }
}

// ---- Faults of pairs ----

Image<float> moved(const Image<float>& image, Size size, const std::function<std::pair<int, int>(int, int)>& source) {
  Image<float> out(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const auto [u, v] = source(x, y);
      out(x, y) = image(u, v);
    }
  return out;
}

Image<float> noisy(const Image<float>& image, unsigned seed) {
  std::mt19937 random(seed);
  Image<float> out = image;
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x) out(x, y) += static_cast<float>(random() % 9) - 4.0F;
  return out;
}

bool has_fault(const PairReport& r) {
  return r.swapped || r.same_image || r.same_view || r.vertical || r.unrelated || r.turn != Turn::none ||
         (r.matches > 0 && !r.rectified());
}

// The rows of some pairs differ by little, so that a search of few rows would find only the matches that agree.
TEST(PairReport, AQuickCheckFindsTheSame) {
  for (const Size size : {Size{160, 120}, {240, 320}, {320, 240}, {640, 480}})
    for (const double dy : {0.0, 1.5, 2.0, 6.0}) {
      SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << " " << dy);
      const Pair pair = two_planes(size, 8, size.width / 16.0, dy);
      for (const auto& [left, right] : {std::pair{&pair.left, &pair.right}, {&pair.right, &pair.left}}) {
        const PairReport full = check_pair(*left, *right), quick = check_pair(*left, *right, CheckEffort::quick);
        EXPECT_TRUE(full.judged());
        EXPECT_EQ(full.rectified(), dy < 1);
        EXPECT_EQ(quick.matches, full.matches);
        EXPECT_EQ(quick.rectified(), full.rectified());
        EXPECT_EQ(quick.swapped, full.swapped);
        EXPECT_EQ(quick.rows.most_apart, full.rows.most_apart);
      }
    }
}

TEST(PairReport, SmallImagesAreNotJudged) {
  for (const Size size : {Size{159, 120}, {160, 119}, {20, 20}, {1, 1}}) {
    const Pair pair = two_planes(size, 4, 8, 2);
    const PairReport report = check_pair(pair.left, pair.right);
    EXPECT_TRUE(report.too_small());
    EXPECT_FALSE(report.judged());
  }
  const Pair smallest = two_planes({160, 120}, 4, 8), upright = two_planes({120, 160}, 4, 8);
  EXPECT_TRUE(check_pair(smallest.left, smallest.right).judged());
  EXPECT_TRUE(check_pair(upright.left, upright.right).judged());
  const Pair tiny = two_planes({40, 30}, 4, 8);
  EXPECT_TRUE(check_pair(tiny.left, tiny.left).judged()) << "equal pixels are a verdict";
}

// The median of |dy| is about 1 px: half of the rows agree.
TEST(PairReport, ARollAndAZoomAreKnown) {
  using Rolled = std::pair<const char*, double>;
  for (const auto& [name, slope] : {Rolled{"table", 4}, {"mix", -4}, {"traffic", 4}, {"room", -4}, {"hills", -4}}) {
    if (sanitized && name != std::string("table")) continue;
    SCOPED_TRACE(testing::Message() << name << " " << slope);
    const Scene pair = make_scene({.scene = name, .disparities = 64, .noise = 2, .vertical_slope = slope});
    const PairReport report = check_pair(pair.left, pair.right);
    EXPECT_FALSE(report.rectified());
    EXPECT_NEAR(std::abs(report.rows.roll), 4, 0.3);
    EXPECT_NEAR(report.rows.most_apart, 2.2, 0.3);
    EXPECT_FALSE(check_pair(pair.left, pair.right, CheckEffort::quick).rectified());
  }
  const Pair pair = two_planes({640, 480}, 8, 40);
  const Image<float> zoomed = moved(pair.right, pair.right.size(), [](int x, int y) {
    return std::pair(static_cast<int>(320 + (x - 320) / 1.01), static_cast<int>(240 + (y - 240) / 1.01));
  });
  const PairReport report = check_pair(pair.left, zoomed);
  EXPECT_FALSE(report.rectified());
  EXPECT_NEAR(std::abs(report.rows.zoom), 4.8, 0.4);
}

TEST(PairReport, ARangeThatLeavesPointsOutIsKnown) {
  const Pair pair = two_planes({640, 480}, 8, 40);
  const auto outside = [&](int first, int last) {
    return check_pair(pair.left, pair.right, CheckEffort::quick, DisparityRange{first, last - first + 1}).outside;
  };
  EXPECT_GT(outside(20, 60).below, 0.5);
  EXPECT_LT(outside(20, 60).above, 0.01);
  EXPECT_GT(outside(0, 24).above, 0.05);
  EXPECT_LT(outside(0, 48).above + outside(0, 48).below, 0.01);
}

TEST(PairReport, ASecondPictureOfOneViewIsKnown) {
  const Pair pair = two_planes({320, 240}, 8, 40);
  const PairReport twice = check_pair(noisy(pair.left, 1), noisy(pair.left, 2));
  EXPECT_TRUE(twice.same_view);
  EXPECT_TRUE(check_pair(noisy(pair.left, 1), noisy(pair.left, 2), CheckEffort::quick).same_view);
  EXPECT_FALSE(twice.same_image);
  EXPECT_FALSE(check_pair(pair.left, pair.right).same_view);
  // A far scene has disparities of less than a pixel, but not of 0.
  const Pair far = two_planes({320, 240}, 0.8, 0.8);
  EXPECT_FALSE(check_pair(far.left, far.right).same_view);
  EXPECT_FALSE(check_pair(far.left, far.right, CheckEffort::quick).same_view);
}

TEST(PairReport, ATurnedImageIsKnown) {
  const Pair pair = two_planes({320, 240}, 8, 40);
  const Size size = pair.right.size();
  const auto turned = [&](Turn turn) {
    return moved(pair.right, size, [&](int x, int y) {
      return std::pair(turn == Turn::rows_reversed ? x : size.width - 1 - x,
                       turn == Turn::mirrored ? y : size.height - 1 - y);
    });
  };
  for (const Turn turn : {Turn::half, Turn::rows_reversed, Turn::mirrored}) {
    EXPECT_EQ(check_pair(pair.left, turned(turn)).turn, turn);
    EXPECT_EQ(check_pair(pair.left, turned(turn), CheckEffort::quick).turn, turn);
  }
  EXPECT_EQ(check_pair(pair.left, pair.right).turn, Turn::none);
}

TEST(PairReport, AVerticalRigIsKnown) {
  const Pair pair = two_planes({320, 240}, 8, 40);
  const auto transposed = [](const Image<float>& image) {
    return moved(image, {image.height(), image.width()}, [](int x, int y) { return std::pair(y, x); });
  };
  const PairReport upper_first = check_pair(transposed(pair.left), transposed(pair.right));
  EXPECT_TRUE(upper_first.vertical);
  EXPECT_FALSE(upper_first.swapped);
  const PairReport lower_first = check_pair(transposed(pair.right), transposed(pair.left));
  EXPECT_TRUE(lower_first.vertical);
  EXPECT_TRUE(lower_first.swapped);
  const Pair raw = two_planes({320, 240}, 8, 40, 7.5);
  EXPECT_FALSE(check_pair(raw.left, raw.right).vertical);
}

TEST(PairReport, ImagesOfDifferentScenesAreUnrelatedAndFlatOnesAreNotJudged) {
  const Pair pair = two_planes({640, 480}, 8, 40);
  const Texture other(77);
  Image<float> elsewhere(pair.left.size());
  for (int y = 0; y < 480; ++y)
    for (int x = 0; x < 640; ++x) elsewhere(x, y) = static_cast<float>(other(x, y));
  EXPECT_TRUE(check_pair(pair.left, elsewhere).unrelated);
  EXPECT_TRUE(check_pair(pair.left, elsewhere, CheckEffort::quick).unrelated);
  const Image<float> flat({640, 480}, 1, 90);
  EXPECT_FALSE(has_fault(check_pair(flat, flat)));
  EXPECT_FALSE(has_fault(check_pair(flat, flat, CheckEffort::quick)));
}

// A pattern of stripes that repeats every 12 pixels matches anywhere, and must not result in a disparity.
TEST(PairCheck, RepeatedPatternsAreNoMatches) {
  Image<std::uint8_t> stripes(320, 240);
  for (int y = 0; y < 240; ++y)
    for (int x = 0; x < 320; ++x) stripes(x, y) = static_cast<std::uint8_t>((x / 6 + y / 6) % 2 == 0 ? 60 : 190);
  EXPECT_EQ(check_pair(stripes, stripes).matches, 0);
}

TEST(PairCheck, BitDepthsThatPixelsCantHaveAreRefused) {
  const Image<std::uint8_t> bytes(64, 64);
  const Image<std::uint16_t> words(64, 64);
  const auto refused = [](AnyImageView image, int bit_depth) {
    AnyImageView other = image;
    other.bit_depth = bit_depth;
    try {
      check_pair(image, other);
    } catch (const Error& error) {
      return std::string(error.what()).find("is not allowed") != std::string::npos;
    }
    return false;
  };
  EXPECT_TRUE(refused(bytes, 10));
  EXPECT_FALSE(refused(bytes, 8));
  for (const int bit_depth : {0, 17, 1 << 20}) EXPECT_TRUE(refused(words, bit_depth));
  EXPECT_FALSE(refused(words, 12));
}

TEST(PairCheck, WrongSizesAreRefused) {
  const auto refused = [](Size left, Size right) {
    for (const auto& call : {std::function([](AnyImageView l, AnyImageView r) { check_pair(l, r); }),
                             std::function([](AnyImageView l, AnyImageView r) { estimate_range(l, r); })})
      try {
        call(Image<std::uint8_t>(left, 1, 1), Image<std::uint8_t>(right, 1, 1));
        return false;
      } catch (const Error& error) {
        if (error.category() != ErrorCategory::call) return false;
      }
    return true;
  };
  EXPECT_TRUE(refused({64, 64}, {64, 63}));
  EXPECT_TRUE(refused({0, 0}, {0, 0}));
  for (const Size size : {Size{31, 64}, {64, 1}})
    EXPECT_THROW(estimate_range(Image<std::uint8_t>(size, 1, 1), Image<std::uint8_t>(size, 1, 1)), Error);
}

TEST(PairCheck, EverySizeFromTheSmallestOnIsServed) {
  for (const Size size : {Size{32, 32}, {33, 97}, {401, 32}, {1700, 35}, {37, 900}, {805, 96}, {811, 203}}) {
    SCOPED_TRACE(testing::Message() << size.width << "x" << size.height);
    const Pair pair = two_planes(size, 2, 2);
    const PairReport check = check_pair(pair.left, pair.right);
    EXPECT_GT(check.matches, 0);
    EXPECT_NEAR(check.median_disparity, 2, 0.1);
    expect_covers(check.range, 2, 2);
  }
}

#ifdef STEREOPSIS_TEST_FILES

namespace fs = std::filesystem;

struct Truth {
  const char* scene;
  const char* file;
  double scale;
};

const std::vector<Truth> scenes = {
    {"kitti2012/000070", "disp_left.png", 256},          {"kitti2015/000045", "disp_left.png", 256},
    {"kitti2015/000062", "disp_left.png", 256},          {"middlebury_2005_third/dolls", "disp_left.png", 3},
    {"middlebury_2006_half/aloe", "disp_left.png", 2},   {"middlebury_2014q/adirondack", "disp_left.pfm", 1},
    {"middlebury_2014q/motorcycle", "disp_left.pfm", 1}, {"middlebury_v2/cones", "disp_left.png", 4},
    {"middlebury_v2/teddy", "disp_left.png", 4},         {"middlebury_v2/tsukuba", "disp_left.png", 16},
    {"middlebury_v2/venus", "disp_left.png", 8}};

class RealScenes : public testing::Test {
 protected:
  void SetUp() override {
    if (sanitized) GTEST_SKIP() << "a sanitizer knows nothing of accuracy";
    if (!std::getenv("STEREOPSIS_DATA")) GTEST_SKIP() << "STEREOPSIS_DATA does not name the folder of real scenes";
    data_ = std::getenv("STEREOPSIS_DATA");
  }
  fs::path data_;
};

TEST_F(RealScenes, RangeCoversTheTruthAndLittleMore) {
  for (const Truth& truth : scenes) {
    SCOPED_TRACE(truth.scene);
    const fs::path folder = data_ / truth.scene;
    const Image<float> disparity = read_disparity(folder / truth.file, truth.scale);
    const DisparityRange range = estimate_range(read_image(folder / "left.png"), read_image(folder / "right.png"));
    long long inside = 0, known = 0;
    float low = std::numeric_limits<float>::max(), high = -low;
    for (int y = 0; y < disparity.height(); ++y)
      for (int x = 0; x < disparity.width(); ++x) {
        const float d = disparity(x, y);
        if (!std::isfinite(d)) continue;
        ++known;
        inside += d >= static_cast<float>(range.min) && d <= static_cast<float>(range.max());
        low = std::min(low, d);
        high = std::max(high, d);
      }
    EXPECT_GE(static_cast<double>(inside), 0.995 * static_cast<double>(known)) << range.min << " to " << range.max();
    EXPECT_LE(range.count, 2.5 * static_cast<double>(high - low) + 16) << range.min << " to " << range.max();
    EXPECT_EQ(range.count % 16, 0);
    EXPECT_GE(range.min, 0);  // no scene here has negative disparities
  }
}

TEST_F(RealScenes, OrderAndRowsAreRecognised) {
  for (const Truth& truth : scenes) {
    SCOPED_TRACE(truth.scene);
    const AnyImage left = read_image(data_ / truth.scene / "left.png"),
                   right = read_image(data_ / truth.scene / "right.png");
    const PairReport check = check_pair(left, right);
    EXPECT_GT(check.matches, 100);
    EXPECT_TRUE(check.rectified()) << check.median_dy;
    EXPECT_LT(check.median_dy, 0.4);
    EXPECT_LT(check.p95_dy, 1.5);
    EXPECT_FALSE(check.swapped);
    EXPECT_FALSE(check.shared_pattern);
    EXPECT_TRUE(check_pair(right, left).swapped);
  }
}

TEST_F(RealScenes, OrderIsRecognisedWhereManyPointsAreFar) {
  const fs::path folder = data_ / "kitti_odometry/sequence_2";
  for (const char* frame : {"000002.png", "000005.png", "000011.png", "000020.png", "000023.png"}) {
    SCOPED_TRACE(frame);
    const AnyImage left = read_image(folder / "left" / frame), right = read_image(folder / "right" / frame);
    EXPECT_FALSE(check_pair(left, right).swapped);
    EXPECT_TRUE(check_pair(right, left).swapped);
  }
}

TEST_F(RealScenes, AMarkOverBothEyesOfASequenceIsFound) {
  const fs::path folder = data_ / "kitti_odometry/sequence_2";
  const auto view = [&](const char* side, int i, bool marked) {
    std::string name = std::to_string(i);
    name = std::string(6 - name.size(), '0') + name + ".png";
    AnyImage read = read_image(folder / side / name);
    auto& image = std::get<Image<std::uint8_t>>(read.pixels);
    std::mt19937 random(7);
    for (int dot = 0; dot < 24 * 35; ++dot)
      if (marked && random() % 2 == 0)
        for (int k = 0; k < 9; ++k)
          for (int c = 0; c < image.channels(); ++c) {
            std::uint8_t& value = image(400 + (dot / 35 * 6 + dot % 5) * 3 + k % 3, 240 + dot % 35 / 5 * 3 + k / 3, c);
            value = static_cast<std::uint8_t>((value + 255) / 2);
          }
    return read;
  };
  int found = 0;
  for (int i = 0; i < 23; ++i)
    for (const bool marked : {false, true}) {
      const auto fault = fixed_pattern_fault(view("left", i, marked), view("right", i, marked),
                                             view("left", i + 1, marked), view("right", i + 1, marked));
      EXPECT_FALSE(fault && !marked) << i;
      found += fault.has_value();
    }
  EXPECT_GE(found, 12);
}

TEST_F(RealScenes, CroppedRowsAreMeasured) {
  const AnyImage left = read_image(data_ / "middlebury_v2/cones/left.png");
  const AnyImage right = read_image(data_ / "middlebury_v2/cones/right.png");
  const auto [width, height] = left.size();
  for (const int k : {1, 3, 8, 15}) {
    const PairReport check =
        check_pair(left.view().crop({0, 0, width, height - k}), right.view().crop({0, k, width, height - k}));
    EXPECT_NEAR(check.median_dy, k, 0.2);
    EXPECT_EQ(check.rectified(), check.median_dy <= 1.0);
  }
}

// The raw images of a rig whose right camera is about 11 rows off.
TEST_F(RealScenes, RawChessboardsAreNotRectified) {
  for (const char* number : {"01", "02", "03", "04", "05", "06", "07", "08", "09", "11", "12", "13", "14"}) {
    SCOPED_TRACE(number);
    const fs::path folder = data_ / "calibration/opencv_chessboard";
    const PairReport check = check_pair(read_image(folder / (std::string("left") + number + ".jpg")),
                                        read_image(folder / (std::string("right") + number + ".jpg")));
    EXPECT_GT(check.matches, 50);
    EXPECT_FALSE(check.rectified());
    EXPECT_NEAR(check.median_dy, 11.5, 2);
    EXPECT_FALSE(check.swapped);
  }
}

#endif

}  // namespace
}  // namespace stereopsis::pair_check_test
