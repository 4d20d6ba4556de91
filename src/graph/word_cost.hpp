// The type-erased matching cost of two feature words. Each matching cost that computes words registers such a cost.
// Stages that evaluate costs handle the kinds that they know (stages/cost/any_kind.hpp). For other kinds, they let the
// evaluator compute a volume.
#pragma once

#include <any>
#include <type_traits>
#include <utility>

namespace stereopsis {

struct Functions;

class WordCost {
 public:
  WordCost() = default;
  // `evaluator` is a stage that computes a volume from the words of the reference view and of the other view. The
  // parameters of the evaluator are cost_volume::Parameters, which contain this cost. `evaluator` may be null for kinds
  // that the stage cost_volume knows.
  template <class Kind>
    requires(!std::is_same_v<Kind, WordCost>)
  WordCost(Kind kind, const Functions* evaluator = nullptr)
      : max_cost_(kind.max_cost()), evaluator_(evaluator), kind_(std::move(kind)) {
    if constexpr (requires { Kind::can_be_followed; }) can_be_followed_ = Kind::can_be_followed;
  }

  explicit operator bool() const { return kind_.has_value(); }
  int max_cost() const { return max_cost_; }
  // Returns whether path costs on these words can be continued from stripe to stripe.
  bool can_be_followed() const { return can_be_followed_; }
  const Functions* evaluator() const { return evaluator_; }
  // Returns the cost if it is of this kind, or null.
  template <class Kind>
  const Kind* get_if() const {
    return std::any_cast<Kind>(&kind_);
  }

 private:
  int max_cost_ = 0;
  bool can_be_followed_ = false;
  const Functions* evaluator_ = nullptr;
  std::any kind_;
};

}  // namespace stereopsis
