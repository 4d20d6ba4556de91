// Helpers for entries of operations that select: their last operands are both masks and the four maps.
#pragma once

#include "graph/descriptor.hpp"
#include "stages/wta/wta.hpp"

namespace stereopsis::wta {

inline constexpr int images_of_selection = 6;

// Returns the ports of an operation that selects: its own ones, then the selection's.
inline Ports selecting(Ports ports) {
  for (const Port& port : {if_there("mask", both), out("disparity", Element::f32), out("validity", Element::u8),
                           wanted("right", Element::f32), wanted("confidence", Element::f32)})
    ports.push_back(port);
  return ports;
}

inline int first_mask(const Shape& s) { return static_cast<int>(s.operands.size()) - images_of_selection; }
inline bool has_masks(const Shape& s) {
  return !s.operand(first_mask(s)).empty() || !s.operand(first_mask(s) + 1).empty();
}

template <On on>
auto input_of(const Call<on>& c) {
  const auto mask = [&](int view) { return c.template image<const std::uint8_t>(first_mask(c) + view); };
  return typename Call<on>::template Of<InputOf>{c.context.range.min, mask(0), mask(1)};
}
template <On on>
auto output_of(const Call<on>& c) {
  const int map = first_mask(c) + 2;
  return typename Call<on>::template Of<OutputOf>{c.template image<float>(map), c.template image<std::uint8_t>(map + 1),
                                                  c.template image<float>(map + 2), c.template image<float>(map + 3)};
}

// Returns the step that replaces a run: its own operands, then the masks and the maps of the selection.
inline Step selecting_step(const StageDescriptor& operation, StageParameters p, const Step& cost, const Step& selection,
                           std::vector<Operand> own) {
  own.insert(own.end(), selection.operands.begin() + 1, selection.operands.end());
  return {&operation, std::move(p), cost.context, std::move(own), operation.title, {}};
}

// The images of a planned step, as GPU kernels would receive them.
struct PlannedImages {
  const Run& run;
  const Step& step;

  template <class T>
  gpu::View<T> image(int i) const {
    return planned<T>(run.shape(step.operands[i]));
  }
  int first_mask() const { return static_cast<int>(step.operands.size()) - images_of_selection; }
  InputOf<gpu::View> input() const {
    return {step.context.range.min, image<const std::uint8_t>(first_mask()),
            image<const std::uint8_t>(first_mask() + 1)};
  }
  OutputOf<gpu::View> output() const {
    const int map = first_mask() + 2;
    return {image<float>(map), image<std::uint8_t>(map + 1), image<float>(map + 2), image<float>(map + 3)};
  }
};

}  // namespace stereopsis::wta
