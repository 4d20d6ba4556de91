// Returns the feature words of both views, or a volume of given costs, together with their kind of cost.
#pragma once

#include "graph/registry.hpp"
#include "stages/cost/any_kind.hpp"

namespace stereopsis::cost {

inline Source<Given> given_source(int largest, const VolumeView<const std::uint8_t>& costs) {
  return {{costs.data, costs.width, costs.height, costs.disparities, costs.row_pitch}, {}, {largest, costs}};
}
inline Source<Given, gpu::View> given_source(int largest, const gpu::Volume<const std::uint8_t>& costs) {
  const std::int64_t pitch = static_cast<std::int64_t>(costs.width) * costs.disparities;
  return {{costs.cells.memory, costs.cells.offset, costs.width, costs.height, costs.disparities, pitch}, {}, {largest}};
}

template <class C, class Kind>
auto source_of(const C& c, const Kind& kind) {
  using Word = const typename Kind::Word;
  if constexpr (std::is_same_v<Kind, Given>)
    return given_source(kind.largest, c.template volume<const std::uint8_t>("costs"));
  else
    return c.template of<Source, Kind>(c.template image<Word>("words"), c.template image<Word>("words", Side::other),
                                       kind);
}

}  // namespace stereopsis::cost
