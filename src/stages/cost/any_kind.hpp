// Tries the kinds of cost that kernels evaluate on the fly on a WordCost.
#pragma once

#include "graph/word_cost.hpp"
#include "stages/cost/colours.hpp"
#include "stages/cost/cost.hpp"

namespace stereopsis::cost {

// Calls f with the cost, converted to the first of these kinds that matches. Returns whether one of the kinds matches.
template <class... Kinds, class F>
bool with_one_of(const WordCost& cost, F&& f) {
  const auto try_kind = [&]<class Kind>(const Kind* kind) {
    if (kind != nullptr) f(*kind);
    return kind != nullptr;
  };
  return (try_kind(cost.get_if<Kinds>()) || ...);
}

// Calls `f` with the kind of the cost, if the kind has kernels.
template <class F>
bool with_kind(const WordCost& cost, F&& f) {
  return with_one_of<Rank, Census<std::uint32_t>, Census<std::uint64_t>, Census<Word128>, CensusGradient,
                     ColourGradient, AbsoluteDifference, SquaredDifference>(cost, f);
}
// Calls `f` with the kind of the cost, if semi-global matching can compute path costs from its words. These words have
// up to 64 bits.
template <class F>
bool with_followed_kind(const WordCost& cost, F&& f) {
  return with_one_of<Rank, Census<std::uint32_t>, Census<std::uint64_t>, CensusGradient>(cost, f);
}

}  // namespace stereopsis::cost
