// Tests of Problem::row_alignment: whole pipelines return what they return for a right image that was aligned before, on
// all devices, in all formats, in regions and within memory limits.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "stages/align_rows/align_rows.hpp"
#include "stereopsis/matcher.hpp"
#include "stereopsis/rows.hpp"
#include "stereopsis/synth.hpp"
#include "support/devices.hpp"
#include "support/every_device.hpp"
#include "support/stage_test.hpp"

namespace stereopsis::row_alignment_test {
namespace {

using namespace test;

constexpr DisparityRange range{0, 16};
constexpr Size size{122, 84};
// Rows that were moved by less than half a pixel, and by more.
constexpr RowAlignment small{0.25, 0.125, -0.125, 0.25}, large{-2.5, 3, 1, 2};
constexpr const char* methods[] = {"sgm", "zncc", "prehn-pyramid"};

// Returns the parameters of the kernels for the whole image, from the definition of the alignment.
align_rows::Parameters parameters_of(const RowAlignment& a, int white = 255) {
  const double one = static_cast<double>(std::int64_t{1} << align_rows::plane_bits);
  const auto fixed = [&](double pixels) { return static_cast<std::int64_t>(std::llround(pixels * one)); };
  const double left = (1.0 - size.width) / (2 * size.width), top = (1.0 - size.height) / (2 * size.height);
  return {fixed(a.offset + a.roll * left + a.zoom * top + a.keystone * left * top),
          fixed(a.roll / size.width + a.keystone / size.width * top),
          fixed(a.zoom / size.height + a.keystone / size.height * left) + fixed(1),
          fixed(a.keystone / (size.width * size.height)), white};
}

template <class T>
struct Aligned {
  Aligned(ImageView<const T> image, const RowAlignment& a, ImageView<const std::uint8_t> mask = {}, int white = 255)
      : pixels(image.size(), image.channels), usable(image.size()) {
    align_rows::oracle<T>(parameters_of(a, white), {image, mask}, {pixels, usable});
  }
  Image<T> pixels;
  Image<std::uint8_t> usable;
};

const Scene& scene() {
  static const Scene made = make_scene({.size = size, .disparities = range.count, .noise = 4});
  return made;
}

Problem problem_of(const StereoPair& pair, const RowAlignment& a) {
  Problem problem = Problem::of(pair, range);
  problem.want_confidence = true;
  problem.row_alignment = a;
  return problem;
}

Matched matched(const char* method, const Problem& problem, const StereoPair& pair, const Device& device) {
  return Matcher(Plan(Pipeline(method), problem, device)).match(pair);
}

void expect_same(const Matched& got, const Matched& expected) {
  EXPECT_TRUE(same_bits(got.disparity.view(), expected.disparity));
  EXPECT_TRUE(same_bits(got.validity.view(), expected.validity));
  EXPECT_TRUE(same_bits(got.confidence.view(), expected.confidence));
}

// Expects that the pair is matched as the pair whose right image was aligned by the oracle.
template <class T>
void expect_as_aligned_before(const StereoPair& pair, ImageView<const T> right, int white = 255) {
  for (const RowAlignment& a : {small, large}) {
    const Aligned<T> aligned(right, a, pair.mask_right, white);
    StereoPair before = pair;
    before.right = AnyImageView(aligned.pixels.view());
    before.right.bit_depth = pair.right.bit_depth;
    if (a == large || !pair.mask_right.empty()) before.mask_right = aligned.usable;
    for (const char* method : methods) {
      SCOPED_TRACE(method);
      Problem plain = problem_of(pair, a);
      plain.row_alignment.reset();
      const Matched expected = matched(method, plain, before, {.name = "cpu"});
      for (const Device& device : every_device()) {
        SCOPED_TRACE(device.name);
        expect_same(matched(method, problem_of(pair, a), pair, device), expected);
      }
    }
  }
}

Image<std::uint8_t> grey_of(const Image<std::uint8_t>& rgb) {
  Image<std::uint8_t> out(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) out(x, y) = rgb(x, y, 1);
  return out;
}

TEST(RowAlignment, OfColoursIsThatOfAnAlignedImage) {
  expect_as_aligned_before<std::uint8_t>({scene().left, scene().right}, scene().right);
}

TEST(RowAlignment, OfGreyImagesIsThatOfAnAlignedImage) {
  const Image<std::uint8_t> left = grey_of(scene().left), right = grey_of(scene().right);
  expect_as_aligned_before<std::uint8_t>({left, right}, right);
}

TEST(RowAlignment, OfDeepAndFloatImagesIsThatOfAnAlignedImage) {
  const Image<std::uint8_t> left = grey_of(scene().left), right = grey_of(scene().right);
  Image<std::uint16_t> deep_left(size), deep_right(size);
  Image<float> float_left(size), float_right(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      deep_left(x, y) = static_cast<std::uint16_t>(left(x, y) * 4), float_left(x, y) = left(x, y);
      deep_right(x, y) = static_cast<std::uint16_t>(right(x, y) * 4), float_right(x, y) = right(x, y);
    }
  float_right(40, 30) = std::numeric_limits<float>::quiet_NaN();
  StereoPair deep{deep_left, deep_right};
  deep.left.bit_depth = deep.right.bit_depth = 10;
  expect_as_aligned_before<std::uint16_t>(deep, deep_right, 1023);
  Image<std::uint8_t> mask(size, 1, 255);
  mask(40, 30) = 0;
  expect_as_aligned_before<float>({float_left, float_right, {}, mask}, float_right);
}

TEST(RowAlignment, AlignsTheMask) {
  Image<std::uint8_t> left(size, 1, 255), right(size, 1, 255);
  for (int y = 20; y < 40; ++y)
    for (int x = 30; x < 60; ++x) left(x, y) = 0, right(x + 20, y + 20) = 0;
  expect_as_aligned_before<std::uint8_t>({scene().left, scene().right, left, right}, scene().right);
}

TEST(RowAlignment, OfOtherFormatsIsThatOfRgb) {
  Image<std::uint8_t> left(size, 3), right(size, 3);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      for (int c = 0; c < 3; ++c)
        left(x, y, c) = scene().left(x, y, 2 - c), right(x, y, c) = scene().right(x, y, 2 - c);
  const StereoPair rgb{scene().left, scene().right};
  StereoPair bgr{left, right};
  bgr.format = PixelFormat::bgr;
  for (const char* method : methods)
    for (const Device& device : every_device()) {
      SCOPED_TRACE(method + std::string(" on ") + device.name);
      Problem problem = problem_of(bgr, large);
      const Matched whole = matched(method, problem, bgr, device);
      expect_same(whole, matched(method, problem_of(rgb, large), rgb, device));
      problem.region = Rect{62, 20, 30, 45};
      const Matched part = matched(method, problem, bgr, device);
      if (method != std::string("zncc")) continue;
      EXPECT_TRUE(same_bits(part.disparity.view().crop(*problem.region), whole.disparity.view().crop(*problem.region)));
    }
}

TEST(RowAlignment, OfNv12IsThatOfItsLuma) {
  const Image<std::uint8_t> left = grey_of(scene().left), right = grey_of(scene().right);
  Image<std::uint8_t> nv12_left({size.width, size.height * 3 / 2}, 1, 128), nv12_right = nv12_left;
  for (int y = 0; y < size.height; ++y) {
    std::copy_n(left.row(y), size.width, nv12_left.row(y));
    std::copy_n(right.row(y), size.width, nv12_right.row(y));
  }
  const StereoPair grey{left, right};
  StereoPair nv12{nv12_left, nv12_right};
  nv12.format = PixelFormat::nv12;
  for (const Device& device : every_device()) {
    SCOPED_TRACE(device.name);
    expect_same(matched("sgm", problem_of(nv12, large), nv12, device),
                matched("sgm", problem_of(grey, large), grey, device));
  }
}

TEST(RowAlignment, OfARegionIsThatOfTheWholeImage) {
  const StereoPair pair{scene().left, scene().right};
  for (const char* method : {"prehn-window", "census-guided"})
    for (const RowAlignment& a : {small, large})
      for (const Device& device : every_device()) {
        SCOPED_TRACE(method + std::string(" on ") + device.name);
        Pipeline pipeline(method);
        pipeline.set("levels.stage", "none");
        Problem problem = problem_of(pair, a);
        problem.want_right = true;
        const Matched whole = Matcher(Plan(pipeline, problem, device)).match(pair);
        for (const Rect region : {Rect{5, 4, 13, 11}, Rect{62, 0, 30, 45}, Rect{100, 60, 21, 23}}) {
          problem.region = region;
          const Matched part = Matcher(Plan(pipeline, problem, device)).match(pair);
          EXPECT_TRUE(same_bits(part.disparity.view().crop(region), whole.disparity.view().crop(region)));
          EXPECT_TRUE(same_bits(part.validity.view().crop(region), whole.validity.view().crop(region)));
          EXPECT_TRUE(same_bits(part.right.view().crop(region), whole.right.view().crop(region)));
        }
      }
}

TEST(RowAlignment, DoesNotDependOnTheMemoryLimit) {
  const StereoPair pair{scene().left, scene().right};
  for (const Device& device : {Device{.name = "cpu"}, every_device().back()}) {
    Problem problem = problem_of(pair, large);
    problem.want_confidence = false;
    expect_same_in_stripes(Pipeline("sgm"), problem, pair, device);
  }
}

TEST(RowAlignment, TheRightMapHasTheRowsOfTheGivenImage) {
  const StereoPair pair{scene().left, scene().right};
  const Aligned<std::uint8_t> aligned(scene().right, large);
  Problem problem = problem_of(pair, large);
  problem.want_right = true;
  Problem plain = problem;
  plain.row_alignment.reset();
  const Matched before = matched("zncc", plain, {scene().left, aligned.pixels, {}, aligned.usable}, {.name = "cpu"});
  Image<float> expected(size);
  align_rows::restore_oracle(parameters_of(large), before.right, expected);
  for (const Device& device : every_device()) {
    SCOPED_TRACE(device.name);
    EXPECT_TRUE(same_bits(matched("zncc", problem, pair, device).right.view(), expected));
  }
}

constexpr RowAlignment sequence[] = {{}, small, large, large, large, {}, small, small, small, {}, {}};

// A plan serves a sequence in which the alignment changes, and is absent for some pairs.
void expect_own_alignments(const char* method, const Problem& problem) {
  const StereoPair pair{scene().left, scene().right};
  const auto alone = [&](const RowAlignment& a) {
    Problem own = problem;
    own.row_alignment = a;
    if (a.is_identity()) own.row_alignment.reset();
    return matched(method, own, pair, {.name = "cpu"});
  };
  const Matched without = alone({}), with_small = alone(small), with_large = alone(large);
  for (const Device& device : every_device()) {
    SCOPED_TRACE(method + std::string(" on ") + device.name);
    Matcher matcher(Plan(Pipeline(method), problem, device));
    for (const RowAlignment& a : sequence) {
      StereoPair own = pair;
      own.row_alignment = a;
      const Matched got = matcher.match(own), &expected = a == large ? with_large : a == small ? with_small : without;
      expect_same(got, expected);
      EXPECT_TRUE(same_bits(got.right.view(), expected.right));
    }
    expect_same(matcher.match(pair), with_large);  // pairs without an alignment have that of the problem
  }
}

TEST(RowAlignment, OfEachPairIsThatOfAPlanOfItsOwn) {
  Problem problem = problem_of({scene().left, scene().right}, large);
  problem.batch = 2;
  expect_own_alignments("sgm", problem);
  problem.want_right = true;
  problem.region = Rect{5, 40, 60, 21};
  expect_own_alignments("zncc", problem);
}

// The steps that are the same for all pairs are replayed, and the others are not.
TEST(RowAlignment, ChangesForImagesOnADevice) {
  const StereoPair pair{scene().left, scene().right};
  for (const Device& device : every_device()) {
    if (device.name == "cpu") continue;
    SCOPED_TRACE(device.name);
    Problem problem = problem_of(pair, {});
    problem.want_right = true;
    const Plan plan(Pipeline("sgm"), problem, device);
    const DeviceImage left(device.name, scene().left.view()), right(device.name, scene().right.view());
    const std::string& on = device.name;
    const DeviceImage disparity(on, size, PixelType::f32), validity(on, size, PixelType::u8),
        map(on, size, PixelType::f32), confidence(on, size, PixelType::f32);
    const DeviceMatched result{disparity, validity, map, confidence};
    Matcher matcher(plan);
    for (const RowAlignment& a : sequence) {
      DevicePair given{left, right, {}, {}};
      given.row_alignment = a;
      StereoPair own = pair;
      own.row_alignment = a;
      matcher.wait(matcher.enqueue(given, result));
      Image<float> found(size), of_right(size);
      disparity.download(found.view());
      map.download(of_right.view());
      const Matched expected = Matcher(plan).match(own);
      EXPECT_TRUE(same_bits(found.view(), expected.disparity));
      EXPECT_TRUE(same_bits(of_right.view(), expected.right));
    }
  }
}

// The maps of a rectification that changes nothing, with rows between 1/256 px.
TEST(RowAlignment, GoesIntoTheMapsOfARectification) {
  RectificationMaps maps{size, Image<std::int32_t>(size, 2), Image<std::int32_t>(size, 2), true, true};
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      for (Image<std::int32_t>* map : {&maps.left, &maps.right}) (*map)(x, y, 0) = 256 * x, (*map)(x, y, 1) = 256 * y;
  const StereoPair pair{scene().left, scene().right};
  Problem problem = problem_of(pair, large), moved = problem;
  problem.geometry.rectification = std::make_shared<const RectificationMaps>(maps);
  const RectificationMaps with_rows = aligned_maps(maps, large);
  EXPECT_FALSE(with_rows.right_complete);
  EXPECT_TRUE(aligned_maps(maps, {}).right_complete);
  EXPECT_TRUE(same_bits(with_rows.left.view(), maps.left));
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      EXPECT_EQ(with_rows.right(x, y, 0), 256 * x);
      EXPECT_NEAR(with_rows.right(x, y, 1), 256 * (y + large.at(x, y, size)), 0.51);
    }
  moved.geometry.rectification = std::make_shared<const RectificationMaps>(with_rows);
  moved.row_alignment.reset();
  const Matched expected = matched("sgm", moved, pair, {.name = "cpu"});
  Problem plain = moved;
  plain.geometry.rectification = problem.geometry.rectification;
  const Matched without = matched("sgm", plain, pair, {.name = "cpu"});
  StereoPair unmoved = pair;
  unmoved.row_alignment = RowAlignment();
  for (const Device& device : every_device()) {
    SCOPED_TRACE(device.name);
    Matcher matcher(Plan(Pipeline("sgm"), problem, device));
    expect_same(matcher.match(pair), expected);
    expect_same(matcher.match(unmoved), without);
    expect_same(matcher.match(pair), expected);
    Problem part = problem;
    part.region = Rect{33, 20, 50, 30};
    const Matched in_region = matched("zncc", part, pair, device), whole = matched("zncc", problem, pair, device);
    EXPECT_TRUE(same_bits(in_region.disparity.view().crop(*part.region), whole.disparity.view().crop(*part.region)));
  }
}

TEST(RowAlignment, MapsWithoutASourceStayWithoutOne) {
  RectificationMaps maps{{4, 4}, Image<std::int32_t>({1, 4}, 2, 0), Image<std::int32_t>({1, 4}, 2, 0), true, true};
  constexpr std::int32_t none = std::numeric_limits<std::int32_t>::min();
  maps.right(0, 1, 0) = none;
  const RectificationMaps moved = aligned_maps(maps, {0.5, 0, 0, 0});
  EXPECT_EQ(moved.right(0, 0, 0), none);
  EXPECT_EQ(moved.right(0, 1, 0), none);
  EXPECT_EQ(moved.right(0, 2, 0), 0);
  EXPECT_FALSE(moved.right_complete);
}

TEST(RowAlignment, OfAnImageIsThatOfTheMatcher) {
  const Aligned<std::uint8_t> expected(scene().right, large);
  const RectifiedView got = with_aligned_rows(scene().right.view(), large);
  EXPECT_TRUE(same_bits(got.image.view().as<std::uint8_t>(), ImageView<const std::uint8_t>(expected.pixels)));
  EXPECT_TRUE(same_bits(got.usable.view(), expected.usable));
  const Image<std::uint8_t> mask(3, 3);
  EXPECT_THROW(with_aligned_rows(scene().right.view(), large, mask), Error);
  EXPECT_THROW(with_aligned_rows(scene().right.view(), {65, 0, 0, 0}), Error);
  EXPECT_THROW(with_aligned_rows({}, small), Error);
}

// Rows that were moved are matched as if they had not been moved.
TEST(RowAlignment, OfAPartIsThatOfTheWholeImage) {
  const AnyImageView image = scene().right.view();
  const RowAlignment slanted{1.3, -2.1, 0.8, 0.4};
  const auto whole_view = with_aligned_rows(image, slanted);
  const auto whole = std::get<Image<std::uint8_t>>(whole_view.image.pixels).view();
  for (const Rect& part : {Rect{0, 0, image.width, image.height}, Rect{0, 0, 17, 1}, Rect{30, 41, 25, 9},
                           Rect{image.width - 5, image.height - 3, 5, 3}}) {
    const Rect needed = RowAlignment::rows_for(part, image.size());
    const auto given = image.as<std::uint8_t>();
    AnyImageView rows = image;
    rows.data = &given(needed.x, needed.y);
    rows.width = needed.width;
    rows.height = needed.height;
    const RectifiedView got_view = with_aligned_rows(rows, slanted, part, image.size());
    const auto got = std::get<Image<std::uint8_t>>(got_view.image.pixels).view();
    ASSERT_EQ(got.size(), part.size());
    for (int y = 0; y < part.height; ++y)
      for (int x = 0; x < part.width; ++x) {
        for (int c = 0; c < got.channels; ++c) ASSERT_EQ(got(x, y, c), whole(part.x + x, part.y + y, c));
        ASSERT_EQ(got_view.usable(x, y), whole_view.usable(part.x + x, part.y + y));
      }
    const Rect larger{part.x, part.y, part.width + 1, part.height};
    EXPECT_THROW(with_aligned_rows(rows, slanted, larger, image.size()), Error);
  }
}

TEST(RowAlignment, RemovesTheErrorsOfMovedRows) {
  const auto wrong = [](const Scene& s, const std::optional<RowAlignment>& a) {
    const StereoPair pair{s.left, s.right};
    Problem problem = Problem::of(pair, {0, 64});
    problem.row_alignment = a;
    const Matched m = matched("sgm", problem, pair, {.name = "cpu"});
    int count = 0;
    for (int y = 0; y < 240; ++y)
      for (int x = 0; x < 320; ++x)
        count += s.nonocc_left(x, y) == 255 && !(std::abs(m.disparity(x, y) - s.disparity_left(x, y)) <= 1);
    return count;
  };
  const SceneOptions right{.size = {320, 240}, .disparities = 64, .noise = 2};
  SceneOptions moved = right;
  moved.vertical_offset = 1;
  moved.vertical_slope = 2;
  const Scene scene_with_rows = make_scene(moved);
  const RowEstimate e = estimate_row_alignment(scene_with_rows.left.view(), scene_with_rows.right.view());
  ASSERT_TRUE(e.alignment.has_value()) << e.sentence();
  const int least = wrong(make_scene(right), {}), most = wrong(scene_with_rows, {});
  EXPECT_LT(wrong(scene_with_rows, e.alignment), least + (most - least) / 4);
}

TEST(RowAlignment, IsRefusedWhereItCannotBeUsed) {
  const StereoPair pair{scene().left, scene().right};
  StereoPair moved = pair;
  moved.row_alignment = small;
  EXPECT_THROW(matched("sgm", Problem::of(pair, range), moved, {.name = "cpu"}), Error);
  moved.row_alignment->offset = RowAlignment::most_rows + 1;
  EXPECT_THROW(matched("sgm", problem_of(pair, small), moved, {.name = "cpu"}), Error);
  const auto refused = [&](auto&& change) {
    Problem problem = problem_of(pair, small);
    problem.want_confidence = false;
    change(problem);
    EXPECT_THROW(Plan(Pipeline("sgm"), problem), Error);
  };
  refused([](Problem& p) { p.row_alignment->offset = 65; });
  refused([](Problem& p) { p.row_alignment->keystone = std::numeric_limits<double>::quiet_NaN(); });
  refused([](Problem& p) { p.row_alignment->roll = std::numeric_limits<double>::infinity(); });
  refused([](Problem& p) { p.refine_only = true; });
  refused([](Problem& p) { p.stripe = BoundaryStripe{.first_row = 10, .rows = 40}; });
}

}  // namespace
}  // namespace stereopsis::row_alignment_test
