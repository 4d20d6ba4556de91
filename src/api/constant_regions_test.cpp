// Tests of regions without contrast in whole pipelines: what is masked and marked, and the same bits on all devices, in
// regions, within memory limits and in other formats.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "stages/black_border/black_border.hpp"
#include "stages/contrast/contrast.hpp"
#include "stereopsis/matcher.hpp"
#ifdef STEREOPSIS_TEST_FILES
#include "stereopsis/io.hpp"
#endif
#include "stereopsis/synth.hpp"
#include "support/devices.hpp"
#include "support/every_device.hpp"
#include "support/sanitized.hpp"
#include "support/stage_test.hpp"

namespace stereopsis::constant_regions_test {
namespace {

using namespace test;

constexpr DisparityRange range{0, 16};
constexpr Size size{121, 83};
constexpr const char* methods[] = {"sgm", "balanced", "sgm-learned", "zncc", "prehn-pyramid"};
constexpr ConstantRegions both{.mask_black = true, .black = 2, .mark_flat = true};
constexpr ConstantRegions flat{.mask_black = false, .black = 0, .mark_flat = true};

// Paints a black bar at the left border, a small black square at the top border, a black square inside, and a white bar.
void paint(ImageView<std::uint8_t> image) {
  const auto fill = [&](const Rect& r, int value) {
    for (int y = r.y; y < r.y + r.height; ++y)
      for (int x = r.x; x < r.x + r.width; ++x)
        for (int c = 0; c < image.channels; ++c)
          image(x, y, c) = static_cast<std::uint8_t>(value + (x + y) % 2 * (value == 0));
  };
  for (int y = 0; y < image.height; ++y)
    for (int i = 0; i < image.width * image.channels; ++i) image.row(y)[i] = std::max(image.row(y)[i], std::uint8_t{8});
  fill({0, 0, 14, image.height}, 0);
  fill({60, 0, 7, 7}, 0);
  fill({70, 30, 12, 12}, 0);
  fill({30, 55, 80, 20}, 255);
}

// A scene with painted regions.
struct Painted {
  explicit Painted(int channels = 3) {
    Scene scene = make_scene({.size = size, .disparities = range.count, .noise = 4});
    left = Image<std::uint8_t>(size, channels), right = Image<std::uint8_t>(size, channels);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x)
        for (int c = 0; c < channels; ++c) left(x, y, c) = scene.left(x, y, c), right(x, y, c) = scene.right(x, y, c);
    paint(left), paint(right);
  }
  StereoPair pair() const { return {left, right, {}, {}}; }

  Image<std::uint8_t> left, right;
};

const Painted& painted() {
  static const Painted made;
  return made;
}

Problem problem_of(const StereoPair& pair, const ConstantRegions& constant) {
  Problem problem = Problem::of(pair, range);
  problem.want_confidence = true;
  problem.constant = constant;
  return problem;
}

Matched matched(const Pipeline& pipeline, const Problem& problem, const StereoPair& pair, const Device& device) {
  return Matcher(Plan(pipeline, problem, device)).match(pair);
}

void expect_same(const Matched& got, const Matched& expected) {
  EXPECT_TRUE(same_bits(got.disparity.view(), expected.disparity));
  EXPECT_TRUE(same_bits(got.validity.view(), expected.validity));
  EXPECT_TRUE(same_bits(got.confidence.view(), expected.confidence));
}

Image<std::uint8_t> mask_of(const Image<std::uint8_t>& image) {
  Image<std::uint8_t> usable(size);
  black_border::oracle<std::uint8_t>({2, {}}, {image, {}}, usable);
  return usable;
}

TEST(ConstantRegions, BlackIsMaskedAsByTheCaller) {
  const StereoPair pair = painted().pair();
  const Image<std::uint8_t> mask_left = mask_of(painted().left), mask_right = mask_of(painted().right);
  const StereoPair masked{painted().left, painted().right, mask_left, mask_right};
  for (const char* method : methods) {
    SCOPED_TRACE(method);
    const Matched expected = matched(Pipeline(method), problem_of(pair, {}), masked,
                                     {.name = "cpu", .implementation = Implementation::oracle});
    for (const Device& device : every_device()) {
      SCOPED_TRACE(device.name);
      const ConstantRegions black{.mask_black = true, .black = 2};
      expect_same(matched(Pipeline(method), problem_of(pair, black), pair, device), expected);
    }
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x)
        EXPECT_EQ((expected.validity(x, y) & validity::masked) != 0, x < 14) << x << "," << y;
  }
}

TEST(ConstantRegions, FlatPixelsAreFilledAndKeepTheirDisparity) {
  const StereoPair pair = painted().pair();
  for (const char* method : methods) {
    SCOPED_TRACE(method);
    const Matched off = matched(Pipeline(method), problem_of(pair, {}), pair, {.name = "cpu"});
    Image<std::uint8_t> expected(size);
    for (int y = 0; y < size.height; ++y) std::copy_n(off.validity.row(y), size.width, expected.row(y));
    contrast::oracle<std::uint8_t>({}, painted().left, expected);
    int marked = 0;
    for (const Device& device : every_device()) {
      SCOPED_TRACE(device.name);
      const Matched on = matched(Pipeline(method), problem_of(pair, flat), pair, device);
      EXPECT_TRUE(same_bits(on.disparity.view(), off.disparity));
      EXPECT_TRUE(same_bits(on.validity.view(), expected));
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) marked += on.validity(x, y) != off.validity(x, y);
    }
    // The correlation of zncc and the learned features do not measure such pixels anyway.
    EXPECT_GT(marked, method == std::string("sgm") || method == std::string("balanced") ? 100 : -1);
  }
}

// The confidence rates such pixels as filled ones: it is that of the maps, refined again with this validity.
TEST(ConstantRegions, TheConfidenceReadsTheMarks) {
  const StereoPair pair = painted().pair();
  const Matched on = matched(Pipeline("sgm"), problem_of(pair, flat), pair, {.name = "cpu"});
  Pipeline rating("sgm");
  rating.set("refinements", "none");
  Problem problem = problem_of(pair, {});
  problem.refine_only = true;
  StereoPair given = pair;
  given.maps = {on.disparity, on.validity, {}, {}};
  expect_same(matched(rating, problem, given, {.name = "cpu"}), on);
  Pipeline selection("sgm");
  selection.set("confidence.stage", "none");
  const Matched alone = matched(selection, problem_of(pair, flat), pair, {.name = "cpu"});
  EXPECT_EQ(alone.validity(70, 65), validity::filled);
  EXPECT_EQ(alone.confidence(70, 65), 0);
}

TEST(ConstantRegions, DensityDoesNotMeasureFlatPixels) {
  const StereoPair pair = painted().pair();
  Pipeline pipeline("sgm");
  pipeline.set("density.stage", "remeasure");
  const Matched expected =
      matched(pipeline, problem_of(pair, both), pair, {.name = "cpu", .implementation = Implementation::oracle});
  for (const Device& device : every_device())
    expect_same(matched(pipeline, problem_of(pair, both), pair, device), expected);
  Image<std::uint8_t> again(size);
  for (int y = 0; y < size.height; ++y) std::copy_n(expected.validity.row(y), size.width, again.row(y));
  contrast::oracle<std::uint8_t>({}, painted().left, again);
  EXPECT_TRUE(same_bits(again.view(), expected.validity));
}

TEST(ConstantRegions, ReducedImagesAreMarkedByBlocks) {
  const StereoPair pair = painted().pair();
  for (const char* upsample : {"false", "true"}) {
    Pipeline pipeline("zncc");
    pipeline.set("reduce.factor", "2");
    pipeline.set("reduce.upsample", upsample);
    const Matched expected =
        matched(pipeline, problem_of(pair, both), pair, {.name = "cpu", .implementation = Implementation::oracle});
    for (const Device& device : every_device())
      expect_same(matched(pipeline, problem_of(pair, both), pair, device), expected);
    Image<std::uint8_t> again(expected.validity.size());
    for (int y = 0; y < again.height(); ++y) std::copy_n(expected.validity.row(y), again.width(), again.row(y));
    contrast::oracle<std::uint8_t>({.factor = again.size() == size ? 1 : 2}, painted().left, again);
    EXPECT_TRUE(same_bits(again.view(), expected.validity));
  }
}

TEST(ConstantRegions, OfARegionAreThoseOfTheWholeImage) {
  const StereoPair pair = painted().pair();
  for (const char* method : {"prehn-window", "census-guided"}) {
    Pipeline pipeline(method);
    pipeline.set("levels.stage", "none");
    for (const Device& device : every_device()) {
      SCOPED_TRACE(method + std::string(" on ") + device.name);
      Problem problem = problem_of(pair, both);
      const Matched whole = matched(pipeline, problem, pair, device);
      for (const Rect region : {Rect{5, 4, 13, 11}, Rect{62, 0, 30, 45}, Rect{100, 60, 21, 23}}) {
        problem.region = region;
        const Matched part = matched(pipeline, problem, pair, device);
        EXPECT_TRUE(same_bits(part.disparity.view().crop(region), whole.disparity.view().crop(region)));
        EXPECT_TRUE(same_bits(part.validity.view().crop(region), whole.validity.view().crop(region)));
        EXPECT_TRUE(same_bits(part.confidence.view().crop(region), whole.confidence.view().crop(region)));
      }
    }
  }
}

TEST(ConstantRegions, DoNotDependOnTheMemoryLimit) {
  const StereoPair pair = painted().pair();
  for (const Device& device : {Device{.name = "cpu"}, every_device().back()}) {
    Problem problem = problem_of(pair, both);
    problem.want_confidence = false;
    expect_same_in_stripes(Pipeline("sgm"), problem, pair, device);
  }
}

// Masks of the caller and black regions are combined.
TEST(ConstantRegions, AddToTheMasksOfTheCaller) {
  Image<std::uint8_t> mask(size), all(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) mask(x, y) = y >= 70 ? 0 : 255, all(x, y) = y >= 70 || x < 14 ? 0 : 255;
  const Image<std::uint8_t> right = mask_of(painted().right);
  const StereoPair given{painted().left, painted().right, mask, {}};
  const Matched expected =
      matched(Pipeline("sgm"), problem_of(given, flat), {painted().left, painted().right, all, right}, {.name = "cpu"});
  for (const Device& device : every_device())
    expect_same(matched(Pipeline("sgm"), problem_of(given, both), given, device), expected);
}

// One matcher takes pairs with and without black regions in turn.
TEST(ConstantRegions, ChangeFromPairToPair) {
  const Scene scene = make_scene({.size = size, .disparities = range.count, .noise = 4});
  const StereoPair plain{scene.left, scene.right, {}, {}}, black = painted().pair();
  for (const Device& device : every_device()) {
    const Problem problem = problem_of(black, both);
    Matcher matcher(Plan(Pipeline("sgm"), problem, device));
    for (const StereoPair* pair : {&plain, &black, &plain, &plain, &black, &black}) {
      const Matched alone = matched(Pipeline("sgm"), problem, *pair, {.name = "cpu"});
      expect_same(matcher.match(*pair), alone);
    }
  }
}

template <class T>
Image<T> converted(const Image<std::uint8_t>& image, double factor) {
  Image<T> made(image.size(), image.channels());
  for (int y = 0; y < image.height(); ++y)
    for (int i = 0; i < image.width() * image.channels(); ++i)
      made.row(y)[i] = static_cast<T>(image.row(y)[i] * factor);
  return made;
}

TEST(ConstantRegions, AreThoseOf8BitsInOtherTypes) {
  const auto check = [](const auto& left, const auto& right, int bit_depth) {
    StereoPair pair{left, right, {}, {}};
    pair.left.bit_depth = pair.right.bit_depth = bit_depth;
    const Matched expected = matched(Pipeline("sgm"), problem_of(pair, both), pair,
                                     {.name = "cpu", .implementation = Implementation::oracle});
    for (const Device& device : every_device())
      expect_same(matched(Pipeline("sgm"), problem_of(pair, both), pair, device), expected);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x)
        EXPECT_EQ((expected.validity(x, y) & validity::masked) != 0, x < 14) << x << "," << y;
    EXPECT_EQ(expected.validity(70, 65), validity::filled);
  };
  check(converted<std::uint16_t>(painted().left, 257), converted<std::uint16_t>(painted().right, 257), 16);
  check(converted<std::uint16_t>(painted().left, 4095 / 255.0), converted<std::uint16_t>(painted().right, 4095 / 255.0),
        12);
  check(converted<float>(painted().left, 1), converted<float>(painted().right, 1), 8);
}

TEST(ConstantRegions, AreFoundInOtherFormats) {
  const Painted& rgb = painted();
  Image<std::uint8_t> left(size, 4), right(size, 4);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      for (int c = 0; c < 4; ++c) {
        left(x, y, c) = c == 3 ? 255 : rgb.left(x, y, 2 - c);
        right(x, y, c) = c == 3 ? 255 : rgb.right(x, y, 2 - c);
      }
  StereoPair pair{left, right, {}, {}};
  pair.format = PixelFormat::bgra;
  const Matched expected = matched(Pipeline("sgm"), problem_of(rgb.pair(), both), rgb.pair(), {.name = "cpu"});
  for (const Device& device : every_device()) {
    Problem problem = problem_of(pair, both);
    expect_same(matched(Pipeline("sgm"), problem, pair, device), expected);
    problem.region = Rect{5, 4, 50, 40};
    const Matched part = matched(Pipeline("sgm"), problem, pair, device);
    EXPECT_EQ(part.validity(6, 20), validity::masked);
    EXPECT_EQ(part.validity(20, 20) & validity::masked, 0);
  }
}

// Compares the devices with the oracle, and the masked pixels with the painted bar.
void expect_black_bar(const Image<std::uint8_t>& left, const Image<std::uint8_t>& right, PixelFormat format) {
  StereoPair pair{left, right, {}, {}};
  pair.format = format;
  const Problem problem = problem_of(pair, both);
  const Matched expected =
      matched(Pipeline("sgm"), problem, pair, {.name = "cpu", .implementation = Implementation::oracle});
  for (const Device& device : every_device()) expect_same(matched(Pipeline("sgm"), problem, pair, device), expected);
  for (int y = 0; y < problem.size.height; ++y)
    for (int x = 0; x < problem.size.width; ++x)
      EXPECT_EQ((expected.validity(x, y) & validity::masked) != 0, x < 14) << x << "," << y;
  EXPECT_EQ(expected.validity(70, 65), validity::filled);
}

TEST(ConstantRegions, AreFoundInTheLumaOfNv12) {
  constexpr Size even{120, 82};
  const auto nv12 = [&](const Image<std::uint8_t>& grey) {
    Image<std::uint8_t> made({even.width, even.height * 3 / 2}, 1, 128);
    for (int y = 0; y < even.height; ++y)
      for (int x = 0; x < even.width; ++x) made(x, y) = static_cast<std::uint8_t>(std::min(16 + grey(x, y), 235));
    return made;
  };
  const Painted grey(1);
  expect_black_bar(nv12(grey.left), nv12(grey.right), PixelFormat::nv12);
}

TEST(ConstantRegions, AreFoundInMosaics) {
  const Painted grey(1);
  for (const PixelFormat format : {PixelFormat::bayer_rggb, PixelFormat::bayer_gbrg})
    expect_black_bar(grey.left, grey.right, format);
}

// A clipped sky is at disparity 0 in both images, where all candidates fit alike.
TEST(ConstantRegions, ASkyAtDisparity0IsNotMeasured) {
  constexpr int horizon = 30;
  Scene scene = make_scene({.size = size, .disparities = range.count, .noise = 4});
  for (Image<std::uint8_t>* image : {&scene.left, &scene.right})
    for (int y = 0; y < size.height; ++y)
      for (int i = 0; i < 3 * size.width; ++i)
        image->row(y)[i] = y < horizon ? std::uint8_t{255} : std::min(image->row(y)[i], std::uint8_t{250});
  const StereoPair pair{scene.left, scene.right, {}, {}};
  for (const char* method : methods) {
    SCOPED_TRACE(method);
    const Matched expected = matched(Pipeline(method), problem_of(pair, both), pair,
                                     {.name = "cpu", .implementation = Implementation::oracle});
    for (const Device& device : every_device())
      expect_same(matched(Pipeline(method), problem_of(pair, both), pair, device), expected);
    int below = 0;
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        EXPECT_EQ(expected.validity(x, y) & validity::masked, 0) << "white is no black border";
        EXPECT_TRUE(y >= horizon - contrast::reach || expected.validity(x, y) != 0) << x << "," << y;
        below += y >= horizon && expected.validity(x, y) == 0;
      }
    EXPECT_GT(below, size.width * (size.height - horizon) / 4);
  }
}

TEST(ConstantRegions, DoNothingWhereThereAreNone) {
  const Scene scene = make_scene({.size = size, .disparities = range.count, .noise = 4});
  const StereoPair pair{scene.left, scene.right, {}, {}};
  for (const char* method : methods)
    expect_same(matched(Pipeline(method), problem_of(pair, both), pair, {.name = "cpu"}),
                matched(Pipeline(method), problem_of(pair, {}), pair, {.name = "cpu"}));
}

// A raw pair is searched for black before it is rectified, and contrast is that of the rectified image.
TEST(ConstantRegions, OfARawPair) {
  Painted raw;
  const auto in_circle = [](int x, int y) { return std::hypot(x - 60.0, y - 41.0) < 45; };
  for (Image<std::uint8_t>* image : {&raw.left, &raw.right})
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x)
        if (!in_circle(x, y)) std::fill_n(&(*image)(x, y), 3, std::uint8_t{0});
  RectificationMaps maps{.input = size, .left = Image<std::int32_t>(size, 2), .right = Image<std::int32_t>(size, 2)};
  for (auto* map : {&maps.left, &maps.right})
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) (*map)(x, y, 0) = 256 * x + 100, (*map)(x, y, 1) = 256 * y - 300;
  Problem problem = problem_of(raw.pair(), both);
  problem.geometry.rectification = std::make_shared<const RectificationMaps>(std::move(maps));
  const Matched expected =
      matched(Pipeline("sgm"), problem, raw.pair(), {.name = "cpu", .implementation = Implementation::oracle});
  for (const Device& device : every_device())
    expect_same(matched(Pipeline("sgm"), problem, raw.pair(), device), expected);
  for (int y = 2; y < size.height; ++y)
    for (int x = 0; x < size.width - 1; ++x) {
      bool inside = true;  // the four neighbours of the source
      for (const int i : {0, 1})
        for (const int j : {0, 1}) inside &= in_circle(x + i, y - 2 + j);
      EXPECT_EQ((expected.validity(x, y) & validity::masked) == 0, inside) << x << "," << y;
    }
}

void expect_refused(const Problem& problem, const char* what) {
  try {
    const Plan plan(Pipeline("sgm"), problem, {.name = "cpu"});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.category(), ErrorCategory::call);
    EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
  }
}

TEST(ConstantRegions, RequireWholeImages) {
  Problem problem = problem_of(painted().pair(), both);
  problem.constant.black = 300;
  expect_refused(problem, "300");
  problem.constant = both;
  problem.refine_only = true;
  expect_refused(problem, "refine_only");
  problem.refine_only = false;
  problem.want_confidence = false;
  problem.stripe = BoundaryStripe{.first_row = 8, .rows = 20};
  expect_refused(problem, "stripe");
}

#ifdef STEREOPSIS_TEST_FILES
// The number of pixels with the validity `from` that has the validity `to` if constant regions are not measured.
int changed(const Matched& off, const Matched& on, int from, int to) {
  int count = 0;
  for (int y = 0; y < off.validity.height(); ++y)
    for (int x = 0; x < off.validity.width(); ++x) count += off.validity(x, y) == from && on.validity(x, y) == to;
  return count;
}

int count(const Matched& m, int bits) { return changed(m, m, bits, bits); }

// Calls f(DATASET/SCENE, pair) for the real scenes.
template <class F>
void for_each_scene(F&& f) {
  if (sanitized) GTEST_SKIP() << "a sanitizer knows nothing of accuracy";
  const char* data = std::getenv("STEREOPSIS_DATA");
  if (data == nullptr) GTEST_SKIP() << "STEREOPSIS_DATA does not name the folder of real scenes";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(data)) {
    const std::filesystem::path folder = entry.path().parent_path();
    if (entry.path().filename() != "left.png" || !exists(folder / "right.png")) continue;
    const std::string name = folder.parent_path().filename().string() + "/" + folder.filename().string();
    SCOPED_TRACE(name);
    const AnyImage left = read_image(folder / "left.png"), right = read_image(folder / "right.png");
    f(name, StereoPair{left, right, {}, {}});
  }
}

constexpr DisparityRange searched{0, 96};

// On the scenes of Middlebury, no pixel changes its state. On roads, some measured pixels are filled, mostly in the sky.
TEST(ConstantRegions, OfRealScenesAreMostlySky) {
  double measured = 0, filled = 0;
  for_each_scene([&](const std::string& name, const StereoPair& pair) {
    Problem problem = Problem::of(pair, searched);
    const Matched off = Matcher(Plan(Pipeline("sgm"), problem, {.name = "cpu"})).match(pair);
    problem.constant = {.mask_black = true, .black = 0, .mark_flat = true};
    const Matched on = Matcher(Plan(Pipeline("sgm"), problem, {.name = "cpu"})).match(pair);
    std::cout << name << ": " << count(off, 0) << " pixels measured, " << changed(off, on, 0, validity::filled)
              << " of them without contrast, " << count(on, validity::masked) << " masked\n";
    if (name.starts_with("middlebury")) {
      EXPECT_TRUE(same_bits(on.validity.view(), off.validity));
      EXPECT_TRUE(same_bits(on.disparity.view(), off.disparity));
    } else if (name.starts_with("kitti20")) {
      measured += count(off, 0), filled += changed(off, on, 0, validity::filled);
    }
  });
  if (testing::Test::IsSkipped()) return;
  EXPECT_GT(filled, 0.005 * measured);
  EXPECT_LT(filled, 0.08 * measured);
}

// A black bar of 40 columns, as a rectification with alpha = 1 leaves it: none of it is measured, and the rest remains.
TEST(ConstantRegions, OfABlackBarOnARealScene) {
  for_each_scene([&](const std::string& name, const StereoPair& given) {
    if (!name.ends_with("/motorcycle")) return;
    constexpr int bar = 40;
    std::array<Image<std::uint8_t>, 2> barred;
    for (const std::size_t view : {0, 1}) {
      const AnyImageView& from = view == 0 ? given.left : given.right;
      barred[view] = Image<std::uint8_t>(from.size(), from.channels);
      for (int y = 0; y < from.height; ++y)
        for (int i = 0; i < from.width * from.channels; ++i)
          barred[view].row(y)[i] = i < bar * from.channels ? 0 : from.as<std::uint8_t>().row(y)[i];
    }
    const StereoPair pair{barred[0], barred[1], {}, {}};
    for (const char* method : {"sgm", "balanced", "sgm-learned", "zncc"}) {
      Problem problem = Problem::of(pair, searched);
      const Matched off = Matcher(Plan(Pipeline(method), problem, {.name = "cpu"})).match(pair);
      problem.constant = {.mask_black = true, .black = 0, .mark_flat = true};
      const Matched on = Matcher(Plan(Pipeline(method), problem, {.name = "cpu"})).match(pair);
      int of_bar[2] = {}, beyond = 0, all = 0;
      for (int y = 0; y < on.validity.height(); ++y)
        for (int x = 0; x < on.validity.width(); ++x) {
          if (x < bar) of_bar[0] += off.validity(x, y) == 0, of_bar[1] += on.validity(x, y) == 0;
          if (x >= bar + searched.count + 40) beyond += on.validity(x, y) != off.validity(x, y), ++all;
        }
      std::cout << method << ": " << of_bar[0] << " pixels of the bar measured before, " << of_bar[1] << " now; "
                << beyond << " of " << all << " pixels changed beyond\n";
      EXPECT_EQ(of_bar[1], 0) << method;
      EXPECT_LT(beyond, all / 200) << method;
    }
  });
}
#endif

}  // namespace
}  // namespace stereopsis::constant_regions_test
