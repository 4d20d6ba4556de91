// Asynchronous matchers that are used, waited for or destroyed inside their own callbacks and stages.
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <thread>

#include "stereopsis/async.hpp"
#include "support/own_stage.hpp"

namespace stereopsis::own_callback_test {
namespace {

using namespace test::own_stage;

TEST(OwnCallback, AnAsyncMatcherIsNotWaitedForInside) {
  AsyncMatcher matcher(plan_with([] {}));
  std::promise<void> done;
  matcher.submit(pair(), [&](const Matched& result, std::exception_ptr) {
    expect_expected(result);
    expect_inside_a_stage([&] { matcher.wait(); });
    done.set_value();
  });
  ASSERT_TRUE(is_ready_soon(done.get_future()));
  matcher.wait();
  // A pair that a callback submits is matched.
  std::promise<Matched> second;
  matcher.submit(pair(), [&](const Matched&, std::exception_ptr) {
    matcher.submit(pair(), [&](Matched result, std::exception_ptr) { second.set_value(std::move(result)); });
  });
  std::future<Matched> result = second.get_future();
  ASSERT_TRUE(is_ready_soon(result));
  expect_expected(result.get());
}

// A matcher that is being replaced accepts pairs until its last callback has returned.
TEST(OwnCallback, ACallbackMaySubmitWhileTheMatcherIsDestroyed) {
  std::promise<void> submitted;
  std::promise<Matched> second, third;
  AsyncMatcher matcher(plan_with([] {}));
  matcher.submit(pair(), [&, go = submitted.get_future().share()](const Matched&, std::exception_ptr) {
    go.wait();
    // The other thread replaces the matcher during this time.
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    matcher.submit(pair(), [&](Matched result, std::exception_ptr) {
      second.set_value(std::move(result));
      matcher.submit(pair(), [&](Matched last, std::exception_ptr) { third.set_value(std::move(last)); });
    });
  });
  submitted.set_value();
  matcher = AsyncMatcher(plan_with([] {}));
  expect_expected(second.get_future().get());
  expect_expected(third.get_future().get());
}

TEST(OwnCallback, AnAsyncMatcherIsNotWaitedForInItsStage) {
  AsyncMatcher* own = nullptr;
  AsyncMatcher matcher(plan_with([&] { expect_inside_a_stage([&] { own->wait(); }); }));
  own = &matcher;
  std::future<Matched> result = matcher.submit(pair());
  ASSERT_TRUE(is_ready_soon(result));
  expect_expected(result.get());
}

// All pairs submitted earlier are matched, their callbacks are called, and all memory is freed.
TEST(OwnCallback, AnAsyncMatcherThatIsDestroyedInsideEndsWhatItWasGiven) {
  for (const int batch : {1, 3}) {
    auto matcher = std::make_unique<AsyncMatcher>(plan_with([] {}, batch));
    std::promise<void> submitted, destroyed, freed;
    std::shared_ptr<int> owner(new int, [&](int* p) {
      delete p;
      freed.set_value();
    });
    matcher->submit(pair(), [&, go = submitted.get_future().share()](const Matched&, std::exception_ptr) {
      go.wait();
      matcher.reset();
      destroyed.set_value();
    });
    std::future<Matched> after = matcher->submit(pair(), owner);
    matcher->submit(
        pair(), [owner](const Matched& result, std::exception_ptr) { expect_expected(result); }, owner);
    owner.reset();
    submitted.set_value();
    ASSERT_TRUE(is_ready_soon(destroyed.get_future()));
    EXPECT_EQ(matcher, nullptr);
    ASSERT_TRUE(is_ready_soon(after));
    expect_expected(after.get());
    ASSERT_TRUE(is_ready_soon(freed.get_future()));
  }
}

TEST(OwnCallback, AnAsyncMatcherMayBeReplacedOrDestroyedInItsStage) {
  std::optional<AsyncMatcher> matcher;
  std::promise<void> submitted;
  matcher.emplace(plan_with([&, go = submitted.get_future().share()] {
    go.wait();
    matcher.reset();
  }));
  std::future<Matched> result = matcher->submit(pair());
  submitted.set_value();
  ASSERT_TRUE(is_ready_soon(result));
  expect_expected(result.get());

  AsyncMatcher replaced(plan_with([] {}));
  std::promise<void> done;
  replaced.submit(pair(), [&](const Matched&, std::exception_ptr) {
    replaced = AsyncMatcher(plan_with([] {}));
    done.set_value();
  });
  ASSERT_TRUE(is_ready_soon(done.get_future()));
  expect_expected(replaced.submit(pair()).get());
}

// An owner that holds the last reference to the matcher is freed on the matcher's thread.
TEST(OwnCallback, AnOwnerMayHoldTheMatcher) {
  auto holder = std::make_shared<std::optional<AsyncMatcher>>();
  holder->emplace(plan_with([] {}));
  std::future<Matched> result = (*holder)->submit(pair(), holder);
  holder.reset();
  ASSERT_TRUE(is_ready_soon(result));
  expect_expected(result.get());
}

}  // namespace
}  // namespace stereopsis::own_callback_test
