// A pipeline, run: the one place where the stages of a method follow one another, for every backend.
//
// The way from the pair to the first disparity map is a *route*: the one that serves the pipeline's slots, in a header of
// its own, with serves(pipeline) and run(pipeline, problem, inputs, outputs, backend). The refinements follow it.
//
// A backend offers inputs<T>(pair) and outputs(out), the images where its stages work, and deliver(), which brings the
// outputs to the caller; image<T>(size), memory of the workspace; memory(bytes), and used() and
// give_back(used) to return what was taken since; stage(name, bytes, f), which runs f and
// takes its time; and one function for every stage. Sizing a plan is a run whose stages are passed over.
#pragma once

#include "methods/correlation.hpp"
#include "methods/cost_filter.hpp"
#include "methods/geometry.hpp"
#include "methods/region.hpp"
#include "methods/semi_global.hpp"
#include "methods/support_weights.hpp"
#include "methods/window.hpp"

namespace stereopsis {

// The size of the result.
inline Size output_size(const PipelineData& p, Size input) { return reduce::output_size(reduction_of(p), input); }

// The part of the rectified images that a problem's region needs: of semi-global matching, its margin around and the columns
// that its candidates lie in; of correlation, the window and the margin, and the candidates of both views; whole blocks where
// the images are reduced. Window matching has a finite one (region.hpp).
inline Rect required_input(const PipelineData& data, const Problem& p) {
  const Rect all{0, 0, p.rectified_size().width, p.rectified_size().height};
  if (!p.region) return all;
  if (window::serves(data)) return input_of_windows(data, p);
  if (cost_filter::serves(data)) return cost_filter::required_input(data, *p.region, p.range, all.size());
  const int factor = reduction_of(data).factor, margin = factor * (data.region.margin + correlation::radius(data));
  Rect r = intersect(support_weights::required_input(data, grow(*p.region, margin, margin)), all);
  int left = std::max(0, p.range.max()), right = std::max(0, -p.range.min);
  if (correlation::serves(data)) left = right = std::max(left, right);
  r = intersect({r.x - left, r.y, r.width + left + right, r.height}, all);
  const auto start = [&](int at) { return at / factor * factor; };
  const auto end = [&](int at, int size) { return std::min((at + factor - 1) / factor * factor, size); };
  return {start(r.x), start(r.y), end(r.x + r.width, all.width) - start(r.x),
          end(r.y + r.height, all.height) - start(r.y)};
}

// What the refinements ask for.
struct RefinementNeeds {
  explicit RefinementNeeds(const PipelineData& p) {
    for (const Refinement& refinement : p.refinements) {
      if (!refinement.enabled) continue;
      right |= std::holds_alternative<left_right::Parameters>(refinement.stage);
      const auto* f = std::get_if<fill::Parameters>(&refinement.stage);
      right |= f != nullptr && f->mode == fill::Mode::hirschmueller;
      const bool weighted = std::holds_alternative<weighted_median::Parameters>(refinement.stage);
      moves += f != nullptr || weighted || std::holds_alternative<median::Parameters>(refinement.stage) ||
               std::holds_alternative<repair::Parameters>(refinement.stage);
      image8 |= weighted;
      measured |= std::holds_alternative<confidence::Parameters>(refinement.stage);
      colours |= measured || std::holds_alternative<propagation::Parameters>(refinement.stage);
      confidence |= measured || std::holds_alternative<repair::Parameters>(refinement.stage);
    }
  }

  bool right = false;       // the right view's disparity
  bool image8 = false;      // the left image in 8 bits
  bool confidence = false;  // a confidence image,
  bool measured = false;    // made by a stage of its own
  bool colours = false;     // prepared colours
  int moves = 0;            // refinements that do not work in place
};

// The median that follows a refinement at once, or null.
inline const median::Parameters* median_after(const PipelineData& p, const Refinement& refinement) {
  bool passed = false;
  for (const Refinement& other : p.refinements) {
    if (passed && other.enabled) return std::get_if<median::Parameters>(&other.stage);
    passed = passed || &other == &refinement;
  }
  return nullptr;
}

template <template <class> class View, class Backend>
void refine(const PipelineData& p, const OutputsOf<View>& out, const window::Colours<View>& colours,
            View<const std::uint8_t> image8, View<float> current, View<float> other, Backend& backend) {
  const double pixels = static_cast<double>(out.validity.width) * out.validity.height;
  const median::Parameters* done = nullptr;
  for (const Refinement& refinement : p.refinements) {
    if (!refinement.enabled || (done != nullptr && done == std::get_if<median::Parameters>(&refinement.stage)))
      continue;
    const std::size_t used = backend.used();
    std::visit(
        [&]<class P>(const P& stage) {
          if constexpr (std::is_same_v<P, left_right::Parameters>) {
            const median::Parameters* filter = median_after(p, refinement);
            if (filter != nullptr && backend.joins(stage, *filter)) {
              backend.stage("left-right check, median", 14 * pixels, [&] {
                backend.left_right_median(stage, View<const float>(out.right), View<const float>(current), out.validity,
                                          other);
              });
              std::swap(current, other);
              done = filter;
              return;
            }
            backend.stage("left-right check", 13 * pixels,
                          [&] { backend.left_right(stage, View<const float>(out.right), current, out.validity); });
          } else if constexpr (std::is_same_v<P, speckle::Parameters>) {
            const auto scratch = backend.memory(backend.speckle_bytes(out.validity.size()));
            backend.stage("speckle", 9 * pixels, [&] { backend.speckle(stage, current, out.validity, scratch); });
          } else if constexpr (std::is_same_v<P, median::Parameters>) {
            backend.stage("median", Work(8 * pixels).operations(stage.window == 3 ? 36 * pixels : 124 * pixels),
                          [&] { backend.median(stage, View<const float>(current), other); });
            std::swap(current, other);
          } else if constexpr (std::is_same_v<P, confidence::Parameters>) {
            backend.stage("confidence", 16 * pixels, [&] {
              backend.confidence(stage, window::window_of(p), colours.source(), View<const float>(current),
                                 out.confidence);
            });
          } else if constexpr (std::is_same_v<P, repair::Parameters>) {
            const repair::MapsOf<View> maps{current, other, out.confidence,
                                            backend.template image<float>(out.validity.size()), out.validity};
            backend.stage("repair", 3 * 18 * pixels, [&] { backend.repair(stage, maps); });
            std::swap(current, other);
          } else if constexpr (std::is_same_v<P, propagation::Parameters>) {
            const Size size = out.validity.size();
            const propagation::MapsOf<View> maps{colours.left, current, backend.template image<float>(size),
                                                 backend.template image<float>(size), out.validity};
            backend.stage("propagation", 2 * 170 * pixels, [&] { backend.propagation(stage, maps); });
          } else if constexpr (std::is_same_v<P, weighted_median::Parameters>) {
            backend.stage("weighted median", 9 * pixels, [&] {
              backend.weighted_median(stage, weighted_median::InputOf<View>{current, out.validity, image8}, other);
            });
            std::swap(current, other);
          } else {
            const auto scratch = backend.memory(backend.fill_bytes(stage, out.validity.size()));
            backend.stage("fill", 9 * pixels, [&] {
              backend.fill(stage, fill::InputOf<View>{current, out.right}, other, out.validity, scratch);
            });
            std::swap(current, other);
          }
        },
        refinement.stage);
    backend.give_back(used);
  }
}

[[noreturn]] inline void refuse_combination(const PipelineData& p) {
  const auto name = [](const auto& stages) { return std::visit([]<class P>(const P&) { return P::stage; }, stages); };
  throw Error(
      ErrorCategory::call,
      text("the pipeline '", p.method, "' combines prepare ", name(p.prepare), ", cost ", name(p.cost),
           ", aggregation ", name(p.aggregation), ", optimisation ", name(p.optimisation), ", levels ", name(p.levels),
           ", which nothing here runs; start from one of the methods that `stereopsis methods` lists"));
}

template <class T, template <class> class View, class Backend>
void run_route(const PipelineData& p, const Problem& problem, const Inputs<T, View>& in,
               const window::Colours<View>& colours, const wta::OutputOf<View>& out, Backend& backend) {
  if (semi_global::serves(p)) return semi_global::run(p, problem, in, out, backend);
  if (correlation::serves(p)) return correlation::run(p, problem, in, out, backend);
  if (cost_filter::serves(p)) return cost_filter::run(p, problem, in, out, backend);
  if (window::serves(p)) return window::run(p, problem, colours, out, backend);
  if (support_weights::serves(p)) return support_weights::run(p, problem, in, out, backend);
  refuse_combination(p);
}

// Images of the reduced size for what is wanted.
template <template <class> class View, class Backend>
OutputsOf<View> reduced_outputs(const OutputsOf<View>& out, Size size, Backend& backend) {
  OutputsOf<View> reduced{};
  reduced.disparity = backend.template image<float>(size);
  reduced.validity = backend.template image<std::uint8_t>(size);
  if (out.right.width > 0) reduced.right = backend.template image<float>(size);
  if (out.confidence.width > 0) reduced.confidence = backend.template image<float>(size);
  return reduced;
}

template <class T, template <class> class View, class Backend>
void run_stages(const PipelineData& p, const Problem& problem, const Inputs<T, View>& in, OutputsOf<View> out,
                Backend& backend) {
  const reduce::Parameters reduction = reduction_of(p);
  const OutputsOf<View> full = out;
  const Size size = reduce::reduced_size(reduction, in.left.size());
  const RefinementNeeds needs(p);
  if (reduction.upsample) out = reduced_outputs(full, size, backend);
  if (needs.right && out.right.empty()) out.right = backend.template image<float>(size);
  if (needs.confidence && out.confidence.empty()) out.confidence = backend.template image<float>(size);
  // Medians and fills move the map to the other image: start so that the last one ends in the output.
  View<float> first = out.disparity, second;
  if (needs.moves > 0) second = backend.template image<float>(size);
  if (needs.moves % 2 != 0) std::swap(first, second);

  const bool looks = needs.colours || needs.image8 || window::serves(p);
  const Inputs<T, View> seen = looks ? correlation::as_matched(reduction, in, backend) : in;
  window::Colours<View> colours;
  if (needs.colours || window::serves(p)) colours = window::prepare_colours(p, seen, problem.bit_depth, backend);
  const View<const std::uint8_t> image8 =
      needs.image8 ? cost_filter::in_8_bits(seen.left, problem.bit_depth, backend) : View<const std::uint8_t>();

  const std::size_t used = backend.used();
  const View<float> confidence = needs.measured ? View<float>() : out.confidence;
  run_route(p, problem, in, colours, wta::OutputOf<View>{first, out.validity, out.right, confidence}, backend);
  backend.give_back(used);  // what the route alone needed
  refine(p, out, colours, image8, first, second, backend);
  if (reduction.factor > 1) correlation::restore(reduction, problem, in, out, full, backend);
}

template <class T, class Backend>
void run_pixels(const PipelineData& p, const Problem& problem, const StereoPair& pair, const Outputs& out,
                Backend& backend, const Rect& shown) {
  auto in = backend.template inputs<T>(pair);
  const auto results = backend.outputs(out);
  if (problem.geometry.rectification) in = geometry::rectified(problem.geometry, in, shown, results.rectified, backend);
  run_stages(p, problem, in, results, backend);
  const Geometry& wanted = problem.geometry;
  if (output_size(p, in.left.size()) != in.left.size() &&
      (wanted.want_depth || wanted.want_points || wanted.want_uncertainty))
    throw Error(ErrorCategory::call, "a result of reduced size can't be triangulated; set reduce.upsample = true");
  geometry::triangulated(problem.geometry, in.left.size(), shown, results, backend);
  backend.deliver(results, out);
}

// The pair shows required_input(), unless it is still to be rectified: then it is whole.
template <class Backend>
void run(const PipelineData& p, const Problem& problem, const StereoPair& pair, const Outputs& out, Backend& backend) {
  const Rect shown = required_input(p, problem);
  switch (pair.left.type) {
    case PixelType::u8: return run_pixels<std::uint8_t>(p, problem, pair, out, backend, shown);
    case PixelType::u16: return run_pixels<std::uint16_t>(p, problem, pair, out, backend, shown);
    default: return run_pixels<float>(p, problem, pair, out, backend, shown);
  }
}

}  // namespace stereopsis
