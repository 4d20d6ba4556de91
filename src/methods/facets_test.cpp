// Checks that stages do what the facets of their descriptors say.
#include <gtest/gtest.h>

#include <cmath>

#include "graph/registry.hpp"
#include "stereopsis/matcher.hpp"
#include "stereopsis/synth.hpp"

namespace stereopsis::facets_test {
namespace {

const DisparityRange range{0, 32};

const Scene& scene() {
  static const Scene made = make_scene({.size = {160, 90}, .disparities = range.count, .noise = 6});
  return made;
}

Matched matched(const std::string& method, const std::string& refinements) {
  Pipeline pipeline(method);
  pipeline.set("refinements", refinements);
  pipeline.set("select.subpixel", "none");  // `outliers` compares integer disparities
  const StereoPair pair{scene().left.view(), scene().right.view()};
  Problem problem = Problem::of(pair, range);
  problem.constant.mark_flat = false;
  return Matcher(Plan(pipeline, problem, {.name = "cpu"})).match(pair);
}

int invalid_pixels(const Matched& m) {
  int count = 0;
  for (int y = 0; y < m.disparity.height(); ++y)
    for (int x = 0; x < m.disparity.width(); ++x) count += std::isnan(m.disparity(x, y)) ? 1 : 0;
  return count;
}

// The map before and after a refinement. `outliers` leaves invalid pixels, and gives their kinds. The first method with
// the inputs of the refinement is used.
std::pair<Matched, Matched> around(const std::string& refinement) {
  for (const char* method : {"sgm", "prehn-window", "ad-census"}) try {
      return {matched(method, "outliers"), matched(method, "outliers," + refinement)};
    } catch (const Error&) {
    }
  throw Error(ErrorCategory::call, "no method has the inputs of " + refinement);
}

template <class Facet>
std::vector<std::string> refinements_with() {
  std::vector<std::string> names = registry().names(Slot::refinement);
  std::erase_if(names, [](const std::string& name) { return registry().at(name).facet<Facet>() == nullptr; });
  return names;
}

TEST(Facets, AreFoundByTypeAndByAddress) {
  static const RegionRule elsewhere{};
  const FacetList facets{Fills{}, CostLimit{9}, &elsewhere};
  EXPECT_NE(facets.find<Fills>(), nullptr);
  EXPECT_EQ(facets.find<CostLimit>()->largest({}), 9);
  EXPECT_EQ(facets.find<RegionRule>(), &elsewhere);
  EXPECT_EQ(facets.find<KeepsInvalid>(), nullptr);
  EXPECT_EQ(FacetList().find<Fills>(), nullptr);
}

TEST(Facets, RefinementsThatFillMakePixelsValidAndMarkThem) {
  const std::vector<std::string> names = refinements_with<Fills>();
  EXPECT_FALSE(names.empty());
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const auto [before, after] = around(name);
    EXPECT_LT(invalid_pixels(after), invalid_pixels(before));
    for (int y = 0; y < before.disparity.height(); ++y)
      for (int x = 0; x < before.disparity.width(); ++x) {
        const bool made_valid = std::isnan(before.disparity(x, y)) && !std::isnan(after.disparity(x, y));
        ASSERT_TRUE(!made_valid || (after.validity(x, y) & validity::filled) != 0) << x << ", " << y;
      }
  }
}

TEST(Facets, RefinementsThatKeepInvalidPixelsNeverGiveThemADisparity) {
  const std::vector<std::string> names = refinements_with<KeepsInvalid>();
  EXPECT_FALSE(names.empty());
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const auto [before, after] = around(name);
    EXPECT_GT(invalid_pixels(before), 0);
    for (int y = 0; y < before.disparity.height(); ++y)
      for (int x = 0; x < before.disparity.width(); ++x)
        ASSERT_TRUE(!std::isnan(before.disparity(x, y)) || std::isnan(after.disparity(x, y))) << x << ", " << y;
  }
}

TEST(Facets, SlotsHaveThePropertiesOfTheirStages) {
  Pipeline pipeline("sgm");
  pipeline.set("refinements", "left_right,window_confidence,subpixel,fill");
  std::string text;
  for (const PipelineSlot& slot : pipeline.slots())
    if (slot.is_refinement)
      text += slot.slot + (slot.fills ? " fills" : "") + (slot.keeps_invalid ? " keeps" : "") +
              (slot.computes_subpixels ? " subpixels" : "") + (slot.changes_disparity ? "" : " rates") + "\n";
  EXPECT_EQ(text, "left_right keeps\nwindow_confidence keeps rates\nsubpixel keeps subpixels\nfill fills\n");
  const auto select = [&] {
    const auto slots = pipeline.slots();
    return *std::ranges::find(slots, "select", &PipelineSlot::slot);
  };
  pipeline.set("select.subpixel", "none");
  EXPECT_FALSE(select().computes_subpixels);
  pipeline.set("select.subpixel", "parabola");
  EXPECT_TRUE(select().computes_subpixels);
}

}  // namespace
}  // namespace stereopsis::facets_test
