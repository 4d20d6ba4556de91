// The images that a plan requires of a call, and their shapes.
#pragma once

#include <optional>

#include "graph/binding.hpp"
#include "stereopsis/arguments.hpp"

namespace stereopsis {

struct DueImage {
  enum class Presence { rejected, optional, required };
  Presence presence = Presence::rejected;
  AnyView shape = {};  // a volume is an image with a channel for each candidate
};

DueImage due_input(const Plan& plan, std::size_t row);

// Sizes of the images of a result.
struct ResultSizes {
  Size maps, rectified;
  std::optional<Size> volumes;  // set if the size differs from that of Plan::volume()
};
// Returns the sizes of a result for the caller.
ResultSizes result_sizes(const Plan& plan);
// Returns the shape of an output. The shape is empty if the output is not requested, or if the pipeline has no such
// costs to probe.
AnyView output_shape(const Plan& plan, std::size_t row, const ResultSizes& sizes);

// Returns the state of the costs that an output of kind `volume` or `probe` shows.
CostState cost_state(std::size_t output_row);

}  // namespace stereopsis
