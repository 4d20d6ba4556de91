// Stripes of an image, matched by themselves, have the bits of the whole.
#include <gtest/gtest.h>

#include <sstream>

#include "stereopsis/matcher.hpp"
#include "stereopsis/synth.hpp"
#include "support/devices.hpp"
#include "support/stage_test.hpp"

namespace stereopsis {
namespace {

using namespace test;

constexpr DisparityRange range{-2, 21};
constexpr int around = 8;  // rows that windows of features and small refinements read

const Scene& scene() {
  static const Scene made = make_scene({.size = {67, 59}, .disparities = 16, .noise = 4});
  return made;
}
StereoPair pair() { return {scene().left, scene().right, {}, {}}; }

struct Span {
  int first, end;
  Span grown(int by) const { return {std::max(0, first - by), std::min(scene().left.height(), end + by)}; }
  int rows() const { return end - first; }
};

// The pair's rows around those that paths pass.
StereoPair part_of(const StereoPair& whole, Span read) {
  const auto rows = [&](auto view) {
    return view.empty() ? view : view.crop({0, read.first, view.width, read.rows()});
  };
  StereoPair part = whole;
  part.left = rows(whole.left), part.right = rows(whole.right);
  part.mask_left = rows(whole.mask_left), part.mask_right = rows(whole.mask_right);
  return part;
}

using PathCosts = std::shared_ptr<Image<std::uint16_t>>;  // none where the image ends
struct Edges {
  PathCosts above, below;
};

class Stripes {
 public:
  Stripes(const StereoPair& whole, const Pipeline& pipeline) : whole_(whole), pipeline_(pipeline) {}

  Matched match(Span paths, const Edges& edges, const Device& device,
                Stripe::Follow follow = Stripe::Follow::none) const {
    const Span read = paths.grown(around);
    StereoPair part = part_of(whole_, read);
    Problem problem = Problem::of(part, range);
    problem.want_right = follow == Stripe::Follow::none;
    problem.stripe =
        Stripe{paths.first - read.first, paths.rows(), edges.above != nullptr, edges.below != nullptr, follow};
    if (edges.above) part.paths_above = edges.above->view();
    if (edges.below) part.paths_below = edges.below->view();
    return Matcher(Plan(pipeline_, problem, device)).match(part);
  }
  // The path costs behind a band of rows, from those before it.
  PathCosts next(Span band, const PathCosts& before, const Device& device, Stripe::Follow follow) const {
    if (band.rows() == 0) return before;
    const Edges edges = follow == Stripe::Follow::down ? Edges{before, {}} : Edges{{}, before};
    return std::make_shared<Image<std::uint16_t>>(match(band, edges, device, follow).paths);
  }

 private:
  const StereoPair& whole_;
  const Pipeline& pipeline_;
};

// Every stripe grows by what its refinements read; the devices take turns.
Matched in_stripes(const StereoPair& whole, const Pipeline& pipeline, int count, const std::vector<Device>& devices) {
  const Size size = whole.left.size();
  const Stripes stripes(whole, pipeline);
  int turn = 0;
  const auto next_device = [&]() -> const Device& {
    return devices[static_cast<std::size_t>(turn++) % devices.size()];
  };
  std::vector<Span> cores, paths;
  for (int i = 0; i < count; ++i) cores.push_back({size.height * i / count, size.height * (i + 1) / count});
  for (const Span& core : cores) paths.push_back(core.grown(around));
  std::vector<Edges> edges(cores.size());
  for (int i = 0; i + 1 < count; ++i) {
    const Span band{paths[i].first, paths[i + 1].first};
    edges[i + 1].above = stripes.next(band, edges[i].above, next_device(), Stripe::Follow::down);
  }
  for (int i = count - 1; i > 0; --i) {
    const Span band{paths[i - 1].end, paths[i].end};
    edges[i - 1].below = stripes.next(band, edges[i].below, next_device(), Stripe::Follow::up);
  }
  Matched all;
  all.disparity = Image<float>(size), all.validity = Image<std::uint8_t>(size), all.right = Image<float>(size);
  for (int i = 0; i < count; ++i) {
    const Matched one = stripes.match(paths[i], edges[i], next_device());
    for (int y = cores[i].first; y < cores[i].end; ++y) {
      const int row = y - paths[i].first;
      std::copy_n(one.disparity.row(row), size.width, all.disparity.row(y));
      std::copy_n(one.validity.row(row), size.width, all.validity.row(y));
      std::copy_n(one.right.row(row), size.width, all.right.row(y));
    }
  }
  return all;
}

Pipeline method(const std::string& name, const std::string& settings) {
  Pipeline pipeline(name);
  for (const char* unbounded : {"speckle", "fill"}) pipeline.set(std::string(unbounded) + ".enabled", "false");
  std::istringstream in(settings);
  for (std::string setting; in >> setting;)
    pipeline.set(setting.substr(0, setting.find('=')), setting.substr(setting.find('=') + 1));
  return pipeline;
}

void expect_stripes_equal_the_whole(const Pipeline& pipeline, const std::vector<Device>& devices,
                                    std::initializer_list<int> counts, const StereoPair& whole = pair()) {
  Problem problem = Problem::of(whole, range);
  problem.want_right = true;
  const Matched expected = Matcher(Plan(pipeline, problem)).match(whole);
  for (const int count : counts) {
    SCOPED_TRACE(testing::Message() << count << " stripes");
    const Matched got = in_stripes(whole, pipeline, count, devices);
    EXPECT_TRUE(same_bits(got.disparity.view(), expected.disparity));
    EXPECT_TRUE(same_bits(got.validity.view(), expected.validity));
    EXPECT_TRUE(same_bits(got.right.view(), expected.right));
  }
}

const char* const settings[] = {"sgm.paths=4", "sgm.paths=8 sgm.p2=90 sgm.p2_min=30", "sgm.gradient=0 sgm.p2_min=0"};

TEST(Stripes, OnTheCpuEqualTheWhole) {
  for (const char* const setting : settings) {
    SCOPED_TRACE(setting);
    expect_stripes_equal_the_whole(method("sgm", setting), {{.name = "cpu"}}, {1, 2, 3, 7, 50});
  }
  for (const char* const setting : {"", "sgm.paths=4", "cost.window=5 sgm.p2=400"}) {
    SCOPED_TRACE(setting);
    expect_stripes_equal_the_whole(method("banz-sgm", setting), {{.name = "cpu"}}, {2, 7});
  }
}

TEST(Stripes, OnSeveralDevicesEqualTheWhole) {
  std::vector<Device> devices{{.name = "cpu"},
                              {.name = "cpu", .implementation = Implementation::plain},
                              {.name = "cpu", .implementation = Implementation::oracle}};
  for (gpu::Device* device : gpu::usable_devices())
    for (const Implementation i : {Implementation::fused, Implementation::plain})
      devices.push_back({.name = device->name(), .implementation = i});
  for (const char* const setting : settings) {
    SCOPED_TRACE(setting);
    expect_stripes_equal_the_whole(method("sgm", setting), devices, {3, 4});
  }
}

TEST(Stripes, MasksComeAlong) {
  Image<std::uint8_t> mask(scene().left.size());
  for (int y = 0; y < mask.height(); ++y)
    for (int x = 0; x < mask.width(); ++x) mask(x, y) = (x / 5 + y / 7) % 4 == 0 ? 0 : 255;
  StereoPair masked = pair();
  masked.mask_left = mask.view();
  expect_stripes_equal_the_whole(method("sgm", ""), {{.name = "cpu"}}, {3}, masked);
}

TEST(Stripes, WhatHasNoMeaningIsRefused) {
  const StereoPair whole = pair();
  const auto refused = [&](const char* name, const Stripe& stripe, const char* sentence) {
    Problem problem = Problem::of(whole, range);
    problem.stripe = stripe;
    try {
      Plan(Pipeline(name), problem);
      ADD_FAILURE() << "not refused: " << sentence;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(sentence), std::string::npos) << e.what();
    }
  };
  refused("sgm", {.first_row = 3, .rows = 1000}, "does not lie inside");
  refused("sgm", {.first_row = 0, .rows = 20, .above = true},
          "the row above the stripe, which is not among those given");
  refused("sgm", {.first_row = 10, .rows = 49, .below = true},
          "the row below the stripe, which is not among those given");
  refused("census-guided", {.first_row = 10, .rows = 20}, "is not matched in stripes");
  refused("zncc", {.first_row = 10, .rows = 20}, "is not matched in stripes");
}

TEST(Stripes, PathCostsThatDoNotFitAreRefused) {
  const StereoPair whole = pair();
  Problem problem = Problem::of(whole, range);
  problem.stripe = Stripe{.first_row = 10, .rows = 20, .above = true};
  Matcher matcher{Plan(Pipeline("sgm"), problem)};
  const auto sentence = [&](const Image<std::uint16_t>& above) {
    StereoPair given = whole;
    given.paths_above = above.view();
    try {
      matcher.match(given);
      return std::string();
    } catch (const Error& e) {
      return std::string(e.what());
    }
  };
  Image<std::uint16_t> costs({67, 1}, range.count);
  costs.fill(1);
  EXPECT_NE(sentence(costs).find("have none of 0 at 0,0"), std::string::npos) << sentence(costs);
  EXPECT_NE(sentence(Image<std::uint16_t>({66, 1}, range.count)).find("planned for 67×1 with 21"), std::string::npos);
  EXPECT_NE(sentence({}).find("0×0 pixels"), std::string::npos) << sentence({});
  costs.fill(0);
  EXPECT_EQ(sentence(costs), "");
}

}  // namespace
}  // namespace stereopsis
