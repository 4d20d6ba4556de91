// Helpers for descriptors of operations that select disparities. Such operations read both masks and write four maps.
#pragma once

#include "graph/registry.hpp"
#include "stages/wta/wta.hpp"

namespace stereopsis::wta {

// Returns the ports of an operation that selects: its own ports, followed by the ports of the selection.
inline Ports selecting(Ports ports) {
  for (const Port& port : {if_there("mask", both), out("disparity", Element::f32), out("validity", Element::u8),
                           wanted("right", Element::f32), wanted("confidence", Element::f32)})
    ports.push_back(port);
  return ports;
}

inline bool has_masks(const Shape& s) { return !s.operand("mask").empty() || !s.operand("mask", Side::other).empty(); }

template <On on>
auto input_of(const Call<on>& c) {
  const auto masks = c.template images<const std::uint8_t>("mask");
  return c.template of<InputOf>(c.context.range.min, masks[0], masks[1]);
}
template <On on>
auto output_of(const Call<on>& c) {
  return c.template of<OutputOf>(c.template image<float>("disparity"), c.template image<std::uint8_t>("validity"),
                                 c.template image<float>("right"), c.template image<float>("confidence"));
}

}  // namespace stereopsis::wta
