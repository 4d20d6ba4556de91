// The route of window matching (Prehn 2007): prepared colours of both views, and window sums with their selection, over the
// whole range or, with a pyramid, on its coarsest level, and then around what each coarser level found.
#pragma once

#include "fused/window_sad_wta/window_sad_wta.hpp"
#include "methods/pipeline_data.hpp"
#include "methods/views.hpp"
#include "stages/downsample/downsample.hpp"
#include "stages/hsv/hsv.hpp"
#include "stereopsis/matcher.hpp"

namespace stereopsis::window {

inline bool serves(const PipelineData& p) {
  return std::holds_alternative<None>(p.prepare) && std::holds_alternative<window_sad::Parameters>(p.cost) &&
         std::holds_alternative<None>(p.aggregation) && std::holds_alternative<None>(p.optimisation) &&
         (std::holds_alternative<None>(p.levels) || std::holds_alternative<pyramid::Parameters>(p.levels));
}

// Both views as prepared colours, of the method's own space and weights, or the defaults; masks are empty where all pixels are usable.
template <template <class> class View>
struct Colours {
  View<const std::uint32_t> left, right;
  View<const std::uint8_t> mask_left, mask_right;
  cost::Colours kind{};

  window_sad::Source<View> source() const { return {left, right, kind}; }
};

template <class T, template <class> class View, class Backend>
Colours<View> prepare_colours(const PipelineData& p, const Inputs<T, View>& in, int bit_depth, Backend& backend) {
  const Size size = in.left.size();
  const auto* own = std::get_if<window_sad::Parameters>(&p.cost);
  const window_sad::Parameters chosen = own != nullptr ? *own : window_sad::Parameters{};
  const cost::Weighting weighting = cost::weighting(chosen.space, chosen.weights);
  const View<std::uint32_t> left = backend.template image<std::uint32_t>(size),
                            right = backend.template image<std::uint32_t>(size);
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

// The window that a method matches with, or 7×7.
inline window_sad::Window window_of(const PipelineData& p) {
  const auto* cost = std::get_if<window_sad::Parameters>(&p.cost);
  return cost != nullptr ? cost->window() : window_sad::Window{};
}

// Prepared colours as images of four channels.
inline ImageView<std::uint8_t> bytes_of(const ImageView<std::uint32_t>& words) {
  return {reinterpret_cast<std::uint8_t*>(words.data), words.width, words.height, 4, 4 * words.pitch};
}
inline ImageView<const std::uint8_t> bytes_of(const ImageView<const std::uint32_t>& words) {
  return {reinterpret_cast<const std::uint8_t*>(words.data), words.width, words.height, 4, 4 * words.pitch};
}
template <class Word>
auto bytes_of(const gpu::View<Word>& words) {
  using Byte = std::conditional_t<std::is_const_v<Word>, const std::uint8_t, std::uint8_t>;
  return gpu::View<Byte>{words.memory, 4 * words.offset, words.width, words.height, 4, 4 * words.pitch};
}

// The whole range, on one level.
template <template <class> class View, class Backend>
void search(const PipelineData& p, const wta::Parameters& select, const Colours<View>& colours,
            const DisparityRange& range, const wta::OutputOf<View>& out, Backend& backend) {
  const Size size = colours.left.size();
  const window_sad_wta::Parameters parameters{window_of(p), select};
  const window_sad_wta::Input<View> input{
      colours.source(), {range.min, colours.mask_left, colours.mask_right}, range.count};
  const std::size_t used = backend.used();
  const auto memory = backend.memory(backend.window_sad_wta_bytes(parameters, size, range.count, out));
  const bool first_guess = !std::holds_alternative<None>(p.levels);
  // The words of both views, once; the result.
  backend.stage(first_guess ? "first guess" : "window matching", 13.0 * size.width * size.height,
                [&] { backend.window_sad_wta(parameters, input, out, memory); });
  backend.give_back(used);
}

// What a level of a pyramid has: its colours, its range, and the map that is made on it.
template <template <class> class View>
struct Level {
  Colours<View> colours;
  DisparityRange range;
  View<float> disparity, right;
};

inline void check_levels(const PipelineData& p, Size size) {
  const auto& levels = std::get<pyramid::Parameters>(p.levels);
  const int smaller = std::min(size.width, size.height);
  int most = 0;
  while (smaller >> (most + 1) > 0) ++most;
  if (levels.levels > most)
    throw Error(ErrorCategory::call,
                text("levels.levels = ", levels.levels, " is not allowed for an image of ", size.width, "×",
                     size.height, " pixels; it must be at most ", most, ", so that the coarsest level has a pixel",
                     most == 0 ? " (take a method without levels)" : ""));
  if (p.select.uniqueness > 0)
    throw Error(ErrorCategory::call, text("select.uniqueness = ", p.select.uniqueness,
                                          " is not allowed with levels, which do not see the "
                                          "costs of the whole range; set it to 0, or take prehn-window"));
}

// Also where memory is only being counted, and no image has any.
template <template <class> class View>
bool wants_right(const wta::OutputOf<View>& out) {
  return out.right.width > 0;
}

template <template <class> class View, class Backend>
std::vector<Level<View>> scale_down(int count, const Colours<View>& colours, const DisparityRange& range,
                                    const wta::OutputOf<View>& out, Backend& backend) {
  std::vector<Level<View>> levels{{colours, range, out.disparity, out.right}};
  std::vector<std::array<View<std::uint32_t>, 2>> words{{View<std::uint32_t>(), View<std::uint32_t>()}};
  for (int i = 0; i < count; ++i) {
    const Size size = downsample::downsampled(levels.back().colours.left.size(), 2);
    words.push_back({backend.template image<std::uint32_t>(size), backend.template image<std::uint32_t>(size)});
    Level<View> level{
        {words.back()[0], words.back()[1], {}, {}, colours.kind}, pyramid::above(levels.back().range), {}, {}};
    level.disparity = backend.template image<float>(size);
    if (wants_right(out)) level.right = backend.template image<float>(size);
    levels.push_back(level);
  }
  const Size size = colours.left.size();
  backend.stage("scale down", 2 * 4 * 5.0 / 3 * size.width * size.height, [&] {
    for (int i = 1; i <= count; ++i) {
      const auto reduced = [&](const View<const std::uint32_t>& from, const View<std::uint32_t>& to) {
        backend.template downsample<std::uint8_t>(2, bytes_of(from), bytes_of(to));
      };
      reduced(levels[i - 1].colours.left, words[i][0]);
      reduced(levels[i - 1].colours.right, words[i][1]);
    }
  });
  return levels;
}

template <template <class> class View, class Backend>
void run_pyramid(const PipelineData& p, const Problem& problem, const Colours<View>& colours,
                 const wta::OutputOf<View>& out, Backend& backend) {
  check_levels(p, colours.left.size());
  const auto& parameters = std::get<pyramid::Parameters>(p.levels);
  const auto levels = scale_down(parameters.levels, colours, problem.range, out, backend);
  const auto& top = levels.back();
  const View<std::uint8_t> validity = backend.template image<std::uint8_t>(top.disparity.size());
  search(p, {.border_candidates = p.select.border_candidates}, top.colours, top.range,
         wta::OutputOf<View>{top.disparity, validity, top.right, {}}, backend);
  const Size size = colours.left.size();
  backend.stage("pyramid", 4.0 / 3 * 13 * size.width * size.height, [&] {
    for (int i = parameters.levels - 1; i >= 0; --i) {
      const Level<View>& level = levels[i];
      const Colours<View>& c = level.colours;
      wta::Parameters select = p.select;
      pyramid::Output<View> result{level.disparity, {}, {}};
      if (i > 0)
        select.subpixel = wta::Subpixel::none;
      else
        result = {out.disparity, out.validity, out.confidence};
      backend.pyramid(
          parameters, window_of(p), select,
          pyramid::Input<View>{c.left, c.right, -1, c.mask_left, c.mask_right, level.range, levels[i + 1].disparity},
          result);
      if (!wants_right(out)) continue;
      select = {.border_candidates = false};
      backend.pyramid(
          parameters, window_of(p), select,
          pyramid::Input<View>{c.right, c.left, 1, c.mask_right, c.mask_left, level.range, levels[i + 1].right},
          pyramid::Output<View>{level.right, {}, {}});
    }
  });
}

template <template <class> class View, class Backend>
void run(const PipelineData& p, const Problem& problem, const Colours<View>& colours, const wta::OutputOf<View>& out,
         Backend& backend) {
  if (std::holds_alternative<None>(p.levels))
    search(p, p.select, colours, problem.range, out, backend);
  else
    run_pyramid(p, problem, colours, out, backend);
}

}  // namespace stereopsis::window
