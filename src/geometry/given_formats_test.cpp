// Tests pairs in the formats of cameras and decoders: on every device, the result equals that of the pair in RGB, bit
// for bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>

#include "stereopsis/formats.hpp"
#include "stereopsis/matcher.hpp"
#include "stereopsis/synth.hpp"
#include "support/devices.hpp"
#include "support/rigs.hpp"

namespace stereopsis::given_formats_test {
namespace {

using namespace test;

constexpr DisparityRange range{-2, 21};
constexpr PixelFormat formats[] = {PixelFormat::bgr,        PixelFormat::rgba,       PixelFormat::bgra,
                                   PixelFormat::nv12,       PixelFormat::bayer_rggb, PixelFormat::bayer_bggr,
                                   PixelFormat::bayer_grbg, PixelFormat::bayer_gbrg};

std::vector<Device> all_devices() {
  std::vector<Device> devices = {{"cpu", 1}, {"cpu", 3}};
  for (gpu::Device* device : gpu::usable_devices()) devices.push_back({device->name(), 0});
  return devices;
}

// Converts an RGB image to another format, as a camera might have delivered it.
template <class T>
Image<T> given(const Image<std::uint8_t>& rgb, PixelFormat format) {
  constexpr int scale = sizeof(T) == 2 ? 16 : 1;
  const Size size = image_size(rgb.size(), format);
  Image<T> image(size, channels_of(format), T{77});
  for (int y = 0; y < rgb.height(); ++y)
    for (int x = 0; x < rgb.width(); ++x)
      for (int c = 0; c < 3; ++c) {
        const T value = static_cast<T>(rgb(x, y, c) * scale);
        if (format == PixelFormat::nv12) {
          if (c == 1) image(x, y) = value;
          if (c != 1) image(x / 2 * 2 + c / 2, rgb.height() + y / 2) = value;
        } else if (is_bayer(format)) {
          const int red = static_cast<int>(format) - static_cast<int>(PixelFormat::bayer_rggb);
          constexpr int colours[4][4] = {{0, 1, 1, 2}, {2, 1, 1, 0}, {1, 0, 2, 1}, {1, 2, 0, 1}};
          if (colours[red][y % 2 * 2 + x % 2] == c) image(x, y) = value;
        } else {
          image(x, y, format == PixelFormat::rgba ? c : 2 - c) = value;
        }
      }
  return image;
}

// Returns the scene of a size, which is rendered once.
const Scene& scene_of(Size size) {
  static std::map<std::pair<int, int>, Scene> made;
  const auto key = std::pair(size.width, size.height);
  const auto found = made.find(key);
  return found != made.end()
             ? found->second
             : made.emplace(key, make_scene({.size = size, .disparities = 16, .noise = 4})).first->second;
}

// A pair in a pixel format, with gaps between its rows, and the same pair in RGB.
template <class T>
struct Given {
  Given(Size size, PixelFormat format_, bool masked)
      : scene(scene_of(size)),
        left(given<T>(scene.left, format_).view()),
        right(given<T>(scene.right, format_).view()),
        mask(random_image<std::uint8_t>(size, 3, 0, 9)),
        format(format_) {
    pair = {AnyImageView(left.view(), depth), AnyImageView(right.view(), depth), {}, {}};
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) mask(x, y) = mask(x, y) != 0 ? 255 : 0;
    if (masked) pair.mask_left = mask;
    in_rgb = pair;
    pair.format = format;
    to_rgb(pair.left, format, left_rgb);
    to_rgb(pair.right, format, right_rgb);
    in_rgb.left = left_rgb;
    in_rgb.right = right_rgb;
  }
  // Returns the pair of luma planes only.
  StereoPair in_grey() const {
    StereoPair grey = in_rgb;
    grey.left = luma_of_nv12(pair.left);
    grey.right = luma_of_nv12(pair.right);
    return grey;
  }

  static constexpr int depth = sizeof(T) == 2 ? 12 : 8;
  const Scene& scene;
  PitchedImage<T> left, right;
  Image<std::uint8_t> mask;
  PixelFormat format;
  StereoPair pair, in_rgb;
  AnyImage left_rgb, right_rgb;
};

void expect_same(const Matched& got, const Matched& expected) {
  EXPECT_TRUE(same_bits(got.disparity.view(), expected.disparity.view()));
  EXPECT_TRUE(same_bits(got.validity.view(), expected.validity.view()));
}

bool has_step(const Matcher& matcher, const char* stage) {
  const auto steps = matcher.plan().steps();
  return std::any_of(steps.begin(), steps.end(), [&](const PlanStep& s) { return s.stage == stage; });
}

template <class T>
void expect_as_in_rgb(const char* method, Size size, PixelFormat format, bool masked, std::optional<Rect> region) {
  SCOPED_TRACE(testing::Message() << method << ", " << to_string(format) << ", " << size.width << "x" << size.height
                                  << (masked ? ", masked" : "") << (region ? ", a region" : ""));
  const Given<T> given(size, format, masked);
  const bool grey = format == PixelFormat::nv12 && method == std::string("banz-sgm");
  const StereoPair seen = grey ? given.in_grey() : given.in_rgb;
  Problem problem = Problem::of(given.pair, range), plain = Problem::of(seen, range);
  EXPECT_EQ(problem.size, size);
  problem.region = plain.region = region;
  const Matched expected = Matcher(Plan(Pipeline(method), plain, {"cpu", 1})).match(seen);
  for (const Device& device : all_devices()) {
    SCOPED_TRACE(device.name);
    Matcher matcher(Plan(Pipeline(method), problem, device));
    EXPECT_NE(has_step(matcher, "nv12") || has_step(matcher, "bayer") || has_step(matcher, "channel_order"), grey);
    for (int run = 0; run < (masked ? 3 : 1); ++run)  // on a GPU, the second run records and the third run replays
      expect_same(matcher.match(given.pair), expected);
  }
}

TEST(GivenFormats, AreMatchedAsInRgb) {
  for (const PixelFormat format : formats) {
    for (const char* method : {"banz-sgm", "esaw"}) {
      expect_as_in_rgb<std::uint8_t>(method, {62, 38}, format, true, {});
      expect_as_in_rgb<std::uint8_t>(method, {2, 2}, format, false, {});
    }
    for (const Rect& region : {Rect{31, 21, 10, 5}, Rect{40, 12, 1, 1}, Rect{46, 24, 16, 14}})
      expect_as_in_rgb<std::uint8_t>("prehn-window", {62, 38}, format, false, region);
    if (format != PixelFormat::nv12)
      expect_as_in_rgb<std::uint16_t>("costfilter", {47, 35}, format, true, Rect{9, 7, 20, 20});
    if (!is_bayer(format) && format != PixelFormat::nv12)
      expect_as_in_rgb<std::uint8_t>("banz-sgm", {1, 1}, format, false, {});
  }
}

// For methods that read both grey and colour images, the reference is the oracles on the same pair.
TEST(GivenFormats, GreyOfNv12IsItsLuma) {
  const Given<std::uint8_t> given({94, 62}, PixelFormat::nv12, true);
  for (const char* method : {"ad-census", "costfilter", "census-guided", "prehn-pyramid"}) {
    const Problem problem = Problem::of(given.pair, range);
    const Matched expected =
        Matcher(Plan(Pipeline(method), problem, {.name = "cpu", .implementation = Implementation::oracle}))
            .match(given.pair);
    for (const Device& device : all_devices()) {
      SCOPED_TRACE(device.name + ", " + method);
      expect_same(Matcher(Plan(Pipeline(method), problem, device)).match(given.pair), expected);
    }
  }
}

TEST(GivenFormats, AreRectified) {
  const Size size{96, 64};
  const auto maps = std::make_shared<const RectificationMaps>(rectification_maps(calibration_for(size)));
  for (const PixelFormat format : {PixelFormat::bgra, PixelFormat::nv12, PixelFormat::bayer_grbg})
    for (const char* method : {"banz-sgm", "esaw"}) {
      const Given<std::uint8_t> given(size, format, true);
      const bool grey = format == PixelFormat::nv12 && method == std::string("banz-sgm");
      const StereoPair seen = grey ? given.in_grey() : given.in_rgb;
      Problem problem = Problem::of(given.pair, range), plain = Problem::of(seen, range);
      problem.geometry.rectification = plain.geometry.rectification = maps;
      const Matched expected = Matcher(Plan(Pipeline(method), plain, {"cpu", 1})).match(seen);
      plain = Problem::of(given.in_rgb, range);
      plain.geometry.rectification = maps;
      plain.geometry.want_rectified = true;
      const Matched rectified = Matcher(Plan(Pipeline(method), plain, {"cpu", 1})).match(given.in_rgb);
      for (const Device& device : all_devices())
        for (const bool want_rectified : {false, true}) {
          SCOPED_TRACE(device.name + ", " + method + ", " + to_string(format));
          problem.geometry.want_rectified = want_rectified;
          const Matched got = Matcher(Plan(Pipeline(method), problem, device)).match(given.pair);
          expect_same(got, expected);
          if (!want_rectified) continue;
          EXPECT_TRUE(
              same_bits(got.rectified.view().as<std::uint8_t>(), rectified.rectified.view().as<std::uint8_t>()));
        }
    }
}

// Device images with rows of any pitch.
TEST(GivenFormats, OnADevice) {
  for_each_gpu([&](gpu::Queue&, gpu::Device& device) {
    for (const PixelFormat format : formats) {
      SCOPED_TRACE(to_string(format));
      const Given<std::uint8_t> given({94, 62}, format, false);
      const Matched expected =
          Matcher(Plan(Pipeline("esaw"), Problem::of(given.in_rgb, range), {"cpu", 1})).match(given.in_rgb);
      const DeviceImage left(device.name(), given.pair.left), right(device.name(), given.pair.right);
      const DeviceImage disparity(device.name(), {94, 62}, PixelType::f32), validity(device.name(), {94, 62});
      DevicePair pair{left, right, {}, {}};
      DeviceMatched result;
      result.disparity = disparity;
      result.validity = validity;
      Matcher matcher(Plan(Pipeline("esaw"), Problem::of(given.pair, range), {device.name(), 0}));
      EXPECT_THROW(matcher.enqueue(pair, result), Error);
      pair.format = format;
      for (int run = 0; run < 3; ++run) {
        matcher.wait(matcher.enqueue(pair, result));
        Image<float> got(94, 62);
        disparity.download(got);
        EXPECT_TRUE(same_bits(got.view(), expected.disparity.view()));
      }
    }
  });
}

TEST(GivenFormats, WhatDoesNotFitIsRefused) {
  const auto refused = [](const Problem& problem) {
    EXPECT_THROW(Plan(Pipeline("banz-sgm"), problem, {"cpu", 1}), Error);
  };
  const auto problem_of = [](PixelFormat format, Size size, int channels, PixelType type) {
    Problem p{.size = size, .pixel_type = type, .channels = channels, .range = range, .region = {}, .format = format};
    p.bit_depth = type == PixelType::u16 ? 16 : 8;
    return p;
  };
  refused(problem_of(PixelFormat::bgr, {8, 8}, 1, PixelType::u8));
  refused(problem_of(PixelFormat::bgra, {8, 8}, 4, PixelType::u8));
  refused(problem_of(PixelFormat::nv12, {7, 8}, 3, PixelType::u8));
  refused(problem_of(PixelFormat::nv12, {8, 7}, 3, PixelType::u8));
  refused(problem_of(PixelFormat::nv12, {8, 8}, 3, PixelType::u16));
  refused(problem_of(PixelFormat::bayer_rggb, {1, 8}, 3, PixelType::u8));
  Given<std::uint8_t> given({20, 10}, PixelFormat::nv12, false);
  Matcher matcher(Plan(Pipeline("banz-sgm"), Problem::of(given.pair, range), {"cpu", 1}));
  EXPECT_THROW(matcher.match(given.in_grey()), Error);
  StereoPair changed = given.pair;
  changed.format = PixelFormat::bayer_rggb;
  EXPECT_THROW(matcher.match(changed), Error);
  changed = given.pair;
  changed.left = luma_of_nv12(changed.left);
  changed.right = luma_of_nv12(changed.right);
  EXPECT_THROW(matcher.match(changed), Error);
  changed.format = {};
  EXPECT_THROW(matcher.match(changed), Error);
}

}  // namespace
}  // namespace stereopsis::given_formats_test
