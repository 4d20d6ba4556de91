#include <algorithm>
#include <cmath>
#include <span>

#include "device/gpu/device.hpp"
#include "fused/sgm_wta/sgm_wta.hpp"
#include "stages/cost/any_kind.hpp"
#include "stages/cost_volume/cost_volume.hpp"

namespace stereopsis::sgm_wta {
namespace {

using Cells = gpu::Array<std::uint16_t>;

std::size_t sums_bytes(Size stripe, int disparities) {
  return sizeof(std::uint16_t) * stripe.width * static_cast<std::size_t>(stripe.height) * disparities;
}
// Returns the size, in bytes, of the path costs of a row.
std::size_t row_bytes(Size size, int disparities) {
  return (sums_bytes({size.width, 1}, disparities) + 255) / 256 * 256;
}

// Returns whether paths of a direction cross rows: vertical paths and, with 8 paths, diagonal ones.
bool crosses_rows(sgm::Direction r) { return r.dy != 0; }
bool leads_down(sgm::Direction r) { return r.dy > 0; }

// Groups of consecutive stripes. The first downward sweep stores the path costs that enter the first stripe of each
// group. Before the stripes of a group are processed, one more sweep stores the path costs that enter its other
// stripes. The number of stored rows of path costs is about twice the square root of the number of stripes. If there
// are few stripes, each stripe is a group.
struct Groups {
  explicit Groups(const Stripes& s)
      : stripes(s.count()), size(stripes > 16 ? static_cast<int>(std::sqrt(stripes)) : 1) {}
  int count() const { return (stripes + size - 1) / size; }
  int first(int group) const { return group * size; }
  int end(int group) const { return std::min(first(group) + size, stripes); }
  // Number of places for stored path costs. A place has one row for each kind of path; the paths up into two stripes
  // use two places in turn.
  int places() const { return stripes == 1 ? 0 : count() - 1 + size - 1 + 2; }
  int down(int stripe) const { return stripe % size == 0 ? stripe / size - 1 : count() - 1 + stripe % size - 1; }
  int up(int stripe) const { return count() - 1 + size - 1 + stripe % 2; }

  int stripes, size;
};

std::size_t kept_bytes(const sgm::Parameters& p, const Stripes& stripes, Size size, int disparities) {
  return static_cast<std::size_t>(sgm::kinds_of(p)) * Groups(stripes).places() * row_bytes(size, disparities);
}

// Runs the stripes of one image.
template <class Kind>
class Run {
 public:
  Run(const Parameters& p, const Input<Kind, gpu::View>& in, const wta::OutputOf<gpu::View>& out, gpu::Span workspace,
      gpu::Queue& queue)
      : p_(p),
        in_(in),
        out_(out),
        size_(in.source.left.size()),
        stripes_(size_.height, in.stripe_rows),
        groups_(stripes_),
        queue_(queue),
        directions_(std::span(sgm::directions).first(static_cast<std::size_t>(p.sgm.paths))) {
    sums_ = workspace.take(sums_bytes({size_.width, stripes_.rows}, in.disparities)).template as<std::uint16_t>();
    kept_ = workspace.take(kept_bytes(p.sgm, stripes_, size_, in.disparities));
    scratch_ = workspace;
  }

  void run() {
    const int last = groups_.count() - 1;
    for (int group = 0; group < last; ++group) keep_paths_down(groups_.first(group), groups_.first(group + 1));
    for (int group = last; group >= 0; --group) {
      const int first = groups_.first(group), end = groups_.end(group);
      for (int stripe = first; stripe + 1 < end; ++stripe) keep_paths_down(stripe, stripe + 1);
      for (int stripe = end - 1; stripe >= first; --stripe) sum_and_select(stripe);
    }
  }

 private:
  Cells kept_down(int stripe, sgm::Direction r) const { return kept(groups_.down(stripe), r); }
  Cells kept_up(int stripe, sgm::Direction r) const { return kept(groups_.up(stripe), r); }
  Cells kept(int place, sgm::Direction r) const {
    const gpu::Array<std::uint16_t> all = kept_.template as<std::uint16_t>();
    const std::size_t row = static_cast<std::size_t>(place) * sgm::kinds_of(p_.sgm) + sgm::kind_of(r);
    return {all.memory,
            all.offset + static_cast<std::int64_t>(row * row_bytes(size_, in_.disparities) / sizeof(std::uint16_t))};
  }
  // Returns the path costs with which paths in direction `r` enter the image.
  gpu::Array<const std::uint16_t> entering(sgm::Direction r) const {
    const auto& edge = in_.edges.before(r);
    return edge.empty() ? gpu::Array<const std::uint16_t>()
                        : gpu::Array<const std::uint16_t>{edge.memory, edge.offset + sgm::kind_of(r) * edge.pitch};
  }
  gpu::Volume<std::uint16_t> of_rows(int rows, const Cells& cells) const {
    return {cells, size_.width, rows, in_.disparities};
  }

  // Sweeps down through the stripes `from` to `to` and stores the path costs between them.
  void keep_paths_down(int from, int to) {
    const int first = stripes_.first_row(from), rows = stripes_.first_row(to) - first;
    for (const sgm::Direction r : directions_)
      if (leads_down(r))
        follow(r, {first, of_rows(rows, {}), from > 0 ? kept_down(from, r) : entering(r), kept_down(to, r)}, false);
  }

  void sum_and_select(int stripe) {
    const int first = stripes_.first_row(stripe), rows = stripes_.rows_of(stripe), last = stripes_.count() - 1;
    const auto sums = of_rows(rows, sums_);
    bool add = false;
    for (const sgm::Direction r : directions_) {
      gpu::Array<const std::uint16_t> before;
      Cells behind;
      if (leads_down(r)) before = stripe > 0 ? kept_down(stripe, r) : entering(r);
      if (crosses_rows(r) && !leads_down(r)) {
        before = stripe < last ? kept_up(stripe, r) : entering(r);
        if (stripe > 0) behind = kept_up(stripe - 1, r);
      }
      follow(r, {first, sums, before, behind}, add);
      add = true;
    }
    wta::gpu(
        p_.select,
        {in_.select.min_disparity, in_.select.mask_left.rows(first, rows), in_.select.mask_right.rows(first, rows)},
        sums,
        {out_.disparity.rows(first, rows), out_.validity.rows(first, rows), out_.right.rows(first, rows),
         out_.confidence.rows(first, rows)},
        queue_);
  }

  void follow(sgm::Direction r, const sgm::GpuStripe& stripe, bool add) {
    sgm::gpu(p_.sgm, r, in_.source, in_.guide, in_.select.min_disparity, stripe, add, scratch_, queue_);
  }

  const Parameters& p_;
  const Input<Kind, gpu::View>& in_;
  const wta::OutputOf<gpu::View>& out_;
  const Size size_;
  const Stripes stripes_;
  const Groups groups_;
  gpu::Queue& queue_;
  const std::span<const sgm::Direction> directions_;
  Cells sums_;
  gpu::Span kept_, scratch_;
};

// Returns whether the whole image is processed at once, from a volume of costs.
bool at_once(int max_cost, int disparities, int stripe_rows) {
  return stripe_rows == 0 && max_cost <= 255 && disparities <= 1024;
}
// Returns the number of costs of a pixel, of which work-items load 16 at once.
int padded(int disparities) { return (disparities + 15) / 16 * 16; }

template <class Kind>
void match_at_once(const Parameters& p, const Input<Kind, gpu::View>& in, const wta::OutputOf<gpu::View>& out,
                   gpu::Span workspace, gpu::Queue& queue) {
  const Size size = in.source.left.size();
  const int width = size.width, height = size.height, pitch = padded(in.disparities);
  const auto cells = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  const gpu::Volume<std::uint16_t> sums{workspace.take(sums_bytes(size, in.disparities)).template as<std::uint16_t>(),
                                        width, height, in.disparities};
  const gpu::Volume<std::uint8_t> costs{workspace.take(cells * pitch).template as<std::uint8_t>(), width, height,
                                        pitch};
  cost_volume::gpu(in.source, in.select.min_disparity, costs, queue);
  sgm::gpu(p.sgm, gpu::Volume<const std::uint8_t>(costs), in.source.kind.max_cost(), in.guide, in.edges, sums,
           workspace, queue);
  wta::gpu(p.select, in.select, sums, out, queue);
}

}  // namespace

std::size_t gpu_workspace_bytes(const Parameters& p, Size size, int disparities, int stripe_rows) {
  int max_cost = 0;
  cost::with_followed_kind(p.cost, [&](const auto& kind) { max_cost = kind.max_cost(); });
  if (at_once(max_cost, disparities, stripe_rows))
    return sums_bytes(size, disparities) + 256 + sums_bytes(size, padded(disparities)) / 2 + 256 +
           sgm::gpu_scratch_bytes(p.sgm, 1, size, disparities);
  const Stripes stripes(size.height, stripe_rows);
  // Number of rows that one sweep covers.
  const int tallest = std::min(Groups(stripes).size * stripes.rows, size.height);
  return sums_bytes({size.width, stripes.rows}, disparities) + 256 + kept_bytes(p.sgm, stripes, size, disparities) +
         256 + sgm::gpu_scratch_bytes({size.width, tallest}, disparities);
}

template <class Kind>
void gpu(const Parameters& p, const Input<Kind, gpu::View>& in, const wta::OutputOf<gpu::View>& out,
         gpu::Span workspace, gpu::Queue& queue) {
  const int max_cost = in.source.kind.max_cost();
  sgm::check(p.sgm, max_cost);
  if (at_once(max_cost, in.disparities, in.stripe_rows)) return match_at_once(p, in, out, workspace, queue);
  Run<Kind>(p, in, out, workspace, queue).run();
}

using Out = wta::OutputOf<gpu::View>;
template void gpu(const Parameters&, const Input<cost::Rank, gpu::View>&, const Out&, gpu::Span, gpu::Queue&);
template void gpu(const Parameters&, const Input<cost::Census<std::uint32_t>, gpu::View>&, const Out&, gpu::Span,
                  gpu::Queue&);
template void gpu(const Parameters&, const Input<cost::Census<std::uint64_t>, gpu::View>&, const Out&, gpu::Span,
                  gpu::Queue&);
template void gpu(const Parameters&, const Input<cost::CensusGradient, gpu::View>&, const Out&, gpu::Span, gpu::Queue&);

}  // namespace stereopsis::sgm_wta
