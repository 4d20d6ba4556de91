#include "stereopsis/matcher.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <thread>

#include "core/text.hpp"
#include "stages/reduce/reduce.hpp"

#include "stereopsis/stages.hpp"
#include "stereopsis/synth.hpp"
#include "support/devices.hpp"
#include "support/sanitized.hpp"
#include "support/stage_test.hpp"

namespace stereopsis::methods_test {
namespace {

using namespace test;

std::string message_of(const auto& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

Scene small_scene(Size size = {93, 61}) { return make_scene({.size = size, .disparities = 24, .noise = 2}); }
// The oracles take minutes under a sanitizer, where the images are therefore smaller.
const Size oracle_size = sanitized ? Size{57, 39} : Size{93, 43};

// Runs the oracles of the stages of a pipeline.
Matched match_with_oracles(const Pipeline& pipeline, const StereoPair& pair, DisparityRange range) {
  Problem problem = Problem::of(pair, range);
  problem.want_right = problem.want_confidence = true;
  return Matcher(Plan(pipeline, problem, {"cpu", 1, Implementation::oracle})).match(pair);
}

Matched match_with_all(const Pipeline& pipeline, const StereoPair& pair, DisparityRange range, const Device& device) {
  Problem problem = Problem::of(pair, range);
  problem.want_right = problem.want_confidence = true;
  return Matcher(Plan(pipeline, problem, device)).match(pair);
}

// Returns the scene that methods are compared on, and what the oracles of a method return for it.
const Scene& oracle_scene() {
  static const Scene scene = small_scene(oracle_size);
  return scene;
}
const Matched& oracles_of(const Pipeline& pipeline) {
  static std::map<std::string, Matched> made;
  const auto found = made.find(pipeline.method());
  if (found != made.end()) return found->second;
  const StereoPair pair{oracle_scene().left, oracle_scene().right, {}, {}};
  return made.emplace(pipeline.method(), match_with_oracles(pipeline, pair, {-2, 27})).first->second;
}

// Returns 16-bit or float images with intensities that 8-bit images cannot represent.
template <class T>
Image<T> with_pixels_of(const Image<std::uint8_t>& image, double scale) {
  Image<T> converted(image.size(), image.channels());
  for (int y = 0; y < image.height(); ++y)
    for (int i = 0; i < image.width() * image.channels(); ++i)
      converted.row(y)[i] = static_cast<T>(image.row(y)[i] * scale + y % 3 * 0.25);
  return converted;
}

Image<std::uint8_t> first_channel(const Image<std::uint8_t>& image) {
  Image<std::uint8_t> channel(image.size());
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x) channel(x, y) = image(x, y, 0);
  return channel;
}

void expect_same(const Matched& got, const Matched& expected) {
  EXPECT_TRUE(same_bits(got.disparity.view(), expected.disparity.view()));
  EXPECT_TRUE(same_bits(got.validity.view(), expected.validity.view()));
  EXPECT_TRUE(same_bits(got.right.view(), expected.right.view()));
  EXPECT_TRUE(same_bits(got.confidence.view(), expected.confidence.view()));
}

TEST(Methods, EveryMethodOnEveryPixelTypeEqualsItsOracles) {
  const Scene& scene = oracle_scene();
  const Image<std::uint16_t> left16 = with_pixels_of<std::uint16_t>(scene.left, 16),
                             right16 = with_pixels_of<std::uint16_t>(scene.right, 16);
  Image<float> left32 = with_pixels_of<float>(scene.left, 1), right32 = with_pixels_of<float>(scene.right, 1);
  left32(10, 10, 1) = std::nanf("");
  for (const MethodInfo& method : methods()) {
    const Pipeline pipeline(method.name);
    for (const StereoPair& pair : {StereoPair{scene.left, scene.right, {}, {}},
                                   StereoPair{AnyImageView(left16, 12), AnyImageView(right16, 12), {}, {}},
                                   StereoPair{left32, right32, {}, {}}}) {
      SCOPED_TRACE(method.name + ", " + to_string(pair.left.type));
      const bool is_scene = pair.left.type == PixelType::u8;
      const Matched converted = is_scene ? Matched{} : match_with_oracles(pipeline, pair, {-2, 27});
      for (const int threads : {1, 3})
        expect_same(match_with_all(pipeline, pair, {-2, 27}, {"cpu", threads}),
                    is_scene ? oracles_of(pipeline) : converted);
    }
  }
}

// Compares methods without fused operations, and pipelines to which no fused operation applies.
TEST(Methods, StagesByThemselvesEqualTheOracles) {
  const StereoPair pair{oracle_scene().left, oracle_scene().right, {}, {}};
  std::vector<Pipeline> pipelines{
      Pipeline::from_slots("cost alone", {{"cost", "rank", {}}}),
      Pipeline::from_slots("long words", {{"cost", "census", {}}, {"optimisation", "sgm", {}}}),
      Pipeline::from_slots("colours", {{"cost", "colour_gradient", {}}, {"optimisation", "sgm", {}}})};
  pipelines[1].set("census.window", "11x9");
  for (const MethodInfo& method : methods()) pipelines.emplace_back(method.name);
  for (const Pipeline& pipeline : pipelines) {
    SCOPED_TRACE(pipeline.method());
    const Matched& expected = oracles_of(pipeline);
    for (const int threads : {1, 3})
      expect_same(match_with_all(pipeline, pair, {-2, 27}, {"cpu", threads, Implementation::plain}), expected);
    for (const gpu::Device* device : gpu::usable_devices())
      expect_same(match_with_all(pipeline, pair, {-2, 27}, {device->name(), 0, Implementation::plain}), expected);
  }
}

TEST(Methods, EveryMethodOnEveryGpuEqualsTheCpu) {
  const Scene scene = small_scene();
  const Image<std::uint16_t> left16 = with_pixels_of<std::uint16_t>(scene.left, 16),
                             right16 = with_pixels_of<std::uint16_t>(scene.right, 16);
  Image<float> left32 = with_pixels_of<float>(scene.left, 1), right32 = with_pixels_of<float>(scene.right, 1);
  left32(10, 10, 1) = std::nanf("");
  Image<std::uint8_t> mask({93, 61}, 1, 255);
  for (int y = 20; y < 30; ++y) mask(40, y) = 0;
  for_each_gpu([&](gpu::Queue&, gpu::Device& device) {
    for (const MethodInfo& method : methods()) {
      Pipeline plain(method.name), full(method.name);
      for (const ParameterInfo& info : full.parameters())
        if (info.name.ends_with(".enabled")) full.set(info.name, "true");
      if (method.name == "asw") full.set("aggregation.window", "9");  // takes a tenth of the time
      const StereoPair colours{scene.left, scene.right, {}, {}}, masked{scene.left, scene.right, mask, {}},
          words{AnyImageView(left16, 12), AnyImageView(right16, 12), {}, mask}, reals{left32, right32, {}, {}};
      std::vector<std::pair<Pipeline, StereoPair>> runs{{full, masked}, {full, reals}};
      if (!sanitized) runs.insert(runs.end(), {{plain, colours}, {plain, words}});
      for (const auto& [pipeline, pair] : runs) {
        SCOPED_TRACE(method.name + ", " + to_string(pair.left.type));
        const Matched expected = match_with_all(pipeline, pair, {-2, 27}, {"cpu", 0});
        expect_same(match_with_all(pipeline, pair, {-2, 27}, {device.name(), 0}), expected);
      }
    }
  });
}

TEST(Matcher, OnAGpuIsUsedAgainForRegionsAndTellsItsTimes) {
  const Scene first = small_scene(), second = make_scene({.scene = "planes", .size = {93, 61}, .disparities = 24});
  const StereoPair pair{first.left, first.right, {}, {}};
  for_each_gpu([&](gpu::Queue&, gpu::Device& device) {
    Problem problem = Problem::of(pair, {0, 24});
    problem.region = Rect{30, 20, 20, 15};
    problem.want_times = true;
    const Matched expected = Matcher(Plan(Pipeline("sgm"), problem, {"cpu", 0})).match(pair);
    Matcher matcher(Plan(Pipeline("sgm"), problem, {device.name(), 0}));
    Matched result;
    matcher.match({second.left, second.right, {}, {}}, result);
    EXPECT_FALSE(same_bits(result.disparity.view(), expected.disparity.view()));
    matcher.match(pair, result);
    expect_same(result, expected);
    EXPECT_EQ(result.times.front().name, "upload");
    EXPECT_EQ(result.times.back().name, "download");
    for (const StageTime& time : result.times) EXPECT_GE(time.ms, 0) << time.name;
  });
}

TEST(Matcher, DistinctOnesOnOneGpuRunFromDistinctThreads) {
  const Scene scene = small_scene();
  const StereoPair pair{scene.left, scene.right, {}, {}};
  for_each_gpu([&](gpu::Queue&, gpu::Device& device) {
    std::vector<Matched> results(4);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < results.size(); ++i)
      threads.emplace_back([&, i] {
        Matcher matcher(
            Plan(Pipeline(i % 2 == 0 ? "sgm" : "banz-sgm"), Problem::of(pair, {0, 24}), {device.name(), 0}));
        for (int run = 0; run < 5; ++run) matcher.match(pair, results[i]);
      });
    for (std::thread& thread : threads) thread.join();
    for (std::size_t i = 0; i < results.size(); ++i)
      expect_same(results[i], match(pair, {0, 24}, Pipeline(i % 2 == 0 ? "sgm" : "banz-sgm"), {"cpu", 0}));
  });
}

TEST(Methods, AScenesDisparityIsFound) {
  const Scene scene = make_scene({.size = {320, 240}, .disparities = 32, .noise = 1});
  for (const MethodInfo& method : methods()) {
    const Matched result = match({scene.left, scene.right, {}, {}}, {0, 32}, Pipeline(method.name));
    int visible = 0, wrong = 0;
    for (int y = 0; y < 240; ++y)
      for (int x = 0; x < 320; ++x) {
        if (scene.nonocc_left(x, y) != 255) continue;
        ++visible;
        wrong += !(std::abs(result.disparity(x, y) - scene.disparity_left(x, y)) <= 1);
      }
    // A pyramid misses objects that are narrow on its coarsest level, and a small image has more of them.
    EXPECT_LT(wrong, (method.name == "prehn-pyramid" ? 0.22 : 0.15) * visible) << method.name;
  }
}

TEST(Methods, SgmIsDense) {
  const Scene scene = small_scene();
  const Matched result = match({scene.left, scene.right, {}, {}}, {0, 24});
  for (int y = 0; y < 61; ++y)
    for (int x = 0; x < 93; ++x) EXPECT_FALSE(std::isnan(result.disparity(x, y)));
}

TEST(Matcher, IsUsedAgainWithTheSameResult) {
  const Scene first = small_scene(), second = make_scene({.scene = "planes", .size = {93, 61}, .disparities = 24});
  const StereoPair pair{first.left, first.right, {}, {}};
  Matcher matcher(Plan(Pipeline("sgm"), Problem::of(pair, {0, 24})));
  const Matched before = matcher.match(pair);
  Matched result;
  matcher.match({second.left, second.right, {}, {}}, result);
  EXPECT_FALSE(same_bits(result.disparity.view(), before.disparity.view()));
  matcher.match(pair, result);
  EXPECT_TRUE(same_bits(result.disparity.view(), before.disparity.view()));
}

TEST(Matcher, ARegionIsTheMethodOnItsInput) {
  const Scene scene = make_scene({.size = {200, 90}, .disparities = 16});
  const StereoPair pair{scene.left, scene.right, {}, {}};
  Pipeline pipeline("banz-sgm");
  pipeline.set("region.margin", "10");
  Problem problem = Problem::of(pair, {0, 16});
  problem.region = Rect{60, 30, 50, 20};
  const Plan plan(pipeline, problem);
  EXPECT_EQ(plan.required_input(), (Rect{35, 20, 85, 40}));
  const Matched result = Matcher(plan).match(pair);

  const Rect r = plan.required_input();
  const Matched input = match({pair.left.crop(r), pair.right.crop(r), {}, {}}, {0, 16}, pipeline);
  for (int y = 0; y < 90; ++y)
    for (int x = 0; x < 200; ++x) {
      const bool inside = x >= 60 && x < 110 && y >= 30 && y < 50;
      if (inside)
        EXPECT_EQ(result.disparity(x, y), input.disparity(x - r.x, y - r.y));
      else
        EXPECT_TRUE(std::isnan(result.disparity(x, y)) && result.validity(x, y) == validity::outside);
    }
}

// The pixels of a region equal those of the whole image if the required input of the method is finite.
TEST(Matcher, ARegionOfAFiniteMethodIsThatOfTheWholeImage) {
  const Scene scene = make_scene({.size = {211, 133}, .disparities = 20, .noise = 4});
  const StereoPair pair{scene.left, scene.right, {}, {}};
  for (const char* name : {"prehn-window", "prehn-pyramid"})
    for (const bool full : {false, true})
      for (const int min_disparity : {0, -5}) {
        Pipeline pipeline(name);
        for (const char* refinement : {"window_confidence", "repair", "left_right", "median"})
          pipeline.set(std::string(refinement) + ".enabled",
                       full || (name == std::string("prehn-pyramid") && *refinement != 'l' && *refinement != 'm')
                           ? "true"
                           : "false");
        Problem problem = Problem::of(pair, {min_disparity, 20});
        problem.want_confidence = true;
        const Matched whole = Matcher(Plan(pipeline, problem)).match(pair);
        for (const Rect region : {Rect{90, 60, 30, 25}, Rect{0, 0, 20, 9}, Rect{170, 101, 41, 32}, Rect{77, 3, 1, 1}}) {
          SCOPED_TRACE(testing::Message()
                       << name << ", " << full << ", from " << min_disparity << ", " << region.x << "," << region.y);
          problem.region = region;
          const Plan plan(pipeline, problem);
          const Matched part = Matcher(plan).match(pair);
          EXPECT_TRUE(same_bits(part.disparity.view().crop(region), whole.disparity.view().crop(region)));
          EXPECT_TRUE(same_bits(part.validity.view().crop(region), whole.validity.view().crop(region)));
          EXPECT_TRUE(same_bits(part.confidence.view().crop(region), whole.confidence.view().crop(region)));
          if (!full && name == std::string("prehn-window")) {
            Problem without = problem;
            without.want_confidence = false;
            EXPECT_LE(Plan(pipeline, without).required_input().width, region.width + 6 + 20);
          }
        }
      }
}

TEST(Matcher, APyramidIsAsHighAsItsImage) {
  const auto refusal = [](Size size) {
    return message_of([&] { Plan(Pipeline("prehn-pyramid"), {.size = size, .range = {0, 8}, .region = {}}); });
  };
  EXPECT_NE(
      refusal({100, 7}).find("levels.levels = 3 is not allowed for an image of 100×7 pixels; it must be at most 2"),
      std::string::npos);
  EXPECT_NE(refusal({1, 1}).find("use a method without levels"), std::string::npos);
  EXPECT_EQ(refusal({8, 8}), "no error");
}

TEST(Matcher, MaskedPixelsHaveNoDisparity) {
  const Scene scene = small_scene();
  Image<std::uint8_t> mask({93, 61}, 1, 255);
  for (int y = 20; y < 30; ++y) mask(40, y) = 0;
  const Matched result = match({scene.left, scene.right, mask, {}}, {0, 24});
  for (int y = 20; y < 30; ++y) {
    EXPECT_TRUE(std::isnan(result.disparity(40, y)));
    EXPECT_EQ(result.validity(40, y), validity::masked);
  }
}

TEST(Plan, RefusesWhatItCannotDo) {
  const Pipeline sgm("sgm");
  const auto plan = [&](Problem p) { return message_of([&] { Plan(sgm, p); }); };
  EXPECT_NE(plan({.size = {10, 10}, .range = {0, 0}, .region = {}}).find("0 disparities"), std::string::npos);
  EXPECT_NE(plan({.size = {0, 10}, .range = {}, .region = {}}).find("0×10"), std::string::npos);
  EXPECT_NE(plan({.size = {10, 10}, .channels = 2, .range = {}, .region = {}}).find("2 channels"), std::string::npos);
  EXPECT_NE(plan({.size = {10, 10}, .range = {}, .region = Rect{5, 5, 6, 1}}).find("5,5,6,1"), std::string::npos);
  const Problem tight{.size = {100, 100}, .range = {}, .region = {}, .memory_limit = 1000};
  EXPECT_NE(plan(tight).find(" bytes) of memory, and the memory limit is 1000 bytes; raise the limit"),
            std::string::npos);
}

TEST(Matcher, RefusesAPairThatDoesNotFit) {
  const Scene scene = small_scene();
  const Image<std::uint8_t> other(Size{92, 61}, 3);
  EXPECT_NE(message_of([&] { match({scene.left, other, {}, {}}, {0, 8}); }).find("92×61"), std::string::npos);
}

TEST(Pipeline, ParametersComeWithNumbers) {
  Pipeline pipeline("sgm");
  pipeline.set("sgm.p1", "31");
  const auto all = pipeline.parameters();
  const auto named = [&](const char* name) {
    return *std::find_if(all.begin(), all.end(), [&](const ParameterInfo& p) { return p.name == name; });
  };
  const ParameterInfo p1 = named("optimisation.p1"), window = named("median.window"), mode = named("fill.mode");
  EXPECT_EQ(p1.value, "31");
  EXPECT_EQ(p1.default_value, "20");  // the default of the method, not that of the stage
  EXPECT_EQ(*p1.minimum, 0);
  EXPECT_EQ(*p1.maximum, 4095);
  EXPECT_EQ(p1.step, 1);
  EXPECT_FALSE(p1.needs_plan);
  EXPECT_EQ(window.unit, "pixels");
  EXPECT_EQ(window.step, 2);
  EXPECT_TRUE(window.needs_plan);
  EXPECT_EQ(mode.choices.front(), "background");
  EXPECT_FALSE(mode.minimum.has_value());
}

// Returns the memory and the steps of a plan as text.
std::string outline(const Pipeline& pipeline) {
  const Problem problem{.size = {96, 80}, .range = {0, 32}, .region = Rect{40, 30, 20, 16}};
  // The CPU is used, because tuned kernels have their own limits.
  const Plan plan(pipeline, problem, {.name = "cpu", .threads = 1});
  std::string text = std::to_string(plan.workspace_bytes()) + " " + std::to_string(plan.required_input().x);
  for (const PlanStep& step : plan.steps()) text += " " + step.stage;
  return text;
}

TEST(Pipeline, NumbersThatNeedNoPlanKeepStepsAndMemory) {
  for (const MethodInfo& method : methods())
    for (const ParameterInfo& info : Pipeline(method.name).parameters()) {
      if (info.needs_plan) continue;
      SCOPED_TRACE(method.name + " " + info.name);
      for (const double value : {*info.minimum, *info.maximum}) {
        Pipeline changed(method.name);
        changed.set(info.name, info.type == "numbers" ? "1,1,1" : number_text(value));
        try {
          EXPECT_EQ(outline(changed), outline(Pipeline(method.name))) << value;
        } catch (const Error&) {  // stages that cannot be combined are rejected
        }
      }
    }
}

TEST(Pipeline, AnyStageFillsItsSlotByName) {
  Pipeline pipeline("sgm");
  pipeline.set("cost.stage", "census");
  pipeline.set("census.window", "5x5");
  pipeline.set("refinements", "median,fill,median");
  EXPECT_EQ(pipeline.get("cost.stage"), "census");
  EXPECT_EQ(pipeline.get("aggregation.stage"), "none");
  EXPECT_EQ(pipeline.get("refinements"), "median,fill,median");
  EXPECT_EQ(pipeline.get("cost.window"), "5x5");
  EXPECT_EQ(pipeline.get("median.window"), "3");
  EXPECT_EQ(pipeline.get("median2.window"), "5");  // the second median keeps its earlier window
  EXPECT_EQ(pipeline.get("fill.mode"), "second_lowest");
  EXPECT_THROW(pipeline.get("speckle.size"), Error);
  pipeline.set("refinements", "none");
  pipeline.set("optimisation.stage", "none");
  EXPECT_EQ(pipeline.slots().size(), 3U) << "cost, selection and confidence";
  for (const auto& [name, value, part] : {std::array{"cost.stage", "none", "it can be"},
                                          std::array{"cost.stage", "sgm", "no stage 'sgm' for the slot 'cost'"},
                                          std::array{"refinements.stage", "fill", "`--set refinements=NAME`"},
                                          std::array{"refinements", "median,medain", "did you mean 'median'?"}}) {
    const Pipeline before = pipeline;
    try {
      pipeline.set(name, value);
      ADD_FAILURE() << name << " was taken";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
    EXPECT_EQ(pipeline.slots().size(), before.slots().size());
  }
}

TEST(Pipeline, AStageOfTheRefinementsIsSetByTheirList) {
  for (const char* name : {"refinement.stage", "refinements.stage", "refinement"}) {
    Pipeline pipeline("sgm");
    pipeline.set("refinements", "left_right,fill");
    try {
      pipeline.set(name, "median");
      ADD_FAILURE() << name << " was accepted";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("`--set refinements=left_right,fill,NAME`"), std::string::npos)
          << error.what();
    }
  }
}

TEST(Pipeline, StagesAreListedBySlot) {
  Pipeline pipeline("sgm");
  std::vector<std::string> slots;
  for (const auto& [slot, stages] : slot_choices()) {
    slots.push_back(slot);
    EXPECT_EQ(std::ranges::count(stages, "none"), slot != "cost" && slot != "select" && slot != "refinements") << slot;
    const std::string name = slot == "refinements" ? slot : slot + ".stage";
    for (const std::string& stage : stages) {
      pipeline.set(name, stage);
      EXPECT_EQ(pipeline.get(name), stage);
    }
  }
  EXPECT_EQ(slots,
            (std::vector<std::string>{"prepare", "cost", "plus", "seeds", "aggregation", "optimisation", "select",
                                      "second_pass", "levels", "confidence", "density", "refinements"}));
}

TEST(Pipeline, SetsBySlotAndByStage) {
  Pipeline pipeline("banz-sgm");
  pipeline.set("sgm.p1", "7");
  EXPECT_EQ(pipeline.get("optimisation.p1"), "7");
  pipeline.set("cost.window", "5");
  EXPECT_EQ(pipeline.get("rank.window"), "5");
  pipeline.set("left_right.enabled", "true");
  EXPECT_EQ(pipeline.get("left_right.enabled"), "true");
  pipeline.set("sgm.p1", 9);
  pipeline.set("sgm.p2", 60.0);  // a whole number
  pipeline.set("left_right.enabled", false);
  EXPECT_EQ(pipeline.get("sgm.p1"), "9");
  EXPECT_EQ(pipeline.get<int>("sgm.p2"), 60);
  EXPECT_EQ(pipeline.get<double>("sgm.p2"), 60);
  EXPECT_FALSE(pipeline.get<bool>("left_right.enabled"));
}

TEST(Pipeline, NamesTheNearestOfWhatItDoesNotKnow) {
  Pipeline pipeline("banz-sgm");
  EXPECT_NE(message_of([&] { pipeline.set("sgm.p3", "7"); }).find("'sgm.p1'"), std::string::npos);
  EXPECT_NE(message_of([&] { pipeline.set("sgm.p1", 7.5); }).find("sgm.p1 = 7.5 is not allowed"), std::string::npos);
  EXPECT_NE(message_of([&] { pipeline.get<bool>("sgm.p1"); }).find("which is not of the type flag"), std::string::npos);
  EXPECT_NE(message_of([] { Pipeline("banz-sgn"); }).find("'banz-sgm'"), std::string::npos);
  EXPECT_NE(message_of([&] { pipeline.set("rank.window", "8"); }).find("odd integer from 1 to 15"), std::string::npos);
  EXPECT_NE(message_of([&] { pipeline.set("rank.window", "nine"); }).find("nine"), std::string::npos);
}

TEST(Pipeline, APresetIsItsMethodWithWhatItSays) {
  ASSERT_EQ(presets().size(), 3U);
  for (const MethodInfo& preset : presets()) {
    const auto colon = preset.paper.find(':');
    Pipeline told(preset.paper.substr(0, colon));
    if (colon != std::string::npos) {
      const auto equals = preset.paper.find('=');
      told.set(preset.paper.substr(colon + 2, equals - colon - 2), std::string_view(preset.paper).substr(equals + 1));
    }
    const Pipeline made(preset.name);
    EXPECT_EQ(made.method(), told.method());
    const auto wanted = told.parameters(), are = made.parameters();
    ASSERT_EQ(are.size(), wanted.size());
    for (std::size_t i = 0; i < are.size(); ++i) EXPECT_EQ(are[i].value, wanted[i].value) << are[i].name;
  }
}

TEST(Pipeline, SlotsBuildTheSamePipeline) {
  for (const MethodInfo& method : methods()) {
    Pipeline pipeline(method.name);
    for (const ParameterInfo& info : pipeline.parameters())
      if (info.name == "optimisation.p1") pipeline.set(info.name, "3");
    const Pipeline copy = Pipeline::from_slots(method.name, pipeline.slots());
    const auto before = pipeline.parameters(), after = copy.parameters();
    ASSERT_EQ(before.size(), after.size());
    for (std::size_t i = 0; i < before.size(); ++i) {
      EXPECT_EQ(before[i].name, after[i].name);
      EXPECT_EQ(before[i].value, after[i].value);
    }
  }
}

// The oracles also support reduced images and upsampling. Every GPU is compared with the oracles.
// The required input of a pyramid is computed before the plan rejects its cost.
TEST(Matcher, ARegionOfAPyramidWithAnotherCostIsRejectedWithASentence) {
  const Scene scene = small_scene();
  const StereoPair pair{scene.left, scene.right, {}, {}};
  Pipeline pipeline("prehn-pyramid");
  pipeline.set("cost.stage", "zncc");
  Problem problem = Problem::of(pair, {0, 8});
  problem.region = Rect{3, 3, 9, 9};
  try {
    Plan(pipeline, problem, {.name = "cpu"});
    ADD_FAILURE() << "accepted";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("supports only sums of window differences"), std::string::npos) << e.what();
  }
}

TEST(Methods, ReducedAndUpsampledResultsEqualTheOracles) {
  const Scene scene = small_scene();
  const Image<std::uint16_t> left16 = with_pixels_of<std::uint16_t>(scene.left, 16),
                             right16 = with_pixels_of<std::uint16_t>(scene.right, 16);
  for (const char* const upsample : {"false", "true"})
    for (const StereoPair& pair : {StereoPair{scene.left, scene.right, {}, {}},
                                   StereoPair{AnyImageView(left16, 12), AnyImageView(right16, 12), {}, {}}}) {
      SCOPED_TRACE(testing::Message() << "upsample " << upsample << ", " << to_string(pair.left.type));
      Pipeline pipeline("zncc");
      pipeline.set("reduce.factor", "2");
      pipeline.set("reduce.upsample", upsample);
      pipeline.set("window_confidence.enabled", upsample);
      pipeline.set("propagation.enabled", upsample);
      const Matched expected = match_with_oracles(pipeline, pair, {-2, 27});
      EXPECT_EQ(expected.disparity.size(), std::string(upsample) == "true" ? (Size{93, 61}) : (Size{47, 31}));
      for (const int threads : {1, 3})
        expect_same(match_with_all(pipeline, pair, {-2, 27}, {"cpu", threads}), expected);
      for (gpu::Device* device : gpu::usable_devices())
        expect_same(match_with_all(pipeline, pair, {-2, 27}, {device->name(), 0}), expected);
    }
}

// Disparities are in pixels of the input images.
TEST(Methods, ReducedImagesGiveDisparitiesOfTheInput) {
  const Scene scene = make_scene({.scene = "planes", .size = {240, 160}, .disparities = 32});
  const StereoPair pair{scene.left, scene.right, {}, {}};
  Pipeline whole("zncc"), reduced("zncc");
  reduced.set("reduce.factor", "2");
  reduced.set("reduce.upsample", "true");
  const Matched a = match(pair, {0, 32}, whole), b = match(pair, {0, 32}, reduced);
  int near = 0;
  for (int y = 0; y < 160; ++y)
    for (int x = 0; x < 240; ++x) near += std::abs(a.disparity(x, y) - b.disparity(x, y)) <= 2;
  EXPECT_GT(near, 240 * 160 * 85 / 100);
}

// Refinements that read the images read the reduced images.
TEST(Methods, ConfidenceAndPropagationFollowReducedImages) {
  const Scene scene = make_scene({.size = {240, 160}, .disparities = 32});
  const Image<std::uint8_t> left = first_channel(scene.left), right = first_channel(scene.right);
  Image<std::uint8_t> half_left(Size{120, 80}), half_right(Size{120, 80});
  reduce::oracle<std::uint8_t>({.factor = 2}, left, {}, half_left, {});
  reduce::oracle<std::uint8_t>({.factor = 2}, right, {}, half_right, {});
  Pipeline plain("zncc"), reduced("zncc");
  for (Pipeline* p : {&plain, &reduced})
    for (const char* const stage : {"window_confidence.enabled", "repair.enabled", "propagation.enabled"})
      p->set(stage, "true");
  reduced.set("reduce.factor", "2");
  const Matched expected = match_with_all(plain, {half_left, half_right, {}, {}}, {0, 16}, {"cpu", 0});
  const Matched found = match_with_all(reduced, {left, right, {}, {}}, {0, 32}, {"cpu", 0});
  EXPECT_TRUE(same_bits(found.validity.view(), expected.validity.view()));
  EXPECT_TRUE(same_bits(found.confidence.view(), expected.confidence.view()));
  for (int y = 0; y < 80; ++y)
    for (int x = 0; x < 120; ++x) {
      if (std::isfinite(expected.disparity(x, y))) {
        ASSERT_EQ(found.disparity(x, y), 2 * expected.disparity(x, y));
      }
    }
}

TEST(Methods, ARegionOfReducedImagesShowsWhatTheWholeShows) {
  const Scene scene = make_scene({.size = {400, 300}, .disparities = 24});
  const StereoPair pair{scene.left, scene.right, {}, {}};
  for (const char* const upsample : {"false", "true"}) {
    Pipeline pipeline("zncc");
    pipeline.set("reduce.factor", "2");
    pipeline.set("reduce.upsample", upsample);
    pipeline.set("fill2.enabled", "false");
    Problem problem = Problem::of(pair, {0, 24});
    const Matched whole = Matcher(Plan(pipeline, problem)).match(pair);
    problem.region = Rect{210, 160, 21, 13};
    const Matched part = Matcher(Plan(pipeline, problem)).match(pair);
    ASSERT_EQ(part.disparity.size(), whole.disparity.size());
    const int factor = std::string(upsample) == "true" ? 1 : 2;
    const Rect shown{210 / factor, 160 / factor, 21 / factor, 13 / factor};
    EXPECT_TRUE(same_bits(part.disparity.view().crop(shown), whole.disparity.view().crop(shown)));
    EXPECT_EQ(part.validity(0, 0), validity::outside);
  }
}

TEST(Pipeline, ACombinationWithoutAMeaningIsRefusedWithTheReason) {
  const auto refusal = [](const char* stages, const char* levels) {
    Pipeline pipeline("costfilter");
    std::istringstream settings(stages);
    for (std::string setting; settings >> setting;)
      pipeline.set(setting.substr(0, setting.find('=')), setting.substr(setting.find('=') + 1));
    pipeline.set("levels.stage", levels);
    if (pipeline.slots().back().slot != "levels" && levels == std::string("cross_scale"))
      pipeline.set("levels.lambda", "0.3");
    return message_of([&] { Plan(pipeline, {.size = {20, 20}, .range = {0, 8}, .region = {}}); });
  };
  EXPECT_NE(refusal("aggregation.stage=none", "cross_scale").find("couples the levels' filtered costs"),
            std::string::npos);
  EXPECT_NE(refusal("optimisation.stage=sgm", "cross_scale").find("couples the levels' filtered costs"),
            std::string::npos);
  EXPECT_NE(refusal("cost.stage=rank", "pyramid").find("matches on a pyramid"), std::string::npos);
  EXPECT_NE(refusal("cost.stage=volume", "none").find("none comes with the pair"), std::string::npos);
}

// Adds refinements that need regions, kinds of outliers or costs to a method that computes none of these.
TEST(Methods, RefinementsOfOneFollowAnother) {
  const Scene scene = small_scene();
  const StereoPair pair{scene.left, scene.right, {}, {}};
  for (const char* name : {"sgm", "zncc", "costfilter", "prehn-window"})
    for (const char* refinements :
         {"left_right,outliers,region_voting", "outliers,interpolation", "outliers,region_voting,vote_fill,fill"}) {
      SCOPED_TRACE(testing::Message() << name << ' ' << refinements);
      Pipeline pipeline(name);
      pipeline.set("refinements", refinements);
      const Matched expected = match_with_oracles(pipeline, pair, {-2, 27});
      expect_same(match_with_all(pipeline, pair, {-2, 27}, {"cpu", 3}), expected);
      for (gpu::Device* device : gpu::usable_devices())
        expect_same(match_with_all(pipeline, pair, {-2, 27}, {device->name(), 0}), expected);
    }
}

TEST(Pipeline, ImagesThatStagesReadHaveTheirParametersThere) {
  Pipeline pipeline("sgm");
  const auto has_cross = [&] { return message_of([&] { pipeline.get("cross.length"); }) == "no error"; };
  EXPECT_FALSE(has_cross());
  pipeline.set("refinements", "outliers,region_voting,fill");
  EXPECT_TRUE(has_cross());
  pipeline.set("cross.length", "20");
  pipeline.set("aggregation.stage", "cross_aggregation");
  EXPECT_EQ(pipeline.get("cross.length"), "20");
  EXPECT_EQ(Pipeline::from_slots("sgm", pipeline.slots()).get("cross.length"), "20");
  pipeline.set("refinements", "none");
  EXPECT_TRUE(has_cross());
  pipeline.set("aggregation.stage", "none");
  EXPECT_FALSE(has_cross());
}

// The costs of any cost volume can be averaged over cross-based regions and optimised along scanlines, where each view
// uses its own image.
TEST(Methods, CrossBasedRegionsAndScanlinesTakeAnyCost) {
  const Scene scene = small_scene();
  const StereoPair pair{scene.left, scene.right, {}, {}};
  for (const char* cost : {"ad_census", "census_gradient", "rank", "colour_difference", "colour_gradient"})
    for (const char* optimisation : {"", "scanline", "sgm"}) {
      SCOPED_TRACE(testing::Message() << cost << ' ' << optimisation);
      std::vector<PipelineSlot> slots{{"cost", cost, {}}, {"aggregation", "cross_aggregation", {}}};
      if (*optimisation != 0) slots.push_back({"optimisation", optimisation, {}});
      slots.push_back({"left_right", "left_right", {}});
      Pipeline pipeline = Pipeline::from_slots("mine", slots);
      pipeline.set("cross.length", "12");
      pipeline.set("cross.short_length", "5");
      const Matched expected = match_with_oracles(pipeline, pair, {-2, 27});
      expect_same(match_with_all(pipeline, pair, {-2, 27}, {"cpu", 3}), expected);
      for (gpu::Device* device : gpu::usable_devices())
        expect_same(match_with_all(pipeline, pair, {-2, 27}, {device->name(), 0}), expected);
    }
}

// The map of the right view equals the map of the left view of the mirrored pair.
TEST(Methods, AdCensusMatchesTheRightViewByItself) {
  const Scene scene = make_scene({.size = {120, 70}, .disparities = 20, .noise = 4});
  const auto mirrored = [](const Image<std::uint8_t>& image) {
    Image<std::uint8_t> result(image.size(), image.channels());
    for (int y = 0; y < image.height(); ++y)
      for (int x = 0; x < image.width(); ++x)
        for (int c = 0; c < image.channels(); ++c) result(image.width() - 1 - x, y, c) = image(x, y, c);
    return result;
  };
  Pipeline pipeline("ad-census");
  pipeline.set("refinements", "none");
  const Image<std::uint8_t> left = mirrored(scene.right), right = mirrored(scene.left);
  const Matched both = match_with_all(pipeline, {scene.left, scene.right, {}, {}}, {0, 20}, {"cpu", 0});
  const Matched mirror = match_with_all(pipeline, {left, right, {}, {}}, {0, 20}, {"cpu", 0});
  int same = 0;
  for (int y = 0; y < 70; ++y)
    for (int x = 0; x < 120; ++x) same += both.right(x, y) == mirror.disparity(119 - x, y);
  // A census word is not exactly the mirrored word of the mirrored image, because a tie is a 0.
  EXPECT_GT(same, 120 * 70 * 97 / 100);
}

TEST(Methods, BadParametersAreRefused) {
  const auto refusal = [](const char* name, const char* value, const char* method = "ad-census") {
    return message_of([&] {
      Pipeline pipeline(method);
      if (method == std::string_view("sgm")) pipeline.set("vote_fill.enabled", "true");
      pipeline.set(name, value);
      Plan(pipeline, {.size = {60, 40}, .channels = 3, .range = {0, 16}, .region = {}});
    });
  };
  EXPECT_EQ(refusal("cross.length", "60"), "no error");
  EXPECT_NE(refusal("cross.length", "61")
                .find("cross.length = 61 makes arms longer than the image of 60×40; set it "
                      "to at most 60"),
            std::string::npos);
  EXPECT_NE(refusal("cross.length", "129").find("1 to 128"), std::string::npos);
  EXPECT_NE(refusal("cross.short_length", "35").find("is above cross.length = 34"), std::string::npos);
  EXPECT_NE(refusal("cross.strict_color", "21").find("is above cross.color = 20"), std::string::npos);
  EXPECT_NE(refusal("cross.strict_colour", "21").find("is above cross.color = 20"), std::string::npos)
      << "the spelling of earlier versions";
  EXPECT_NE(refusal("scanline.p1", "382").find("is above scanline.p2 = 381"), std::string::npos);
  EXPECT_NE(refusal("belief_propagation.truncation", "64", "realtime-bp").find("exceeds the 16 bits of messages"),
            std::string::npos);
  EXPECT_NE(
      refusal("belief_propagation.slope", "21", "realtime-bp").find("is above belief_propagation.truncation = 20"),
      std::string::npos);
  EXPECT_NE(refusal("belief_propagation.slope", "0", "realtime-bp").find("1 to 16319"), std::string::npos);
  EXPECT_NE(refusal("vote_fill.hidden", "11", "sgm").find("vote_fill.hidden = 11 is above vote_fill.seen = 10"),
            std::string::npos);
  EXPECT_NE(refusal("vote_fill.distance", "2", "sgm")
                .find("is above vote_fill.distance = 2; set vote_fill.step to at most 2"),
            std::string::npos);
}

// No parameter is ignored: a different allowed value must change the result, or must be rejected.
TEST(Pipeline, EveryParameterChangesTheResult) {
  // Under a sanitizer, the values run on smaller images, in which some of them change nothing.
  const Size size = sanitized ? Size{48, 32} : Size{120, 80};
  const Scene scene = make_scene({.size = size, .disparities = 24, .noise = 6});
  const StereoPair pair{scene.left, scene.right, {}, {}};
  const auto result_of = [&](const Pipeline& pipeline) {
    Problem problem = Problem::of(pair, {0, 24});
    problem.region = Rect{0, 0, size.width / 2, size.height / 2};
    return Matcher(Plan(pipeline, problem)).match(pair);
  };
  const auto moves = [&](const Pipeline& pipeline, const Matched& before, const ParameterInfo& info) {
    Pipeline changed = pipeline;
    std::vector<std::string> values = {"true", "false", "0",  "1",  "2",  "3",  "4",   "5",          "7",
                                       "8",    "9",     "11", "13", "25", "99", "200", "0.6,0.3,0.1"};
    for (const std::string& choice : split(info.allowed, ','))
      values.push_back(choice.substr(choice.find_first_not_of(' ')));
    for (const std::string& value : values) {
      if (value == info.value) continue;
      try {
        changed.set(info.name, value);
        const Matched after = result_of(changed);
        if (!same_bits(after.disparity.view(), before.disparity.view()) ||
            !same_bits(after.validity.view(), before.validity.view()))
          return true;
      } catch (const Error& error) {  // the plan rejected the value for a reason other than its range
        if (std::string(error.what()).find(info.name + " = " + value + " is not allowed with") != std::string::npos)
          return true;
      }
    }
    return false;
  };
  std::set<std::string> tried;
  for (const MethodInfo& method : methods()) {
    Pipeline pipeline(method.name);
    for (const ParameterInfo& info : pipeline.parameters())
      if (info.name.ends_with(".enabled")) pipeline.set(info.name, "true");
    if (method.name.starts_with("asw")) pipeline.set("aggregation.window", "9");  // takes a tenth of the time
    const Matched before = result_of(pipeline);
    for (const ParameterInfo& info : pipeline.parameters()) {
      // With sanitizers, each parameter is tested in only one method.
      if (!tried.insert(info.name).second && sanitized) continue;
      Pipeline changed = pipeline;
      // With other settings, arms end because of the colour before they reach the length.
      if (info.name.starts_with("cross.")) changed.set("cross.color", "99");
      if (info.name == "outliers.enabled")
        changed.set("interpolation.enabled", "false");  // the interpolation reads the kinds of outliers
      if (info.name == "cross.length") changed.set("cross.strict_color", "99");
      if (info.name == "cross.length" || info.name == "cross.strict_color") changed.set("cross.short_length", "1");
      bool different =
          moves(changed,
                info.name.starts_with("cross.") || info.name == "outliers.enabled" ? result_of(changed) : before, info);
      // Parameters of an adaptive P2 are rejected for a constant P2, so these parameters are tested with an adaptive
      // P2.
      if (!different && (info.name == "optimisation.p2_min" || info.name == "optimisation.gradient")) {
        Pipeline adaptive = pipeline;
        adaptive.set("sgm.gradient", "8");
        adaptive.set("sgm.p2_min", "40");
        Pipeline moved = adaptive;
        moved.set(info.name, "50");
        different = !same_bits(result_of(moved).disparity.view(), result_of(adaptive).disparity.view());
      }
      // Candidates outside the right image fail the check and are replaced by filling, so the parameter is tested
      // without both.
      if (!different && info.name == "select.border_candidates") {
        Pipeline unrefined = pipeline;
        unrefined.set("refinements", "none");
        different = moves(unrefined, result_of(unrefined), info);
      }
      // Parameters of the reduction and of upsampling are tested with reduced images.
      if (!different && info.name.starts_with("prepare.")) {
        Pipeline reduced = pipeline;
        reduced.set("reduce.factor", "2");
        if (info.name == "prepare.edge") reduced.set("reduce.upsample", "true");
        Pipeline moved = reduced;
        moved.set(info.name, info.name == "prepare.edge"       ? "1"
                             : info.name == "prepare.upsample" ? "true"
                                                               : "every_nth");
        const Matched a = result_of(reduced), b = result_of(moved);
        different = a.disparity.size() != b.disparity.size() || !same_bits(a.disparity.view(), b.disparity.view());
      }
      // Parameters of one mode of filling are tested in that mode. The second filling is tested without the first.
      if (!different && info.name.starts_with("fill")) {
        const std::string slot = info.name.substr(0, info.name.find('.'));
        Pipeline reads_it = pipeline;
        for (const ParameterInfo& other : pipeline.parameters())
          if (other.name == "vote_fill.enabled") reads_it.set(other.name, "false");
        reads_it.set(slot + ".mode", info.name.ends_with(".distance") ? "cross" : "box");
        Pipeline moved = reads_it;
        moved.set(info.name, info.name.ends_with(".enabled") ? "false"
                             : info.name.ends_with(".mode")  ? "nearest"
                                                             : "3");
        for (Pipeline* p : {&reads_it, &moved}) {
          if (slot == "fill2") p->set("fill.enabled", "false");
        }
        different = !same_bits(result_of(moved).disparity.view(), result_of(reads_it).disparity.view());
      }
      // After fills and medians, nothing may be left to propagate, so propagation is tested on the map of the
      // selection.
      if (!different && info.name.starts_with("propagation.")) {
        Pipeline alone = pipeline;
        for (const ParameterInfo& other : pipeline.parameters())
          if (other.name.ends_with(".enabled")) alone.set(other.name, "false");
        alone.set("propagation.enabled", "true");
        alone.set("propagation.variation", "200");
        Pipeline moved = alone;
        moved.set(info.name, info.name.ends_with(".enabled")     ? "false"
                             : info.name.ends_with(".variation") ? "1"
                                                                 : "40");
        different = !same_bits(result_of(moved).disparity.view(), result_of(alone).disparity.view());
      }
      // A margin may leave the pixels of a region unchanged, but changes the required input.
      if (!different && info.name == "region.margin") {
        Pipeline other_margin = pipeline;
        other_margin.set(info.name, "1");
        Problem problem = Problem::of(pair, {0, 24});
        problem.size = {2500, 2500};  // larger than the area over which intensities are averaged
        problem.region = Rect{0, 0, 10, 10};
        different = Plan(other_margin, problem).required_input() != Plan(pipeline, problem).required_input();
      }
      // Levels have an effect only if they are coupled.
      if (!different && (info.name == "levels.levels" || info.name == "levels.radius")) {
        Pipeline coupled = pipeline;
        coupled.set("levels.lambda", "0.3");
        Pipeline moved = coupled;
        moved.set(info.name, "2");
        different = !same_bits(result_of(moved).disparity.view(), result_of(coupled).disparity.view());
      }
      EXPECT_TRUE(different || sanitized) << method.name << ": " << info.name << " changes nothing";
    }
  }
}

}  // namespace
}  // namespace stereopsis::methods_test
