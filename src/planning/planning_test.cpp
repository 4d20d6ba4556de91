// Tests each pass of the planner with hand-written programs: building, fusion, placement, margins and lowering.
#include <gtest/gtest.h>

#include <algorithm>

#include "methods/methods.hpp"
#include "planning/lowering.hpp"
#include "planning/program.hpp"

namespace stereopsis::planning_test {
namespace {

constexpr Size size{40, 30};
const Target cpu{On::cpu, 2};

void do_nothing(const Call<On::cpu>&) {}

StageDescriptor stage(const char* name) {
  return {.slot = Slot::internal,
          .name = name,
          .title = name,
          .ports = {in("in"), out("out", Element::u8)},
          .functions = {.cpu = do_nothing}};
}

const StageDescriptor first = stage("first"), second = stage("second"), third = stage("third"),
                      both_at_once = stage("both_at_once");

Request request_of_size() {
  Request r;
  r.size = size;
  r.range = {0, 16};
  for (const Binding output : {Binding::output_disparity, Binding::output_validity})
    r.requested[index_of(output)] = true;
  return r;
}

// Replaces the steps `first` and `second` by one step, which has the inputs of the first and the outputs of the second.
Step fused(const Run& run) { return fused_step(both_at_once, {}, run.steps); }

class Passes : public testing::Test {
 protected:
  int value(Binding binding = Binding::none) {
    values.push_back({.shape = {.element = Element::u8, .width = 64, .height = 4, .pitch = 64}, .binding = binding});
    return static_cast<int>(values.size()) - 1;
  }
  void step(const StageDescriptor& s, int in, int out) {
    const Operand read{in, {}, "in"}, made{out, {}, "out", Side::reference, Port::Use::out};
    steps.push_back({&s, {}, {}, {read, made}, s.title, {}});
  }
  void fuse_all() {
    const Rule* const rules[] = {&rule};
    fuse(steps, values, cpu, rules);
  }
  std::vector<std::string> names() const {
    std::vector<std::string> list;
    for (const Step& s : steps) list.push_back(s.entry->name);
    return list;
  }

  const Rule rule{.name = "rule", .run = {"first", "second"}, .fuse = fused, .operation = &both_at_once};
  std::vector<Value> values;
  std::vector<Step> steps;
};

using Names = std::vector<std::string>;

TEST_F(Passes, FusionReplacesARun) {
  const int in = value(), between = value(), out = value();
  step(first, in, between);
  step(second, between, out);
  fuse_all();
  EXPECT_EQ(names(), Names{"both_at_once"});
}

// A fused step reads the first input of the run and writes the last output of the run, even if both have the same name.
TEST_F(Passes, FusedStepsFindTheirOperandsByName) {
  const StageDescriptor filter{.slot = Slot::internal,
                               .name = "filter",
                               .title = "filter",
                               .ports = {in("map"), out("map", Element::f32), if_there("mask", both)}};
  const auto step_on = [&](int in, int out) {
    Step s{&filter, {}, {}, {{in}, {out}, {}, {7}}, {}, {}};
    std::size_t i = 0;
    for_each_operand(filter.ports({}, {}), [&](const Port& port, Side view) {
      s.operands[i] = named(s.operands[i], port, view);
      ++i;
    });
    return s;
  };
  const std::vector<Step> run{step_on(1, 2), step_on(2, 3)};
  const Step fused = fused_step(filter, {}, run);
  EXPECT_EQ(fused.input("map").value, 1);
  EXPECT_EQ(fused.output("map").value, 3);
  EXPECT_EQ(fused.input("mask").value, -1);
  EXPECT_EQ(fused.input("mask", Side::other).value, 7);
  EXPECT_EQ(fused.output("mask", Side::other).value, -1) << "it is only read";
  EXPECT_EQ(fused.input("nothing").value, -1);
}

struct Window {
  int size = 3;
};
Rect grown_by(const Window& window, const Rect& r) { return grow(r, window.size, window.size); }

// A descriptor accepts functions of its own parameter type, lists and constants.
TEST(Descriptors, TakeFunctionsOfTheirParameters) {
  const StageDescriptor s{.slot = Slot::internal,
                          .name = "window",
                          .title = "window",
                          .ports = [](const Window& w) { return Ports{in(w.size > 3 ? "image" : "grey")}; },
                          .required_input = grown_by,
                          .plan = [](Window& w, const PlanFacts& facts) { w.size = facts.most_cost; },
                          .facets = {Costs{CostUnits{.largest = 7}}}};
  StageParameters wide = Window{5};
  EXPECT_STREQ(s.ports(wide, {})[0].name, "image");
  EXPECT_STREQ(s.ports(Window{}, {})[0].name, "grey");
  EXPECT_EQ(s.required_input(wide, {10, 10, 1, 1}), (Rect{5, 5, 11, 11}));
  EXPECT_EQ(s.facet<Costs>()->units(wide).largest, 7);
  EXPECT_EQ(s.facet<WordCosts>(), nullptr);
  const PipelineData pipeline;
  s.plan(wide, {pipeline, pipeline.cost.parameters, {}, 9});
  EXPECT_EQ(wide.as<Window>().size, 9);
}

// A later step still needs an intermediate image that the fused step does not compute.
TEST_F(Passes, FusionKeepsAnImageThatALaterStepReads) {
  const int in = value(), between = value(), out = value(), later = value();
  step(first, in, between);
  step(second, between, out);
  step(third, between, later);
  fuse_all();
  EXPECT_EQ(names(), (Names{"first", "second", "third"}));
  EXPECT_NE(steps[0].note.find("rule: "), std::string::npos) << "the reason is told";
}

TEST_F(Passes, FusionKeepsAnImageThatIsDelivered) {
  const int in = value(), between = value(Binding::output_cost), out = value();
  step(first, in, between);
  step(second, between, out);
  fuse_all();
  EXPECT_EQ(names(), (Names{"first", "second"}));
}

// Other steps may also read the inputs of a fused run.
TEST_F(Passes, FusionSharesItsInputs) {
  const int in = value(), between = value(), out = value(), other = value();
  step(first, in, between);
  step(second, between, out);
  step(third, in, other);
  fuse_all();
  EXPECT_EQ(names(), (Names{"both_at_once", "third"}));
}

// Values that are never live at the same time may share memory, and other values must not.
TEST_F(Passes, PlacementSharesMemoryByLifetime) {
  const int in = value(Binding::left), a = value(), b = value(), c = value(), out = value(Binding::output_disparity);
  step(first, in, a);
  step(second, a, b);
  step(third, b, c);
  step(first, c, out);
  std::vector<ProgramStep> placed;
  for (Step& s : steps) placed.push_back({.step = s, .scratch_bytes = 100});
  const std::size_t bytes = place(values, placed, cpu);
  const auto overlap = [&](int x, int y) {
    const std::size_t one = values[static_cast<std::size_t>(x)].offset,
                      other = values[static_cast<std::size_t>(y)].offset;
    return one < other + 256 && other < one + 256;
  };
  EXPECT_FALSE(values[static_cast<std::size_t>(in)].has_place) << "the caller's image";
  EXPECT_FALSE(overlap(a, b));
  EXPECT_FALSE(overlap(b, c));
  EXPECT_TRUE(overlap(a, c));
  EXPECT_LT(bytes, 3 * 320u + 2 * 128);
}

TEST_F(Passes, BuilderMakesImagesOnceAndUnderOtherNames) {
  const PipelineData pipeline = method_data("sgm");
  const Request request = request_of_size();
  Builder b(pipeline, request, cpu, {0, 0, size.width, size.height}, 0, false);
  Images images = lower_inputs(b);
  const int grey = b.need(images, "grey", 0);
  EXPECT_EQ(grey, b.need(images, "image", 0)) << "a grey image is its own grey image";
  EXPECT_EQ(b.binding_of(grey), Binding::left);
  const auto before = b.mark();
  const int crosses = b.need(images, "cross", 0);
  EXPECT_EQ(b.mark().steps, before.steps + 1);
  EXPECT_EQ(b.need(images, "cross", 0), crosses);
  b.rewind(before);
  EXPECT_EQ(b.mark().values, before.values);
  EXPECT_THROW(b.need(images, "nothing", 0), Error);
}

// A lowering gives the operands of a step by the names of its ports. A port that it does not name has no value.
TEST_F(Passes, BuilderFindsThePortsOfALoweringByName) {
  const StageDescriptor filter{.slot = Slot::internal,
                               .name = "filter",
                               .title = "filter",
                               .ports = {in("map"), if_there("mask"), in("image", both), change("validity"),
                                         out("map", Element::f32), out("kinds", Element::u8)}};
  const PipelineData pipeline = method_data("sgm");
  const Request request = request_of_size();
  Builder b(pipeline, request, cpu, {0, 0, size.width, size.height}, 0, false);
  std::vector<int> v;
  for (int i = 0; i < 5; ++i) v.push_back(b.image(size, Element::u8));
  b.add(filter, {}, {}, {{"validity", v[3]}, {"image", v[2], Side::other}, {"map", v[0]}}, {{"map", v[4]}});
  EXPECT_THROW(b.add(filter, {}, {}, {{"maps", v[0]}}), std::logic_error);
  EXPECT_THROW(b.add(filter, {}, {}, {{"map", v[0]}}, {{"validity", v[3]}}), std::logic_error) << "it is also read";
  const std::vector<Step> made = b.take_steps();
  ASSERT_EQ(made.size(), 1u);
  std::vector<int> found;
  for (const Operand& operand : made[0].operands) found.push_back(operand.value);
  EXPECT_EQ(found, (std::vector{v[0], -1, -1, v[2], v[3], v[4], -1}));
}

std::vector<std::string> steps_of(const PipelineData& pipeline, const Request& request) {
  Builder b(pipeline, request, cpu, required_input(pipeline, request), 0, false);
  lower(b);
  std::vector<std::string> list;
  for (const Step& s : b.take_steps()) list.push_back(s.entry->name);
  return list;
}

TEST_F(Passes, LoweringFollowsTheTaxonomy) {
  const Names steps_of_sgm = steps_of(method_data("banz-sgm"), request_of_size());
  const Names order = {"rank", "cost_volume", "sgm", "wta"};
  auto at = steps_of_sgm.begin();
  for (const std::string& name : order) {
    at = std::find(at, steps_of_sgm.end(), name);
    ASSERT_NE(at, steps_of_sgm.end()) << name;
  }
}

// The planner rejects a requested map that no stage makes.
TEST_F(Passes, LoweringRejectsOutputsThatNoStageMakes) {
  Request request = request_of_size();
  request.requested[index_of(Binding::output_aggregated)] = true;
  EXPECT_THROW(steps_of(method_data("banz-sgm"), request), Error);
}

// Images from which others are derived are prepared first. One such image is the grey image of NV12, which is its luma.
TEST_F(Passes, LoweringDerivesImagesFromPreparedOnes) {
  const StageDescriptor smooth{
      .slot = Slot::prepare, .name = "smooth", .title = "smooth", .ports = {in("image"), out("image", Element::same)}};
  PipelineData pipeline = method_data("banz-sgm");
  pipeline.prepare = StageChoice(smooth);
  Request request = request_of_size();
  request.channels = 3;
  for (const std::optional<PixelFormat> format : {std::optional<PixelFormat>(), std::optional(PixelFormat::nv12)}) {
    request.format = format;
    const Names made = steps_of(pipeline, request);
    EXPECT_EQ(std::ranges::count(made, "smooth"), 2);
    EXPECT_EQ(std::ranges::count(made, "grey"), 2);
    EXPECT_LT(std::ranges::find(made, "smooth"), std::ranges::find(made, "grey"));
  }
}

// A selection that computes only the disparity is accepted if the pipeline needs no other map from it.
TEST_F(Passes, LoweringRejectsMapsThatTheSelectionDoesNotMake) {
  const StageDescriptor only_disparity{
      .slot = Slot::select,
      .name = "only_disparity",
      .title = "only disparity",
      .ports = {in_volume("costs", {}), out("disparity", Element::f32), out("validity", Element::u8)}};
  PipelineData pipeline = method_data("banz-sgm");
  pipeline.confidence = {};
  pipeline.select = StageChoice(only_disparity);
  EXPECT_EQ(std::ranges::count(steps_of(pipeline, request_of_size()), "only_disparity"), 1);
  for (const Binding output : {Binding::output_right, Binding::output_confidence}) {
    Request request = request_of_size();
    request.requested[index_of(output)] = true;
    EXPECT_THROW(steps_of(pipeline, request), Error);
  }
  pipeline.refinements = {StageChoice(registry().at("left_right"))};
  EXPECT_THROW(steps_of(pipeline, request_of_size()), Error);
}

// The margin of a region increases with the inputs of the stages, and never exceeds the image.
TEST_F(Passes, MarginsComposeBackwards) {
  const PipelineData pipeline = method_data("zncc");
  Request request = request_of_size();
  request.size = {2000, 1000};
  const Rect all{0, 0, 2000, 1000};
  EXPECT_EQ(required_input(pipeline, request), all) << "no region";
  request.region = Rect{900, 500, 20, 10};
  const Rect r = required_input(pipeline, request);
  EXPECT_LE(r.x, 900 - 15) << "the candidates of the range";
  EXPECT_LT(r.y, 500);
  EXPECT_LT(r.width, 600);
  request.region = all;
  EXPECT_EQ(required_input(pipeline, request), all);
  request.region = Rect{0, 0, 5, 5};
  EXPECT_EQ(intersect(required_input(pipeline, request), all), required_input(pipeline, request));
}

// A region also requires the pixels from which its images are prepared.
TEST_F(Passes, MarginsIncludeThePreparation) {
  const StageDescriptor smooth{.slot = Slot::prepare,
                               .name = "smooth",
                               .title = "smooth",
                               .required_input = [](const StageParameters&, const Rect& r) { return grow(r, 3, 2); }};
  Request request = request_of_size();
  request.size = {2000, 1000};
  request.region = Rect{900, 500, 20, 10};
  for (const char* method : {"banz-sgm", "census-guided"}) {  // census-guided has a separate rule
    PipelineData pipeline = method_data(method);
    const Rect before = required_input(pipeline, request);
    pipeline.prepare = StageChoice(smooth);
    EXPECT_EQ(required_input(pipeline, request), intersect(grow(before, 3, 2), {0, 0, 2000, 1000})) << method;
  }
}

}  // namespace
}  // namespace stereopsis::planning_test
