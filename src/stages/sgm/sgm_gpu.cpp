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
// The kernel reads the largest cost in place of the weight.
CostConstants constants_of(const cost::Given& kind) { return {"given", "given_wide", kind.largest}; }

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

namespace {

// Returns the bytes of a slot, which holds L_r − C of two directions, in sgm_volume.cl. Both are at most P2.
int slot_bytes(const Parameters& p, int cost_bytes) { return cost_bytes == 1 && p.p2 <= 127 ? 1 : 2; }

// The instances of sgm_volume.cl for up to `disparities` disparities, which `lanes` work-items share.
struct Narrow {
  int disparities, lanes;
  const char *u8, *u8_u16, *u16;
};
constexpr Narrow narrow[] = {{64, 4, "u8_64", "u8_u16_64", "u16_64"},
                             {128, 8, "u8_128", "u8_u16_128", "u16_128"},
                             {256, 16, "u8_256", "u8_u16_256", "u16_256"},
                             {512, 32, "u8_512", "u8_u16_512", "u16_512"},
                             {narrow_disparities, 32, "u8_1024", "u8_u16_1024", "u16_1024"}};

// The instances of sgm_lines.cl.
constexpr Narrow lines{narrow_disparities, 1, "u8", "u8_u16", "u16"};

std::size_t slots_of_pixel(int disparities) {
  const int cells = disparities <= 512 ? 16 : 32;  // cells of a work-item; rows of slots are whole runs of them
  return static_cast<std::size_t>((disparities + cells - 1) / cells * cells);
}

// Follows all paths from a volume with `pitch` costs per pixel, and adds them.
template <class T>
void follow_pairs(const Parameters& p, gpu::Volume<const T> costs, int pitch, int max_cost,
                  gpu::View<const std::uint8_t> guide, const EdgesOf<gpu::View>& edges, gpu::Volume<std::uint16_t> sums,
                  gpu::Span scratch, gpu::Queue& queue) {
  const int bytes = slot_bytes(p, sizeof(T)), disparities = sums.disparities;
  const bool one_by_one = queue.properties().warp_size == 1;
  const Narrow* sizes = one_by_one ? &lines : narrow;
  while (sizes->disparities < disparities) ++sizes;
  const char* const file = one_by_one ? "sgm_lines" : "sgm_volume";
  const char* const instance = sizeof(T) == 2 ? sizes->u16 : bytes == 2 ? sizes->u8_u16 : sizes->u8;
  const auto slots = scratch.as<std::uint32_t>();
  // Kernels regard every view with memory as path costs from beyond the image.
  const auto entering = [](const gpu::View<const std::uint16_t>& edge) {
    return edge.empty() ? gpu::View<const std::uint16_t>() : edge;
  };
  const int most_lines = std::max(sums.width, sums.height), followed = one_by_one ? 8 : 32 / sizes->lanes;
  queue.launch({file, one_by_one ? "lines" : "pairs", instance},
               {(most_lines + followed - 1) / followed, p.paths / 2, one_by_one ? 1 : 32, 1}, costs.cells, pitch, guide,
               entering(edges.above), entering(edges.below), slots, sums.width, sums.height, disparities, max_cost,
               p.p1, p.p2, p.lowest_p2(), p.gradient);
  gpu::Grid grid{sums.height, 1, 1, 1};
  if (!one_by_one) {
    const std::size_t cells = disparities <= 512 ? 16 : 32;
    grid = gpu::over(sums.width * static_cast<int>(slots_of_pixel(disparities) / cells));
    grid.groups_y = sums.height;
  }
  queue.launch({file, one_by_one ? "sum_row" : "sum", instance}, grid, costs.cells, pitch, slots, sums.cells,
               sums.width, sums.height, disparities, max_cost, p.paths);
}

}  // namespace

std::size_t gpu_scratch_bytes(const Parameters& p, int cost_bytes, Size size, int disparities) {
  if (disparities > narrow_disparities) return gpu_scratch_bytes(size, disparities);
  return static_cast<std::size_t>(p.paths / 2) * slot_bytes(p, cost_bytes) * size.width *
         static_cast<std::size_t>(size.height) * slots_of_pixel(disparities);
}

template <class T>
void gpu(const Parameters& p, gpu::Volume<const T> costs, int max_cost, gpu::View<const std::uint8_t> guide,
         const EdgesOf<gpu::View>& edges, gpu::Volume<std::uint16_t> sums, gpu::Span scratch, gpu::Queue& queue) {
  check(p, max_cost);
  const gpu::View<const std::uint8_t> used = p.adaptive() ? guide : gpu::View<const std::uint8_t>();
  if (sums.disparities <= narrow_disparities)
    return follow_pairs(p, costs, costs.disparities, max_cost, used, edges, sums, scratch, queue);
  for (int i = 0; i < p.paths; ++i) {
    const Direction r = directions[i];
    const int line_count = lines_of({costs.width, costs.height}, r);
    const gpu::View<const std::uint16_t> edge =
        r.dy == 0 || edges.before(r).empty() ? gpu::View<const std::uint16_t>() : edges.before(r);
    queue.launch({"sgm_wide", "wide_paths", gpu::instance_of<T>()}, {line_count, 1, most_items, 1}, costs.cells, used,
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
STEREOPSIS_INSTANCE(cost::Given)
#undef STEREOPSIS_INSTANCE

}  // namespace stereopsis::sgm
