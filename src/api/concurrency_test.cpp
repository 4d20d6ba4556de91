#include <thread>

#include "stereopsis/matcher.hpp"
#include "stereopsis/synth.hpp"
#include "support/stage_test.hpp"

namespace stereopsis::concurrency_test {
namespace {

// Distinct matchers may run on distinct threads, with the same results as one after the other.
TEST(Matcher, SeveralRunSideBySide) {
  const Scene scene = make_scene({.size = {160, 120}, .disparities = 32, .noise = 2});
  const StereoPair pair{scene.left, scene.right, {}, {}};
  const Matched alone = match(pair, {0, 32});

  std::vector<Matched> results(4);
  std::vector<std::jthread> callers;
  for (Matched& result : results)
    callers.emplace_back([&] {
      Matcher matcher(Plan(Pipeline("sgm"), Problem::of(pair, {0, 32}), {"cpu", 2}));
      for (int i = 0; i < 5; ++i) matcher.match(pair, result);
    });
  callers.clear();
  for (const Matched& result : results) EXPECT_TRUE(test::same_bits(result.disparity.view(), alone.disparity.view()));
}

}  // namespace
}  // namespace stereopsis::concurrency_test
