// A pipeline, run: the one place where the stages of a method follow one another, for every backend.
//
// A backend offers inputs<T>(pair) and outputs(out), the images where its stages work, and deliver(), which brings the
// outputs to the caller; image<T>(size), memory of the workspace; memory(bytes), and used() and
// give_back(used) to return what was taken since; stage(name, bytes, f), which runs f and
// takes its time; and one function for every stage. Sizing a plan is a run whose stages are passed over.
#pragma once

#include "fused/sgm_wta/sgm_wta.hpp"
#include "methods/pipeline_data.hpp"
#include "stereopsis/matcher.hpp"

namespace stereopsis {

// Both views as they are given; masks are empty where all pixels are usable.
template <class T, template <class> class View>
struct Inputs {
  View<const T> left, right;
  View<const std::uint8_t> mask_left, mask_right;
};

template <template <class> class View>
struct OutputsOf {
  View<float> disparity;
  View<std::uint8_t> validity;
  View<float> right;       // empty: not wanted
  View<float> confidence;  // empty: not wanted
};
using Outputs = OutputsOf<ImageView>;

// Which inputs a pipeline's stages ask for.
struct Needs {
  explicit Needs(const PipelineData& p) {
    grey8_both = std::holds_alternative<census_gradient::Parameters>(p.cost);
    guide = p.optimisation.adaptation == sgm::Adaptation::gradient;
    for (const Refinement& refinement : p.refinements) {
      if (!refinement.enabled) continue;
      right |= std::holds_alternative<left_right::Parameters>(refinement.stage);
      const auto* f = std::get_if<fill::Parameters>(&refinement.stage);
      right |= f != nullptr && f->mode == fill::Mode::hirschmueller;
      moves += f != nullptr || std::holds_alternative<median::Parameters>(refinement.stage);
    }
  }

  bool grey8_both = false;  // both views in 8 bits
  bool guide = false;       // the left view in 8 bits
  bool right = false;       // the right view's disparity
  int moves = 0;            // refinements that do not work in place
};

// Both views as grey images; masks are empty where all pixels are usable.
template <class T, template <class> class View>
struct Prepared {
  View<const T> left, right;
  View<const std::uint8_t> left8, right8;
  View<const std::uint8_t> mask_left, mask_right;
};

template <class T, template <class> class View, class Backend>
Prepared<T, View> prepare(const Needs& needs, const Inputs<T, View>& in, int bit_depth, Backend& backend) {
  const Size size = in.left.size();
  Prepared<T, View> prepared{in.left, in.right, {}, {}, in.mask_left, in.mask_right};
  constexpr bool is_float = std::is_same_v<T, float>;
  if (in.left.channels == 3 || is_float) {
    const View<T> left = backend.template image<T>(size), right = backend.template image<T>(size);
    View<std::uint8_t> usable_left, usable_right;
    if (is_float) {
      usable_left = backend.template image<std::uint8_t>(size);
      usable_right = backend.template image<std::uint8_t>(size);
    }
    backend.stage("grey", 2.0 * sizeof(T) * size.width * size.height * (in.left.channels + 1), [&] {
      backend.grey(in.left, in.mask_left, left, usable_left);
      backend.grey(in.right, in.mask_right, right, usable_right);
    });
    prepared.left = left;
    prepared.right = right;
    if (is_float) {
      prepared.mask_left = usable_left;
      prepared.mask_right = usable_right;
    }
  }
  if constexpr (sizeof(T) == 1) {
    prepared.left8 = prepared.left;
    prepared.right8 = prepared.right;
  } else if (needs.grey8_both || needs.guide) {
    const View<std::uint8_t> left8 = backend.template image<std::uint8_t>(size), right8 = backend.template image<std::uint8_t>(size);
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
cost::Source<Kind, View> features(const char* name, const Kind& kind, const Prepared<T, View>& in, Backend& backend,
                                  Transform&& transform) {
  using Word = typename Kind::Word;
  const Size size = in.left.size();
  const View<Word> left = backend.template image<Word>(size), right = backend.template image<Word>(size);
  backend.stage(name, 2.0 * (sizeof(T) + sizeof(Word)) * size.width * size.height, [&] { transform(left, right); });
  return {left, right, kind};
}

// Calls f with the cost source that the pipeline's matching cost describes.
template <class T, template <class> class View, class Backend, class F>
void with_source(const Cost& matching_cost, const Prepared<T, View>& in, Backend& backend, F&& f) {
  if (const auto* p = std::get_if<rank::Parameters>(&matching_cost)) {
    f(features("rank", cost::Rank{p->window}, in, backend, [&](auto left, auto right) {
      backend.rank(*p, in.left, left);
      backend.rank(*p, in.right, right);
    }));
  } else if (const auto* c = std::get_if<census::Parameters>(&matching_cost)) {
    const auto transform = [&](auto left, auto right) {
      backend.census(*c, in.left, left);
      backend.census(*c, in.right, right);
    };
    const int bits = census::shape_of(c->window).bits();
    if (bits <= 32) f(features("census", cost::Census<std::uint32_t>{bits}, in, backend, transform));
    else f(features("census", cost::Census<std::uint64_t>{bits}, in, backend, transform));
  } else {
    const auto& g = std::get<census_gradient::Parameters>(matching_cost);
    f(features("census + gradient", cost::CensusGradient{g.census_weight, g.gradient_limit}, in, backend, [&](auto left, auto right) {
      backend.census_gradient(in.left, in.left8, left);
      backend.census_gradient(in.right, in.right8, right);
    }));
  }
}

template <template <class> class View, class Backend>
void refine(const PipelineData& p, const OutputsOf<View>& out, View<float> current, View<float> other, Backend& backend) {
  const double pixels = static_cast<double>(out.validity.width) * out.validity.height;
  for (const Refinement& refinement : p.refinements) {
    if (!refinement.enabled) continue;
    const std::size_t used = backend.used();
    std::visit([&]<class P>(const P& stage) {
      if constexpr (std::is_same_v<P, left_right::Parameters>) {
        backend.stage("left-right check", 13 * pixels, [&] { backend.left_right(stage, View<const float>(out.right), current, out.validity); });
      } else if constexpr (std::is_same_v<P, speckle::Parameters>) {
        const auto scratch = backend.memory(backend.speckle_bytes(out.validity.size()));
        backend.stage("speckle", 9 * pixels, [&] { backend.speckle(stage, current, out.validity, scratch); });
      } else if constexpr (std::is_same_v<P, median::Parameters>) {
        backend.stage("median", 8 * pixels, [&] { backend.median(stage, View<const float>(current), other); });
        std::swap(current, other);
      } else {
        const auto scratch = backend.memory(backend.fill_bytes(stage, out.validity.size()));
        backend.stage("fill", 9 * pixels, [&] { backend.fill(stage, fill::InputOf<View>{current, out.right}, other, out.validity, scratch); });
        std::swap(current, other);
      }
    }, refinement.stage);
    backend.give_back(used);
  }
}

template <class T, template <class> class View, class Backend>
void run_stages(const PipelineData& p, const Problem& problem, const Inputs<T, View>& in, OutputsOf<View> out, Backend& backend) {
  const Size size = in.left.size();
  const Needs needs(p);
  const auto prepared = prepare(needs, in, problem.bit_depth, backend);
  if (needs.right && out.right.empty()) out.right = backend.template image<float>(size);
  // Medians and fills move the map to the other image: start so that the last one ends in the output.
  View<float> first = out.disparity, second;
  if (needs.moves > 0) second = backend.template image<float>(size);
  if (needs.moves % 2 != 0) std::swap(first, second);

  const std::size_t used = backend.used();
  with_source(p.cost, prepared, backend, [&]<class Kind>(const cost::Source<Kind, View>& source) {
    const sgm_wta::Parameters parameters{p.optimisation, p.select};
    const sgm_wta::Input<Kind, View> input{source,
                                           needs.guide ? prepared.left8 : View<const std::uint8_t>(),
                                           {problem.range.min, prepared.mask_left, prepared.mask_right},
                                           problem.range.count};
    const auto memory = backend.memory(backend.sgm_wta_bytes(parameters, source.kind, size, problem.range.count));
    // One write and one read of the 16-bit sums.
    backend.stage("semi-global matching", 4.0 * size.width * size.height * problem.range.count, [&] {
      backend.sgm_wta(parameters, input, wta::OutputOf<View>{first, out.validity, out.right, out.confidence}, memory);
    });
  });
  backend.give_back(used);  // features and sums
  refine(p, out, first, second, backend);
}

template <class T, class Backend>
void run_pixels(const PipelineData& p, const Problem& problem, const StereoPair& pair, const Outputs& out, Backend& backend) {
  const auto in = backend.template inputs<T>(pair);
  const auto results = backend.outputs(out);
  run_stages(p, problem, in, results, backend);
  backend.deliver(results, out);
}

template <class Backend>
void run(const PipelineData& p, const Problem& problem, const StereoPair& pair, const Outputs& out, Backend& backend) {
  switch (pair.left.type) {
    case PixelType::u8: return run_pixels<std::uint8_t>(p, problem, pair, out, backend);
    case PixelType::u16: return run_pixels<std::uint16_t>(p, problem, pair, out, backend);
    default: return run_pixels<float>(p, problem, pair, out, backend);
  }
}

}  // namespace stereopsis
