#include "device/gpu/device.hpp"
#include "stages/sgm/sgm.hpp"

namespace stereopsis::sgm {
namespace {

// What sgm.cl keeps in local memory.
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

int lines_of(Size size, Direction r) {
  return r.dy == 0 ? size.height : r.dx == 0 ? size.width : size.width + size.height - 1;
}

// Two disparities for each work-item, in whole warps.
int items_for(int disparities) { return std::clamp((disparities / 2 + 31) / 32 * 32, 32, most_items); }

}  // namespace

std::size_t gpu_scratch_bytes(Size size, int disparities) {
  if (disparities <= narrow_disparities) return 0;
  return 2 * sizeof(std::uint16_t) * (static_cast<std::size_t>(size.width) + size.height) * (disparities + 2);
}

template <class Kind>
void gpu(const Parameters& p, const cost::Source<Kind, gpu::View>& source, gpu::View<const std::uint8_t> guide,
         int min_disparity, gpu::Volume<std::uint16_t> sums, gpu::Span scratch, gpu::Queue& queue) {
  check(p, source.kind.max_cost());
  const CostConstants cost = constants_of(source.kind);
  const bool wide = sums.disparities > narrow_disparities;
  const bool adaptive = p.adaptive();
  for (int r = 0; r < p.paths; ++r)
    queue.launch({"sgm", "paths", wide ? cost.wide : cost.narrow},
                 {lines_of(source.left.size(), directions[r]), 1, items_for(sums.disparities), 1}, source.left,
                 source.right, adaptive ? guide : gpu::View<const std::uint8_t>(), sums.cells,
                 scratch.as<std::uint16_t>(), sums.disparities, min_disparity, directions[r].dx, directions[r].dy,
                 r > 0 ? 1 : 0, p.p1, p.p2, p.p2_min, p.gradient, cost.census_weight, cost.gradient_limit);
}

using Guide = gpu::View<const std::uint8_t>;
using Sums = gpu::Volume<std::uint16_t>;
template void gpu(const Parameters&, const cost::Source<cost::Rank, gpu::View>&, Guide, int, Sums, gpu::Span,
                  gpu::Queue&);
template void gpu(const Parameters&, const cost::Source<cost::Census<std::uint32_t>, gpu::View>&, Guide, int, Sums,
                  gpu::Span, gpu::Queue&);
template void gpu(const Parameters&, const cost::Source<cost::Census<std::uint64_t>, gpu::View>&, Guide, int, Sums,
                  gpu::Span, gpu::Queue&);
template void gpu(const Parameters&, const cost::Source<cost::CensusGradient, gpu::View>&, Guide, int, Sums, gpu::Span,
                  gpu::Queue&);

}  // namespace stereopsis::sgm
