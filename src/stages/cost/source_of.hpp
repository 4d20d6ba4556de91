// Returns the feature words of both views from a call's images i and i + 1, with the kind of cost that they belong to.
#pragma once

#include "graph/descriptor.hpp"
#include "stages/cost/any_kind.hpp"

namespace stereopsis::cost {

template <On on, class Kind>
auto source_of(const Call<on>& c, const Kind& kind, int i = 0) {
  using Word = const typename Kind::Word;
  return std::conditional_t<on == On::gpu, Source<Kind, gpu::View>, Source<Kind>>{c.template image<Word>(i),
                                                                                  c.template image<Word>(i + 1), kind};
}

}  // namespace stereopsis::cost
