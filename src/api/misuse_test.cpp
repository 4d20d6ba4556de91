// Tests of wrong calls on every device. Each call throws an Error with a sentence, leaks nothing, and writes only to
// the requested outputs.
#include <cstring>
#include <limits>

#include "core/text.hpp"
#include "stereopsis/matcher.hpp"
#include "stereopsis/pair_check.hpp"
#include "stereopsis/synth.hpp"
#include "support/devices.hpp"
#include "support/stage_test.hpp"

namespace stereopsis::misuse_test {
namespace {

using namespace test;

constexpr Size size{93, 61};
constexpr DisparityRange range{0, 24};

std::vector<std::string> all_devices() {
  std::vector<std::string> names = {"cpu"};
  for (const gpu::Device* device : gpu::usable_devices()) names.push_back(device->name());
  return names;
}

// Expects that `f` throws an Error whose message contains `said`, on every device.
template <class F>
void expect_refused(const std::string& said, F&& f) {
  try {
    f();
    ADD_FAILURE() << "not refused: " << said;
  } catch (const Error& error) {
    EXPECT_EQ(error.category(), ErrorCategory::call) << error.what();
    EXPECT_NE(std::string(error.what()).find(said), std::string::npos) << error.what();
  }
}

void expect_same(const Matched& got, const Matched& expected) {
  EXPECT_TRUE(same_bits(got.disparity.view(), expected.disparity.view()));
  EXPECT_TRUE(same_bits(got.validity.view(), expected.validity.view()));
}

class Misuse : public testing::Test {
 protected:
  StereoPair pair() const { return {scene.left, scene.right, {}, {}}; }
  Problem problem(int batch = 1) const {
    Problem p = Problem::of(pair(), range);
    p.batch = batch;
    return p;
  }
  Matcher matcher(const std::string& device, int batch = 1) const {
    return Matcher(Plan(Pipeline("sgm"), problem(batch), {device, 0}));
  }

  const Scene scene = make_scene({.size = size, .disparities = range.count, .noise = 2});
};

#ifdef STEREOPSIS_SIMD  // the oracles use no threads
TEST_F(Misuse, ThreadsBelowZeroAreRefused) {
  expect_refused("-5 threads", [&] { match(pair(), range, Pipeline("sgm"), {"cpu", -5}); });
}
#endif

TEST_F(Misuse, ABatchThatThrowsHasNoPairInWork) {
  const Image<std::uint8_t> small({10, 10}, 3, 0);
  const Matched expected = match(pair(), range, Pipeline("sgm"), {"cpu", 0});
  for (const std::string& device : all_devices()) {
    SCOPED_TRACE(device);
    Matcher four = matcher(device, 4);
    const std::vector<StereoPair> pairs = {pair(), pair(), pair(), {small, small, {}, {}}, pair()};
    std::vector<Matched> results(pairs.size());
    expect_refused("10×10", [&] { four.match(pairs, results); });
    for (int i = 0; i < 3; ++i) expect_same(results[i], expected);
    EXPECT_TRUE(results[4].disparity.empty());
    expect_same(four.match(pair()), expected);
  }
}

TEST_F(Misuse, TicketsOfOthersAreRefused) {
  for (const std::string& device : all_devices()) {
    SCOPED_TRACE(device);
    Matcher one = matcher(device, 2), other = matcher(device, 2);
    Matched result, another;
    const Ticket ticket = one.enqueue(pair(), result), foreign = other.enqueue(pair(), another);
    expect_refused("belongs to another matcher", [&] { one.wait(foreign); });
    expect_refused("belongs to another matcher", [&] { static_cast<void>(one.is_done(foreign)); });
    one.wait(ticket);
    one.wait(ticket);  // waiting a second time is allowed
    EXPECT_TRUE(one.is_done(ticket));
    EXPECT_TRUE(one.is_done(Ticket())) << "of no pair";
    const Matcher stale = std::move(other);
    expect_refused("belongs to another matcher", [&] { one.wait(foreign); });
    other = matcher(device);
    expect_refused("belongs to another matcher", [&] { other.wait(foreign); });
  }
}

TEST_F(Misuse, BitDepthsThatPixelsDoNotHaveAreRefused) {
  for (const std::string& device : all_devices()) {
    SCOPED_TRACE(device);
    const auto plan = [&](PixelType type, int bit_depth) {
      Problem p = problem();
      p.pixel_type = type;
      p.bit_depth = bit_depth;
      Plan(Pipeline("sgm"), p, {device, 0});
    };
    for (const int bits : {1, 7, 9, 16}) {
      expect_refused("bit depth", [&] { plan(PixelType::u8, bits); });
      expect_refused("bit depth", [&] { plan(PixelType::f32, bits); });
      EXPECT_NO_THROW(plan(PixelType::u16, bits));
    }
    for (const int bits : {0, -1, 17}) expect_refused("bit depth", [&] { plan(PixelType::u16, bits); });
    StereoPair seven = pair();
    seven.left.bit_depth = seven.right.bit_depth = 7;
    expect_refused("bits", [&] { matcher(device).match(seven); });
  }
}

TEST_F(Misuse, ImagesWithoutPixelsAreRefused) {
  const Image<std::uint8_t> all(size, 1, 255);
  for (const std::string& device : all_devices()) {
    SCOPED_TRACE(device);
    Matcher m = matcher(device);
    Matched result;
    const auto refused = [&](const std::string& said, auto&& change) {
      StereoPair p = pair();
      p.mask_left = p.mask_right = all;
      change(p);
      expect_refused(said, [&] { m.match(p, result); });
      expect_refused(said, [&] { m.enqueue(p, result); });
    };
    refused("left image", [](StereoPair& p) { p.left.data = nullptr; });
    refused("right image", [](StereoPair& p) { p.right.data = nullptr; });
    refused("pitch of the left image is 278 ", [](StereoPair& p) { p.left.pitch = 3 * size.width - 1; });
    refused("pitch of the right image is -320 ", [](StereoPair& p) { p.right.pitch = -320; });
    refused("mask", [](StereoPair& p) { p.mask_left.data = nullptr; });
    refused("mask", [](StereoPair& p) { p.mask_right.pitch = size.width - 1; });
    refused("mask", [](StereoPair& p) { p.mask_right.width = 0; });
    for (const int wrong : {1, 7, 128}) {
      Image<std::uint8_t> mask(size, 1, 255);
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x)
          if (wrong == 1 || x == 3) mask(x, y) = static_cast<std::uint8_t>(wrong);
      refused(wrong == 1 ? "multiply the mask by 255" : text("the mask is ", wrong, " at 3,0"),
              [&](StereoPair& p) { p.mask_right = mask; });
    }
    EXPECT_NO_THROW(m.match(pair()));
  }
}

TEST_F(Misuse, ImagesBeyondWhatIsIndexedAreRefused) {
  for (const std::string& device : all_devices()) {
    SCOPED_TRACE(device);
    const auto plan = [&](Size of, int disparities, std::optional<Rect> region = {}) {
      return Plan(Pipeline("sgm"), {.size = of, .range = {0, disparities}, .region = region}, {device, 0});
    };
    constexpr int most = std::numeric_limits<int>::max();
    for (const Size large :
         {Size{46341, 46341}, Size{1 << 28, 1 << 28}, Size{1 << 28, 8}, Size{1, 1 << 28}, Size{65536, 32768}})
      expect_refused("match regions", [&] { plan(large, 16); });
    for (const Size large : {Size{most, 1}, Size{1, most}, Size{most, most}})
      expect_refused("width and height must be at most", [&] { plan(large, 16); });
    expect_refused("product", [&] { plan({200000, 4}, 16384); });
    EXPECT_LT(plan({60000, 60000}, 64, Rect{30000, 40000, 40, 30}).required_input().width, 400);
  }
}

// A problem with a pair of size `input` that is rectified to another size; all source positions are near the first
// pixels.
Problem rectified_problem(Size input, Size to) {
  RectificationMaps maps{.input = input, .left = Image<std::int32_t>(to, 2, 0), .right = Image<std::int32_t>(to, 2, 0)};
  Problem p{.size = input, .range = {0, 4}, .region = {}};
  p.geometry.rectification = std::make_shared<const RectificationMaps>(std::move(maps));
  return p;
}

TEST_F(Misuse, APyramidIsAsHighAsTheImagesThatItSees) {
  Pipeline pyramid("prehn-pyramid");
  pyramid.set("levels.levels", "4");
  for (const std::string& device : all_devices()) {
    SCOPED_TRACE(device);
    expect_refused("levels.levels = 4", [&] { Plan(pyramid, rectified_problem({64, 64}, {9, 9}), {device, 0}); });
    EXPECT_NO_THROW(Plan(pyramid, rectified_problem({9, 9}, {64, 64}), {device, 0}));
  }
}

// Every combination of stages in the slots is matched, or rejected with a sentence.

// Times are returned for the stages of the largest number of levels, in both views.
TEST_F(Misuse, AllLevelsCanBeTimed) {
  Pipeline levels("costfilter");
  levels.set("levels.lambda", "1");
  levels.set("levels.levels", "16");
  Problem p = problem();
  p.want_times = p.want_right = true;
  const Matched expected = Matcher(Plan(levels, p, {"cpu", 0})).match(pair());
  EXPECT_GT(expected.times.size(), 64u);
  // A fused operation has one time.
  for (const std::string& device : all_devices()) {
    SCOPED_TRACE(device);
    const Matched got = Matcher(Plan(levels, p, {device, 0})).match(pair());
    EXPECT_GT(got.times.size(), 40u);
    expect_same(got, expected);
  }
}

// Results that were not planned would be written without bounds.
TEST_F(Misuse, DeviceImagesThatWereNotPlannedAreRefused) {
  for_each_gpu([&](gpu::Queue&, gpu::Device& device) {
    const std::string& name = device.name();
    const DeviceImage left(name, pair().left), right(name, pair().right), disparity(name, size, PixelType::f32),
        validity(name, size), real(name, size, PixelType::f32), small(name, {20, 20}, PixelType::f32),
        points(name, size, PixelType::f32, 3);
    Matcher m = matcher(name);
    const auto refused = [&](const std::string& said, auto&& change) {
      DevicePair in{left, right, {}, {}};
      DeviceMatched out{disparity, validity, {}, {}};
      change(in, out);
      expect_refused(said, [&] { m.enqueue(in, out); });
    };
    refused("'right'", [&](DevicePair&, DeviceMatched& out) { out.right = real; });
    refused("'right'", [&](DevicePair&, DeviceMatched& out) { out.right = small; });
    refused("'confidence'", [&](DevicePair&, DeviceMatched& out) { out.confidence = small; });
    refused("'depth'", [&](DevicePair&, DeviceMatched& out) { out.depth = real; });
    refused("'points'", [&](DevicePair&, DeviceMatched& out) { out.points = points; });
    refused("'uncertainty'", [&](DevicePair&, DeviceMatched& out) { out.uncertainty = real; });
    refused("'disparity'", [&](DevicePair&, DeviceMatched& out) { out.disparity = small; });
    refused("pitch", [&](DevicePair&, DeviceMatched& out) { out.disparity.pitch = size.width - 1; });
    refused("pitch", [&](DevicePair& in, DeviceMatched&) { in.left.pitch = 3 * size.width - 1; });
    refused("pitch", [&](DevicePair& in, DeviceMatched&) { in.left.pitch = std::int64_t{1} << 40; });
    refused("begins", [&](DevicePair& in, DeviceMatched&) { in.right.offset = -1; });
    refused("bits", [&](DevicePair& in, DeviceMatched&) { in.right.bit_depth = 7; });
    EXPECT_NO_THROW(m.wait(m.enqueue(DevicePair{left, right, {}, {}}, DeviceMatched{disparity, validity, {}, {}})));
  });
}

// OpenCL limits the size of one buffer. The plan keeps to this limit with stripes, or throws an error.
TEST_F(Misuse, APlanKeepsToTheLargestBuffer) {
  std::string unlimited;
  int limited = 0;
  for_each_gpu([&](gpu::Queue&, gpu::Device& device) {
    const std::size_t largest = device.largest_buffer();
    if (largest >= device.memory_bytes() / 10 * 9) {
      unlimited += device.name() + " ";
      return;
    }
    ++limited;
    const int height = static_cast<int>(largest / (sizeof(std::uint16_t) * 2000 * 128) + 100);
    Problem p{.size = {2000, height}, .range = {0, 128}, .region = {}};
    const Plan plan(Pipeline("sgm"), p, {device.name(), 0});
    EXPECT_GT(plan.stripe_rows(), 0);
    EXPECT_LE(plan.workspace_bytes(), largest);
    p.batch = 4;
    const Plan four(Pipeline("sgm"), p, {device.name(), 0});
    EXPECT_LE(four.workspace_bytes(), device.memory_bytes());
    // Belief propagation needs the whole image, and more than a byte per pixel and disparity.
    p = {.size = {2000, static_cast<int>(largest / (2000 * 128))}, .range = {0, 128}, .region = {}};
    try {
      Plan(Pipeline("realtime-bp"), p, {device.name(), 0});
      ADD_FAILURE() << "not refused";
    } catch (const Error& error) {
      EXPECT_EQ(error.category(), ErrorCategory::memory);
      EXPECT_NE(std::string(error.what()).find("in one piece"), std::string::npos) << error.what();
    }
  });
  if (IsSkipped() || HasFailure()) return;
  if (limited == 0) GTEST_SKIP() << "no GPU limits its buffers below its memory: " << unlimited;
}

// Integers near their ends are rejected in a sentence, before anything is computed from them.
TEST_F(Misuse, ExtremeIntegersAreRejected) {
  constexpr int low = std::numeric_limits<int>::min(), high = std::numeric_limits<int>::max();
  const auto rejected = [&](auto&& change) {
    Problem p = problem();
    change(p);
    expect_refused("", [&] { Plan(Pipeline("sgm"), p, {"cpu", 0}); });
  };
  for (const int extreme : {low, low + 1, high - 1, high}) {
    SCOPED_TRACE(extreme);
    rejected([&](Problem& p) { p.size.width = extreme; });
    rejected([&](Problem& p) { p.size.height = extreme; });
    rejected([&](Problem& p) { p.size = {extreme, extreme}; });
    rejected([&](Problem& p) { p.size.height = extreme, p.pixel_type = PixelType::u8, p.format = PixelFormat::nv12; });
    rejected([&](Problem& p) { p.channels = extreme; });
    rejected([&](Problem& p) { p.bit_depth = extreme; });
    rejected([&](Problem& p) { p.range.min = extreme; });
    rejected([&](Problem& p) { p.range.count = extreme; });
    rejected([&](Problem& p) { p.range = {extreme, extreme}; });
    rejected([&](Problem& p) { p.batch = extreme; });
    for (const int other : {low, -1, 0, 1, high}) {
      rejected([&](Problem& p) { p.region = Rect{extreme, 0, other, 1}; });
      rejected([&](Problem& p) { p.region = Rect{1, other, 1, extreme}; });
      rejected([&](Problem& p) { p.region = Rect{other, extreme, extreme, other}; });
      rejected([&](Problem& p) { p.region = Rect{extreme, 3, extreme, 4}, p.volumes.probes = {{3, 3}}; });
      rejected([&](Problem& p) { p.region = Rect{1, 1, extreme, extreme}, p.volumes.probes = {{other, extreme}}; });
      rejected([&](Problem& p) { p.volumes.probes = {{extreme, other}}; });
      rejected([&](Problem& p) { p.volumes.probes = {{other, extreme}}; });
      for (const bool above : {false, true}) {
        rejected([&](Problem& p) {
          p.stripe = BoundaryStripe{.first_row = extreme, .rows = other, .above = above, .below = !above};
        });
        if (other != 1)
          rejected([&](Problem& p) {
            p.stripe = BoundaryStripe{.first_row = other, .rows = extreme, .above = above, .below = !above};
          });
      }
    }
  }
  Matcher m = matcher("cpu");
  for (const std::ptrdiff_t pitch :
       {std::numeric_limits<std::ptrdiff_t>::min(), std::ptrdiff_t{-1}, std::numeric_limits<std::ptrdiff_t>::max() / 4,
        std::numeric_limits<std::ptrdiff_t>::max()}) {
    StereoPair given = pair();
    given.left.pitch = pitch;
    expect_refused("pitch", [&] { m.match(given); });
    Image<float> disparity(size);
    MatchedViews views;
    views.disparity = disparity;
    views.disparity.pitch = pitch;
    expect_refused("pitch", [&] { m.match(pair(), views); });
  }
}

TEST_F(Misuse, ImagesThatNoMemoryHoldsAreRejected) {
  constexpr int high = std::numeric_limits<int>::max();
  const auto expect_memory = [](auto&& f) {
    try {
      f();
      ADD_FAILURE() << "not rejected";
    } catch (const Error& error) {
      EXPECT_EQ(error.category(), ErrorCategory::memory) << error.what();
    }
  };
  expect_memory([] { Image<float>(high, high, high); });
  expect_memory([] { Image<std::uint8_t>(high, high, high); });
  expect_memory([] { Image<std::uint16_t>(high, high, 4); });
  expect_memory([] { Image<float>(1 << 30, 1 << 30, 16); });  // 2^66 bytes, which overflow to a small number
  expect_memory([] { Volume<std::uint16_t>({high, high}, high); });
  expect_memory([] { Volume<std::uint8_t>({-1, 5}, 5); });
}

// A user-defined stage may return any required input.
TEST_F(Misuse, ExtremeRequiredInputs) {
  constexpr int low = std::numeric_limits<int>::min(), high = std::numeric_limits<int>::max();
  Pipeline pipeline("sgm");
  Problem p = problem();
  p.region = Rect{40, 30, 10, 10};
  const auto planned = [&](Rect needed) {
    const UserStage stage{
        .name = "mine", .cpu = [](const UserCall&) {}, .required_input = [=](const Rect&) { return needed; }};
    pipeline.set_stage("refinement", stage);
    return Plan(pipeline, p, {"cpu", 0}).required_input();
  };
  const Rect all{0, 0, size.width, size.height};
  EXPECT_EQ(planned({low / 2, low / 2, high, high}), all);
  EXPECT_EQ(planned({-1, -1, high, high}), all);
  for (const Rect& wrong : {Rect{low, low, high, high}, Rect{high, 0, high, high}, Rect{0, 0, low, low},
                            Rect{high, high, low, low}, Rect{low, low, low, low}})
    expect_refused("it must contain the output", [&] { planned(wrong); });
}

TEST_F(Misuse, PairsWithoutPixelsAreNotJudged) {
  const AnyImageView good = pair().left;
  for (const std::ptrdiff_t pitch : {std::ptrdiff_t{0}, std::ptrdiff_t{-279}, good.pitch}) {
    AnyImageView bad = good;
    bad.pitch = pitch;
    if (pitch == good.pitch) bad.data = nullptr;
    expect_refused("left image", [&] { estimate_range(bad, good); });
    expect_refused("right image", [&] { check_pair(good, bad); });
  }
}

// Tests volumes and masks without memory, and images that were never constructed, on every GPU.
TEST_F(Misuse, DeviceImagesWithoutMemoryAreRejected) {
  expect_refused("empty", [] { DeviceImage().upload({}); });
  expect_refused("empty", [] { DeviceImage().download(ImageView<std::uint8_t>()); });
  expect_refused("empty", [] { DeviceImage().download(ImageView<float>()); });
  for_each_gpu([&](gpu::Queue&, gpu::Device& device) {
    const std::string& name = device.name();
    DeviceImage left(name, pair().left);
    const DeviceImage right(name, pair().right), disparity(name, size, PixelType::f32), validity(name, size),
        costs(name, size, PixelType::u8, range.count);
    AnyImageView none = pair().left;
    none.data = nullptr;
    expect_refused("null", [&] { left.upload(none); });
    AnyImageView narrow = pair().left;
    narrow.pitch = 1;
    expect_refused("pitch", [&] { left.upload(narrow); });

    const DeviceMatched out{disparity, validity, {}, {}};
    Matcher m = matcher(name);
    const auto refused = [&](const std::string& said, auto&& change) {
      DevicePair in{left, right, {}, {}};
      change(in);
      expect_refused(said, [&] { m.enqueue(in, out); });
    };
    refused("for the left image (its memory is 0)", [](DevicePair& in) { in.left.memory = 0; });
    refused("left mask", [&](DevicePair& in) { in.mask_left = validity.view(), in.mask_left.memory = 0; });
    refused("right mask", [](DevicePair& in) { in.mask_right.width = 1; });
    refused("not planned", [&](DevicePair& in) { in.costs = costs; });
    refused("not planned", [&](DevicePair& in) { in.costs.memory = costs.view().memory; });
    refused("begins", [](DevicePair& in) { in.left.offset = std::numeric_limits<std::int64_t>::max(); });

    Pipeline volume("banz-sgm");
    volume.set("cost.stage", "volume");
    volume.set("refinements", "none");
    Problem p = problem();
    p.volumes.given = PixelType::u8;
    p.volumes.without_images = true;
    Matcher of_costs(Plan(volume, p, {name, 0}));
    const auto refused_costs = [&](const std::string& said, auto&& change) {
      DevicePair in;
      in.costs = costs;
      in.costs.pitch = std::ptrdiff_t{size.width} * range.count;
      change(in);
      expect_refused(said, [&] { of_costs.enqueue(in, out); });
    };
    refused_costs("for the given cost volume (its memory is 0)", [](DevicePair& in) { in.costs.memory = 0; });
    refused_costs("begins", [](DevicePair& in) { in.costs.offset = -1; });
    refused_costs("rows without padding", [](DevicePair& in) { ++in.costs.pitch; });
    refused_costs("not planned", [&](DevicePair& in) { in.left = left; });
  });
}

// CUDA reports to which device an address belongs.
TEST_F(Misuse, MemoryOfTheHostIsNotADevices) {
  bool any = false;
  for_each_gpu([&](gpu::Queue&, gpu::Device& device) {
    if (!device.name().starts_with("cuda")) return;
    any = true;
    const std::string& name = device.name();
    const DeviceImage left(name, pair().left), right(name, pair().right), disparity(name, size, PixelType::f32),
        validity(name, size);
    Matcher m = matcher(name);
    DevicePair in{left, right, {}, {}};
    DeviceMatched out{disparity, validity, {}, {}};
    in.left.memory = reinterpret_cast<std::uint64_t>(pair().left.data);
    expect_refused("not memory of " + name, [&] { m.enqueue(in, out); });
    in.left = left;
    Image<float> of_host(size);
    out.disparity.memory = reinterpret_cast<std::uint64_t>(of_host.row(0));
    expect_refused("not memory of " + name, [&] { m.enqueue(in, out); });
  });
  if (!any && !IsSkipped()) GTEST_SKIP() << "no CUDA device: " << gpu::cuda_devices().reason;
}

// A copy of an image without pixels has an address.
TEST_F(Misuse, AMaskWithoutPixelsIsNoMask) {
  const Image<std::uint8_t> image(Size{40, 30}, 1, 100), none, copy = none;
  StereoPair given{image, image};
  const Matched expected = match(given, {0, 8});
  std::uint8_t memory = 0;
  given.mask_left = {&memory, 0, 0, 1, 0};
  given.mask_right = copy;
  const Matched found = match(given, {0, 8});
  for (int y = 0; y < 30; ++y) EXPECT_EQ(std::memcmp(found.validity.row(y), expected.validity.row(y), 40), 0);
}

}  // namespace
}  // namespace stereopsis::misuse_test
