// The kinds of cost that kernels evaluate on the fly, tried on a WordCost.
#pragma once

#include "graph/word_cost.hpp"
#include "stages/cost/colours.hpp"
#include "stages/cost/cost.hpp"

namespace stereopsis::cost {

// Calls f with the cost as the first of these kinds that it is. Returns whether it is one of them.
template <class... Kinds, class F>
bool with_one_of(const WordCost& cost, F&& f) {
  const auto try_kind = [&]<class Kind>(const Kind* kind) {
    if (kind != nullptr) f(*kind);
    return kind != nullptr;
  };
  return (try_kind(cost.get_if<Kinds>()) || ...);
}

// Calls `f` with the kind of the cost, for all kinds that have kernels.
template <class F>
bool with_kind(const WordCost& cost, F&& f) {
  return with_one_of<Rank, Census<std::uint32_t>, Census<std::uint64_t>, Census<Word128>, CensusGradient,
                     ColourGradient, AbsoluteDifference, SquaredDifference>(cost, f);
}
// Does the same for the kinds from whose words semi-global matching computes path costs: words of up to 64 bits.
template <class F>
bool with_followed_kind(const WordCost& cost, F&& f) {
  return with_one_of<Rank, Census<std::uint32_t>, Census<std::uint64_t>, CensusGradient>(cost, f);
}

}  // namespace stereopsis::cost
