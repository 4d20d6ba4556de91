#include "io/codecs.hpp"
#include "stereopsis/io.hpp"
#include "support/files.hpp"

namespace stereopsis::slots_json_test {
namespace {

using namespace test;

ParameterInfo parameter(const char* name, const char* type, const char* value) {
  return {.name = name, .type = type, .value = value, .allowed = {}, .description = {}};
}

TEST(PipelineJson, SlotsInOrderWithTypedValues) {
  const io::NamedSlots pipeline{
      "banz-sgm",
      {{"cost", "rank", {parameter("cost.window", "integer", "9")}},
       {"optimisation",
        "sgm",
        {parameter("optimisation.p2", "number", "0.5"), parameter("optimisation.mode", "choice", "8"),
         parameter("optimisation.weights", "numbers", "1,0.25")}},
       {"median", "median", {parameter("median.enabled", "flag", "true")}, true}}};
  const std::string json = io::slots_to_json(pipeline);
  EXPECT_EQ(json, R"({
  "method": "banz-sgm",
  "cost": {
    "stage": "rank",
    "window": 9
  },
  "optimisation": {
    "stage": "sgm",
    "p2": 0.5,
    "mode": "8",
    "weights": [
      1,
      0.25
    ]
  },
  "refinements": [
    {
      "stage": "median",
      "enabled": true
    }
  ]
}
)");
  const io::NamedSlots back = io::slots_from_json(json);
  EXPECT_EQ(back.method, "banz-sgm");
  ASSERT_EQ(back.slots.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(back.slots[i].slot, pipeline.slots[i].slot);
    EXPECT_EQ(back.slots[i].kind, pipeline.slots[i].kind);
    ASSERT_EQ(back.slots[i].parameters.size(), pipeline.slots[i].parameters.size());
    for (std::size_t j = 0; j < back.slots[i].parameters.size(); ++j) {
      EXPECT_EQ(back.slots[i].parameters[j].name, pipeline.slots[i].parameters[j].name);
      EXPECT_EQ(back.slots[i].parameters[j].value, pipeline.slots[i].parameters[j].value);
    }
  }
}

// Functions that print or compare a JSON value recurse at each level, so deep JSON would overflow the stack.
TEST(PipelineJson, DeepNestingIsRejected) {
  const auto nested = [](int depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  for (const int depth : {65, 100000, 1000000}) {
    EXPECT_TRUE(refuses([&] { io::slots_from_json(nested(depth)); }, ErrorCategory::format, "more than 64 levels"));
    EXPECT_TRUE(refuses([&] { check_json_depth(R"({"a": )" + nested(depth) + "}"); }, ErrorCategory::format, "64"));
  }
  EXPECT_NO_THROW(check_json_depth(nested(64)));
  EXPECT_NO_THROW(check_json_depth("[" + std::string(100, ' ') + "\"" + std::string(100, '[') + "\\\"[\"]"));
  std::string flat;
  for (int i = 0; i < 1000; ++i) flat += "[],";
  EXPECT_NO_THROW(check_json_depth("[" + flat + "0]"));
}

TEST(PipelineJson, MethodsOfThePythonPackageAreRejected) {
  for (const std::string method : {"onnx:net.onnx", "program:elas {left} {right} {out}"}) {
    try {
      io::slots_from_json(R"({"refinements": [], "method": ")" + method + "\"}");
      ADD_FAILURE() << method << " is accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.category(), ErrorCategory::unsupported);
      EXPECT_NE(std::string(error.what()).find("\"" + method + "\", which only the Python package runs"),
                std::string::npos)
          << error.what();
    }
  }
}

TEST(PipelineJson, WhatIsNoPipelineIsRefused) {
  const auto refused = [](const std::string& json, const std::string& part) {
    return refuses([&] { io::slots_from_json(json); }, ErrorCategory::format, part);
  };
  EXPECT_TRUE(refused("", "is not valid JSON: parse error at line "));
  EXPECT_TRUE(refused("{\"method\":\n", "is not valid JSON: parse error at line "));
  EXPECT_TRUE(refused("{\"method\": \"a\"} x", "is not valid JSON: parse error at line "));
  EXPECT_TRUE(refused("{\"method\": \"\xff\"}", "is not valid JSON: "));
  EXPECT_TRUE(refused("[1, 2]", "not [1,2]"));
  EXPECT_TRUE(refused("{}", "no \"method\""));
  EXPECT_TRUE(refused(R"({"method": 3})", "\"method\" in the pipeline is 3"));
  EXPECT_TRUE(refused(R"({"method": "a", "method": "b"})", "\"method\" twice"));
  EXPECT_TRUE(refused(R"({"method": "a", "cost": {"window": 3, "window": 5}})", "\"window\" twice"));
  EXPECT_TRUE(refused(R"({"method": "a", "cost": 5})", "\"cost\" of the pipeline is 5"));
  EXPECT_TRUE(refused(R"({"method": "a", "cost": {"stage": 1}})", "\"stage\" in the pipeline is 1"));
  EXPECT_TRUE(refused(R"({"method": "a", "cost": {"window": null}})", "cost.window"));
  EXPECT_TRUE(refused(R"({"method": "a", "cost": {"window": {"x": 1}}})", "cost.window"));
  EXPECT_TRUE(refused(R"({"method": "a", "cost": {"weights": [1, "2"]}})", "cost.weights"));
  EXPECT_TRUE(refused(R"({"method": "a", "cost": {"window": 1e999}})", "is not valid JSON: "));
  EXPECT_TRUE(refused("[[[[", "is not valid JSON: "));
}

}  // namespace
}  // namespace stereopsis::slots_json_test
