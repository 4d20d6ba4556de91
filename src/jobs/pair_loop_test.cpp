// The loop over pairs, with steps that note what they are asked for.
#include "jobs/pair_loop.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace stereopsis::pair_loop_test {
namespace {

using namespace jobs;

struct Numbered : LoopPair {
  explicit Numbered(int number_, char kind_ = 'a') : number(number_), kind(kind_) {}
  int number;
  char kind;  // pairs of one kind share a plan
};

// Notes t: taken, p: planned, b: begun, f: finished.
struct Steps : LoopSteps {
  std::size_t most_in_flight() const override { return most; }
  bool is_ready() override { return ready; }
  std::unique_ptr<LoopPair> take() override {
    if (given == kinds.size()) return nullptr;
    const int number = static_cast<int>(given++);
    note('t', number);
    if (number == unreadable) throw std::runtime_error("the source ends");
    auto pair = std::make_unique<Numbered>(number, kinds[static_cast<std::size_t>(number)]);
    if (pair->kind == 'x') pair->failure = std::make_exception_ptr(std::runtime_error("cannot be read"));
    return pair;
  }
  bool suits(const LoopPair& pair) override { return of(pair).kind == planned; }
  void plan(LoopPair& pair) override {
    EXPECT_EQ(in_flight, 0);
    planned = of(pair).kind;
    note('p', of(pair).number);
    if (planned == '?') throw std::runtime_error("no plan");
  }
  void begin(LoopPair& pair) override { note('b', of(pair).number), ++in_flight; }
  void finish(LoopPair& pair) override { note('f', of(pair).number), --in_flight; }

  static const Numbered& of(const LoopPair& pair) { return static_cast<const Numbered&>(pair); }
  void note(char step, int number) { (notes += step) += std::to_string(number); }

  std::string kinds, notes;
  std::size_t most = 2, given = 0;
  bool ready = true;
  int unreadable = -1, in_flight = 0;
  char planned = 0;
};

// Returns the numbers of the pairs in the order of their results; a failed one is negative.
std::vector<int> results(PairLoop& loop) {
  std::vector<int> numbers;
  while (const auto pair = loop.next())
    numbers.push_back(pair->failure ? -Steps::of(*pair).number : Steps::of(*pair).number);
  return numbers;
}

using Numbers = std::vector<int>;

TEST(PairLoop, KeepsPairsInFlightAndReturnsThemInOrder) {
  Steps steps;
  steps.kinds = "aaaa";
  PairLoop loop(steps);
  EXPECT_EQ(results(loop), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(steps.notes, "t0p0b0t1b1f0t2b2f1t3b3f2f3");
  EXPECT_EQ(loop.next(), nullptr);
}

TEST(PairLoop, WithOneInFlightTakesTheNextPairAfterTheResult) {
  Steps steps;
  steps.kinds = "aa";
  steps.most = 1;
  PairLoop loop(steps);
  EXPECT_EQ(results(loop), (Numbers{0, 1}));
  EXPECT_EQ(steps.notes, "t0p0b0f0t1b1f1");
}

TEST(PairLoop, PlansAgainOnlyWhenNothingIsInFlight) {
  Steps steps;
  steps.kinds = "aabba";
  steps.most = 3;
  PairLoop loop(steps);
  EXPECT_EQ(results(loop), (Numbers{0, 1, 2, 3, 4}));
  EXPECT_EQ(steps.notes, "t0p0b0t1b1t2f0f1p2b2t3b3t4f2f3p4b4f4");
}

TEST(PairLoop, FinishesPairsWhileASourceHasNone) {
  Steps steps;
  steps.kinds = "aa";
  steps.ready = false;
  PairLoop loop(steps);
  EXPECT_EQ(results(loop), (Numbers{0, 1}));
  EXPECT_EQ(steps.notes, "t0p0b0f0t1b1f1");
}

TEST(PairLoop, GivesAFailureInItsPlaceAndGoesOn) {
  Steps steps;
  steps.kinds = "ax?a";
  PairLoop loop(steps);
  EXPECT_EQ(results(loop), (Numbers{0, -1, -2, 3}));
  EXPECT_EQ(steps.in_flight, 0);
}

TEST(PairLoop, ThrowsTheErrorOfTheSourceAfterThePairsInFlight) {
  Steps steps;
  steps.kinds = "aaa";
  steps.most = 3;
  steps.unreadable = 2;
  PairLoop loop(steps);
  EXPECT_EQ(Steps::of(*loop.next()).number, 0);
  EXPECT_EQ(Steps::of(*loop.next()).number, 1);
  EXPECT_THROW(loop.next(), std::runtime_error);
  EXPECT_EQ(loop.next(), nullptr);
}

TEST(PairLoop, ThatIsStoppedOrDestroyedFinishesThePairsInFlight) {
  Steps steps;
  steps.kinds = "aaaaaa";
  steps.most = 3;
  {
    PairLoop loop(steps);
    loop.next();
    loop.stop();
    EXPECT_EQ(results(loop), (Numbers{1, 2}));
  }
  {
    PairLoop loop(steps);
    loop.next();
    EXPECT_EQ(loop.in_flight(), 2U);
  }
  EXPECT_EQ(steps.in_flight, 0);
}

}  // namespace
}  // namespace stereopsis::pair_loop_test
