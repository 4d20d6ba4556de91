// Matches an image in stripes by the rules of in_stripes(): each stripe separately, on the devices in turn.
#pragma once

#include <memory>
#include <vector>

#include "stereopsis/partition_plan.hpp"

namespace stereopsis::test {

struct Span {
  int first, end;
  int rows() const { return end - first; }
};

class Striped {
 public:
  Striped(const StereoPair& whole, DisparityRange range, const Pipeline& pipeline, std::vector<Device> devices)
      : whole_(whole), range_(range), rules_(partition_plan(pipeline, true)), devices_(std::move(devices)) {}

  // Returns the left view's result, and counts how often a stripe had to read more rows for its fill.
  Matched match(int count) {
    const Matched raw = raw_maps(count);
    Matched all = rules_.refined ? empty_result() : raw;
    for (int i = 0; i < count && rules_.refined; ++i) refine(raw, core(i, count), all);
    if (rules_.rated) all.confidence = Image<float>(whole_.left.size());
    for (int i = 0; i < count && rules_.rated; ++i) rate(core(i, count), all);
    return all;
  }
  int grown = 0;

 private:
  using PathCosts = std::shared_ptr<Image<std::uint16_t>>;  // null at the image's border
  struct Edges {
    PathCosts above, below;
  };

  int height() const { return whole_.left.height; }
  int width() const { return whole_.left.width; }
  Span core(int i, int count) const { return {height() * i / count, height() * (i + 1) / count}; }
  Span grow(Span s, int by) const { return {std::max(0, s.first - by), std::min(height(), s.end + by)}; }
  const Device& next_device() { return devices_[static_cast<std::size_t>(turn_++) % devices_.size()]; }

  Matched empty_result() const {
    Matched all;
    all.disparity = Image<float>(whole_.left.size());
    all.validity = Image<std::uint8_t>(whole_.left.size());
    if (rules_.needs.right) all.right = Image<float>(whole_.left.size());
    if (rules_.needs.confidence) all.confidence = Image<float>(whole_.left.size());
    return all;
  }

  template <class View>
  static View rows_of(const View& view, Span s) {
    return view.empty() ? view : view.crop({0, s.first, static_cast<int>(view.size().width), s.rows()});
  }
  StereoPair part(Span s) const {
    StereoPair read{rows_of(whole_.left, s), rows_of(whole_.right, s), rows_of(whole_.mask_left, s),
                    rows_of(whole_.mask_right, s)};
    read.seeds = rows_of(whole_.seeds, s), read.seed_trust = rows_of(whole_.seed_trust, s);
    return read;
  }

  static void take(const Matched& from, Span shown, Span wanted, Matched& to) {
    const auto copy = [&](const auto& source, auto& target) {
      if (target.view().empty()) return;
      for (int y = wanted.first; y < wanted.end; ++y)
        std::copy_n(source.row(y - shown.first), target.width(), target.row(y));
    };
    copy(from.disparity, to.disparity);
    copy(from.validity, to.validity);
    if (!from.right.view().empty()) copy(from.right, to.right);
    if (!from.confidence.view().empty()) copy(from.confidence, to.confidence);
  }

  Matched raw_maps(int count) {
    Matched all = empty_result();
    std::vector<Edges> edges(static_cast<std::size_t>(count));
    if (rules_.follows_paths) sweep(count, edges);
    for (int i = 0; i < count; ++i) {
      const Span own = core(i, count), paths = grow(own, rules_.raw_rows);
      if (rules_.follows_paths)
        take(match_stripe(paths, edges[i], BoundaryStripe::Follow::none), paths, own, all);
      else
        take(match_region(own), {0, height()}, own, all);
    }
    return all;
  }

  void sweep(int count, std::vector<Edges>& edges) {
    const auto paths = [&](int i) { return grow(core(i, count), rules_.raw_rows); };
    for (int i = 0; i + 1 < count; ++i)
      edges[i + 1].above =
          next({paths(i).first, paths(i + 1).first}, {edges[i].above, {}}, BoundaryStripe::Follow::down);
    for (int i = count - 1; i > 0; --i)
      edges[i - 1].below = next({paths(i - 1).end, paths(i).end}, {{}, edges[i].below}, BoundaryStripe::Follow::up);
  }
  // The path costs behind a band of rows, from those before it.
  PathCosts next(Span band, const Edges& edges, BoundaryStripe::Follow follow) {
    if (band.rows() == 0) return follow == BoundaryStripe::Follow::down ? edges.above : edges.below;
    return std::make_shared<Image<std::uint16_t>>(match_stripe(band, edges, follow).paths);
  }

  Matched match_stripe(Span paths, const Edges& edges, BoundaryStripe::Follow follow) {
    const Span read = grow(paths, rules_.feature_rows);
    StereoPair pair = part(read);
    Problem problem = Problem::of(pair, range_);
    problem.want_right = rules_.needs.right && follow == BoundaryStripe::Follow::none;
    problem.want_confidence = rules_.needs.confidence && follow == BoundaryStripe::Follow::none;
    problem.stripe =
        BoundaryStripe{paths.first - read.first, paths.rows(), edges.above != nullptr, edges.below != nullptr, follow};
    if (edges.above) pair.paths_above = edges.above->view();
    if (edges.below) pair.paths_below = edges.below->view();
    return Matcher(Plan(rules_.raw, problem, next_device())).match(pair);
  }

  Matched match_region(Span own) {
    Problem problem = Problem::of(whole_, range_);
    problem.want_right = rules_.needs.right;
    problem.want_confidence = rules_.needs.confidence;
    problem.region = Rect{0, own.first, width(), own.rows()};
    return Matcher(Plan(rules_.raw, problem, next_device())).match(whole_);
  }

  void refine(const Matched& raw, Span own, Matched& all) {
    for (int collar = rules_.refined_rows;; collar = 2 * collar + 1) {
      const Span read = grow(own, collar);
      StereoPair pair = rules_.needs.images ? part(read) : StereoPair{};
      if (!rules_.needs.seeds) pair.seeds = pair.seed_trust = {};
      pair.maps = {rows_of(raw.disparity.view(), read), rows_of(raw.validity.view(), read),
                   rows_of(raw.right.view(), read), rows_of(raw.confidence.view(), read)};
      Problem problem = Problem::of(part(read), range_);
      problem.refine_only = true;
      const Matched refined = Matcher(Plan(*rules_.refined, problem, next_device())).match(pair);
      if (!is_closed(refined.validity, read, own)) {
        ++grown;
        continue;
      }
      return take(refined, read, own, all);
    }
  }

  void rate(Span own, Matched& all) {
    Span read = grow(own, rules_.rated_rows);
    read.first -= read.first % rules_.block;
    StereoPair pair = part(read);
    pair.seeds = pair.seed_trust = {};
    pair.maps = {rows_of(all.disparity.view(), read), rows_of(all.validity.view(), read), {}, {}};
    Problem problem = Problem::of(part(read), range_);
    problem.refine_only = problem.want_confidence = true;
    const Matched rated = Matcher(Plan(*rules_.rated, problem, next_device())).match(pair);
    for (int y = own.first; y < own.end; ++y)
      std::copy_n(rated.confidence.row(y - read.first), width(), all.confidence.row(y));
  }

  bool is_closed(const Image<std::uint8_t>& validity, Span read, Span own) const {
    if (!rules_.fills) return true;
    const Span exact{read.first == 0 ? 0 : read.first + rules_.before_fill,
                     read.end == height() ? height() : read.end - rules_.before_fill};
    const Span wanted = grow(own, rules_.behind_fill);
    constexpr std::uint8_t outside = validity::masked | validity::outside;
    const auto measured = [&](int x, int y) {
      return (validity(x, y - read.first) & (validity::filled | validity::reasons)) == 0;
    };
    const auto meets = [&](int x, int y, int step, int end) {
      while (y != end && !measured(x, y)) y += step;
      return y != end;
    };
    for (int x = 0; x < width(); ++x)
      for (int y = wanted.first; y < wanted.end; ++y) {
        if (measured(x, y) || (validity(x, y - read.first) & outside)) continue;
        if (exact.first > 0 && !meets(x, y, -1, exact.first - 1)) return false;
        if (exact.end < height() && !meets(x, y, 1, exact.end)) return false;
      }
    return true;
  }

  const StereoPair& whole_;
  const DisparityRange range_;
  const PartitionPlan rules_;
  const std::vector<Device> devices_;
  int turn_ = 0;
};

}  // namespace stereopsis::test
