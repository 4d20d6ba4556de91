// The route of adaptive support weights (Yu et al. 2010, Yoon and Kweon 2005): colours of both views, L*a*b* for the weights,
// and one run of cost, aggregation and selection.
#pragma once

#include "fused/support_weight_wta/support_weight_wta.hpp"
#include "methods/pipeline_data.hpp"
#include "methods/views.hpp"
#include "stages/lab/lab.hpp"
#include "stages/rgb/rgb.hpp"
#include "stereopsis/matcher.hpp"

namespace stereopsis::support_weights {

inline bool aggregates(const PipelineData& p) {
  return std::holds_alternative<esaw::Parameters>(p.aggregation) ||
         std::holds_alternative<asw_separable::Parameters>(p.aggregation) ||
         std::holds_alternative<asw::Parameters>(p.aggregation);
}

inline bool serves(const PipelineData& p) {
  return std::holds_alternative<None>(p.prepare) && std::holds_alternative<colour_difference::Parameters>(p.cost) &&
         aggregates(p) && std::holds_alternative<None>(p.optimisation) && std::holds_alternative<None>(p.levels);
}

// What the aggregation of an output takes in, before the columns of the candidates.
inline Rect required_input(const PipelineData& p, const Rect& output) {
  return std::visit(
      [&]<class P>(const P& stage) {
        if constexpr (std::is_same_v<P, esaw::Parameters>)
          return esaw::required_input(stage, output);
        else if constexpr (std::is_same_v<P, asw_separable::Parameters>)
          return asw_separable::required_input(stage, output);
        else if constexpr (std::is_same_v<P, asw::Parameters>)
          return asw::required_input(stage, output);
        else
          return output;
      },
      p.aggregation);
}

inline support_weight_wta::Parameters parameters(const PipelineData& p) {
  support_weight_wta::Parameters parameters{std::get<colour_difference::Parameters>(p.cost), {}, p.select};
  std::visit(
      [&]<class P>(const P& stage) {
        if constexpr (std::is_assignable_v<support_weight_wta::Aggregation&, P>) parameters.aggregation = stage;
      },
      p.aggregation);
  return parameters;
}

// Bytes: one read and one write of a 16-bit volume for each step, or between two passes.
inline double traffic(const support_weight_wta::Parameters& p, double cells) {
  const auto* e = std::get_if<esaw::Parameters>(&p.aggregation);
  return 4.0 * (e != nullptr ? e->iterations : 1) * cells;
}

template <class T, template <class> class View, class Backend>
void run(const PipelineData& p, const Problem& problem, const Inputs<T, View>& in, const wta::OutputOf<View>& out,
         Backend& backend) {
  using Words = View<std::uint32_t>;
  const Size size = in.left.size();
  const auto stage = parameters(p);
  const Words rgb_left = backend.template image<std::uint32_t>(size),
              rgb_right = backend.template image<std::uint32_t>(size);
  View<const std::uint8_t> mask_left = in.mask_left, mask_right = in.mask_right;
  View<std::uint8_t> usable_left, usable_right;
  if constexpr (std::is_same_v<T, float>) {
    mask_left = usable_left = backend.template image<std::uint8_t>(size);
    mask_right = usable_right = backend.template image<std::uint8_t>(size);
  }
  const double pixels = static_cast<double>(size.width) * size.height;
  backend.stage("colours", 2 * (sizeof(T) * in.left.channels + 4) * pixels, [&] {
    backend.rgb(in.left, problem.bit_depth, in.mask_left, rgb_left, usable_left);
    backend.rgb(in.right, problem.bit_depth, in.mask_right, rgb_right, usable_right);
  });

  const bool both_views = std::holds_alternative<asw::Parameters>(stage.aggregation);
  const Words lab_left = backend.template image<std::uint32_t>(size);
  const Words lab_right = both_views ? backend.template image<std::uint32_t>(size) : Words();
  backend.stage("L*a*b*", (both_views ? 16 : 8) * pixels, [&] {
    backend.lab(View<const std::uint32_t>(rgb_left), lab_left);
    if (both_views) backend.lab(View<const std::uint32_t>(rgb_right), lab_right);
  });

  const support_weight_wta::InputOf<View> input{
      rgb_left, rgb_right, lab_left, lab_right, {problem.range.min, mask_left, mask_right}, problem.range.count};
  const auto memory = backend.memory(backend.support_weight_wta_bytes(stage, size, problem.range.count));
  backend.stage("support weights", traffic(stage, pixels * problem.range.count),
                [&] { backend.support_weight_wta(stage, input, out, memory); });
}

}  // namespace stereopsis::support_weights
