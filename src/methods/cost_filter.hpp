// The route of filtered cost volumes (Rhemann et al. 2011; Reis and Souza 2017; across scales, Zhang et al. 2014): features
// of both views, and then, a strip of rows after another, a volume of costs, the guided filter on its slices, the same
// at coarser levels where they have a part, and the selection. Only a strip's volumes are there at a time: they need
// the same memory whatever the height of the image, and give the same bits whatever the height of the strips.
//
// The right view's disparity comes from costs of its own, which its own image guides.
#pragma once

#include <algorithm>
#include <array>

#include "methods/pipeline_data.hpp"
#include "methods/semi_global.hpp"
#include "methods/views.hpp"
#include "stages/cost_volume/cost_volume.hpp"
#include "stereopsis/matcher.hpp"

namespace stereopsis::cost_filter {

inline bool serves(const PipelineData& p) {
  return std::holds_alternative<None>(p.prepare) && !std::holds_alternative<window_sad::Parameters>(p.cost) &&
         !std::holds_alternative<zncc::Parameters>(p.cost) &&
         !std::holds_alternative<colour_difference::Parameters>(p.cost) &&
         std::holds_alternative<guided::Parameters>(p.aggregation) && std::holds_alternative<None>(p.optimisation) &&
         std::holds_alternative<cross_scale::Parameters>(p.levels);
}

// The parameters of what comes after the features.
struct Parameters {
  explicit Parameters(const PipelineData& p)
      : guided(std::get<guided::Parameters>(p.aggregation)),
        scales(std::get<cross_scale::Parameters>(p.levels)),
        select(p.select) {}

  // The filter of level s.
  guided::Parameters guided_at(int s) const {
    guided::Parameters result = guided;
    if (s > 0) result.radius = scales.radius;
    return result;
  }
  bool has_levels() const { return cross_scale::levels_of(scales) > 1; }

  guided::Parameters guided;
  cross_scale::Parameters scales;
  wta::Parameters select;
  bool strips = false;  // more than one

  // Many strips are timed as one stage.
  const char* name(const char* stage) const { return strips ? "cost volume, guided filter, winner takes all" : stage; }
};

// What a region of interest needs of the image. It begins with a pixel of the coarsest level. With refinements, whole rows:
// a fill may look so far.
inline Rect required_input(const PipelineData& data, const Rect& region, DisparityRange range, Size size) {
  const Parameters p(data);
  constexpr int widest_feature = 7, widest_refinement = 32;  // a rank window of 15×15, a weighted median
  const int coarsest = 1 << (cross_scale::levels_of(p.scales) - 1);
  const bool refines =
      std::any_of(data.refinements.begin(), data.refinements.end(), [](const Refinement& r) { return r.enabled; });
  const int radius = p.has_levels() ? std::max(p.guided.radius, p.scales.radius) : p.guided.radius;
  const int margin = (2 * radius + widest_feature + 1) * coarsest + (refines ? widest_refinement : 0);
  Rect r = grow(region, margin, margin);
  const int left = refines ? size.width : std::max(0, range.max()),
            right = refines ? size.width : std::max(0, -range.min);
  r = {r.x - left, r.y, r.width + left + right, r.height};
  const int x = std::max(r.x, 0) / coarsest * coarsest, y = std::max(r.y, 0) / coarsest * coarsest;
  return intersect({x, y, r.x + r.width - x, r.y + r.height - y}, {0, 0, size.width, size.height});
}

// Both views at a level: grey in its type and in 8 bits, and the image in 8 bits with the colours that it has.
template <class T, template <class> class View>
struct Views {
  std::array<View<const T>, 2> grey;
  std::array<View<const std::uint8_t>, 2> grey8;
  std::array<View<const std::uint8_t>, 2> image8;
};

// Rows [first, last) of an image.
template <class T>
ImageView<T> rows_of(const ImageView<T>& image, guided::Rows rows) {
  return image.data == nullptr ? image : image.crop({0, rows.first, image.width, rows.count()});
}
template <class T>
gpu::View<T> rows_of(gpu::View<T> image, guided::Rows rows) {
  image.offset += rows.first * image.pitch;
  image.height = image.width > 0 ? rows.count() : 0;
  return image;
}

// An image in 8 bits, with all its channels.
template <class T, template <class> class View, class Backend>
View<const std::uint8_t> in_8_bits(View<const T> image, int bit_depth, Backend& backend) {
  if constexpr (sizeof(T) == 1) {
    return image;
  } else {
    const View<std::uint8_t> image8 = backend.template image<std::uint8_t>(image.size(), image.channels);
    // Channels are converted like pixels of a wider image.
    auto wide = image;
    auto wide8 = image8;
    wide.width = wide8.width = image.width * image.channels;
    wide.channels = wide8.channels = 1;
    backend.stage("8-bit image", 1.0 * (sizeof(T) + 1) * wide.width * wide.height,
                  [&] { backend.grey8(wide, bit_depth, wide8); });
    return image8;
  }
}

template <class T, template <class> class View, class Backend>
Views<T, View> finest_views(const semi_global::Prepared<T, View>& prepared, const Inputs<T, View>& in, int bit_depth,
                            Backend& backend) {
  Views<T, View> views{
      {prepared.left, prepared.right}, {prepared.left8, prepared.right8}, {prepared.left8, prepared.right8}};
  if (in.left.channels == 3)
    views.image8 = {in_8_bits(in.left, bit_depth, backend), in_8_bits(in.right, bit_depth, backend)};
  return views;
}

// The next level: its grey is that of its colours.
template <class T, template <class> class View, class Backend>
Views<std::uint8_t, View> coarser_views(const Views<T, View>& fine, Backend& backend) {
  Views<std::uint8_t, View> views;
  const Size size = cross_scale::half(fine.grey[0].size());
  const int channels = fine.image8[0].channels;
  for (int v = 0; v < 2; ++v) {
    const View<std::uint8_t> image8 = backend.template image<std::uint8_t>(size, channels);
    View<std::uint8_t> grey = image8;
    if (channels == 3) grey = backend.template image<std::uint8_t>(size);
    backend.stage("half-size level", 5.0 * size.width * size.height * channels, [&] {
      backend.halve(fine.image8[v], image8);
      if (channels == 3)
        backend.grey(View<const std::uint8_t>(image8), View<const std::uint8_t>(), grey, View<std::uint8_t>());
    });
    views.image8[v] = image8;
    views.grey[v] = views.grey8[v] = grey;
  }
  return views;
}

// Calls f with the kind of the pipeline's matching cost.
template <class F>
void with_kind(const Cost& matching_cost, F&& f) {
  if (const auto* c = std::get_if<census::Parameters>(&matching_cost)) {
    const int bits = census::shape_of(c->window).bits();
    if (bits <= 32)
      f(cost::Census<std::uint32_t>{bits});
    else if (bits <= 64)
      f(cost::Census<std::uint64_t>{bits});
    else
      f(cost::Census<Word128>{bits});
  } else if (const auto* r = std::get_if<rank::Parameters>(&matching_cost)) {
    f(cost::Rank{r->window});
  } else if (const auto* g = std::get_if<census_gradient::Parameters>(&matching_cost)) {
    f(cost::CensusGradient{g->census_weight, g->gradient_limit});
  } else {
    f(colour_gradient::kind(std::get<colour_gradient::Parameters>(matching_cost)));
  }
}

// A level of the whole image: words and guides of both views.
template <class Kind, template <class> class View>
struct Level {
  Kind kind;
  std::array<View<const typename Kind::Word>, 2> words;
  std::array<View<const std::uint8_t>, 2> guide;
};

template <class Kind, class T, class Word, template <class> class View, class Backend>
void make_words(const Cost& matching_cost, const Views<T, View>& views, int v, View<Word> words, Backend& backend) {
  if constexpr (std::is_same_v<Kind, cost::Rank>)
    backend.rank(std::get<rank::Parameters>(matching_cost), views.grey[v], words);
  else if constexpr (std::is_same_v<Kind, cost::CensusGradient>)
    backend.census_gradient(views.grey[v], views.grey8[v], words);
  else if constexpr (std::is_same_v<Kind, cost::ColourGradient>)
    backend.colour_gradient(views.image8[v], views.grey8[v], words);
  else
    backend.census(std::get<census::Parameters>(matching_cost), views.grey[v], words);
}

template <class Kind, class T, template <class> class View, class Backend>
Level<Kind, View> make_level(const PipelineData& p, const Kind& kind, const Views<T, View>& views, Backend& backend) {
  using Word = typename Kind::Word;
  Level<Kind, View> level{kind, {}, std::get<guided::Parameters>(p.aggregation).colour ? views.image8 : views.grey8};
  const Size size = views.grey[0].size();
  const std::array<View<Word>, 2> words{backend.template image<Word>(size), backend.template image<Word>(size)};
  backend.stage("features", 2.0 * (sizeof(T) + sizeof(Word)) * size.width * size.height, [&] {
    // The census of both views at once where the backend can.
    if constexpr (std::is_same_v<Kind, cost::Census<Word>> &&
                  requires { backend.census(census::Parameters{}, views.grey, words); })
      backend.census(std::get<census::Parameters>(p.cost), views.grey, words);
    else
      for (int v = 0; v < 2; ++v) make_words<Kind>(p.cost, views, v, words[v], backend);
  });
  level.words = {words[0], words[1]};
  return level;
}

inline constexpr int most_levels = 16;

// All levels, with one of the views as the reference: 0 the left one, 1 the right one, whose range runs over −d.
template <class Kind, template <class> class View>
struct Pyramid {
  std::array<Level<Kind, View>, most_levels> levels;
  int count = 1;
  int reference = 0;
  DisparityRange range;

  bool from_right() const { return reference == 1; }
  DisparityRange range_at(int s) const {
    const int first = cross_scale::at_level(range.min, s, from_right()),
              last = cross_scale::at_level(range.max(), s, from_right());
    return {first, last - first + 1};
  }
};

// The rows of a level that belong to some of the finest one, and those that a filter of this radius reads for them.
inline guided::Rows rows_at(guided::Rows rows, int s) { return {rows.first >> s, ((rows.last - 1) >> s) + 1}; }
inline guided::Rows rows_around(guided::Rows rows, int radius, int height) {
  return {std::max(rows.first - 2 * radius, 0), std::min(rows.last + 2 * radius, height)};
}

// The filtered costs of some rows of level s.
template <class Kind, template <class> class View, class Backend>
auto filtered_costs(const Parameters& p, const Pyramid<Kind, View>& pyramid, int s, guided::Rows rows,
                    Backend& backend) {
  const Level<Kind, View>& level = pyramid.levels[s];
  const guided::Parameters filter = p.guided_at(s);
  const auto guide = level.guide[pyramid.reference];
  const DisparityRange range = pyramid.range_at(s);
  const guided::Rows read = rows_around(rows, filter.radius, guide.height);
  const Size size{guide.width, read.count()};
  const auto filtered = backend.template volume<float>({guide.width, rows.count()}, range.count);

  const std::size_t used = backend.used();
  const auto costs = backend.template volume<std::uint8_t>(size, range.count);
  const cost::Source<Kind, View> source{rows_of(level.words[pyramid.reference], read),
                                        rows_of(level.words[1 - pyramid.reference], read), level.kind};
  const double cells = static_cast<double>(size.width) * size.height * range.count;
  const std::size_t in_use = backend.used();
  const auto row_memory = backend.memory(backend.cost_volume_bytes(level.kind, guide.width, range.count));
  backend.stage(p.name("cost volume"), cells, [&] { backend.cost_volume(source, range.min, costs, row_memory); });
  backend.give_back(in_use);
  const auto memory = backend.memory(backend.guided_bytes(filter, size, guide.channels, range.count));
  backend.stage(p.name("guided filter"), 5 * cells, [&] {
    backend.guided(filter, rows_of(guide, read), costs, {rows.first - read.first, rows.last - read.first}, filtered,
                   memory);
  });
  backend.give_back(used);
  return filtered;
}

// A strip's costs, coupled with those of the coarser levels.
template <class Kind, template <class> class View, class Backend>
auto coupled_costs(const Parameters& p, const Pyramid<Kind, View>& pyramid, guided::Rows rows, Backend& backend) {
  const auto costs = filtered_costs(p, pyramid, 0, rows, backend);
  const auto weights = cross_scale::weights(p.scales);
  for (int s = 1; s < pyramid.count; ++s) {
    const std::size_t used = backend.used();
    const guided::Rows coarse_rows = rows_at(rows, s);
    const auto coarse = filtered_costs(p, pyramid, s, coarse_rows, backend);
    const cross_scale::Level level{s,          pyramid.from_right(), pyramid.range.min, pyramid.range_at(s).min,
                                   rows.first, coarse_rows.first};
    backend.stage(p.name("coupling of levels"), 8.0 * costs.width * costs.height * costs.disparities,
                  [&] { backend.combine(level, s == 1 ? weights[0] : 1.0f, weights[s], coarse, costs); });
    backend.give_back(used);
  }
  return costs;
}

// Strips of one height, which is at most this.
inline int even_strips(int rows, int tallest) {
  const int most = std::clamp(tallest, 16, std::max(rows, 16)), strips = (rows + most - 1) / most;
  return (rows + strips - 1) / strips;
}

// How tall strips are whose volumes, with what is computed around them, take some hundred megabytes.
template <class Backend>
int strip_rows(const Parameters& p, Size size, int disparities, const Backend& backend) {
  const auto [cost, coefficients, filtered] = backend.bytes_per_cell();
  const double bytes = backend.strip_bytes() / (static_cast<double>(size.width) * disparities);
  const double around = p.guided.radius * (4 * cost + 2 * coefficients);
  return even_strips(size.height, static_cast<int>(std::min((bytes - around) / (cost + coefficients + filtered), 1e6)));
}

// The same as coupled_costs, with the selection, by kernels that keep filtered costs in planes.
template <class Kind, template <class> class View, class Backend>
void match_tuned_strip(const Parameters& p, const Pyramid<Kind, View>& pyramid, guided::Rows rows,
                       const wta::InputOf<View>& in, const wta::OutputOf<View>& out, Backend& backend) {
  typename Backend::Planes planes(pyramid.count);
  const auto weights = cross_scale::weights(p.scales);
  double cells = 0;
  for (int s = 0; s < pyramid.count; ++s) {
    const Level<Kind, View>& level = pyramid.levels[s];
    const guided::Parameters filter = p.guided_at(s);
    const auto guide = level.guide[pyramid.reference];
    const DisparityRange range = pyramid.range_at(s);
    const guided::Rows mine = rows_at(rows, s), read = rows_around(mine, filter.radius, guide.height);
    planes[s] = backend.plane({guide.width, mine.count()}, range.count, mine.first, range.min, weights[s]);
    const std::size_t used = backend.used();
    const auto memory =
        backend.memory(backend.tuned_filter_bytes({guide.width, read.count()}, guide.channels, range.count));
    const cost::Source<Kind, View> source{rows_of(level.words[pyramid.reference], read),
                                          rows_of(level.words[1 - pyramid.reference], read), level.kind};
    const double level_cells = static_cast<double>(guide.width) * mine.count() * range.count;
    // A cost written and read, the coefficients too, and a filtered cost.
    const int bytes = 2 + 2 * 4 * (guide.channels + 1) + 4;
    backend.stage(p.name("cost and guided filter"), bytes * level_cells, [&] {
      backend.tuned_filter(filter, source, range, rows_of(guide, read),
                           {mine.first - read.first, mine.last - read.first}, planes[s], memory);
    });
    backend.give_back(used);
    cells += level_cells;
  }
  backend.stage(p.name("winner takes all"), 4 * cells, [&] {
    backend.tuned_select(p.select, in, planes, pyramid.range.count, out,
                         pyramid.from_right() ? wta::Reference::right : wta::Reference::left);
  });
}

template <class Kind, template <class> class View, class Backend>
void match(Parameters p, const Pyramid<Kind, View>& pyramid, const std::array<View<const std::uint8_t>, 2>& masks,
           const wta::OutputOf<View>& out, Backend& backend) {
  const Size size = out.disparity.size();
  bool tuned = false;
  int height = strip_rows(p, size, pyramid.range.count, backend);
  if constexpr (Backend::template tunes_filter<Kind>) {
    tuned =
        backend.has_tuned_filter(p.guided, size) && (!p.has_levels() || backend.has_tuned_filter(p.guided_at(1), size));
    if (tuned)  // these filter some disparities at a time
      height = even_strips(size.height, backend.tallest_strip(size, pyramid.range.count));
  }
  if (backend.stripe_rows > 0) height = backend.stripe_rows;
  p.strips = height < size.height;
  for (int first = 0; first < size.height; first += height) {
    const std::size_t used = backend.used();
    const guided::Rows rows{first, std::min(first + height, size.height)};
    const wta::InputOf<View> in{pyramid.range.min, rows_of(masks[pyramid.reference], rows),
                                rows_of(masks[1 - pyramid.reference], rows)};
    const wta::OutputOf<View> part{
        rows_of(out.disparity, rows), rows_of(out.validity, rows), {}, rows_of(out.confidence, rows)};
    if constexpr (Backend::template tunes_filter<Kind>) {
      if (tuned) {
        match_tuned_strip(p, pyramid, rows, in, part, backend);
        backend.give_back(used);
        continue;
      }
    }
    const auto costs = coupled_costs(p, pyramid, rows, backend);
    backend.stage(p.name("winner takes all"), 4.0 * size.width * rows.count() * pyramid.range.count, [&] {
      backend.wta(p.select, in, costs, part, pyramid.from_right() ? wta::Reference::right : wta::Reference::left);
    });
    backend.give_back(used);
  }
}

template <class Kind, class T, template <class> class View, class Backend>
Pyramid<Kind, View> make_pyramid(const PipelineData& p, const Kind& kind, const Views<T, View>& finest,
                                 DisparityRange range, Backend& backend) {
  Pyramid<Kind, View> pyramid;
  pyramid.range = range;
  pyramid.count = cross_scale::levels_of(std::get<cross_scale::Parameters>(p.levels));
  pyramid.levels[0] = make_level(p, kind, finest, backend);
  if (pyramid.count == 1) return pyramid;
  auto views = coarser_views(finest, backend);
  for (int s = 1; s < pyramid.count; ++s) {
    pyramid.levels[s] = make_level(p, kind, views, backend);
    if (s + 1 < pyramid.count) views = coarser_views(views, backend);
  }
  return pyramid;
}

template <class T, template <class> class View, class Backend>
void run(const PipelineData& p, const Problem& problem, const Inputs<T, View>& in, const wta::OutputOf<View>& out,
         Backend& backend) {
  const auto prepared = semi_global::prepare_grey({.grey8_both = true, .guide = false}, in, problem.bit_depth, backend);
  const auto finest = finest_views(prepared, in, problem.bit_depth, backend);
  const std::array<View<const std::uint8_t>, 2> masks{prepared.mask_left, prepared.mask_right};
  with_kind(p.cost, [&](const auto& kind) {
    cost_volume::check(kind);
    const Parameters parameters(p);
    auto pyramid = make_pyramid(p, kind, finest, problem.range, backend);
    match(parameters, pyramid, masks, {out.disparity, out.validity, {}, out.confidence}, backend);
    if (out.right.width == 0) return;  // it has no memory yet where a run is only sized
    // The right view's, in whole pixels, and whether they are unique or not.
    Parameters of_right = parameters;
    of_right.select = {.border_candidates = parameters.select.border_candidates};
    pyramid.reference = 1;
    pyramid.range = {-problem.range.max(), problem.range.count};
    const auto validity = backend.template image<std::uint8_t>(out.right.size());
    match(of_right, pyramid, masks, {out.right, validity, {}, {}}, backend);
  });
}

}  // namespace stereopsis::cost_filter
