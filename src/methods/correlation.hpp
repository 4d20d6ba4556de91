// The route of zero-mean normalised cross-correlation (Syed): grey images, reduced if that is asked for, and the disparities of
// both views from the same correlations. After the refinements the result is brought back to pixels of the input.
#pragma once

#include "fused/zncc_wta/zncc_wta.hpp"
#include "methods/grey_views.hpp"
#include "methods/pipeline_data.hpp"
#include "methods/views.hpp"
#include "stages/upsample/upsample.hpp"
#include "stereopsis/matcher.hpp"

namespace stereopsis {

// How the images are reduced before they are matched; by 1 where they are not.
inline reduce::Parameters reduction_of(const PipelineData& p) {
  const auto* r = std::get_if<reduce::Parameters>(&p.prepare);
  return r == nullptr ? reduce::Parameters{} : *r;
}

}  // namespace stereopsis

namespace stereopsis::correlation {

inline bool serves(const PipelineData& p) {
  return std::holds_alternative<zncc::Parameters>(p.cost) && std::holds_alternative<None>(p.aggregation) &&
         std::holds_alternative<None>(p.optimisation) && std::holds_alternative<None>(p.levels);
}

// Of the window, where there is one.
inline int radius(const PipelineData& p) {
  const auto* parameters = std::get_if<zncc::Parameters>(&p.cost);
  return parameters == nullptr ? 0 : parameters->radius();
}

template <class T, template <class> class View, class Backend>
BothViews<T, View> prepare_reduced(const reduce::Parameters& p, const BothViews<T, View>& views, Backend& backend) {
  if (p.factor == 1) return views;
  const Size input = views.left.image.size(), size = reduce::reduced_size(p, input);
  // Room for masks is there whether they are given or not: the memory is planned before.
  const View<T> left = backend.template image<T>(size), right = backend.template image<T>(size);
  const View<std::uint8_t> mask_left = backend.template image<std::uint8_t>(size),
                           mask_right = backend.template image<std::uint8_t>(size);
  const View<std::uint8_t> none;
  const View<std::uint8_t> usable_left = views.left.mask.empty() ? none : mask_left;
  const View<std::uint8_t> usable_right = views.right.mask.empty() ? none : mask_right;
  backend.stage("reduction", 2.0 * sizeof(T) * (1.0 * input.width * input.height + 1.0 * size.width * size.height),
                [&] {
                  backend.reduce(p, views.left.image, views.left.mask, left, usable_left);
                  backend.reduce(p, views.right.image, views.right.mask, right, usable_right);
                });
  return {{left, usable_left}, {right, usable_right}};
}

// The images that the map's pixels belong to, for stages that look at them: grey where they are reduced.
template <class T, template <class> class View, class Backend>
Inputs<T, View> as_matched(const reduce::Parameters& p, const Inputs<T, View>& in, Backend& backend) {
  if (p.factor == 1) return in;
  const auto [left, right] = prepare_reduced(p, grey_views(in, backend), backend);
  return {left.image, right.image, left.mask, right.mask};
}

template <class T, template <class> class View, class Backend>
void run(const PipelineData& p, const Problem& problem, const Inputs<T, View>& in, const wta::OutputOf<View>& out,
         Backend& backend) {
  const reduce::Parameters reduction = reduction_of(p);
  reduce::check(reduction);
  const DisparityRange range = reduce::reduced_range(reduction, problem.range);
  const auto views = prepare_reduced(reduction, grey_views(in, backend), backend);
  const Size size = views.left.image.size();
  const View<std::int16_t> left = backend.template image<std::int16_t>(size),
                           right = backend.template image<std::int16_t>(size);
  backend.stage("samples", 2.0 * (sizeof(T) + 2) * size.width * size.height, [&] {
    backend.samples(views.left.image, problem.bit_depth, left);
    backend.samples(views.right.image, problem.bit_depth, right);
  });
  const zncc_wta::Parameters parameters{std::get<zncc::Parameters>(p.cost), p.select};
  const zncc_wta::Input<View> input{
      left, right, sizeof(T) == 1 ? 8 : 16, {range.min, views.left.mask, views.right.mask}, range.count};
  const auto memory =
      backend.memory(backend.zncc_wta_bytes(parameters, size, input.bits, range.count, out.confidence.width > 0));
  // The samples come in, and both maps go out.
  backend.stage("matching of both views", 13.0 * size.width * size.height,
                [&] { backend.zncc_wta(parameters, input, out, memory); });
}

// From the map of the reduced images, in its pixels, to that in pixels of the input.
template <class T, template <class> class View, class Backend>
void restore(const reduce::Parameters& p, const Problem& problem, const Inputs<T, View>& in,
             const OutputsOf<View>& reduced, const OutputsOf<View>& out, Backend& backend) {
  const Size size = out.disparity.size();
  const double pixels = 1.0 * size.width * size.height;
  if (!p.upsample) {
    backend.stage("scale", 8 * pixels, [&] {
      backend.scale(p, out.disparity);
      if (!out.right.empty()) backend.scale(p, out.right);
    });
    return;
  }
  const auto views = grey_views(in, backend);
  const auto small = prepare_reduced(p, views, backend);
  const upsample::Parameters parameters{p.factor, p.sampling == reduce::Sampling::average, p.edge};
  const auto upsample_view = [&](const Grey<T, View>& image, const Grey<T, View>& reduced_image,
                                 const upsample::OutputOf<View>& to, View<const float> disparity,
                                 View<const std::uint8_t> validity, View<const float> confidence,
                                 View<const std::uint8_t> mask) {
    const auto grey8 = [&](View<const T> grey) {
      if constexpr (sizeof(T) == 1) {
        return grey;
      } else {
        const View<std::uint8_t> converted = backend.template image<std::uint8_t>(grey.size());
        backend.stage("8-bit grey", (sizeof(T) + 1.0) * grey.width * grey.height,
                      [&] { backend.grey8(grey, problem.bit_depth, converted); });
        return View<const std::uint8_t>(converted);
      }
    };
    const View<const std::uint8_t> guide = grey8(image.image), reduced_guide = grey8(reduced_image.image);
    backend.stage("upsampling", 6 * pixels, [&] {
      backend.upsample(parameters, {disparity, validity, confidence, reduced_guide, guide, mask}, to);
    });
  };
  upsample_view(views.left, small.left, {out.disparity, out.validity, out.confidence}, reduced.disparity,
                reduced.validity, reduced.confidence, views.left.mask);
  if (out.right.width > 0)
    upsample_view(views.right, small.right, {out.right, {}, {}}, reduced.right, {}, {}, views.right.mask);
}

}  // namespace stereopsis::correlation
