#include "stereopsis/io.hpp"
#include "support/files.hpp"

namespace stereopsis::pipeline_json_test {
namespace {

using namespace test;

void expect_same(const Pipeline& a, const Pipeline& b) {
  EXPECT_EQ(a.method(), b.method());
  const auto all_a = a.parameters();
  const auto all_b = b.parameters();
  ASSERT_EQ(all_a.size(), all_b.size());
  for (std::size_t i = 0; i < all_a.size(); ++i) {
    EXPECT_EQ(all_a[i].name, all_b[i].name);
    EXPECT_EQ(all_a[i].value, all_b[i].value) << all_a[i].name;
  }
}

TEST(PipelineFiles, EveryMethodComesBackTheSame) {
  const TemporaryFolder folder;
  for (const MethodInfo& info : methods()) {
    SCOPED_TRACE(info.name);
    const Pipeline pipeline(info.name);
    write_text(folder / "pipeline.json", to_json(pipeline));
    expect_same(read_pipeline(folder / "pipeline.json"), pipeline);
  }
}

TEST(PipelineFiles, AChangedParameterIsKept) {
  Pipeline pipeline("banz-sgm");
  pipeline.set("cost.window", "7");
  pipeline.set("median.enabled", "false");
  const Pipeline back = pipeline_from_json(to_json(pipeline));
  EXPECT_EQ(back.get("cost.window"), "7");
  EXPECT_EQ(back.get("median.enabled"), "false");
  expect_same(back, pipeline);
}

TEST(PipelineFiles, WhatIsLeftOutKeepsItsDefault) {
  const Pipeline pipeline = pipeline_from_json(R"({"method": "mine", "cost": {"stage": "rank"}})");
  EXPECT_EQ(pipeline.method(), "mine");
  EXPECT_EQ(pipeline.get("cost.window"), "9");
}

TEST(PipelineFiles, EarlierSpellingsOfNamesAreRead) {
  const Pipeline pipeline =
      pipeline_from_json(R"({"method": "mine", "aggregation": {"stage": "asw", "gamma_colour": 12}})");
  EXPECT_EQ(pipeline.get("aggregation.gamma_color"), "12");
  EXPECT_EQ(pipeline.get("asw.gamma_colour"), "12");
  EXPECT_NE(to_json(pipeline).find("\"gamma_color\": 12"), std::string::npos);
}

testing::AssertionResult refused(const std::string& json, const std::string& part) {
  try {
    pipeline_from_json(json);
  } catch (const Error& error) {
    if (std::string(error.what()).find(part) != std::string::npos) return testing::AssertionSuccess();
    return testing::AssertionFailure() << error.what();
  }
  return testing::AssertionFailure() << "was read";
}

TEST(PipelineFiles, UnknownKeysAreRefusedWithTheNearestRightOne) {
  EXPECT_TRUE(refused(R"({"method": "mine", "cots": {"stage": "rank"}})", "'cost'"));
  EXPECT_TRUE(refused(R"({"method": "mine", "cost": {"stage": "rank", "windw": 9}})", "'cost.window'"));
  EXPECT_TRUE(refused(R"({"method": "mine", "cost": {"stage": "ramk"}})", "rank"));
  EXPECT_TRUE(refused(R"({"method": "mine", "medain": {}})", "'median'"));
  EXPECT_TRUE(refused(R"({"method": "mine", "median": {"stage": "fill"}})", "'fill'"));
}

TEST(PipelineFiles, TwoSpellingsOfOneNameAreRefused) {
  EXPECT_TRUE(refused(R"({"method": "mine", "aggregation": {"stage": "asw", "gamma_colour": 12, "gamma_color": 13}})",
                      "both \"gamma_color\" and its earlier spelling \"gamma_colour\""));
}

TEST(PipelineFiles, ValuesOutOfRangeAreRefused) {
  EXPECT_TRUE(refused(R"({"method": "mine", "cost": {"stage": "rank", "window": 8}})", "window"));
  EXPECT_TRUE(refused(R"({"method": "mine", "cost": {"stage": "rank", "window": "wide"}})", "wide"));
  EXPECT_TRUE(refused(R"({"method": "mine", "median": {"enabled": 1}})", "enabled"));
}

TEST(PipelineFiles, KeysComeInAnyOrder) {
  const Pipeline pipeline("sgm");
  const Pipeline turned = pipeline_from_json(R"({
    "refinements": [{"stage": "left_right", "enabled": true, "threshold": 1}, {"stage": "median", "window": 5},
                    {"stage": "median", "enabled": false}],
    "select": {"subpixel": "equiangular", "stage": "wta"},
    "optimisation": {"p2": 90, "stage": "sgm"},
    "cost": {"stage": "census_gradient"},
    "method": "turned"})");
  EXPECT_EQ(turned.get("select.subpixel"), "equiangular");
  EXPECT_EQ(turned.get("sgm.p2"), "90");
  EXPECT_EQ(turned.get("median.window"), "5");
  EXPECT_EQ(turned.get("median2.enabled"), "false");
  expect_same(pipeline_from_json(to_json(turned)), turned);
}

TEST(PipelineFiles, FilesOfEarlierVersionsAreRead) {
  const Pipeline pipeline = pipeline_from_json(R"({
    "method": "sgm", "cost": {"stage": "rank", "window": 7}, "optimisation": {"stage": "sgm"},
    "select": {"stage": "winner_takes_all", "uniqueness": 5},
    "left_right": {"enabled": true}, "median": {"enabled": true, "window": 3}, "median2": {"enabled": false},
    "roi": {"stage": "region", "margin": 7}})");
  EXPECT_EQ(pipeline.get("select.uniqueness"), "5");
  EXPECT_EQ(pipeline.get("median2.enabled"), "false");
  EXPECT_EQ(pipeline.get("region.margin"), "7");
}

TEST(PipelineFiles, RefinementsAreAListOfStages) {
  EXPECT_TRUE(refused(R"({"method": "mine", "cost": {"stage": "rank"}, "refinements": {}})", "must be a list"));
  EXPECT_TRUE(refused(R"({"method": "mine", "cost": {"stage": "rank"}, "refinements": [{"window": 3}]})", "\"stage\""));
  EXPECT_TRUE(
      refused(R"({"method": "mine", "cost": {"stage": "rank"}, "refinements": [{"stage": "medain"}]})", "'median'"));
}

TEST(PipelineFiles, AnOrderThatWouldBeMisunderstoodIsRefused) {
  EXPECT_TRUE(
      refused(R"({"method": "mine", "median2": {"window": 5}, "fill": {}, "median": {"window": 3}})", "the order is"));
}

TEST(PipelineFiles, AnErrorNamesTheFile) {
  const TemporaryFolder folder;
  const auto file = put(folder / "broken.json", "{");
  EXPECT_TRUE(refuses([&] { read_pipeline(file); }, ErrorCategory::format, "broken.json: "));
}

}  // namespace
}  // namespace stereopsis::pipeline_json_test
