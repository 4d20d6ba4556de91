// Enqueues both views of a frame and waits for both: the frame's buffers are free only when neither view is in flight.
// pair_matcher.cpp uses it.
#pragma once

#include <optional>

#include "stereopsis/matcher_group.hpp"

namespace stereopsis::jobs {

struct ViewTickets {
  Ticket left, right;
};

// Waits for a view of a frame that has already failed: a second failure adds no information.
template <class Group>
void wait_quietly(Group& group, const Ticket& ticket) {
  try {
    group.wait(ticket);
  } catch (...) {
  }
}

// Calls enqueue_left(left) and, if there is a right group, enqueue_right(*right). If the right view is rejected, the
// left view is finished before the exception propagates.
template <class Group, class Left, class Right>
ViewTickets enqueue_views(Group& left, Left&& enqueue_left, std::optional<Group>& right, Right&& enqueue_right) {
  ViewTickets tickets;
  tickets.left = enqueue_left(left);
  if (right) try {
      tickets.right = enqueue_right(*right);
    } catch (...) {
      wait_quietly(left, tickets.left);
      throw;
    }
  return tickets;
}

// Waits for both views, even if one of them fails; then throws the exception of the left view, else that of the right
// view.
template <class Group>
void wait_for_views(Group& left, std::optional<Group>& right, const ViewTickets& tickets) {
  try {
    left.wait(tickets.left);
  } catch (...) {
    if (right) wait_quietly(*right, tickets.right);
    throw;
  }
  if (right) right->wait(tickets.right);
}

}  // namespace stereopsis::jobs
