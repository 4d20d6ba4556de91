// Tests of cost volumes as inputs and outputs.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <random>

#include "graph/registry.hpp"
#include "stages/census/census.hpp"
#include "stereopsis/matcher.hpp"
#include "stereopsis/synth.hpp"
#include "support/devices.hpp"
#include "support/stage_test.hpp"

namespace stereopsis::volumes_test {
namespace {

using namespace test;

constexpr DisparityRange range{-2, 21};

const Scene& scene() {
  static const Scene made = make_scene({.size = {61, 43}, .disparities = 16, .noise = 4});
  return made;
}
StereoPair pair() { return {scene().left, scene().right, {}, {}}; }

// Removes the refinements that require the costs of the right view, which a volume of the left view does not have.
Pipeline left_alone(const std::string& method) {
  Pipeline pipeline(method);
  pipeline.set("refinements", "none");
  return pipeline;
}
Pipeline from_volume(Pipeline pipeline) {
  pipeline.set("cost.stage", "volume");
  return pipeline;
}

Matched matched(const Pipeline& pipeline, const StereoPair& pair, const CostVolumes& volumes,
                const Device& device = {.name = "cpu"}) {
  Problem problem = Problem::of(pair, range);
  problem.volumes = volumes;
  return Matcher(Plan(pipeline, problem, device)).match(pair);
}

void expect_same(const Matched& a, const Matched& b) {
  EXPECT_TRUE(same_bits(a.disparity.view(), b.disparity.view()));
  EXPECT_TRUE(same_bits(a.validity.view(), b.validity.view()));
}

std::vector<Device> all_devices() {
  std::vector<Device> list{{.name = "cpu"}, {.name = "cpu", .implementation = Implementation::oracle}};
  for (gpu::Device* device : gpu::usable_devices()) list.push_back({.name = device->name()});
  return list;
}

TEST(Volumes, AVolumeThatWasSavedGivesTheSameMap) {
  for (const char* method : {"sgm", "banz-sgm", "census-guided", "costfilter", "esaw", "asw-separable", "ad-census"})
    for (const Device& device : all_devices()) {
      SCOPED_TRACE(method + std::string(" on ") + device.name);
      const Pipeline pipeline = left_alone(method);
      const Matched expected = matched(pipeline, pair(), {}, device);
      const Matched saved = matched(pipeline, pair(), {.want_cost = true}, device);
      expect_same(saved, expected);
      StereoPair again = pair();
      again.costs = saved.cost;
      EXPECT_EQ(again.costs.channels, range.count);
      expect_same(matched(from_volume(pipeline), again, {.given = again.costs.type}, device), expected);
    }
}

// A volume of random costs, with a rectangle of pixels whose costs are all `no_cost`.
template <class T>
void expect_hole_stays(T no_cost, T largest) {
  const Size size{61, 43};
  const Rect hole{30, 8, 20, 12};
  const auto is_in_hole = [&](int x, int y) {
    return x >= hole.x && y >= hole.y && x < hole.x + hole.width && y < hole.y + hole.height;
  };
  std::mt19937 dice(9);
  Image<T> costs(size, range.count);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      for (int d = 0; d < range.count; ++d)
        costs(x, y, d) = is_in_hole(x, y) ? no_cost : static_cast<T>(largest * static_cast<float>(dice() % 90) / 90);
  StereoPair given;
  given.costs = costs.view();
  for (const char* optimisation : {"none", "sgm", "dynamic_programming"})
    for (const Device& device : all_devices()) {
      SCOPED_TRACE(optimisation + std::string(" on ") + device.name);
      Pipeline pipeline = from_volume(left_alone("sgm"));
      pipeline.set("optimisation.stage", optimisation);
      if (optimisation == std::string_view("sgm"))
        pipeline.set("sgm.gradient", "0");  // pairs have costs only, and no images
      Problem problem{.size = size, .range = range, .region = {}};
      problem.volumes = {.given = pixel_type_of<T>, .without_images = true};
      const Matched m = Matcher(Plan(pipeline, problem, device)).match(given);
      for (int y = 0; y < size.height; ++y)
        for (int x = range.max(); x < size.width; ++x) {
          ASSERT_EQ(m.validity(x, y), is_in_hole(x, y) ? validity::no_candidate : 0) << x << "," << y;
          ASSERT_EQ(m.disparity(x, y) != m.disparity(x, y), is_in_hole(x, y)) << x << "," << y;
        }
    }
}

TEST(Volumes, HolesStayHolesUnderEveryOptimisation) {
  expect_hole_stays<float>(std::numeric_limits<float>::quiet_NaN(), 1);
  expect_hole_stays<float>(std::numeric_limits<float>::infinity(), 1);
  expect_hole_stays<std::uint16_t>(65535, 90);
}

TEST(Volumes, CensusOfOnesOwnIsTheCensusHere) {
  // A plain implementation: the number of differing comparisons in a 5×5 window, with replicated borders.
  const auto differing = [](const auto& left, const auto& right, int x, int y, int d) {
    int count = 0;
    for (int j = -2; j <= 2; ++j)
      for (int i = -2; i <= 2; ++i) {
        const auto darker = [&](const auto& image, int at) {
          return image.clamped(std::clamp(at, 0, image.width - 1) + i, y + j) < image.clamped(at, y);
        };
        count += darker(left, x) != darker(right, x - d);
      }
    return count;
  };
  Pipeline pipeline = left_alone("sgm");
  pipeline.set("cost.stage", "census");
  pipeline.set("census.window", "5x5");
  const auto first_channel = [](const AnyImageView& image) {
    const auto all = image.as<std::uint8_t>();
    Image<std::uint8_t> grey(all.size());
    for (int y = 0; y < all.height; ++y)
      for (int x = 0; x < all.width; ++x) grey(x, y) = all(x, y, 0);
    return grey;
  };
  const Image<std::uint8_t> left_grey = first_channel(pair().left), right_grey = first_channel(pair().right);
  const ImageView<const std::uint8_t> left = left_grey, right = right_grey;
  Image<std::uint8_t> costs(left.size(), range.count);
  for (int y = 0; y < left.height; ++y)
    for (int x = 0; x < left.width; ++x)
      for (int k = 0; k < range.count; ++k)
        costs(x, y, k) = static_cast<std::uint8_t>(differing(left, right, x, y, range.min + k));
  const StereoPair grey{left_grey, right_grey, {}, {}};
  StereoPair given = grey;
  given.costs = costs;
  expect_same(matched(from_volume(pipeline), given, {.given = PixelType::u8}), matched(pipeline, grey, {}));
}

TEST(Volumes, EveryStateIsGivenAsStagesMakeIt) {
  Pipeline pipeline = left_alone("sgm");
  pipeline.set("cost.stage", "census");
  pipeline.set("aggregation.stage", "guided");
  for (const Device& device : all_devices()) {
    SCOPED_TRACE(device.name);
    const Matched result =
        matched(pipeline, pair(), {.want_cost = true, .want_aggregated = true, .want_optimised = true}, device);
    const Matched expected = matched(pipeline, pair(), {}, {.name = "cpu", .implementation = Implementation::oracle});
    expect_same(result, expected);
    EXPECT_EQ(result.cost.view().type, PixelType::u8);
    EXPECT_EQ(result.aggregated.view().type, PixelType::f32);
    EXPECT_EQ(result.optimised.view().type, PixelType::u16);
    // The candidate with the smallest optimised cost must be the disparity.
    const auto sums = result.optimised.view().as<std::uint16_t>();
    for (int x = 30; x < 40; ++x) {
      const std::uint16_t* at = &sums(x, 20, 0);
      const int best = static_cast<int>(std::min_element(at, at + range.count) - at);
      EXPECT_NEAR(result.disparity(x, 20), range.min + best, 0.5);
    }
  }
}

// A user's scale may exceed the largest cost of the packed words. With P1 = P2 = 0, the sums of 8 paths are 8 times the
// summed cost.
TEST(Volumes, QuantisedCostsCountInFull) {
  Pipeline pipeline = left_alone("banz-sgm");
  for (const auto& [name, value] : {std::pair{"cost.stage", "census"},
                                    {"census.window", "5x5"},
                                    {"aggregation.stage", "box"},
                                    {"optimisation.p1", "0"},
                                    {"optimisation.p2", "0"},
                                    {"quantise.scale", "0.08"}})
    pipeline.set(name, value);
  for (const Device& device : all_devices()) {
    SCOPED_TRACE(device.name);
    const Matched result = matched(pipeline, pair(), {.want_aggregated = true, .want_optimised = true}, device);
    const auto averages = result.aggregated.view().as<std::uint16_t>(),
               sums = result.optimised.view().as<std::uint16_t>();
    int largest = 0;
    for (int y = 0; y < sums.height; ++y)
      for (int i = 0; i < sums.width * sums.channels; ++i) {
        const float scaled = 0.08f * static_cast<float>(averages.row(y)[i]) + 0.5f;
        const int quantised = std::min(static_cast<int>(scaled), 255);
        ASSERT_EQ(sums.row(y)[i], 8 * quantised);
        largest = std::max(largest, quantised);
      }
    EXPECT_GT(largest, 24);  // more than a word has bits
  }
}

// Tests the largest costs that fast kernels support, and larger ones. Regions with equal costs make path costs grow.
TEST(Volumes, LargeCostsAlongPathsEqualTheDefinition) {
  for (const auto& [largest, count] :
       {std::pair{98, 64}, {150, 60}, {150, 128}, {175, 100}, {214, 128}, {214, 256}, {255, 128}})
    for (const int paths : {4, 8}) {
      SCOPED_TRACE(testing::Message() << largest << ", " << count << " disparities, " << paths << " paths");
      Image<std::uint8_t> costs(pair().left.size(), count);
      std::mt19937 random(static_cast<unsigned>(largest + count));
      for (int y = 0; y < costs.height(); ++y)
        for (int x = 0; x < costs.width(); ++x)
          for (int k = 0; k < count; ++k)
            costs(x, y, k) = static_cast<std::uint8_t>(x / 20 % 2 == 0 ? largest : random() % (largest + 1));
      Pipeline pipeline = from_volume(left_alone("sgm"));
      pipeline.set("cost.largest", std::to_string(largest));
      pipeline.set("sgm.paths", std::to_string(paths));
      StereoPair given = pair();
      given.costs = costs;
      Problem problem = Problem::of(given, {0, count});
      problem.volumes.given = PixelType::u8;
      const auto on = [&](const Device& device) { return Matcher(Plan(pipeline, problem, device)).match(given); };
      const Matched expected = on({.name = "cpu", .implementation = Implementation::oracle});
      for (const Device& device : all_devices()) {
        SCOPED_TRACE(device.name);
        expect_same(on(device), expected);
      }
    }
}

TEST(Volumes, CostsThatWouldBeClampedAreRefused) {
  const auto said = [](Pipeline pipeline, const AnyImageView& costs, const char* largest) {
    pipeline = from_volume(std::move(pipeline));
    pipeline.set("cost.largest", largest);
    StereoPair given = pair();
    given.costs = costs;
    Problem problem = Problem::of(given, range);
    problem.volumes.given = costs.type;
    try {
      Matcher(Plan(pipeline, problem, {.name = "cpu"})).match(given);
      return std::string();
    } catch (const Error& error) {
      EXPECT_EQ(error.category(), ErrorCategory::call);
      return std::string(error.what());
    }
  };
  Image<float> costs(pair().left.size(), range.count, 0.5f);
  costs(3, 4, 5) = std::numeric_limits<float>::infinity();
  costs(3, 4, 6) = std::numeric_limits<float>::quiet_NaN();
  const Pipeline sgm = left_alone("sgm");
  Pipeline plain = left_alone("census-guided");  // selects from floats as they are
  plain.set("levels.stage", "none");
  plain.set("aggregation.stage", "none");
  EXPECT_EQ(said(sgm, costs.view(), "0"), "");
  costs(60, 42, 20) = 7.5f;
  EXPECT_NE(said(sgm, costs.view(), "0").find("has costs up to 7.5, and costs above 1 would"), std::string::npos);
  EXPECT_NE(said(sgm, costs.view(), "7").find("has costs up to 7.5, and costs above 7 would"), std::string::npos);
  EXPECT_EQ(said(sgm, costs.view(), "7.5"), "");
  EXPECT_EQ(said(plain, costs.view(), "0"), "");
  costs(0, 0, 0) = -0.25f;
  EXPECT_NE(said(sgm, costs.view(), "8").find("has costs down to -0.25"), std::string::npos);
  Image<std::uint16_t> integers(pair().left.size(), range.count, 200);
  integers(9, 9, 9) = 65535;  // no candidate
  EXPECT_EQ(said(sgm, integers.view(), "0"), "");
  EXPECT_EQ(said(sgm, integers.view(), "200"), "");
  EXPECT_NE(said(sgm, integers.view(), "199").find("has costs up to 200"), std::string::npos);
}

TEST(Volumes, OfARegionTheyAreTheRegions) {
  const Pipeline pipeline = left_alone("census-guided");
  const Matched whole = matched(pipeline, pair(), {.want_cost = true});
  Problem problem = Problem::of(pair(), range);
  problem.volumes.want_cost = true;
  problem.region = Rect{7, 5, 20, 11};
  const Matched part = Matcher(Plan(pipeline, problem, {.name = "cpu"})).match(pair());
  ASSERT_EQ(part.cost.size(), (Size{20, 11}));
  for (int y = 0; y < 11; ++y)
    for (int x = 0; x < 20; ++x)
      for (int k = 0; k < range.count; ++k)
        ASSERT_EQ(part.cost.view().as<std::uint8_t>()(x, y, k), whole.cost.view().as<std::uint8_t>()(7 + x, 5 + y, k));
}

TEST(Volumes, NoImagesAreNeededWhereNoStageReadsThem) {
  Pipeline pipeline = left_alone("banz-sgm");
  const Matched saved = matched(pipeline, pair(), {.want_cost = true});
  StereoPair costs_alone;
  costs_alone.costs = saved.cost;
  Problem problem = Problem::of(pair(), range);
  problem.volumes = {.given = PixelType::u8, .without_images = true};
  expect_same(Matcher(Plan(from_volume(pipeline), problem, {.name = "cpu"})).match(costs_alone), saved);
  pipeline.set("sgm.gradient", "8");  // the penalties then depend on the edges in the image
  pipeline.set("sgm.p2_min", "30");
  EXPECT_THROW(Plan(from_volume(pipeline), problem), Error);
}

TEST(Volumes, FloatsAreBroughtToEightBitsForPaths) {
  const Matched saved = matched(left_alone("banz-sgm"), pair(), {.want_cost = true});
  const auto bytes = saved.cost.view().as<std::uint8_t>();
  Image<float> floats(bytes.size(), range.count);
  for (int y = 0; y < bytes.height; ++y)
    for (int i = 0; i < bytes.width * range.count; ++i) floats.row(y)[i] = static_cast<float>(bytes.row(y)[i]) / 255;
  StereoPair given = pair();
  given.costs = floats;
  for (const Device& device : all_devices()) {
    SCOPED_TRACE(device.name);
    expect_same(matched(from_volume(left_alone("banz-sgm")), given, {.given = PixelType::f32}, device), saved);
  }
}

std::string refusal(auto&& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(Volumes, ProbesAreTheCostsOfTheirPixels) {
  Pipeline pipeline = left_alone("sgm");
  pipeline.set("cost.stage", "census");
  pipeline.set("aggregation.stage", "guided");
  Problem problem = Problem::of(pair(), range);
  problem.volumes = {.want_cost = true, .want_aggregated = true, .want_optimised = true};
  problem.volumes.probes = {{0, 0}, {31, 20}, {60, 42}};
  for (const Device& device : all_devices()) {
    SCOPED_TRACE(device.name);
    const Matched result = Matcher(Plan(pipeline, problem, device)).match(pair());
    const AnyImage* volumes[] = {&result.cost, &result.aggregated, &result.optimised};
    for (int state = 0; state < 3; ++state)
      for (int i = 0; i < 3; ++i)
        for (int k = 0; k < range.count; ++k)
          with_pixels(volumes[state]->view(), [&]<class T>(ImageView<const T> volume) {
            const Pixel at = problem.volumes.probes[i];
            ASSERT_EQ(result.probed[state].view().as<T>()(k, i), volume(at.x, at.y, k)) << state << " " << i;
          });
  }
}

TEST(Volumes, ProbesTakeNoVolumeBeside) {
  Problem problem = Problem::of(pair(), range);
  const Pipeline pipeline = left_alone("banz-sgm");
  const std::size_t plain =
      Plan(pipeline, problem, {.name = "cpu", .implementation = Implementation::plain}).workspace_bytes();
  problem.volumes.probes = {{40, 30}};
  EXPECT_LT(Plan(pipeline, problem, {.name = "cpu", .implementation = Implementation::plain}).workspace_bytes(),
            plain + 4096);

  // The cases are a region, given costs, and a pipeline without aggregation and optimisation.
  problem.region = Rect{30, 20, 20, 15};
  const Matched part = Matcher(Plan(pipeline, problem, {.name = "cpu"})).match(pair());
  problem.region.reset();
  const Matched whole = Matcher(Plan(pipeline, problem, {.name = "cpu"})).match(pair());
  EXPECT_TRUE(same_bits(part.probed[0].view().as<std::uint8_t>(), whole.probed[0].view().as<std::uint8_t>()));
  EXPECT_TRUE(part.probed[1].view().empty());
  problem.volumes.probes = {{61, 0}};
  EXPECT_THROW(Plan(pipeline, problem, {.name = "cpu"}), Error);
}

TEST(Volumes, WhatDoesNotFitIsRefused) {
  const Pipeline sgm = left_alone("sgm");
  const auto says = [](const std::string& sentence, const char* part) {
    EXPECT_NE(sentence.find(part), std::string::npos) << sentence;
  };
  says(refusal([&] { matched(from_volume(sgm), pair(), {}); }), "none comes with the pair");
  says(refusal([&] { matched(sgm, pair(), {.given = PixelType::u8}); }), "set cost.stage = volume");
  says(refusal([&] { matched(sgm, pair(), {.want_aggregated = true}); }),
       "no stage that computes the output 'aggregated'");
  says(refusal([&] { matched(Pipeline("prehn-pyramid"), pair(), {.want_cost = true}); }), "pyramid");
  StereoPair given = pair();
  const Image<std::uint8_t> few(pair().left.size(), 5, 0);
  given.costs = few;
  says(refusal([&] { matched(from_volume(sgm), given, {.given = PixelType::u8}); }), "5 disparities");
  says(refusal([&] { matched(from_volume(sgm), given, {.given = PixelType::u16}); }), "8-bit, 5 disparities");
  says(refusal([&] { matched(sgm, given, {}); }), "not planned");
  Problem large{.size = {8000, 6000}, .range = {0, 256}, .region = {}, .memory_limit = std::size_t{8} << 30};
  large.volumes.want_cost = true;
  says(refusal([&] { Plan(sgm, large, {.name = "cpu"}); }), "the memory limit is 8192.0 MiB");
}

// Memory with costs that is followed by memory which must not be read.
class GuardedCosts {
 public:
  explicit GuardedCosts(std::size_t bytes) : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    whole_ = (bytes + page_ - 1) / page_ * page_ + page_;
    start_ = static_cast<std::byte*>(mmap(nullptr, whole_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (start_ == MAP_FAILED || mprotect(start_ + whole_ - page_, page_, PROT_NONE) != 0) std::abort();
    costs_ = start_ + whole_ - page_ - bytes;
  }
  ~GuardedCosts() { munmap(start_, whole_); }
  GuardedCosts(const GuardedCosts&) = delete;
  GuardedCosts& operator=(const GuardedCosts&) = delete;
  void* get() const { return costs_; }

 private:
  std::size_t page_, whole_;
  std::byte *start_, *costs_;
};

template <class T>
void expect_not_read_past_its_end(int width, DisparityRange searched) {
  std::mt19937 generator(7);
  const Size size{width, scene().left.height()};
  const Rect part{0, 0, size.width, size.height};
  Image<T> inside(size, searched.count);
  const GuardedCosts memory(sizeof(T) * size.width * size.height * searched.count);
  const ImageView<T> guarded{static_cast<T*>(memory.get()), size.width, size.height, searched.count,
                             static_cast<std::ptrdiff_t>(size.width) * searched.count};
  for (int y = 0; y < size.height; ++y)
    for (int i = 0; i < size.width * searched.count; ++i)
      guarded.row(y)[i] = inside.row(y)[i] = static_cast<T>(generator() % 100);
  for (const std::string& aggregation : registry().names(Slot::aggregation))
    for (const std::string& optimisation : registry().names(Slot::optimisation))
      for (const bool none : {false, true}) {
        SCOPED_TRACE(aggregation + (none ? "" : " and " + optimisation));
        Pipeline pipeline = left_alone("census-guided");
        pipeline.set("levels.stage", "none");
        pipeline.set("aggregation.stage", none ? "none" : aggregation);
        pipeline.set("optimisation.stage", optimisation);
        StereoPair given{pair().left.crop(part), pair().right.crop(part), {}, {}};
        given.costs = inside;
        Problem problem = Problem::of(given, searched);
        problem.volumes.given = pixel_type_of<T>;
        pipeline = from_volume(pipeline);
        pipeline.set("cost.largest", "99");
        Matcher matcher(Plan(pipeline, problem, {.name = "cpu"}));
        const Matched expected = matcher.match(given);
        given.costs = guarded;
        expect_same(matcher.match(given), expected);
      }
}
TEST(Volumes, OfTheCallersAreNotReadPastTheirEnd) {
  expect_not_read_past_its_end<std::uint8_t>(scene().left.width(), range);
  expect_not_read_past_its_end<std::uint16_t>(scene().left.width(), range);
  expect_not_read_past_its_end<float>(scene().left.width(), range);
  for (const int count : {1, 2, 5}) {  // rows shorter than the number of elements that kernels read beyond a pixel
    expect_not_read_past_its_end<std::uint8_t>(1, {0, count});
    expect_not_read_past_its_end<std::uint16_t>(1, {0, count});
    expect_not_read_past_its_end<float>(1, {0, count});
  }
}

}  // namespace
}  // namespace stereopsis::volumes_test
