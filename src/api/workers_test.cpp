// Tests of the order in which workers finish their jobs, and of the end of workers.
#include "api/workers.hpp"

#include <gtest/gtest.h>

#include <array>
#include <stdexcept>
#include <string>

#include "stereopsis/synth.hpp"
#include "support/stage_test.hpp"

namespace stereopsis::workers_test {
namespace {

using namespace test;

constexpr DisparityRange range{0, 16};
const Device cpu{.name = "cpu", .threads = 1};

const Scene& scene() {
  static const Scene made = make_scene({.size = {67, 45}, .disparities = range.count, .noise = 3});
  return made;
}
StereoPair pair() { return {scene().left, scene().right, {}, {}}; }
StereoPair pair_that_does_not_fit() { return {scene().left.view().crop({0, 0, 60, 45}), scene().right, {}, {}}; }

Plan plan(int batch) {
  Problem problem = Problem::of(pair(), range);
  problem.batch = batch;
  return Plan(Pipeline("sgm"), problem, cpu);
}

Workers::Jobs job(const StereoPair& pair, Matched& result, std::function<void(const std::exception_ptr&)> done) {
  Workers::Jobs jobs;
  jobs.push_back({pair, &result, std::move(done)});
  return jobs;
}

// A job that fails when it is enqueued must wait for earlier jobs, whose pairs are in flight.
TEST(Workers, ASingleWorkerFinishesJobsInOrderAlsoWhenOneFails) {
  for (const int batch : {1, 2, 3, 7}) {
    Workers workers(std::array<Device, 1>{cpu}, [&](const Device&) { return Matcher(plan(batch)); });
    std::array<Matched, 6> results;
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < results.size(); ++i)
      workers.submit(
          job(i % 3 == 1 ? pair_that_does_not_fit() : pair(), results[i], [&order, i](const std::exception_ptr& error) {
            EXPECT_EQ(error != nullptr, i % 3 == 1) << i;
            order.push_back(i);
          }));
    workers.wait();
    EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5})) << batch;
  }
}

TEST(Workers, JobsThatAreSubmittedWhileTheWorkersEndAreFinished) {
  std::array<Matched, 2> results;
  bool second = false;
  {
    Workers workers(std::array<Device, 1>{cpu}, [](const Device&) { return Matcher(plan(1)); });
    workers.submit(job(pair(), results[0], [&](const std::exception_ptr&) {
      workers.submit(job(pair(), results[1], [&](const std::exception_ptr& error) { second = error == nullptr; }));
    }));
  }
  EXPECT_TRUE(second);
  EXPECT_TRUE(same_bits(results[0].disparity.view(), results[1].disparity.view()));
}

// A job counts as finished only after its completion function has been destroyed, together with the objects that it
// holds.
TEST(Workers, AFinishedJobHoldsNothing) {
  Workers workers(std::array<Device, 1>{cpu}, [](const Device&) { return Matcher(plan(2)); });
  Matched result;
  std::weak_ptr<int> held;
  {
    const auto owner = std::make_shared<int>();
    held = owner;
    workers.submit(job(pair(), result, [owner](const std::exception_ptr&) {}));
  }
  workers.wait();
  EXPECT_TRUE(held.expired());
}

TEST(Workers, TheConstructorThrowsTheErrorOfTheFirstDeviceThatFails) {
  const auto expect_error = [](const std::vector<int>& threads, const std::string& said) {
    std::vector<Device> devices;
    for (const int count : threads) devices.push_back({.name = "cpu", .threads = count});
    const auto make = [](const Device& device) {
      if (device.threads > 1) throw std::runtime_error(std::to_string(device.threads));
      return Matcher(plan(1));
    };
    try {
      Workers(devices, make);
      ADD_FAILURE() << "no error";
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(error.what(), said);
    }
  };
  expect_error({2}, "2");
  expect_error({1, 1, 2}, "2");
  expect_error({3, 1, 2}, "3");
}

TEST(Workers, KnowWhoIsInside) {
  Workers workers(std::array<Device, 2>{cpu, cpu}, [](const Device&) { return Matcher(plan(1)); });
  Workers others(std::array<Device, 1>{cpu}, [](const Device&) { return Matcher(plan(1)); });
  Matched result;
  bool inside = false, inside_others = true;
  others.submit(job(pair(), result, [&](const std::exception_ptr&) {
    inside = others.is_inside();
    inside_others = workers.is_inside();
  }));
  others.wait();
  EXPECT_TRUE(inside);
  EXPECT_FALSE(inside_others);
  EXPECT_FALSE(others.is_inside());
}

}  // namespace
}  // namespace stereopsis::workers_test
