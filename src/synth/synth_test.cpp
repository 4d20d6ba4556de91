#include "stereopsis/synth.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <set>

#include "core/text.hpp"
#include "support/sanitized.hpp"
#include "synth/camera.hpp"
#include "synth/random.hpp"
#include "synth/response.hpp"
#include "synth/scenes.hpp"
#include "synth/sensor.hpp"

namespace stereopsis::synth_test {
namespace {

template <class T>
std::uint64_t checksum(const Image<T>& image, std::uint64_t sum) {  // FNV-1a
  for (int y = 0; y < image.height(); ++y) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(image.row(y));
    const std::size_t count = sizeof(T) * image.width() * image.channels();
    for (std::size_t i = 0; i < count; ++i) sum = (sum ^ bytes[i]) * 0x100000001b3u;
  }
  return sum;
}

std::uint64_t checksum(const Scene& s) {
  std::uint64_t sum = 0xcbf29ce484222325u;
  for (const auto* image : {&s.left, &s.right, &s.nonocc_left, &s.nonocc_right, &s.disc_left})
    sum = checksum(*image, sum);
  for (const auto* image : {&s.disparity_left, &s.disparity_right}) sum = checksum(*image, sum);
  return sum;
}

void for_each_pixel(Size size, const std::function<void(int, int)>& f) {
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) f(x, y);
}

double between_pixels(ImageView<const float> image, double x, int y) {
  const int left = static_cast<int>(std::floor(x));
  return image.clamped(left, y) + (image.clamped(left + 1, y) - image.clamped(left, y)) * (x - left);
}

class EveryScene : public testing::TestWithParam<std::string> {
 protected:
  SceneOptions options(Size size, int disparities) const {
    return {.scene = GetParam(), .size = size, .disparities = disparities};
  }
  // Returns a scene that several test cases share.
  static constexpr Size large{240, 180};
  const Scene& scene() const {
    static std::map<std::string, Scene> made;
    const auto found = made.find(GetParam());
    return found != made.end() ? found->second : made.emplace(GetParam(), make_scene(options(large, 65))).first->second;
  }
};
std::vector<std::string> looked_at() {
  const std::vector<std::string> names = scene_names();
  return sanitized ? std::vector(names.begin(), names.begin() + 4) : names;
}
INSTANTIATE_TEST_SUITE_P(Synth, EveryScene, testing::ValuesIn(looked_at()),
                         [](const auto& tested) { return tested.param; });

TEST(Synth, TheSameOptionsGiveTheSameBytesOnEveryMachine) {
  // The bytes of a scene must never change. A new scene is added at the end, with its own checksum.
  std::uint64_t sum = 0;
  std::vector<std::uint64_t> sums;
  for (const std::string& name : scene_names()) {
    const SceneOptions options{.scene = name,
                               .size = {61, 43},
                               .disparities = 19,
                               .seed = 5,
                               .gain = .9,
                               .gamma = 1.2,
                               .vignetting = .3,
                               .noise = 2};
    sums.push_back(sum = sum * 3 + checksum(make_scene(options)));
  }
  ASSERT_EQ(scene_names()[7], "mix");
  EXPECT_EQ(sums[7], 0x3389abf7301c6b7eu) << std::hex << sums[7];
  EXPECT_EQ(sums[12], 0xc2b5eaa007589d52u) << std::hex << sums[12];
  EXPECT_EQ(sums[16], 0x8bed2464ac238863u) << std::hex << sums[16];
}

// Returns the checksums of random scenes, which are generated once, sequentially.
const std::vector<std::uint64_t>& sums_of_random_scenes() {
  static const std::vector<std::uint64_t> sums = [] {
    std::vector<std::uint64_t> all;
    for (std::uint64_t seed = 0; seed < 24; ++seed)
      all.push_back(checksum(make_scene(random_scene({48, 20}, {120, 90}, 40, seed))));
    return all;
  }();
  return sums;
}

TEST(RandomScenes, TheSameSeedGivesTheSameBytesOnEveryMachine) {
  std::uint64_t all = 0;
  for (const std::uint64_t sum : sums_of_random_scenes()) all = all * 3 + sum;
  EXPECT_EQ(all, 0x9e80aeefbfbfb889u) << std::hex << all;
}

TEST(RandomScenes, OtherMixturesGiveTheSameBytesOnEveryMachine) {
  std::uint64_t all = 0;
  for (const char* like : {"indoor", "road", "plants"})
    for (std::uint64_t seed = 0; seed < 4; ++seed)
      all = all * 3 + checksum(make_scene(random_scene({48, 20}, {124, 38}, 40, seed, like)));
  EXPECT_EQ(all, 0xc2b3c9460cbf00aeu) << std::hex << all;
}

TEST(RandomScenes, SideBySideAreThoseOneByOne) {
  std::vector<SceneOptions> options;
  for (std::uint64_t seed = 0; seed < 12; ++seed) options.push_back(random_scene({48, 20}, {120, 90}, 40, seed));
  std::vector<std::uint64_t> sums(options.size());
  make_scenes(options, [&](int i, const Scene& scene) { sums[i] = checksum(scene); });
  for (std::size_t i = 0; i < options.size(); ++i) EXPECT_EQ(sums[i], sums_of_random_scenes()[i]) << i;
}

TEST(RandomScenes, DifferInEverything) {
  std::set<std::string> scenes;
  std::set<int> disparities, places;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const SceneOptions o = random_scene({320, 56}, {640, 480}, 128, seed);
    scenes.insert(o.scene), disparities.insert(o.disparities), places.insert(o.window.x);
    EXPECT_LE(o.disparities, 128);
    EXPECT_EQ(o.window.size(), (Size{320, 56}));
    EXPECT_EQ(intersect(o.window, {0, 0, 640, 480}), o.window);
  }
  EXPECT_GT(scenes.size(), 8u);
  EXPECT_GT(disparities.size(), 40u);
  EXPECT_GT(places.size(), 60u);
}

class EveryMixture : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(RandomScenes, EveryMixture, testing::ValuesIn(mixture_names()),
                         [](const auto& tested) { return tested.param; });

TEST_P(EveryMixture, HasManyFocalLengthsAndBaselines) {
  double least[] = {1e9, 1e9}, most[] = {0, 0};
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const SceneOptions o = random_scene({384, 120}, {1242, 375}, 128, seed, GetParam());
    const double drawn[] = {o.focal_length, (o.disparities - 1) / (o.focal_length * o.size.width)};
    for (int i = 0; i < 2; ++i) least[i] = std::min(least[i], drawn[i]), most[i] = std::max(most[i], drawn[i]);
  }
  EXPECT_GT(most[0], 2.5 * least[0]);
  EXPECT_GT(most[1], 8 * least[1]);
}

TEST(RandomScenes, AFocalLengthReplacesThatOfTheScene) {
  const auto disparity = [](double focal_length) {
    SceneOptions o{.scene = "traffic", .size = {124, 38}, .disparities = 40};
    o.focal_length = focal_length;
    return make_scene(o).disparity_left;
  };
  EXPECT_EQ(checksum(disparity(0), 0), checksum(disparity(.58), 0));
  EXPECT_NE(checksum(disparity(0), 0), checksum(disparity(1.2), 0));
  EXPECT_THROW(disparity(-1), Error);
}

TEST_P(EveryMixture, HasPartsOfWidePicturesWithExactTruth) {
  std::set<std::string> scenes;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const SceneOptions o = random_scene({384, 120}, {1242, 375}, 128, seed, GetParam());
    EXPECT_EQ(intersect(o.window, {0, 0, 1242, 375}), o.window);
    scenes.insert(o.scene);
  }
  EXPECT_GT(scenes.size(), 1u);
  for (std::uint64_t seed = 0; seed < 2; ++seed) {
    const SceneOptions o = random_scene({64, 20}, {207, 62}, 40, seed, GetParam());
    SceneOptions ideal{.scene = o.scene, .size = o.size, .disparities = o.disparities, .seed = o.seed};
    ideal.focal_length = o.focal_length;
    ideal.window = o.window;
    const Scene photographed = make_scene(o), exact = make_scene(ideal);
    EXPECT_EQ(checksum(photographed.disparity_left, 0), checksum(exact.disparity_left, 0));
    EXPECT_EQ(checksum(photographed.nonocc_left, 0), checksum(exact.nonocc_left, 0));
  }
}

TEST(RandomScenes, TheDefaultMixtureIsVaried) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const SceneOptions a = random_scene({32, 20}, {64, 48}, 40, seed),
                       b = random_scene({32, 20}, {64, 48}, 40, seed, "varied");
    EXPECT_EQ(a.scene, b.scene);
    EXPECT_EQ(a.seed, b.seed);
    EXPECT_EQ(a.vertical_slope, b.vertical_slope);
    EXPECT_EQ(a.exposure, 1);
  }
}

TEST(RandomScenes, AnUnknownMixtureIsRefused) {
  try {
    random_scene({32, 20}, {64, 48}, 40, 1, "roads");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("'roads' (did you mean 'road'?)"), std::string::npos) << error.what();
  }
}

TEST(RandomScenes, APictureSmallerThanItsWindowIsRefused) {
  EXPECT_THROW(random_scene({320, 56}, {300, 200}, 64, 1), Error);
  EXPECT_THROW(random_scene({320, 56}, {640, 480}, 0, 1), Error);
}

TEST_P(EveryScene, AWindowIsAPartOfThePicture) {
  SceneOptions o = options({120, 90}, 33);
  o.noise = 2, o.gain = .8, o.vignetting = .3, o.light = .2, o.shot_noise = 3;
  o.vertical_offset = .4, o.vertical_slope = -3;
  const Scene whole = make_scene(o);
  o.window = {31, 22, 50, 37};
  const Scene part = make_scene(o);
  ASSERT_EQ(part.left.size(), o.window.size());
  for_each_pixel(o.window.size(), [&](int x, int y) {
    for (int c = 0; c < 3; ++c) {
      ASSERT_EQ(part.left(x, y, c), whole.left(x + 31, y + 22, c)) << x << ", " << y;
      ASSERT_EQ(part.right(x, y, c), whole.right(x + 31, y + 22, c)) << x << ", " << y;
    }
    ASSERT_EQ(part.disparity_left(x, y), whole.disparity_left(x + 31, y + 22));
    const double there = x - part.disparity_left(x, y);
    ASSERT_EQ(part.nonocc_left(x, y), there < -.5 ? 128 : whole.nonocc_left(x + 31, y + 22));
  });
}

TEST_P(EveryScene, ChangesWithTheSeed) {
  SceneOptions o = options({40, 30}, 16);
  const std::uint64_t first = checksum(make_scene(o));
  o.seed = 2;
  EXPECT_NE(first, checksum(make_scene(o)));
}

TEST_P(EveryScene, FillsTheRange) {
  for (const Size size : {Size{120, 90}, Size{155, 47}, Size{75, 75}}) {
    const Scene s = make_scene(options(size, 101));
    float least = 1e9f, most = -1;
    for_each_pixel(size, [&](int x, int y) {
      least = std::min(least, s.disparity_left(x, y)), most = std::max(most, s.disparity_left(x, y));
    });
    EXPECT_GE(least, 4.999f);
    EXPECT_LE(least, 8);
    EXPECT_GE(most, 88);
    EXPECT_LE(most, 95.001f);
  }
}

TEST_P(EveryScene, AnySizeAndRange) {
  for (const Size size : {Size{1, 1}, Size{7, 3}, Size{1, 9}, Size{33, 1}, Size{17, 20}})
    for (const int disparities : {1, 13, 300}) {
      SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", " << disparities << " disparities");
      const Scene s = make_scene(options(size, disparities));
      ASSERT_EQ(s.left.size(), size);
      ASSERT_EQ(s.right.channels(), 3);
      for_each_pixel(size, [&](int x, int y) {
        for (const float d : {s.disparity_left(x, y), s.disparity_right(x, y)}) {
          ASSERT_GE(d, 0);
          ASSERT_LE(d, disparities - 1);
        }
        ASSERT_TRUE(s.nonocc_left(x, y) == 255 || s.nonocc_left(x, y) == 128);
        if (x < std::floor(s.disparity_left(x, y))) {
          ASSERT_EQ(s.nonocc_left(x, y), 128) << x << ", " << y;
        }
      });
    }
}

TEST_P(EveryScene, OneDisparityMakesBothImagesEqual) {
  const Size size{33, 25};
  const Scene s = make_scene(options(size, 1));
  for_each_pixel(size, [&](int x, int y) {
    for (int c = 0; c < 3; ++c) ASSERT_EQ(s.left(x, y, c), s.right(x, y, c));
    ASSERT_EQ(s.disparity_left(x, y), 0);
    ASSERT_EQ(s.nonocc_left(x, y), 255);
    ASSERT_EQ(s.disc_left(x, y), 128);
  });
}

// The definition of the ground truth, before images are sampled: the ray of the right camera through x − d meets the
// same point with the same colour.
TEST_P(EveryScene, BothCamerasSeeTheSamePointAtTheTrueDisparity) {
  using namespace synth;
  const Size size{96, 72};
  const auto named = std::find_if(named_scenes().begin(), named_scenes().end(),
                                  [&](const NamedScene& n) { return n.name == GetParam(); });
  const RigGeometry rig(size, 25, named->focal_length);
  const World world = build_world(*named, rig, 1);
  const View left(world, size, rig.scale, 0), right(world, size, rig.scale, rig.baseline());
  const Scene s = make_scene(options(size, 25));
  int visible = 0;
  for_each_pixel(size, [&](int x, int y) {
    const Candidates near = left.candidates(x, y, x, y);
    const Hit hit = left.trace(x, y, near);
    const double d = rig.disparity(hit.depth);
    ASSERT_EQ(static_cast<float>(d), s.disparity_left(x, y));
    const Hit there = right.trace(x - d, y, right.candidates(x - d, y, x - d, y));
    if (s.nonocc_left(x, y) != 255) {
      ASSERT_TRUE(x - d < -.5 || there.depth < hit.depth * (1 - 1e-8) || there.back != hit.back);
      return;
    }
    ++visible;
    ASSERT_NEAR(rig.disparity(there.depth), d, 1e-6);
    const Colour difference = colour_of(world, hit) - colour_of(world, there);
    if (there.surface == hit.surface) {
      ASSERT_LT(length(hit.local - there.local), 1e-6);
    }
    // The last bit decides if a hard edge of a pattern runs through the point.
    if (length(difference) > 1e-6) --visible;
  });
  EXPECT_GT(visible, .7 * size.width * size.height);
}

TEST_P(EveryScene, WarpingTheRightImageGivesTheLeftOne) {
  const Size size{320, 240};
  const Scene s = make_scene(options(size, 33));
  Image<float> right(size);
  for_each_pixel(size, [&](int x, int y) { right(x, y) = s.right(x, y, 1); });
  double error = 0, unwarped = 0;
  int counted = 0;
  for_each_pixel(size, [&](int x, int y) {
    if (s.disc_left(x, y) != 128) return;
    error += std::abs(s.left(x, y, 1) - between_pixels(right, x - s.disparity_left(x, y), y));
    unwarped += std::abs(s.left(x, y, 1) - between_pixels(right, x - s.disparity_left(x, y) + 1.5, y));
    ++counted;
  });
  ASSERT_GT(counted, size.width * size.height / 3);
  EXPECT_LT(error / counted, 4);
  EXPECT_LT(error, .75 * unwarped);  // a wrong disparity would be detected
}

TEST_P(EveryScene, BothDisparityMapsAgreeWhereBothSee) {
  const Scene& s = scene();
  const Size size = large;
  int counted = 0, agree = 0;
  for_each_pixel(size, [&](int x, int y) {
    if (s.disc_left(x, y) != 128) return;
    ++counted;
    const double d = s.disparity_left(x, y);
    // A thin object may cover one of the two right pixels between which the point lies.
    const double first = s.disparity_right.view().clamped(static_cast<int>(std::floor(x - d)), y);
    const double second = s.disparity_right.view().clamped(static_cast<int>(std::floor(x - d)) + 1, y);
    const double error = std::abs(between_pixels(s.disparity_right, x - d, y) - d);
    agree += std::min({error, std::abs(first - d), std::abs(second - d)}) < .05;
  });
  EXPECT_GT(agree, .985 * counted);
}

// A nearer right pixel next to the point occludes it. No right pixel may occlude a visible point. The maps have no
// information between pixels, which explains the few exceptions.
TEST_P(EveryScene, OcclusionFollowsTheOrderInDepth) {
  const Scene& s = scene();
  const Size size = large;
  int occluded = 0, hidden = 0, visible = 0, wrong = 0;
  for_each_pixel(size, [&](int x, int y) {
    const double d = s.disparity_left(x, y), there = x - d;
    if (there < -.5) {
      EXPECT_EQ(s.nonocc_left(x, y), 128);
      return;
    }
    const int beside = static_cast<int>(std::floor(there));
    const double first = s.disparity_right.view().clamped(beside, y),
                 second = s.disparity_right.view().clamped(beside + 1, y);
    if (s.nonocc_left(x, y) == 255) {
      ++visible;
      wrong += std::min(first, second) > d + .5;
    } else {
      ++occluded;
      hidden += std::max(first, second) > d + .02;
    }
  });
  EXPECT_LT(wrong, .002 * visible);
  EXPECT_GT(occluded, 100);
  EXPECT_GT(hidden, .97 * occluded);
}

TEST_P(EveryScene, DiscMaskIsWithinFourPixelsOfAJump) {
  const Size size{120, 90};
  const Scene s = make_scene(options(size, 33));
  const auto jumps = [&](int x, int y) {
    for (const auto& [dx, dy] : {std::pair{1, 0}, {-1, 0}, {0, 1}, {0, -1}})
      if (std::abs(s.disparity_left.view().clamped(x + dx, y + dy) - s.disparity_left(x, y)) > 1) return true;
    return false;
  };
  Image<std::uint8_t> near(size, 1, std::uint8_t{0});
  for_each_pixel(size, [&](int x, int y) {
    if (!jumps(x, y)) return;
    const Rect window = intersect({x - 4, y - 4, 9, 9}, {0, 0, size.width, size.height});
    for_each_pixel(window.size(), [&](int i, int j) { near(window.x + i, window.y + j) = 1; });
  });
  for_each_pixel(size, [&](int x, int y) {
    ASSERT_EQ(s.disc_left(x, y), s.nonocc_left(x, y) != 255 ? 0 : near(x, y) ? 255 : 128) << x << ", " << y;
  });
}

TEST(Synth, PanelsAreExactPlanesOfDisparity) {
  using namespace synth;
  const Size size{160, 120};
  const RigGeometry rig(size, 64);
  const auto named = std::find_if(named_scenes().begin(), named_scenes().end(),
                                  [](const NamedScene& n) { return n.name == std::string("planes"); });
  const World world = build_world(*named, rig, 3);
  for (const double position : {0.0, rig.baseline()}) {
    const View view(world, size, rig.scale, position);
    int counted = 0;
    for_each_pixel({size.width - 2, size.height}, [&](int x, int y) {
      const Candidates all = view.candidates(x, y, x + 2, y);
      const Hit a = view.trace(x, y, all), b = view.trace(x + 1, y, all), c = view.trace(x + 2, y, all);
      if (a.surface != b.surface || b.surface != c.surface) return;
      ASSERT_NEAR(rig.disparity(a.depth) - 2 * rig.disparity(b.depth) + rig.disparity(c.depth), 0, 1e-11);
      ++counted;
    });
    EXPECT_GT(counted, 10000);
  }
}

const SceneOptions photometric{.scene = "planes", .size = {200, 150}, .disparities = 32};

// Returns the scene without any changes to its images.
const Scene& ideal() {
  static const Scene scene = make_scene(photometric);
  return scene;
}

// Compares the right image with `expected`, a function of the values in the unchanged scene.
void expect_right(const SceneOptions& options, const std::function<double(double, int, int)>& expected) {
  const Scene &plain = ideal(), changed = make_scene(options);
  for_each_pixel(options.size, [&](int x, int y) {
    for (int c = 0; c < 3; ++c) {
      ASSERT_EQ(plain.left(x, y, c), changed.left(x, y, c));
      const int value = plain.right(x, y, c);
      if (value == 255) continue;  // clipped
      // Images are rounded before and after the change. The curve is therefore evaluated from half a level below the
      // value to half a level above it.
      ASSERT_GE(changed.right(x, y, c), std::clamp(expected(std::max(value - .5, 0.0), x, y), 0.0, 255.0) - .501);
      ASSERT_LE(changed.right(x, y, c), std::clamp(expected(value + .5, x, y), 0.0, 255.0) + .501);
    }
    ASSERT_EQ(plain.disparity_right(x, y), changed.disparity_right(x, y));
  });
}

TEST(Synth, GainScalesTheRightImage) {
  for (const double gain : {0.0, .5, 1.7}) {
    SceneOptions o = photometric;
    o.gain = gain;
    expect_right(o, [&](double v, int, int) { return gain * v; });
  }
}

TEST(Synth, GammaBendsTheRightImage) {
  for (const double gamma : {.5, 2.2}) {
    SceneOptions o = photometric;
    o.gamma = gamma;
    expect_right(o, [&](double v, int, int) { return 255 * std::pow(v / 255, gamma); });
  }
}

TEST(Synth, VignettingDarkensTheCornersOfTheRightImage) {
  SceneOptions o = photometric;
  o.vignetting = .6;
  expect_right(o, [&](double v, int x, int y) {
    const double cx = 99.5, cy = 74.5;
    return v * (1 - .6 * ((x - cx) * (x - cx) + (y - cy) * (y - cy)) / (cx * cx + cy * cy));
  });
}

TEST(Synth, NoiseHasTheStandardDeviationAskedFor) {
  SceneOptions o = photometric;
  const Scene& plain = ideal();
  for (const double sigma : {1.0, 6.0}) {
    o.noise = sigma;
    const Scene noisy = make_scene(o);
    double sum = 0, squares = 0, product = 0;
    int counted = 0;
    for_each_pixel(o.size, [&](int x, int y) {
      for (int c = 0; c < 3; ++c) {
        const auto usable = [](int v) { return v > 40 && v < 215; };
        if (!usable(plain.left(x, y, c)) || !usable(plain.right(x, y, c))) continue;
        const double left = noisy.left(x, y, c) - plain.left(x, y, c),
                     right = noisy.right(x, y, c) - plain.right(x, y, c);
        sum += left + right, squares += left * left + right * right, product += left * right, counted += 2;
      }
    });
    ASSERT_GT(counted, 50000);
    const double variance = squares / counted;
    EXPECT_NEAR(sum / counted, 0, 5 * sigma / std::sqrt(counted) + .01);
    EXPECT_NEAR(variance, sigma * sigma + 1.0 / 6, .03 * variance);  // two roundings, each with a variance of 1/12
    EXPECT_NEAR(2 * product / counted, 0, .03 * variance);           // the noise is independent in both images
  }
}

// Effects of camera and lens change only the images, and never the truth.
TEST(Synth, WhatTheCameraDoesChangesImagesOnly) {
  for (const auto& change : std::vector<std::function<void(SceneOptions&)>>{
           [](SceneOptions& o) { o.light = .2; }, [](SceneOptions& o) { o.shot_noise = 4; },
           [](SceneOptions& o) { o.defocus = 4; }, [](SceneOptions& o) { o.motion = 3; },
           [](SceneOptions& o) { o.blur_right = 1; }, [](SceneOptions& o) { o.sharpening = 1; },
           [](SceneOptions& o) { o.vertical_offset = 1; }, [](SceneOptions& o) { o.vertical_slope = 2; },
           [](SceneOptions& o) { o.vertical_jitter = 1; }, [](SceneOptions& o) { o.exposure = 2; },
           [](SceneOptions& o) { o.tone = 1.5; }, [](SceneOptions& o) { o.flare = .5; },
           [](SceneOptions& o) { o.demosaicing = 1; }, [](SceneOptions& o) { o.jpeg = 60; },
           [](SceneOptions& o) { o.resampling = 1; }}) {
    SceneOptions o = photometric;
    change(o);
    const Scene changed = make_scene(o);
    EXPECT_NE(checksum(changed.right, 0), checksum(ideal().right, 0));
    EXPECT_EQ(checksum(changed.disparity_left, 0), checksum(ideal().disparity_left, 0));
    EXPECT_EQ(checksum(changed.disparity_right, 0), checksum(ideal().disparity_right, 0));
    EXPECT_EQ(checksum(changed.nonocc_left, 0), checksum(ideal().nonocc_left, 0));
    EXPECT_EQ(checksum(changed.disc_left, 0), checksum(ideal().disc_left, 0));
  }
}

TEST(Synth, AWaveMovesTheRowsOfItsCrestByItsAmplitude) {
  SceneOptions o = photometric;
  o.vertical_wave = 1;
  o.vertical_period = 4 * 16;
  const Scene wave = make_scene(o);
  int at_crest = 0, at_zero = 0;
  for (int x = 0; x < o.size.width; ++x) {
    at_crest += std::abs(wave.right(x, 16, 1) - ideal().right(x, 17, 1)) > 1;
    at_zero += std::abs(wave.right(x, 32, 1) - ideal().right(x, 32, 1)) > 1;
  }
  EXPECT_LT(at_crest, o.size.width / 10);
  EXPECT_LT(at_zero, o.size.width / 10);
  EXPECT_EQ(checksum(wave.left, 0), checksum(ideal().left, 0));
}

TEST(Synth, AWholeRowOffIsTheNextRow) {
  SceneOptions o = photometric;
  o.vertical_offset = 1;
  const Scene off = make_scene(o);
  int different = 0;
  for_each_pixel({o.size.width, o.size.height - 1},
                 [&](int x, int y) { different += std::abs(off.right(x, y, 1) - ideal().right(x, y + 1, 1)) > 1; });
  EXPECT_LT(different, o.size.width);  // Only few pixels differ, at the borders of blocks of candidates.
  EXPECT_EQ(checksum(off.left, 0), checksum(ideal().left, 0));
}

TEST(Synth, BlurHasTheVarianceAskedFor) {
  using namespace synth;
  for (const double sigma : {.6, 1.0, 2.5}) {
    Picture picture({41, 41});
    picture(20, 20) = {1, 1, 1};
    apply({.blur = sigma}, Image<float>({41, 41}, 1, 5.f), picture);
    double sum = 0, variance = 0;
    for_each_pixel({41, 41}, [&](int x, int y) {
      sum += picture(x, y).x;
      variance += picture(x, y).x * (x - 20) * (x - 20);
    });
    EXPECT_NEAR(sum, 1, 1e-9);
    EXPECT_NEAR(variance, sigma * sigma, .04 * sigma * sigma);
  }
}

TEST(Synth, MotionSpreadsAPointOverALevelLine) {
  using namespace synth;
  for (const double length : {.5, 1.0, 2.0, 4.5}) {
    Picture picture({21, 3});
    picture(10, 1) = {1, 1, 1};
    apply({.motion = length}, Image<float>({21, 3}, 1, 5.f), picture);
    double sum = 0, most = 0;
    for_each_pixel({21, 3}, [&](int x, int y) {
      sum += picture(x, y).x, most = std::max(most, picture(x, y).x);
      if (y != 1 || std::abs(x - 10) > .5 * length + 1) {
        EXPECT_EQ(picture(x, y).x, 0);
      }
    });
    EXPECT_NEAR(sum, 1, 1e-9);
    EXPECT_NEAR(most, 1 / std::max(1.0, length), length < 1 ? 1 : .1);
  }
}

TEST(Synth, DefocusLeavesWhatIsInFocusAndItsEdges) {
  using namespace synth;
  const Size size{40, 20};
  Image<float> disparity(size);
  Picture sharp(size);
  for_each_pixel(size, [&](int x, int y) {
    disparity(x, y) = x < 20 ? 30.f : 10.f;  // the left half is in front and in focus
    const double v = (x * 7 + y * 13) % 5 * .2;
    sharp(x, y) = {v, v, v};
  });
  Picture picture = sharp;
  apply({.defocus = .15, .focused = 30}, disparity, picture);
  double changed = 0;
  for_each_pixel(size, [&](int x, int y) {
    if (x < 20) {
      EXPECT_NEAR(picture(x, y).x, sharp(x, y).x, 1e-12) << x;
    } else {
      changed += std::abs(picture(x, y).x - sharp(x, y).x);
    }
  });
  EXPECT_GT(changed, 40);
}

TEST(Synth, ExposureAndToneChangeBothImages) {
  SceneOptions o = photometric;
  o.exposure = 1.5, o.tone = 1.8;
  const Scene changed = make_scene(o);
  for (const auto& [before, after] : {std::pair{&ideal().left, &changed.left}, {&ideal().right, &changed.right}})
    for_each_pixel(o.size, [&](int x, int y) {
      const int value = (*before)(x, y, 1);
      if (value == 255) return;
      const auto expected = [](double v) { return 255 * std::pow(std::min(1.5 * v / 255, 1.0), 1.8); };
      ASSERT_GE((*after)(x, y, 1), expected(std::max(value - .5, 0.0)) - .501);
      ASSERT_LE((*after)(x, y, 1), expected(value + .5) + .501);
    });
}

// Returns a smooth image with a step, and different values in the three channels.
Image<std::uint8_t> coloured(Size size) {
  Image<std::uint8_t> image(size, 3);
  for_each_pixel(size, [&](int x, int y) {
    for (int c = 0; c < 3; ++c)
      image(x, y, c) = static_cast<std::uint8_t>(60 + 2 * x + y + 20 * c + (x > size.width / 2 ? 50 : 0));
  });
  return image;
}

double mean_difference(const Image<std::uint8_t>& a, const Image<std::uint8_t>& b) {
  double sum = 0;
  for_each_pixel(a.size(), [&](int x, int y) {
    for (int c = 0; c < 3; ++c) sum += std::abs(a(x, y, c) - b(x, y, c));
  });
  return sum / (3.0 * a.width() * a.height());
}

TEST(Synth, DemosaicingKeepsOneChannelOfEachPixelAndInterpolatesTheOthers) {
  const Image<std::uint8_t> before = coloured({24, 17});
  for (const int x0 : {0, 3}) {
    Image<std::uint8_t> after = coloured({24, 17});
    synth::demosaic(1, x0, 0, after.view());
    for (int y = 1; y < 16; ++y)
      for (int x = 1; x < 23; ++x) {
        const int column = (x + x0) % 2, kept = column != y % 2 ? 1 : column == 0 ? 0 : 2;
        EXPECT_EQ(after(x, y, kept), before(x, y, kept));
        if (kept == 1) continue;
        const int around = before(x - 1, y, 1) + before(x + 1, y, 1) + before(x, y - 1, 1) + before(x, y + 1, 1);
        EXPECT_NEAR(after(x, y, 1), around / 4.0, .51);
      }
  }
}

TEST(Synth, JpegOfHigherQualityChangesLess) {
  const Image<std::uint8_t> before = coloured({37, 21});  // sizes that are not multiples of a block
  double last = 30;
  for (const int quality : {5, 30, 75, 100}) {
    Image<std::uint8_t> after = coloured({37, 21});
    synth::compress(quality, after.view());
    const double change = mean_difference(before, after);
    EXPECT_LT(change, last) << quality;
    if (quality == 5) {
      EXPECT_GT(change, 2);
    }
    last = change;
  }
  EXPECT_LT(last, .5);
  Image<std::uint8_t> flat({20, 9}, 3, std::uint8_t{77});
  synth::compress(90, flat.view());
  for_each_pixel({20, 9}, [&](int x, int y) { EXPECT_NEAR(flat(x, y, 1), 77, 1); });
}

TEST(Synth, ResamplingByHalfAPixelIsTheMeanOfTwo) {
  const Image<std::uint8_t> before = coloured({24, 17});
  Image<std::uint8_t> after = coloured({24, 17});
  synth::resample({.x = .5}, after.view());
  for (int y = 0; y < 17; ++y)
    for (int x = 1; x < 24; ++x) EXPECT_NEAR(after(x, y, 0), .5 * (before(x - 1, y, 0) + before(x, y, 0)), .51);
  const synth::Shift shift{.x = .3, .xx = .01, .xy = -.02, .y = -.4, .yx = .03, .yy = -.01};
  const synth::Point p = shift.at(7, 11), back = shift.origin_of(p);
  EXPECT_NEAR(back.x, 7, 1e-12);
  EXPECT_NEAR(back.y, 11, 1e-12);
}

// Raw images that are bent differently show the same points after rectification: only fine detail is lost.
TEST(Synth, ResampledImagesStayRectified) {
  SceneOptions o = photometric;
  o.resampling = 3;
  const Scene changed = make_scene(o);
  EXPECT_LT(mean_difference(changed.left, ideal().left), 6);
  EXPECT_LT(mean_difference(changed.right, ideal().right), 6);
  SceneOptions off = photometric;
  off.vertical_offset = 1;
  EXPECT_GT(mean_difference(make_scene(off).right, ideal().right), 1.2 * mean_difference(changed.right, ideal().right));
}

// The light of a flare does not move with the disparity.
TEST(Synth, FlareLiesAtOnePlaceInBothImages) {
  SceneOptions o = photometric;
  o.flare = .3;
  const Scene changed = make_scene(o);
  const auto brightest = [&](const Image<std::uint8_t>& with, const Image<std::uint8_t>& without) {
    int most = -1, at = 0;
    for_each_pixel(o.size, [&](int x, int y) {
      const int added = without(x, y, 1) < 150 ? with(x, y, 1) - without(x, y, 1) : 0;
      if (added > most) most = added, at = x;
    });
    EXPECT_GT(most, 20);
    return at;
  };
  EXPECT_NEAR(brightest(changed.left, ideal().left), brightest(changed.right, ideal().right), 12);
}

TEST(Synth, ShotNoiseGrowsWithTheRootOfTheLight) {
  synth::Response r{.size = {64, 64}, .shot_noise = 8, .seed = 3};
  for (const double light : {.2, .4, .8}) {
    double squares = 0;
    for_each_pixel(r.size, [&](int x, int y) {
      std::uint8_t pixel[3];
      r.write({light, light, light}, x, y, pixel);
      for (const std::uint8_t v : pixel) squares += (v - 255 * light) * (v - 255 * light);
    });
    EXPECT_NEAR(squares / (3 * 64 * 64), 64 * light + 1.0 / 12, .05 * 64 * light);
  }
}

// A highlight moves with the camera and is not fixed to the surface, so that the two cameras see different colours at
// the same point.
TEST(Synth, ReflectionsMoveWithTheView) {
  using namespace synth;
  World world;
  Surface ball;
  ball.shape = Shape::ellipsoid;
  ball.frame.origin = {0, 0, 4};
  ball.size = {1, 1, 1};
  world.surfaces.push_back(std::move(ball));
  const View view(world, {40, 40}, 40, 0);
  const Candidates all = view.candidates(0, 0, 40, 40);
  const auto difference = [&] {
    double most = 0;
    for_each_pixel({40, 40}, [&](int x, int y) {
      const Hit hit = view.trace(x, y, all);
      most = std::max(most, length(seen_colour_of(world, hit, 0) - seen_colour_of(world, hit, .5)));
    });
    return most;
  };
  EXPECT_EQ(difference(), 0);
  world.surfaces[0].texture.gloss = .8;
  EXPECT_GT(difference(), .2);
}

// Returns a world with a board across the view at depth 4.
synth::World board(const synth::Texture& texture) {
  synth::World world;
  synth::Surface& s = world.surfaces.emplace_back();
  s.frame = {{-2, -2, 4}, {1, 0, 0}, {0, 1, 0}, {0, 0, -1}};
  s.size = {4, 4, 0};
  s.texture = texture;
  return world;
}

// Returns what a camera sees at the centre of its image.
synth::Colour seen_from(const synth::World& world, double position, double x) {
  const synth::View view(world, {41, 41}, 40, position);
  return synth::seen_colour_of(world, view.trace(x, 20, view.candidates(x, 20, x, 20)), position);
}

// The pattern behind a pane has the disparity of its own depth, whereas the truth is that of the pane.
TEST(Synth, APatternBehindAPaneMovesAsItsDepth) {
  using namespace synth;
  const World world = board({.pattern = Pattern::waves, .cell = .8, .behind = 1});
  const double baseline = .6, disparity = 40 * baseline / 5;
  for (const double x : {15.0, 20.0, 24.0}) {
    const Colour left = seen_from(world, 0, x);
    EXPECT_NEAR(left.x, seen_from(world, baseline, x - disparity).x, 1e-9);
    EXPECT_GT(std::abs(left.x - seen_from(world, baseline, x - 40 * baseline / 4).x), 1e-3);
  }
}

TEST(Synth, LightShinesThroughALeafOnly) {
  using namespace synth;
  const auto seen_against_the_sun = [](const Texture& texture) {
    World world = board(texture);
    world.sun = {0, 0, 1};  // behind the board
    return seen_from(world, 0, 20).x;
  };
  const double dark = seen_against_the_sun({.a = {.5, .5, .5}});
  EXPECT_NEAR(seen_against_the_sun({.a = {.5, .5, .5}, .translucency = .5}), dark + .5 * .5 * World().direct, 1e-9);
  EXPECT_NEAR(seen_against_the_sun({.a = {.5, .5, .5}, .emission = 1}), dark + .5, 1e-9);
}

TEST(Synth, AHardShadowFallsWhereARayToTheSunIsBlocked) {
  using namespace synth;
  World world = board({.a = {.5, .5, .5}});
  world.sun = normalised({.5, 0, -1});
  Surface& ball = world.surfaces.emplace_back();
  ball.shape = Shape::ellipsoid;
  ball.frame.origin = {.5, 0, 3};  // between the middle of the board and the sun
  ball.size = {.2, .2, .2};
  world.hard_shadows = true;
  world.sunlight = Sunlight(world.surfaces, world.sun);
  EXPECT_FALSE(world.sunlight.reaches({0, 0, 4}, world.surfaces));
  EXPECT_FALSE(world.sunlight.reaches({.15, 0, 4}, world.surfaces));
  EXPECT_TRUE(world.sunlight.reaches({.3, 0, 4}, world.surfaces));
  EXPECT_TRUE(world.sunlight.reaches({0, .3, 4}, world.surfaces));
  EXPECT_TRUE(world.sunlight.reaches({-30, 0, 4}, world.surfaces)) << "a point outside the usual part of the world";
  EXPECT_GT(seen_from(world, 0, 22.9).x, seen_from(world, 0, 20).x + .2);
}

TEST(Synth, AMirrorShowsTheBackdrop) {
  using namespace synth;
  World world = board({.a = {.2, .2, .2}});
  world.backdrop.a = {1, 0, 0};
  const Colour matt = seen_from(world, 0, 38);
  world.surfaces[0].texture.mirror = 1;
  const Colour mirrored = seen_from(world, 0, 38);
  EXPECT_GT(mirrored.x, matt.x);
  EXPECT_LT(mirrored.y, matt.y);
}

TEST(Synth, HazeTakesContrastWithDepth) {
  using namespace synth;
  World world;
  world.haze = .1;
  const Hit sky{};  // an intersection at the largest depth
  const Colour clear = colour_of(world, sky), seen = seen_colour_of(world, sky, 0);
  const double left = std::pow(.9, farthest_depth);
  EXPECT_NEAR(seen.x, left * clear.x + (1 - left) * world.haze_colour.x, 1e-9);
}

TEST(Synth, PowerIsThatOfTheCLibrary) {
  for (const double base : {1e-6, .003, .1, .5, .70710678, .9999, 1.0})
    for (const double exponent : {.1, .45, 1.0, 2.2, 10.0})
      EXPECT_NEAR(synth::power(base, exponent) / std::pow(base, exponent), 1, 1e-12) << base << "^" << exponent;
  EXPECT_EQ(synth::power(0, 2.2), 0);
}

TEST(Synth, ForbiddenOptionsAreRefusedWithASentence) {
  const auto sentence = [](const std::function<void(SceneOptions&)>& change) -> std::string {
    SceneOptions o{.size = {4, 4}};
    change(o);
    try {
      make_scene(o);
    } catch (const Error& error) {
      EXPECT_EQ(error.category(), ErrorCategory::call);
      return error.what();
    }
    return "not refused";
  };
  const auto expect = [](const std::string& said, const std::vector<std::string>& parts) {
    for (const std::string& part : parts) EXPECT_NE(said.find(part), std::string::npos) << said;
  };
  expect(sentence([](SceneOptions& o) { o.scene = "tabel"; }), {"'tabel'", "did you mean 'table'?", "street"});
  expect(sentence([](SceneOptions& o) { o.size = {0, 5}; }), {"0×5", "at least 1"});
  expect(sentence([](SceneOptions& o) { o.size = {5, -1}; }), {"5×-1", "at least 1"});
  expect(sentence([](SceneOptions& o) { o.disparities = 0; }), {"0 disparities", "at least 1"});
  expect(sentence([](SceneOptions& o) { o.gain = -1; }), {"gain is -1", "from 0 to 100"});
  expect(sentence([](SceneOptions& o) { o.gamma = 0; }), {"gamma is 0", "from 0.1 to 10"});
  expect(sentence([](SceneOptions& o) { o.vignetting = 1.5; }), {"vignetting is 1.5", "from 0 to 1"});
  expect(sentence([](SceneOptions& o) { o.noise = std::nan(""); }), {"noise is nan", "from 0 to 255"});
  expect(sentence([](SceneOptions& o) { o.defocus = 7; }), {"defocus is 7", "from 0 to 6"});
  expect(sentence([](SceneOptions& o) { o.jpeg = 101; }), {"JPEG quality is 101", "from 0 to 100"});
  expect(sentence([](SceneOptions& o) { o.resampling = -1; }), {"resampling is -1", "from 0 to 4"});
  expect(sentence([](SceneOptions& o) { o.vertical_slope = -21; }), {"vertical slope is -21", "from -20 to 20"});
  expect(sentence([](SceneOptions& o) { o.vertical_period = 5; }), {"vertical period is 5", "from 10 to 100000"});
  expect(sentence([](SceneOptions& o) { o.window = {1, 1, 4, 2}; }), {"4×2 at (1, 1)", "4×4", "inside"});
}

}  // namespace
}  // namespace stereopsis::synth_test
