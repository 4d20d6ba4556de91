#include <span>

#include "device/gpu/device.hpp"
#include "fused/sgm_wta/sgm_wta.hpp"

namespace stereopsis::sgm_wta {
namespace {

using Cells = gpu::Array<std::uint16_t>;
constexpr int kinds = 3;  // of paths that cross rows: vertical, diagonal, antidiagonal

std::size_t sums_bytes(Size stripe, int disparities) {
  return sizeof(std::uint16_t) * stripe.width * static_cast<std::size_t>(stripe.height) * disparities;
}
// The path costs of a row.
std::size_t row_bytes(Size size, int disparities) {
  return (sums_bytes({size.width, 1}, disparities) + 255) / 256 * 256;
}
// Of all kinds, where the paths down enter each stripe but the first, and twice where those up are.
std::size_t kept_rows(const Stripes& stripes) { return stripes.count() == 1 ? 0 : kinds * (stripes.count() + 1); }

bool crosses_rows(sgm::Direction r) { return r.dy != 0; }
bool leads_down(sgm::Direction r) { return r.dy > 0; }
int kind_of(sgm::Direction r) { return r.dx * r.dy + 1; }

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
        queue_(queue),
        directions_(std::span(sgm::directions).first(static_cast<std::size_t>(p.sgm.paths))) {
    sums_ = workspace.take(sums_bytes({size_.width, stripes_.rows}, in.disparities)).template as<std::uint16_t>();
    kept_ = workspace.take(kept_rows(stripes_) * row_bytes(size_, in.disparities));
    scratch_ = workspace;
  }

  void run() {
    const int last = stripes_.count() - 1;
    for (int stripe = 0; stripe < last; ++stripe) keep_paths_down(stripe);
    for (int stripe = last; stripe >= 0; --stripe) sum_and_select(stripe);
  }

 private:
  // Where paths down enter a stripe: 0 is that of stripe 1.
  Cells kept_down(int stripe, sgm::Direction r) const { return kept((stripe - 1) * kinds + kind_of(r)); }
  // Where paths up enter a stripe; those of one stripe are read while those of the next are written.
  Cells kept_up(int stripe, sgm::Direction r) const {
    return kept((stripes_.count() - 1 + stripe % 2) * kinds + kind_of(r));
  }
  Cells kept(std::size_t row) const {
    const gpu::Array<std::uint16_t> all = kept_.template as<std::uint16_t>();
    return {all.memory,
            all.offset + static_cast<std::int64_t>(row * row_bytes(size_, in_.disparities) / sizeof(std::uint16_t))};
  }
  gpu::Volume<std::uint16_t> rows_of(int stripe, const Cells& cells) const {
    return {cells, size_.width, stripes_.rows_of(stripe), in_.disparities};
  }

  void keep_paths_down(int stripe) {
    for (const sgm::Direction r : directions_)
      if (leads_down(r))
        follow(r,
               {stripes_.first_row(stripe), rows_of(stripe, {}), stripe > 0 ? kept_down(stripe, r) : Cells(),
                kept_down(stripe + 1, r)},
               false);
  }

  void sum_and_select(int stripe) {
    const int first = stripes_.first_row(stripe), rows = stripes_.rows_of(stripe), last = stripes_.count() - 1;
    const auto sums = rows_of(stripe, sums_);
    bool add = false;
    for (const sgm::Direction r : directions_) {
      Cells before, behind;
      if (leads_down(r) && stripe > 0) before = kept_down(stripe, r);
      if (crosses_rows(r) && !leads_down(r)) {
        if (stripe < last) before = kept_up(stripe, r);
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
  gpu::Queue& queue_;
  const std::span<const sgm::Direction> directions_;
  Cells sums_;
  gpu::Span kept_, scratch_;
};

}  // namespace

std::size_t gpu_workspace_bytes(Size size, int disparities, int stripe_rows) {
  const Stripes stripes(size.height, stripe_rows);
  const Size stripe{size.width, stripes.rows};
  return sums_bytes(stripe, disparities) + 256 + kept_rows(stripes) * row_bytes(size, disparities) + 256 +
         sgm::gpu_scratch_bytes(stripe, disparities);
}

template <class Kind>
void gpu(const Parameters& p, const Input<Kind, gpu::View>& in, const wta::OutputOf<gpu::View>& out,
         gpu::Span workspace, gpu::Queue& queue) {
  sgm::check(p.sgm, in.source.kind.max_cost());
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
