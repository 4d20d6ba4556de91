// A kind of cost that is evaluated on the fly and is selected at run time.
#pragma once

#include <variant>

#include "stages/cost/colours.hpp"
#include "stages/cost/cost.hpp"

namespace stereopsis::cost {

using AnyKind = std::variant<std::monostate, Rank, Census<std::uint32_t>, Census<std::uint64_t>, Census<Word128>,
                             CensusGradient, ColourGradient, AbsoluteDifference, SquaredDifference>;

// Calls f with the kind.
template <class F>
void with_kind(const AnyKind& kind, F&& f) {
  std::visit(
      [&]<class Kind>(const Kind& k) {
        if constexpr (!std::is_same_v<Kind, std::monostate>) f(k);
      },
      kind);
}
// Calls f with the kind if semi-global matching supports it, that is, if its words have up to 64 bits.
template <class Kind>
constexpr bool is_followed = std::is_same_v<Kind, Rank> || std::is_same_v<Kind, Census<std::uint32_t>> ||
                             std::is_same_v<Kind, Census<std::uint64_t>> || std::is_same_v<Kind, CensusGradient>;
template <class F>
void with_followed_kind(const AnyKind& kind, F&& f) {
  with_kind(kind, [&]<class Kind>(const Kind& k) {
    if constexpr (is_followed<Kind>) f(k);
  });
}
inline bool can_be_followed(const AnyKind& kind) {
  bool result = false;
  with_followed_kind(kind, [&](const auto&) { result = true; });
  return result;
}
inline int max_cost(const AnyKind& kind) {
  int result = 0;
  with_kind(kind, [&](const auto& k) { result = k.max_cost(); });
  return result;
}

}  // namespace stereopsis::cost
