// A volume of 8-bit matching costs: C(p, d) of stages/cost for the disparities min_disparity + k, where k = 0 …
// disparities − 1. Such a volume serves stages that process the costs slice by slice, or more than once.
//
// Input: feature words of both views, of any kind whose costs fit in 8 bits. Output: costs, disparity fastest.
// Required input: the pixel's row. Writes each cell once.
#pragma once

#include "graph/word_cost.hpp"
#include "stages/cost/cost.hpp"
#include "stages/shared/stage.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis::cost_volume {

struct Parameters {
  WordCost cost;  // the matching cost of two words; set when the step is planned
};

template <class Kind>
void check(const Kind& kind) {
  if (kind.max_cost() > 255)
    throw Error(ErrorCategory::call, text("a cost volume stores costs of up to 255, but the matching cost reaches ",
                                          kind.max_cost(), "; choose a smaller window, weight or limit"));
}

template <class Kind>
void oracle(const cost::Source<Kind>&, int min_disparity, VolumeView<std::uint8_t> costs);

// `scratch` holds at least scratch_bytes() and starts at a multiple of 64 bytes.
template <class Kind>
std::size_t scratch_bytes(const Kind&, int width, int disparities, int threads);
template <class Kind>
void cpu(const cost::Source<Kind>&, int min_disparity, VolumeView<std::uint8_t> costs, std::span<std::byte> scratch,
         Threads&);

template <class Kind>
void gpu(const cost::Source<Kind, gpu::View>&, int min_disparity, gpu::Volume<std::uint8_t> costs, gpu::Queue&);

// Expands the macro `function` for each kind of cost.
#define STEREOPSIS_FOR_EACH_COST(function)                                                          \
  function(cost::Rank) function(cost::Census<std::uint32_t>) function(cost::Census<std::uint64_t>)  \
      function(cost::Census<Word128>) function(cost::CensusGradient) function(cost::ColourGradient) \
          function(cost::AbsoluteDifference) function(cost::SquaredDifference)

}  // namespace stereopsis::cost_volume
