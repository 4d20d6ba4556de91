#include "fused/sgm_wta/sgm_wta_cuda.hpp"

#include <algorithm>
#include <bit>
#include <type_traits>

#include "core/rounding.hpp"
#include "device/cuda/address.hpp"
#include "fused/sgm_wta/sgm_wta_cuda_problem.hpp"

namespace stereopsis::sgm_wta {
namespace {

template <class Kind>
constexpr bool is_rank = std::is_same_v<Kind, cost::Rank>;

constexpr int most_disparities = 1024;

int range_of(int disparities) {
  return std::max(64, static_cast<int>(std::bit_ceil(static_cast<unsigned>(disparities))));
}

// Returns whether costs are stored in six bits instead of a byte (SixBitCost). Padding disparities must never win,
// which requires costs of a byte. With 8 paths, six bits are faster only from 256 disparities on. With fewer disparities,
// unaligned loads of lines cost more time than the smaller volume saves (1280 × 960 × 128: 0.84 instead of 0.83 ms).
template <class Kind>
bool in_six_bits(const Parameters& p, const Kind& kind, int disparities) {
  constexpr bool may_be_small = !is_rank<Kind> && !std::is_same_v<Kind, cost::CensusGradient>;
  const bool early_minimum = disparities < 256;  // Variant::early_minimum requires costs of at most P2
  return may_be_small && (p.sgm.paths == 4 || disparities >= 256) && !p.sgm.adaptive() &&
         disparities == range_of(disparities) && kind.max_cost() < 64 &&
         (!early_minimum || kind.max_cost() <= p.sgm.p2);
}

bool is_padded(int disparities) { return disparities != range_of(disparities); }

// Returns Problem::run, for which path costs must remain below 2048, or 0 if there is no such value. Tiles that read
// features ignore the value.
template <class Kind>
int run_of(const Parameters& p, const Kind& kind, int disparities) {
  const int beyond = is_rank<Kind> || !is_padded(disparities) ? 0 : 255;
  const auto fits = [&](int run) { return (run + 1) * kind.max_cost() + p.sgm.p1 + p.sgm.p2 + beyond < 2048; };
  return fits(16) ? 16 : !is_rank<Kind> && fits(tile_height) ? tile_height : 0;
}

// Returns whether paths along rows take longer than other lines. A step along a line takes twice the time of a step
// along a row.
bool has_long_rows(Size size) { return size.width > 2 * size.height; }

// The layout of sgm_wta_cuda_problem.hpp, for a range that is known only at run time.
struct Shape {
  explicit Shape(int disparities) : range(range_of(disparities)) {}
  int tile_width() const { return range <= 512 ? 2048 / range : 4; }
  int right_margin_of_zero() const { return range / 2 + 8; }
  int tile_threads() const { return range >= 256 ? 128 : 64; }

  int range;
};

// Returns the number of strips for which the first pass stores the contributions of paths along rows to the sums
// (sgm_wta_cuda_rows.cuh). The sum of two contributions must fit in a byte. Storing three quarters of the strips needs
// just less than 3 bytes per cell, two to three times as much as storing none. The stored contributions save 3 to 7 %
// of the time with 8 paths from 1280 × 960 × 128 on, and about 3 % with 4 paths and 256 disparities. The stored
// contributions save no time with 64 disparities, with 4 paths and 128 disparities, or if rows take longer than lines.
template <class Kind>
int kept_strips(const Parameters& p, const Kind& kind, Size size, int disparities, int strips) {
  const bool pays = disparities == 256 || (disparities == 128 && p.sgm.paths == 8);
  const bool may = is_rank<Kind> && !p.sgm.adaptive() && kind.max_cost() <= p.sgm.p2 && 2 * p.sgm.p2 <= 255;
  return may && pays && !has_long_rows(size) ? strips * 3 / 4 : 0;
}

template <class Kind>
BorderForm border_form_of(const Parameters& p, const Shape& shape) {
  return border_form(shape.range, p.sgm.paths, !is_rank<Kind>, !p.sgm.adaptive());
}

// The lines that the warps of the first pass follow, in the terms of sgm_wta_cuda_borders.cuh.
struct Bundles {
  Bundles(const BorderForm& form, const Problem& p, const Shape& shape, int paths, bool in_memory,
          const gpu::Properties& device)
      : directions(paths == 8 ? 6 : 2),
        by_blocks(form.source == Source::block),
        device_schedulers(schedulers * device.multiprocessors) {
    const Tuning& tuning = gpu::pick(tunings, device);
    const auto groups = [&](int words) { return 64 * words / shape.range; };  // groups of lanes per warp
    if (by_blocks) {
      const int span = block_span(shape.range, form.words), columns = paths == 8 ? p.around : p.width;
      lines = ceil_div(columns, span) * (span / groups(form.words) / form.lines);
    } else if (paths == 8) {
      const int strips = p.around / shape.tile_width(), places = shape.tile_width() / form.lines;
      const int whole = strips / groups(form.words), left = strips % groups(form.words);
      lines = whole * places + ceil_div(left * places, groups(form.words));
    } else {
      lines = ceil_div(p.width, form.lines * groups(form.words));
    }
    // Rows are processed with wide groups if all warps run at once, unless rows are stored. In other cases, the wait at
    // the end is shorter with narrow groups.
    const bool keeps_rows = p.kept_strips > 0;
    rows = ceil_div(p.height, groups(keeps_rows ? form.narrow_rows : form.wide_rows));
    const bool at_once = warps() <= device_schedulers * form.blocks();
    wide_rows = at_once && !keeps_rows;
    if (!at_once) rows = ceil_div(p.height, groups(form.narrow_rows));
    const bool rows_early = by_blocks && at_once && (paths == 4 || shape.range == 64 || keeps_rows);
    order = order_of(form, p, paths == 8 && in_memory, rows_early, tuning);
    has_small_blocks = !by_blocks && warps() > tuning.warps_of_small_blocks * device.multiprocessors;
  }

  int warps() const { return directions * lines + 2 * rows; }
  Order order_of(const BorderForm& form, const Problem& p, bool may_take_turns, bool rows_early,
                 const Tuning& tuning) const {
    // Lines of one direction of y read the same rows of a volume at about the same time, and tiles read rows that the
    // other direction has just read. If there are few warps, the device is occupied better with both directions at once
    // (1280 × 960 × 64: 0.52 instead of 0.54 ms).
    const int turns = form.words == 16 ? tuning.wide_turns : tuning.narrow_turns;
    if (may_take_turns && warps() > device_schedulers * turns) return Order::senses_in_turn;
    // Rows run first if they take longer than lines. With `rows_early`, rows also run first if all warps run at once
    // and rows are a large part of the work. Tiles wait for rows, and then begin sooner while the lines continue. With
    // `rows_early`, both passes take 0.38 instead of 0.39 ms at 1280 × 960 × 64 with 8 paths, and 0.744 instead of
    // 0.760 ms at × 256 with 4 paths. However, 2880 × 1980 × 256 takes 3.20 instead of 3.14 ms, and 8 paths with 128 or
    // 256 disparities gain nothing without stored rows.
    return has_long_rows({p.width, p.height}) || rows_early ? Order::rows_first : Order::lines_first;
  }
  // Blocks of four warps are spread evenly over the schedulers. If most blocks wait until others end, smaller blocks
  // leave fewer gaps.
  gpu::Grid grid(bool only_upward) const {
    const int in_block = has_small_blocks ? 1 : border_warps;
    if (only_upward) return {directions / 2 * ceil_div(lines, in_block), 1, 32 * in_block, 1};
    return {directions * ceil_div(lines, in_block) + 2 * ceil_div(rows, in_block), 1, 32 * in_block, 1};
  }

  int directions;
  bool by_blocks;  // true if the lines of a block share their features
  int device_schedulers;
  int lines, rows;  // number of lines of a direction, and number of rows of a direction
  bool wide_rows, has_small_blocks;
  Order order;
};

// Assigns parts of the workspace, or only counts their bytes.
class Memory {
 public:
  explicit Memory(gpu::Span span) : span_(span) {}
  // Returns the address after a margin of `margin` elements. A margin of the same size follows the data.
  template <class T>
  T* take(std::size_t count, std::size_t margin = 0) {
    const auto piece = span_.take((count + 2 * margin) * sizeof(T));
    bytes_ += (piece.bytes + 255) / 256 * 256;
    return reinterpret_cast<T*>(piece.memory + piece.offset + margin * sizeof(T));
  }
  std::size_t bytes() const { return bytes_; }

 private:
  gpu::Span span_;
  std::size_t bytes_ = 0;
};

void lay_out_rank(Problem& problem, const Shape& shape, Memory& memory, int slopes, int right_slopes) {
  const auto height = static_cast<std::size_t>(problem.height);
  const int pitch = round_up(shape.right_margin_of_zero() + problem.width + right_margin, 4);
  constexpr int modulo_4[] = {0, 3, 1};
  for (int s = 0; s < slopes; ++s) {
    problem.pitch[s] = pitch + modulo_4[s];
    const auto pixels = problem.pitch[s] * height;
    // Rounding preserves the alignment.
    const auto margin = static_cast<std::size_t>(round_up(row_margin * problem.pitch[s], 4));
    problem.left[s] = memory.take<std::uint8_t>(pixels, margin);
    if (s < right_slopes) problem.right[s] = memory.take<std::uint32_t>(pixels, margin);
  }
}

void lay_out_penalties(Problem& problem, Memory& memory) {
  problem.penalty_pitch = round_up(left_margin + problem.width + right_margin, 4);
  problem.penalty_plane = static_cast<std::int64_t>(problem.penalty_pitch) * problem.height;
  problem.penalties = memory.take<std::uint32_t>(2 * problem.penalty_plane);
}

// Computes the sizes, and the layout of the workspace, for an image or for a stripe of an image.
template <class Kind>
Problem lay_out(const Parameters& p, const Kind& kind, Size size, int disparities, bool compact, Memory& memory) {
  const Shape shape(disparities);
  const bool diagonals = p.sgm.paths == 8;
  Problem problem{};
  problem.width = size.width;
  problem.height = size.height;
  problem.disparities = disparities;
  problem.strips = ceil_div(size.width, shape.tile_width());
  problem.bands = ceil_div(size.height, tile_height);
  const BorderForm form = border_form_of<Kind>(p, shape);
  // The lines of a block that shares features must all be inside the image, or all outside.
  const int beside = form.source == Source::block ? block_span(shape.range, form.words) - 2 : 1;
  problem.around = diagonals ? round_up(size.width + beside, shape.tile_width()) : round_up(size.width, 4);
  if (!compact) problem.kept_strips = kept_strips(p, kind, size, disparities, problem.strips);
  problem.kept_first =
      (problem.strips - problem.kept_strips) / 2;  // the last strip may extend beyond the image, and is never stored
  problem.p1 = p.sgm.p1;
  problem.p2 = p.sgm.p2;
  problem.p1_pair = problem.p1 * 0x10001u;
  problem.p2_pair = problem.p2 * 0x10001u;
  problem.subpixel = static_cast<int>(p.select.subpixel);
  problem.uniqueness = p.select.uniqueness;
  problem.border_candidates = p.select.border_candidates;
  problem.run = run_of(p, kind, disparities);

  const auto range = static_cast<std::size_t>(shape.range), width = static_cast<std::size_t>(size.width);
  const auto height = static_cast<std::size_t>(size.height);
  if (is_rank<Kind>) {
    // The features are stored once for each slope of the paths. Blocks copy words at any alignment, so that they need
    // the features of the right view only once.
    const int slopes = diagonals ? 3 : 1;
    lay_out_rank(problem, shape, memory, slopes, form.source == Source::block ? 1 : slopes);
  } else {
    const auto row = in_six_bits(p, kind, disparities) ? round_up(size.width, 4) * range * 3 / 4 : width * range;
    problem.volume = memory.take<std::uint8_t>(row * height, row * row_margin);
  }
  if (p.sgm.adaptive()) lay_out_penalties(problem, memory);
  problem.rows = memory.take<std::uint8_t>((diagonals ? 6 : 2) * problem.bands * width * range);
  if (diagonals) problem.sides = memory.take<std::uint8_t>(4 * problem.strips * height * range);
  problem.ends = memory.take<std::uint8_t>(2 * (problem.strips - problem.kept_strips) * height * range);
  const auto kept_pixels = std::size_t{tile_height} * problem.bands * problem.kept_strips * shape.tile_width();
  problem.along_rows = memory.take<std::uint8_t>(2 * kept_pixels * range);
  problem.counters = 3 * problem.bands + 2;
  problem.progress = memory.take<std::uint32_t>(problem.counters);
  problem.right_best = memory.take<std::uint32_t>(width * height);
  return problem;
}

// The states of the vertical and diagonal paths between stripes. The upward paths that enter stripe i leave their states
// in place i + 1, and the downward paths that leave stripe i leave theirs in place i, which no later stripe reads.
class Borders {
 public:
  Borders(const Parameters& p, const Stripes& stripes, int width, int disparities, Memory& memory)
      : last_(stripes.count() - 1),
        bytes_(static_cast<std::size_t>(p.sgm.paths == 8 ? 3 : 1) * width * Shape(disparities).range),
        states_(last_ > 0 ? memory.take<std::uint8_t>(stripes.count() * bytes_) : nullptr) {}

  void attach(Problem& problem, int stripe) const {
    if (stripe > 0) problem.entering[0] = place(stripe - 1);
    if (stripe < last_) problem.entering[1] = place(stripe + 1), problem.leaving[0] = place(stripe);
  }
  // Upward paths leave the stripe for the stripe before it.
  void attach_upward(Problem& problem, int stripe) const {
    attach(problem, stripe);
    problem.leaving[0] = nullptr;
    problem.leaving[1] = place(stripe);
    problem.only_upward = 1;
  }

 private:
  std::uint8_t* place(int i) const { return states_ + i * bytes_; }

  int last_;
  std::size_t bytes_;
  std::uint8_t* states_;
};

// Sets the members of `problem` that depend on the device. Returns the lines that the warps will follow.
template <class Kind>
Bundles schedule(Problem& problem, const Parameters& p, const gpu::Properties& device) {
  const Shape shape(problem.disparities);
  const Bundles bundles(border_form_of<Kind>(p, shape), problem, shape, p.sgm.paths, !is_rank<Kind>, device);
  problem.line_bundles = bundles.lines;
  problem.wide_rows = bundles.wide_rows;
  problem.order = problem.only_upward ? Order::lines_first : bundles.order;
  return bundles;
}

// Returns the address of row y of an image, or null if there is no image.
template <class T>
T* row_of(const gpu::View<T>& view, int y) {
  return view.empty() ? nullptr : address(view) + y * view.pitch;
}

// Sets the members of `problem` that describe the inputs and outputs, from row y on.
template <class Kind>
void attach(Problem& problem, const Input<Kind, gpu::View>& in, const wta::OutputOf<gpu::View>& out, int y) {
  problem.min_disparity = in.select.min_disparity;
  problem.left_words = row_of(in.source.left, y);
  problem.right_words = row_of(in.source.right, y);
  problem.left_words_pitch = in.source.left.pitch;
  problem.right_words_pitch = in.source.right.pitch;
  problem.guide = row_of(in.guide, y);
  problem.guide_pitch = in.guide.pitch;
  problem.guide_above = y;
  problem.guide_below = in.source.left.height - y - problem.height;
  problem.mask_left = row_of(in.select.mask_left, y);
  problem.mask_left_pitch = in.select.mask_left.pitch;
  problem.mask_right = row_of(in.select.mask_right, y);
  problem.mask_right_pitch = in.select.mask_right.pitch;
  if constexpr (std::is_same_v<Kind, cost::CensusGradient>) {
    problem.census_weight = in.source.kind.census_weight;
    problem.gradient_limit = in.source.kind.gradient_limit;
  }
  if constexpr (std::is_same_v<Kind, cost::Given>) problem.most_cost = in.source.kind.largest;
  problem.disparity = row_of(out.disparity, y);
  problem.disparity_pitch = out.disparity.pitch;
  problem.validity = row_of(out.validity, y);
  problem.validity_pitch = out.validity.pitch;
  problem.right_disparity = row_of(out.right, y);
  problem.right_disparity_pitch = out.right.pitch;
  problem.confidence = row_of(out.confidence, y);
  problem.confidence_pitch = out.confidence.pitch;
  if (out.right.empty()) problem.right_best = nullptr;
}

PenaltyTable penalty_table(const Parameters& p) {
  const auto penalties = sgm::penalties(p.sgm);
  PenaltyTable table;
  for (int difference = 0; difference < 256; ++difference)
    table.p2[difference] = static_cast<std::uint8_t>(penalties[difference]);
  return table;
}

// Launches the kernels that were compiled for one range.
class Launcher {
 public:
  Launcher(const Problem& problem, gpu::Queue& queue)
      : problem_(problem),
        queue_(queue),
        tuning_(gpu::pick(tunings, queue.properties())),
        shape_(problem.disparities) {}

  template <class Kind>
  void features(const Parameters& p, const Kind& kind) {
    if constexpr (is_rank<Kind>) {
      const int columns = ceil_div(problem_.pitch[0] + 3, tuning_.feature_columns);
      queue_.launch(kernel("lay_out_rank", "all"), over_columns(rows_with_margins(), columns), problem_,
                    p.sgm.paths == 8 ? 3 : 1);
    } else {
      const bool narrow = sizeof(typename Kind::Word) == 4, six = in_six_bits(p, kind, problem_.disparities);
      const char* instance = std::is_same_v<Kind, cost::Given>            ? six ? "given_six" : "given"
                             : std::is_same_v<Kind, cost::CensusGradient> ? "census_gradient"
                             : six                                        ? narrow ? "census32_six" : "census64_six"
                             : narrow                                     ? "census32"
                                                                          : "census64";
      queue_.launch(kernel("volume", instance),
                    {rows_with_margins() * ceil_div(problem_.width, volume_columns()), 1, volume_columns(), 1},
                    problem_);
    }
  }
  void penalties(const PenaltyTable& table) {
    queue_.launch(kernel("penalties", "all"), a_block_a_row(), problem_, table);
  }

  template <class Kind>
  void paths(const Parameters& p, const Kind& kind, const Bundles& bundles) {
    const char* variant = variant_of(p, kind);
    const auto pass = [&](const char* name, const char* instance, bool early, int local_bytes) {
      return gpu::Kernel{file(), name, instance, early, local_percent<Kind>(p), local_bytes};
    };
    const int sum_bytes = dynamic_sum_bytes(shape_.range);
    const int kept = problem_.kept_strips;
    const char* keeping = p.sgm.paths == 8 ? "rank_kept_8" : "rank_kept_4";
    const auto tiles = [&](int strips) {
      return gpu::Grid{strips * problem_.bands, 1, shape_.tile_threads(), 1, sum_bytes};
    };
    queue_.launch(pass("borders", kept > 0 ? keeping : variant, false, 0), bundles.grid(problem_.only_upward),
                  problem_);
    if (problem_.only_upward) return;
    if (kept > 0) queue_.launch(pass("tiles", keeping, true, sum_bytes), tiles(kept), problem_);
    queue_.launch(pass("tiles", variant, true, sum_bytes), tiles(problem_.strips - kept), problem_);
    if (problem_.right_best != nullptr)
      queue_.launch(kernel("right", "all"),
                    over_columns(problem_.height, ceil_div(problem_.width, tuning_.right_columns)), problem_);
  }

 private:
  const char* file() const {
    switch (shape_.range) {
      case 64: return "sgm_wta_cuda_64";
      case 128: return "sgm_wta_cuda_128";
      case 256: return "sgm_wta_cuda_256";
      case 512: return "sgm_wta_cuda_512";
      default: return "sgm_wta_cuda_1024";
    }
  }
  gpu::Kernel kernel(const char* name, const char* instance) const { return {file(), name, instance}; }
  gpu::Grid a_block_a_row() const { return {problem_.height, 1, 256, 1}; }
  gpu::Grid over_columns(int rows, int columns) const {
    return {rows, ceil_div(columns, tuning_.feature_threads), tuning_.feature_threads, 1};
  }
  int volume_columns() const { return tuning_.volume_columns * 256 / std::max(shape_.range, 256); }
  int rows_with_margins() const { return problem_.height + 2 * row_margin; }

  // Both passes request the same percentage, because otherwise they could not share a multiprocessor. Groups of lanes
  // that copy their own features or costs in advance, through the cache, need the whole cache.
  template <class Kind>
  int local_percent(const Parameters& p) const {
    return border_form_of<Kind>(p, shape_).source == Source::ring ? -1 : tuning_.local_percent;
  }

  template <class Kind>
  const char* variant_of(const Parameters& p, const Kind& kind) const {
    const bool eight = p.sgm.paths == 8;
    // Variant::early_minimum requires costs of at most P2.
    const bool early = problem_.disparities == shape_.range && kind.max_cost() <= p.sgm.p2;
    if (!is_rank<Kind>) {
      if (in_six_bits(p, kind, problem_.disparities)) return eight ? "six_bits_8" : "six_bits_4";
      if (p.sgm.adaptive()) return eight ? "volume_adaptive_8" : "volume_adaptive_4";
      if (early && eight && shape_.range < 256) return "volume_early_8";
      return eight ? "volume_8" : "volume_4";
    }
    if (p.sgm.adaptive()) return eight ? "rank_adaptive_8" : "rank_adaptive_4";
    if (early) return eight ? "rank_8" : "rank_4";
    return eight ? "rank_padded_8" : "rank_padded_4";
  }

  const Problem& problem_;
  gpu::Queue& queue_;
  const Tuning& tuning_;
  const Shape shape_;
};

// Processes a stripe, or follows only its upward paths. All stripes use the same memory.
template <class Kind>
void run_stripe(const Parameters& p, const Input<Kind, gpu::View>& in, const wta::OutputOf<gpu::View>& out,
                const Stripes& stripes, int stripe, const Borders& borders, bool only_upward, Memory memory,
                gpu::Queue& queue) {
  const Kind& kind = in.source.kind;
  const Size size{in.source.left.width, stripes.rows_of(stripe)};
  const bool compact = cuda_is_compact(queue.cuda_capability(), in.stripe_rows);
  Problem problem = lay_out(p, kind, size, in.disparities, compact, memory);
  attach(problem, in, out, stripes.first_row(stripe));
  if (only_upward)
    borders.attach_upward(problem, stripe);
  else
    borders.attach(problem, stripe);
  const Bundles bundles = schedule<Kind>(problem, p, queue.properties());
  Launcher launcher(problem, queue);
  launcher.features(p, kind);
  if (p.sgm.adaptive()) launcher.penalties(penalty_table(p));
  launcher.paths(p, kind, bundles);
}

}  // namespace

template <class Kind>
bool cuda_serves(const Parameters& p, const Kind& kind, int disparities) {
  const auto& sgm = p.sgm;
  const int max_cost = kind.max_cost();
  if (disparities > most_disparities || sgm.p2 > 255) return false;
  // Padding disparities of a cost volume have the cost 255. This cost must exceed the lowest cost by at least P2.
  const bool fits_bytes = is_rank<Kind> || !is_padded(disparities) || max_cost + sgm.p2 <= 255 + sgm.p1;
  return fits_bytes && run_of(p, kind, disparities) > 0 && sgm.paths * (max_cost + sgm.p2) < 4095;
}

bool cuda_is_compact(int capability, int stripe_rows) {
  return !gpu::pick(tunings, capability).keeps_rows || stripe_rows != 0;
}

template <class Kind>
std::size_t cuda_workspace_bytes(const Parameters& p, const Kind& kind, Size size, int disparities, bool compact,
                                 int stripe_rows) {
  const Stripes stripes(size.height, stripe_rows);
  Memory memory({});
  Borders(p, stripes, size.width, disparities, memory);
  lay_out(p, kind, {size.width, stripes.rows}, disparities, compact, memory);
  return memory.bytes();
}

template <class Kind>
void cuda(const Parameters& p, const Input<Kind, gpu::View>& in, const wta::OutputOf<gpu::View>& out,
          gpu::Span workspace, gpu::Queue& queue) {
  const Size size = in.source.left.size();
  const Stripes stripes(size.height, in.stripe_rows);
  Memory memory(workspace);
  const Borders borders(p, stripes, size.width, in.disparities, memory);
  for (int stripe = stripes.count() - 1; stripe > 0; --stripe)
    run_stripe(p, in, out, stripes, stripe, borders, true, memory, queue);
  for (int stripe = 0; stripe < stripes.count(); ++stripe)
    run_stripe(p, in, out, stripes, stripe, borders, false, memory, queue);
}

#define STEREOPSIS_INSTANCE(Kind)                                                                                  \
  template bool cuda_serves(const Parameters&, const Kind&, int disparities);                                      \
  template std::size_t cuda_workspace_bytes(const Parameters&, const Kind&, Size, int disparities, bool compact,   \
                                            int stripe_rows);                                                      \
  template void cuda(const Parameters&, const Input<Kind, gpu::View>&, const wta::OutputOf<gpu::View>&, gpu::Span, \
                     gpu::Queue&);
STEREOPSIS_INSTANCE(cost::Rank)
STEREOPSIS_INSTANCE(cost::Census<std::uint32_t>)
STEREOPSIS_INSTANCE(cost::Census<std::uint64_t>)
STEREOPSIS_INSTANCE(cost::CensusGradient)
STEREOPSIS_INSTANCE(cost::Given)
#undef STEREOPSIS_INSTANCE

}  // namespace stereopsis::sgm_wta
