// Returns the feature words of both views, together with their kind of cost.
#pragma once

#include "graph/registry.hpp"
#include "stages/cost/any_kind.hpp"

namespace stereopsis::cost {

template <class C, class Kind>
auto source_of(const C& c, const Kind& kind) {
  using Word = const typename Kind::Word;
  return c.template of<Source, Kind>(c.template image<Word>("words"), c.template image<Word>("words", Side::other),
                                     kind);
}

}  // namespace stereopsis::cost
