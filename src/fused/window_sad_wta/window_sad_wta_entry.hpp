// Ports, inputs and the fused step of the portable and the tuned operation.
#pragma once

#include "fused/window_sad_wta/window_sad_wta.hpp"
#include "stages/shared/window_entry.hpp"
#include "stages/wta/wta_entry.hpp"

namespace stereopsis::window_sad_wta {

template <On on>
auto input_of(const Call<on>& c) {
  return c.template of<Input>(window_sad::source_of(c, c.template as<Parameters>().weighting), wta::input_of(c),
                              c.context.range.count);
}

inline Ports ports() { return wta::selecting({in("colours", both)}); }
// The words of both views are read once, and the result is written.
inline Work work(const Shape& s) { return {.bytes = 13 * s.pixels()}; }

inline Step fused(const Run& run, const StageDescriptor& operation) {
  const auto& matching = run.steps[0].parameters.as<window_sad::Parameters>();
  return fused_step(
      operation,
      Parameters{matching.window(), run.steps[1].parameters.as<wta::Parameters>(), window_sad::weighting_of(matching)},
      run.steps);
}

}  // namespace stereopsis::window_sad_wta
