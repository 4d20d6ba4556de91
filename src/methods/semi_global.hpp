// The route of semi-global matching: grey images, features of both views, and one run that aggregates their costs along
// the paths and selects.
#pragma once

#include <array>

#include "fused/sgm_wta/sgm_wta.hpp"
#include "methods/grey_views.hpp"
#include "methods/pipeline_data.hpp"
#include "methods/views.hpp"
#include "stereopsis/matcher.hpp"

namespace stereopsis::semi_global {

template <class... Stages>
bool is_one_of(const Cost& cost) {
  return (std::holds_alternative<Stages>(cost) || ...);
}

// Any cost with features, without aggregation, on one level.
inline bool serves(const PipelineData& p) {
  return std::holds_alternative<None>(p.prepare) &&
         is_one_of<rank::Parameters, census::Parameters, census_gradient::Parameters>(p.cost) &&
         std::holds_alternative<None>(p.aggregation) && std::holds_alternative<sgm::Parameters>(p.optimisation) &&
         std::holds_alternative<None>(p.levels);
}

// Which images the stages ask for beside the grey ones.
struct Needs {
  bool grey8_both;  // both views in 8 bits
  bool guide;       // the left view in 8 bits
};
inline Needs needs_of(const PipelineData& p) {
  return {.grey8_both = std::holds_alternative<census_gradient::Parameters>(p.cost),
          .guide = std::get<sgm::Parameters>(p.optimisation).adaptive()};
}

// Both views as grey images; masks are empty where all pixels are usable.
template <class T, template <class> class View>
struct Prepared {
  View<const T> left, right;
  View<const std::uint8_t> left8, right8;
  View<const std::uint8_t> mask_left, mask_right;
};

template <class T, template <class> class View, class Backend>
Prepared<T, View> prepare_grey(const Needs& needs, const Inputs<T, View>& in, int bit_depth, Backend& backend) {
  const Size size = in.left.size();
  const BothViews<T, View> grey = grey_views(in, backend);
  Prepared<T, View> prepared{grey.left.image, grey.right.image, {}, {}, grey.left.mask, grey.right.mask};
  if constexpr (sizeof(T) == 1) {
    prepared.left8 = prepared.left;
    prepared.right8 = prepared.right;
  } else if (needs.grey8_both || needs.guide) {
    const View<std::uint8_t> left8 = backend.template image<std::uint8_t>(size),
                             right8 = backend.template image<std::uint8_t>(size);
    backend.stage("8-bit grey", 2.0 * (sizeof(T) + 1) * size.width * size.height, [&] {
      backend.grey8(prepared.left, bit_depth, left8);
      if (needs.grey8_both) backend.grey8(prepared.right, bit_depth, right8);
    });
    prepared.left8 = left8;
    prepared.right8 = right8;
  }
  return prepared;
}

// The words of both views, and the kind of their cost.
template <class Kind, class T, template <class> class View, class Backend, class Transform>
cost::Source<Kind, View> features(const char* name, const Kind& kind, int comparisons, const Prepared<T, View>& in,
                                  Backend& backend, Transform&& transform) {
  using Word = typename Kind::Word;
  const Size size = in.left.size();
  const View<Word> left = backend.template image<Word>(size), right = backend.template image<Word>(size);
  const double pixels = 2.0 * size.width * size.height;
  // A comparison, and taking note of it, of as many pixels at once as 32 bits hold.
  backend.stage(name, Work((sizeof(T) + sizeof(Word)) * pixels).operations(2 * comparisons * pixels * sizeof(T) / 4),
                [&] { transform(left, right); });
  return {left, right, kind};
}

// Calls f with the cost source that the pipeline's matching cost describes.
template <class T, template <class> class View, class Backend, class F>
void with_source(const Cost& matching_cost, const Prepared<T, View>& in, Backend& backend, F&& f) {
  if (const auto* p = std::get_if<rank::Parameters>(&matching_cost)) {
    f(features("rank", cost::Rank{p->window}, p->window * p->window, in, backend, [&](auto left, auto right) {
      // Both views at once where the backend can.
      if constexpr (requires { backend.rank(*p, std::array{in.left, in.right}, std::array{left, right}); }) {
        backend.rank(*p, std::array{in.left, in.right}, std::array{left, right});
      } else {
        backend.rank(*p, in.left, left);
        backend.rank(*p, in.right, right);
      }
    }));
  } else if (const auto* c = std::get_if<census::Parameters>(&matching_cost)) {
    const auto transform = [&](auto left, auto right) {
      if constexpr (requires { backend.census(*c, std::array{in.left, in.right}, std::array{left, right}); }) {
        backend.census(*c, std::array{in.left, in.right}, std::array{left, right});
      } else {
        backend.census(*c, in.left, left);
        backend.census(*c, in.right, right);
      }
    };
    const int bits = census::shape_of(c->window).bits();
    if (bits <= 32)
      f(features("census", cost::Census<std::uint32_t>{bits}, bits, in, backend, transform));
    else if (bits <= 64)
      f(features("census", cost::Census<std::uint64_t>{bits}, bits, in, backend, transform));
    else
      throw Error(ErrorCategory::call,
                  text("cost.window = ", detail::value_text(c->window), " gives ", bits,
                       " bits, and semi-global matching takes up to 64; choose 9x7 or a smaller window"));
  } else {
    const auto& g = std::get<census_gradient::Parameters>(matching_cost);
    f(features("census + gradient", cost::CensusGradient{g.census_weight, g.gradient_limit}, 24, in, backend,
               [&](auto left, auto right) {
                 backend.census_gradient(in.left, in.left8, left);
                 backend.census_gradient(in.right, in.right8, right);
               }));
  }
}

template <class T, template <class> class View, class Backend>
void run(const PipelineData& p, const Problem& problem, const Inputs<T, View>& in, const wta::OutputOf<View>& out,
         Backend& backend) {
  const Size size = in.left.size();
  const Needs needs = needs_of(p);
  const auto prepared = prepare_grey(needs, in, problem.bit_depth, backend);
  with_source(p.cost, prepared, backend, [&]<class Kind>(const cost::Source<Kind, View>& source) {
    const sgm_wta::Parameters parameters{std::get<sgm::Parameters>(p.optimisation), p.select};
    const sgm_wta::Input<Kind, View> input{source,
                                           needs.guide ? prepared.left8 : View<const std::uint8_t>(),
                                           {problem.range.min, prepared.mask_left, prepared.mask_right},
                                           problem.range.count};
    const auto memory = backend.memory(backend.sgm_wta_bytes(parameters, source.kind, size, problem.range.count));
    // One write and one read of the 16-bit sums; for a cell of each path 11 instructions: cost, minima, additions, sums.
    const double cells = static_cast<double>(size.width) * size.height * problem.range.count;
    backend.stage(
        "semi-global matching",
        Work(4 * cells).path_operations(11 * cells * parameters.sgm.paths).popcounts(cells * source.kind.popcounts()),
        [&] { backend.sgm_wta(parameters, input, out, memory); });
  });
}

}  // namespace stereopsis::semi_global
