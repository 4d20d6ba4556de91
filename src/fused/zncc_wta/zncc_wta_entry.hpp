// Ports, inputs and the fused step of the portable and the tuned operation.
#pragma once

#include "fused/zncc_wta/zncc_wta.hpp"
#include "stages/wta/wta_entry.hpp"

namespace stereopsis::zncc_wta {

struct FusedParameters {
  Parameters parameters;
  int bits;  // number of bits of a sample's magnitude
};

template <On on>
auto input_of(const Call<on>& c) {
  const auto samples = c.template images<const std::int16_t>("samples");
  return c.template of<Input>(samples[0], samples[1], c.template as<FusedParameters>().bits, wta::input_of(c),
                              c.context.range.count);
}

inline Ports ports() { return wta::selecting({in("samples", both)}); }
// The samples are read, and both maps are written.
inline Work work(const Shape& s) { return {.bytes = 13 * s.pixels()}; }

inline Step fused(const Run& run, const StageDescriptor& operation) {
  const Step &correlation = run.steps[0], &selection = run.steps[1];
  const Parameters p{correlation.parameters.as<zncc::Parameters>(), selection.parameters.as<wta::Parameters>()};
  return fused_step(operation, FusedParameters{p, correlation.context.element == Element::u8 ? 8 : 16}, run.steps);
}

}  // namespace stereopsis::zncc_wta
