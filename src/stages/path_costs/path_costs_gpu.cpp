#include "device/gpu/device.hpp"
#include "stages/path_costs/path_costs.hpp"

namespace stereopsis::path_costs {

template <class Kind>
void gpu(const Parameters& p, const Input<Kind, gpu::View>& in, gpu::View<std::uint16_t> behind, gpu::Span scratch,
         gpu::Queue& queue) {
  sgm::check(p.sgm, in.source.kind.max_cost());
  const gpu::Volume<std::uint16_t> no_sums{{}, in.source.left.width, in.source.left.height, in.disparities};
  for_each_direction(p, [&](sgm::Direction r) {
    gpu::Array<const std::uint16_t> before;
    if (!in.before.empty()) before = {in.before.memory, in.before.offset + sgm::kind_of(r) * in.before.pitch};
    const gpu::Array<std::uint16_t> row{behind.memory, behind.offset + sgm::kind_of(r) * behind.pitch};
    sgm::gpu(p.sgm, r, in.source, in.guide, in.min_disparity, {0, no_sums, before, row}, false, scratch, queue);
  });
  queue.launch({"path_costs", "lower", "any"}, gpu::over(Size{behind.width, behind.height}), behind, in.disparities);
}

#define STEREOPSIS_INSTANCE(Kind) \
  template void gpu(const Parameters&, const Input<Kind, gpu::View>&, gpu::View<std::uint16_t>, gpu::Span, gpu::Queue&);
STEREOPSIS_INSTANCE(cost::Rank)
STEREOPSIS_INSTANCE(cost::Census<std::uint32_t>)
STEREOPSIS_INSTANCE(cost::Census<std::uint64_t>)
STEREOPSIS_INSTANCE(cost::CensusGradient)
STEREOPSIS_INSTANCE(cost::Given)
#undef STEREOPSIS_INSTANCE

}  // namespace stereopsis::path_costs
