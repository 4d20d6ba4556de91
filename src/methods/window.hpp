// The route of window matching (Prehn 2007): prepared colours of both views, and window sums with their selection, over the
// whole range.
#pragma once

#include "fused/window_sad_wta/window_sad_wta.hpp"
#include "methods/pipeline_data.hpp"
#include "methods/views.hpp"
#include "stages/hsv/hsv.hpp"
#include "stereopsis/matcher.hpp"

namespace stereopsis::window {

inline bool serves(const PipelineData& p) {
  return std::holds_alternative<None>(p.prepare) && std::holds_alternative<window_sad::Parameters>(p.cost) &&
         std::holds_alternative<None>(p.aggregation) && std::holds_alternative<None>(p.optimisation) &&
         std::holds_alternative<None>(p.levels);
}

// Both views as prepared colours; masks are empty where all pixels are usable.
template <template <class> class View>
struct Colours {
  View<const std::uint32_t> left, right;
  View<const std::uint8_t> mask_left, mask_right;
  cost::Colours kind;

  window_sad::Source<View> source() const { return {left, right, kind}; }
};

template <class T, template <class> class View, class Backend>
Colours<View> prepare_colours(const window_sad::Parameters& p, const Inputs<T, View>& in, int bit_depth, Backend& backend) {
  const Size size = in.left.size();
  const cost::Weighting weighting = cost::weighting(p.space, p.weights);
  const View<std::uint32_t> left = backend.template image<std::uint32_t>(size), right = backend.template image<std::uint32_t>(size);
  View<std::uint8_t> usable_left, usable_right;
  if constexpr (std::is_same_v<T, float>) {
    usable_left = backend.template image<std::uint8_t>(size);
    usable_right = backend.template image<std::uint8_t>(size);
  }
  backend.stage("colours", 2.0 * (sizeof(T) * in.left.channels + 4) * size.width * size.height, [&] {
    backend.hsv(weighting, in.left, bit_depth, in.mask_left, left, usable_left);
    backend.hsv(weighting, in.right, bit_depth, in.mask_right, right, usable_right);
  });
  Colours<View> colours{left, right, in.mask_left, in.mask_right, {weighting.max_cost(in.left.channels)}};
  if constexpr (std::is_same_v<T, float>) {
    colours.mask_left = usable_left;
    colours.mask_right = usable_right;
  }
  return colours;
}

template <class T, template <class> class View, class Backend>
void run(const PipelineData& p, const Problem& problem, const Inputs<T, View>& in, const wta::OutputOf<View>& out, Backend& backend) {
  const Size size = in.left.size();
  const auto& cost = std::get<window_sad::Parameters>(p.cost);
  const Colours<View> colours = prepare_colours(cost, in, problem.bit_depth, backend);
  const window_sad_wta::Parameters parameters{cost.window(), p.select};
  const window_sad_wta::Input<View> input{
      colours.source(), {problem.range.min, colours.mask_left, colours.mask_right}, problem.range.count};
  const auto memory = backend.memory(backend.window_sad_wta_bytes(size, problem.range.count));
  // The words of both views, once; the result.
  backend.stage("window matching", 13.0 * size.width * size.height, [&] { backend.window_sad_wta(parameters, input, out, memory); });
}

}  // namespace stereopsis::window
