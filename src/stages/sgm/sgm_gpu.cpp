#include "device/gpu/device.hpp"
#include "stages/sgm/sgm.hpp"

namespace stereopsis::sgm {
namespace {

// Limits of the path costs that sgm.cl stores in local memory.
constexpr int narrow_disparities = 1024;
constexpr int most_items = 256;

struct CostConstants {
  const char* narrow;
  const char* wide;
  int census_weight = 0, gradient_limit = 0;
};
CostConstants constants_of(const cost::Rank&) { return {"rank", "rank_wide"}; }
CostConstants constants_of(const cost::Census<std::uint32_t>&) { return {"census32", "census32_wide"}; }
CostConstants constants_of(const cost::Census<std::uint64_t>&) { return {"census64", "census64_wide"}; }
CostConstants constants_of(const cost::CensusGradient& kind) {
  return {"census_gradient", "census_gradient_wide", kind.census_weight, kind.gradient_limit};
}

int lines_of(Size stripe, Direction r) {
  return r.dy == 0 ? stripe.height : r.dx == 0 ? stripe.width : stripe.width + stripe.height - 1;
}

// Returns the number of work-items, in whole warps, for two disparities each.
int items_for(int disparities) { return std::clamp((disparities / 2 + 31) / 32 * 32, 32, most_items); }

}  // namespace

std::size_t gpu_scratch_bytes(Size size, int disparities) {
  if (disparities <= narrow_disparities) return 0;
  return 2 * sizeof(std::uint16_t) * (static_cast<std::size_t>(size.width) + size.height) * (disparities + 2);
}

// A group of 32 work-items follows a line. Each work-item has `fours` times four disparities. If there are more
// disparities, the disparities of a work-item are processed one by one.
template <class T>
void gpu(const Parameters& p, gpu::Volume<const T> costs, int max_cost, gpu::View<const std::uint8_t> guide,
         const EdgesOf<gpu::View>& edges, gpu::Volume<std::uint16_t> sums, gpu::Span scratch, gpu::Queue& queue) {
  check(p, max_cost);
  const int fours = (costs.disparities + 127) / 128;
  constexpr bool bytes = sizeof(T) == 1;
  const char* const instance = fours <= 1   ? bytes ? "u8_1" : "u16_1"
                               : fours <= 2 ? bytes ? "u8_2" : "u16_2"
                               : fours <= 4 ? bytes ? "u8_4" : "u16_4"
                               : bytes      ? "u8_8"
                                            : "u16_8";
  const gpu::View<const std::uint8_t> used = p.adaptive() ? guide : gpu::View<const std::uint8_t>();
  for (int i = 0; i < p.paths; ++i) {
    const Direction r = directions[i];
    const int lines = lines_of({costs.width, costs.height}, r);
    const gpu::View<const std::uint16_t> edge =
        r.dy == 0 || edges.before(r).empty() ? gpu::View<const std::uint16_t>() : edges.before(r);
    if (costs.disparities <= narrow_disparities)
      queue.launch({"sgm_volume", "paths", instance}, {lines, 1, 32, 1}, costs.cells, used, edge, sums.cells,
                   costs.width, costs.height, costs.disparities, r.dx, r.dy, i > 0 ? 1 : 0, max_cost, p.p1, p.p2,
                   p.lowest_p2(), p.gradient);
    else
      queue.launch({"sgm_volume", "wide_paths", bytes ? "u8_1" : "u16_1"}, {lines, 1, most_items, 1}, costs.cells, used,
                   edge, sums.cells, scratch.as<std::uint16_t>(), costs.width, costs.height, costs.disparities, r.dx,
                   r.dy, i > 0 ? 1 : 0, max_cost, p.p1, p.p2, p.lowest_p2(), p.gradient);
  }
}

template void gpu(const Parameters&, gpu::Volume<const std::uint8_t>, int, gpu::View<const std::uint8_t>,
                  const EdgesOf<gpu::View>&, gpu::Volume<std::uint16_t>, gpu::Span, gpu::Queue&);
template void gpu(const Parameters&, gpu::Volume<const std::uint16_t>, int, gpu::View<const std::uint8_t>,
                  const EdgesOf<gpu::View>&, gpu::Volume<std::uint16_t>, gpu::Span, gpu::Queue&);

template <class Kind>
void gpu(const Parameters& p, Direction r, const cost::Source<Kind, gpu::View>& source,
         gpu::View<const std::uint8_t> guide, int min_disparity, const GpuStripe& stripe, bool add, gpu::Span scratch,
         gpu::Queue& queue) {
  const CostConstants cost = constants_of(source.kind);
  const auto& sums = stripe.sums;
  const bool wide = sums.disparities > narrow_disparities;
  queue.launch({"sgm", "paths", wide ? cost.wide : cost.narrow},
               {lines_of({sums.width, sums.height}, r), 1, items_for(sums.disparities), 1}, source.left, source.right,
               p.adaptive() ? guide : gpu::View<const std::uint8_t>(), sums.cells, scratch.as<std::uint16_t>(),
               stripe.before, stripe.behind, stripe.first_row, sums.height, sums.disparities, min_disparity, r.dx, r.dy,
               add ? 1 : 0, p.p1, p.p2, p.lowest_p2(), p.gradient, cost.census_weight, cost.gradient_limit);
}

#define STEREOPSIS_INSTANCE(Kind)                                                                                      \
  template void gpu(const Parameters&, Direction, const cost::Source<Kind, gpu::View>&, gpu::View<const std::uint8_t>, \
                    int, const GpuStripe&, bool, gpu::Span, gpu::Queue&);
STEREOPSIS_INSTANCE(cost::Rank)
STEREOPSIS_INSTANCE(cost::Census<std::uint32_t>)
STEREOPSIS_INSTANCE(cost::Census<std::uint64_t>)
STEREOPSIS_INSTANCE(cost::CensusGradient)
#undef STEREOPSIS_INSTANCE

}  // namespace stereopsis::sgm
