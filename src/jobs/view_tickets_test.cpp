// A frame's buffers are free only when neither view is in flight.
#include "jobs/view_tickets.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace stereopsis::view_tickets_test {
namespace {

using namespace jobs;

// Counts pairs in flight, and fails where it is told to.
struct Group {
  bool rejects = false, fails = false;
  int in_flight = 0;

  Ticket enqueue() {
    if (rejects) throw std::runtime_error("rejected");
    ++in_flight;
    return {};
  }
  void wait(const Ticket&) {
    --in_flight;
    if (fails) throw std::runtime_error("failed");
  }
};

ViewTickets enqueue_both(Group& left, std::optional<Group>& right) {
  const auto enqueue = [](Group& group) { return group.enqueue(); };
  return enqueue_views(left, enqueue, right, enqueue);
}

TEST(ViewTickets, ARejectedRightViewLeavesNoLeftViewInFlight) {
  for (const bool fails : {false, true}) {
    Group left{.fails = fails};
    std::optional<Group> right{{.rejects = true}};
    EXPECT_THROW(enqueue_both(left, right), std::runtime_error);
    EXPECT_EQ(left.in_flight, 0);
  }
}

TEST(ViewTickets, AFailedLeftViewLeavesNoRightViewInFlight) {
  for (const bool fails : {false, true}) {
    Group left{.fails = true};
    std::optional<Group> right{{.fails = fails}};
    const ViewTickets tickets = enqueue_both(left, right);
    EXPECT_EQ(left.in_flight + right->in_flight, 2);
    EXPECT_THROW(wait_for_views(left, right, tickets), std::runtime_error);
    EXPECT_EQ(left.in_flight + right->in_flight, 0);
  }
}

TEST(ViewTickets, BothViewsAreWaitedFor) {
  Group left;
  std::optional<Group> right{Group()}, none;
  wait_for_views(left, right, enqueue_both(left, right));
  EXPECT_EQ(left.in_flight + right->in_flight, 0);
  wait_for_views(left, none, enqueue_both(left, none));
  EXPECT_EQ(left.in_flight, 0);
}

}  // namespace
}  // namespace stereopsis::view_tickets_test
